"""The models of the zoo on the server: served in addition to the others by default."""

import json
from pathlib import Path

import httpx
import pytest

from app.engine.model_catalog import Catalog
from app.settings import ZOO, Settings
from model.zoo.registry import TASKS
from tests.serving.fixtures import Serving
from tests.serving.problem import hold

NAMES = sorted(path.name for path in ZOO.iterdir())


def test_the_zoo_can_be_switched_off() -> None:
    assert NAMES
    assert Settings().zoo_bundles == {f"zoo-{name}": f"zoo/{name}" for name in NAMES}
    assert Settings(zoo=False).zoo_bundles == {}
    own = Settings(models="en-zh,zoo-copy=mine").zoo_bundles
    assert "zoo-copy" not in own  # the id is taken
    assert len(own) == len(NAMES) - 1


def test_a_broken_bundle_of_the_zoo_is_reported_at_startup(tmp_path: Path) -> None:
    listing = Catalog.load({"en-zh": "en-zh"}, "cpu", small={"zoo-copy": str(tmp_path)}).listing
    assert [*listing] == ["en-zh"]
    assert "it is not a model bundle" in listing.unopened["zoo-copy"]


async def test_they_are_listed_after_the_default_with_their_tasks(serving: Serving) -> None:
    small = Settings().zoo_bundles
    catalog = Catalog.load({"en-zh": "en-zh"}, "cpu", 1, small=small)
    assert catalog.loaded == ["en-zh"]
    async with serving(catalog=catalog) as client:
        listed = (await client.get("/api/models")).json()
        assert [one["id"] for one in listed] == ["en-zh", *small]
        assert listed[0]["zoo"] is None
        assert listed[0]["directions"] == ["en-zh", "zh-en"]
        rotary = next(one for one in listed if one["id"] == "zoo-reverse-rotary")
        changed = {"positions": "rotary"}
        assert rotary["zoo"] == {"name": "reverse-rotary", "task": "reverse", "changed": changed}
        assert rotary["directions"] == ["in-out"]
        assert await written(client, "zoo-reverse-rotary", "a b c d") == "d c b a"
        assert await written(client, "zoo-sort", "d a c") == "a c d"
        # Neither has unloaded the counted model.
        assert sorted(catalog.loaded) == ["en-zh", "zoo-reverse-rotary", "zoo-sort"]


async def written(client: httpx.AsyncClient, model: str, source: str) -> str:
    body = {"model": model, "source": source, "select": []}
    output = (await client.post("/api/trace", json=body)).json()["output"]
    assert output["finished"]
    text: str = output["text"]
    return text


async def test_the_direction_that_was_not_trained_is_refused(serving: Serving) -> None:
    catalog = Catalog.load({"zoo-copy": "zoo/copy"}, "cpu")
    async with serving(catalog=catalog) as client:
        body = {"model": "zoo-copy", "source": "a b", "direction": "out-in"}
        reply = await client.post("/api/trace", json=body)
        assert reply.status_code == 422
        problem = reply.json()
        assert problem["type"].endswith("unknown-direction")
        assert problem["detail"] == "direction must be in-out, the only direction of this model"


async def test_results_are_told_of_the_models_that_are_served(serving: Serving) -> None:
    catalog = Catalog.load({"zoo-sort": "zoo/sort", "copy": "zoo/copy"}, "cpu")
    async with serving(catalog=catalog) as client:
        told = (await client.get("/api/zoo")).json()
    assert [one["id"] for one in told["tasks"]] == [*TASKS]
    assert [(one["id"], one["task"]) for one in told["models"]] == [
        ("copy", "copy"),
        ("zoo-sort", "sort"),
    ]
    results = json.loads((ZOO / "sort" / "zoo.json").read_text())
    sort = told["models"][1]
    assert sort["trained"] == results["trained"]
    for seed, measured in zip(sort["seeds"], results["seeds"], strict=True):
        assert seed["accuracy"] == measured["accuracy"]
        assert seed["curve"] == measured["curve"]
        assert seed["looks"] == measured["looks"]
    assert [one["shipped"] for one in sort["seeds"]].count(True) == 1


def test_without_the_zoo_only_tasks_are_listed(reader: httpx.Client) -> None:
    told = reader.get("/api/zoo").json()
    assert told["models"] == []
    assert told["tasks"]


@pytest.mark.parametrize("task", TASKS)
def test_an_example_is_answered_as_it_was_drawn(reader: httpx.Client, task: str) -> None:
    drawn = reader.get(f"/api/zoo/{task}/example", params={"seed": 3}).json()
    assert drawn["held_out"]
    assert drawn == reader.get(f"/api/zoo/{task}/example", params={"seed": 3}).json()
    query = {"source": drawn["source"]}
    assert drawn == reader.get(f"/api/zoo/{task}/answer", params=query).json()


async def test_places_are_those_of_the_trace(serving: Serving) -> None:
    catalog = Catalog.load({"zoo-reverse": "zoo/reverse"}, "cpu")
    async with serving(catalog=catalog) as client:
        query = {"source": "abc"}
        told = (await client.get("/api/zoo/reverse/answer", params=query)).json()
        assert told["source"] == "a b c"
        body = {"source": told["source"], "target": told["target"], "select": []}
        tokens = (await client.post("/api/trace", json=body)).json()
    source = [one["text"].strip() for one in tokens["tokens"]["source"]]
    written = [one["text"].strip() for one in tokens["output"]["tokens"]]
    looks = told["looks"]["target"]
    assert [[source[key] for key in looks[str(row)]] for row in range(3)] == [["c"], ["b"], ["a"]]
    assert written == ["c", "b", "a", "<eos>"]


@pytest.mark.parametrize(
    ("path", "status", "kind", "field"),
    [
        ("/api/zoo/dance/example", 404, "unknown-task", "task"),
        ("/api/zoo/dance/answer?source=a", 404, "unknown-task", "task"),
        ("/api/zoo/copy/example?length=33", 422, "out-of-range", "length"),
        ("/api/zoo/copy/example?length=-1", 422, "out-of-range", "length"),
        ("/api/zoo/copy/answer?source=1+2", 422, "not-of-task", "source"),
        ("/api/zoo/copy/answer", 422, "missing", "source"),
        ("/api/zoo/copy/answer?source=" + "a" * 501, 422, "too-long", "source"),
    ],
)
def test_texts_that_do_not_fit_a_task_are_refused(
    reader: httpx.Client, path: str, status: int, kind: str, field: str
) -> None:
    hold(reader.get(path), status, kind, field)

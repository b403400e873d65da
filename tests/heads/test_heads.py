"""What heads do over many sentences: over the API, and as pages."""

from pathlib import Path

import httpx
import pytest
import torch

from app.engine.model_catalog import Catalog
from model.adapters.open_model import open_model
from model.corpus.row_patterns import patterns_of
from model.measure.head_survey import survey_heads
from tests.serving.fixtures import Serving
from tests.serving.problem import hold

HEAD = "/api/models/en-zh/heads/encoder.1.self/1"


def test_every_head_is_described(reader: httpx.Client, catalog: Catalog) -> None:
    told = reader.get("/api/models/en-zh/heads").json()
    info = catalog["en-zh"].info
    heads = [(one.place, head) for one in info.attentions for head in range(one.heads)]
    assert [(one["place"], one["head"]) for one in told["heads"]] == heads
    assert told["digest"] == info.digest
    assert told["indexed"] == 70
    for one in told["heads"]:
        cross = one["place"].endswith("cross")
        assert {*one["patterns"]} == {*patterns_of(cross)}
        assert sum(held["share"] for held in one["described"]) <= 1.001
        assert len(one["similar"]) == 5
        assert one["cost"]["zero"] is not None
        assert bool(one["writes"]) <= one["place"].startswith("decoder")


def test_the_last_cross_heads_translate(reader: httpx.Client) -> None:
    told = reader.get("/api/models/en-zh/heads").json()
    [head] = [one for one in told["heads"] if (one["place"], one["head"]) == ("decoder.2.cross", 1)]
    [know] = [one for one in head["writes"] if one["token"].strip() == "know"]
    assert know["adds"][0]["token"] == "知"
    assert know["adds"][0]["logit"] > 3
    page = reader.get("/heads/en-zh/decoder.2.cross/1?lang=zh").text
    assert f"<b>知</b> +{know['adds'][0]['logit']:.2f}" in page
    assert 'class="direct-effect"' not in reader.get("/heads/en-zh/encoder.0.self/0").text


@pytest.mark.parametrize(
    "query", ["", "?key=%3Ceos%3E&weight=0.5", "?pattern=nearby&distance=1&limit=3"]
)
def test_a_found_row_is_that_of_a_trace(reader: httpx.Client, query: str) -> None:
    told = reader.get(f"{HEAD}/rows{query}").json()
    assert told["sentences"] >= len(told["found"]) > 0
    for one in told["found"][:3]:
        body = {**one["sentence"], "select": ["encoder.1.self.weights"]}
        trace = reader.post("/api/trace", json=body).json()
        weights = torch.tensor(trace["tensors"]["encoder.1.self.weights"]["data"])[1]
        row = weights[one["query"]["index"]]
        assert int(row.argmax()) == one["key"]["index"]
        assert float(row.max()) == pytest.approx(one["weight"], abs=0.5 / 255 + 1e-5)
        for side in ("query", "key"):
            assert trace["tokens"]["source"][one[side]["index"]]["text"] == one[side]["text"]


def test_examples_are_ranked(reader: httpx.Client) -> None:
    for by in ("largest", "nearby"):
        told = reader.get(f"{HEAD}/examples", params={"by": by}).json()
        values = [one["value"] for one in told["examples"]]
        assert values == sorted(values, reverse=True)
        assert len(values) == 11


@pytest.mark.parametrize(
    ("path", "status", "kind", "field"),
    [
        ("/api/models/none/heads", 404, "unknown-model", "id"),
        ("/api/models/en-zh/heads/encoder.9.self/1/rows", 404, "unknown-head", "head"),
        ("/api/models/en-zh/heads/encoder.1.self/8/examples", 404, "unknown-head", "head"),
        (f"{HEAD}/examples?by=one-word", 422, "unknown-value", "by"),
        (f"{HEAD}/rows?pattern=none", 422, "unknown-value", "pattern"),
        (
            "/api/models/en-zh/heads/decoder.0.cross/1/rows?distance=2",
            422,
            "unsupported",
            "distance",
        ),
    ],
)
def test_what_is_not_there_is_a_problem(
    reader: httpx.Client, path: str, status: int, kind: str, field: str
) -> None:
    hold(reader.get(path), status, kind, field)


async def test_an_index_of_other_weights_does_not_start(serving: Serving, tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    with pytest.raises(ValueError, match="no index"):
        async with serving(corpora=f"en-zh={tmp_path / 'corpus'}"):
            pass
    with pytest.raises(ValueError, match="not served"):
        async with serving(corpora=f"other={tmp_path / 'corpus'}"):
            pass


def test_the_list_of_models_has_the_descriptions(reader: httpx.Client) -> None:
    told = reader.get("/api/models/en-zh/heads").json()
    (model,) = reader.get("/api/models").json()
    for one in told["heads"]:
        held = [[part["pattern"], part["share"]] for part in one["described"]]
        assert model["in_general"][one["place"]][one["head"]] == held


def test_pages_have_the_numbers_without_scripts(reader: httpx.Client) -> None:
    told = reader.get("/api/models/en-zh/heads").json()
    page = reader.get("/heads/en-zh")
    assert page.status_code == 200
    assert page.text.count("<tr data-place") == len(told["heads"])
    head = next(
        one for one in told["heads"] if (one["place"], one["head"]) == ("encoder.1.self", 1)
    )
    one = reader.get("/heads/en-zh/encoder.1.self/1?lang=zh")
    assert f"附近 {head['described'][0]['share']:.2f}" in one.text
    assert f"{head['cost']['zero']:+.4f}" in one.text
    for path in ("/heads/none", "/heads/en-zh/encoder.1.self/8", "/heads/en-zh/x/0"):
        assert reader.get(path).status_code == 404


def test_pages_lead_to_the_heads_of_a_measured_model(reader: httpx.Client) -> None:
    link = 'href="/heads/en-zh?lang=en"'
    for path in ("/", "/learn", "/zoo"):
        assert link in reader.get(path).text, path
    assert link not in reader.get("/heads/en-zh?lang=en").text


async def test_heads_of_another_model_that_do_the_like(serving: Serving, tmp_path: Path) -> None:
    both = Catalog.load({"en-zh": "en-zh", "reverse": "zoo/reverse"}, "cpu")
    adapter = open_model("zoo/reverse", "cpu")
    lines = ["a b c", "f g h i j", "k l m n", "x y z a b c"]
    survey_heads(adapter, lines, tmp_path / "corpus", title="Letters", index=True)
    async with serving(both, corpora=f"reverse={tmp_path / 'corpus'}") as client:
        told = {
            name: (await client.get(f"/api/models/{name}/heads")).json()["heads"] for name in both
        }
        kinds = {one.place: (one.kind, one.mask) for one in both["reverse"].info.attentions}
        place = next(name for name, (kind, _) in kinds.items() if kind == "cross")
        [mine] = [one for one in told["reverse"] if (one["place"], one["head"]) == (place, 0)]
        address = f"/api/models/reverse/heads/{place}/0/elsewhere"
        found = (await client.get(address)).json()
        theirs = {
            (one["place"], one["head"]): sum(
                abs(share - one["patterns"][name]) for name, share in mine["patterns"].items()
            )
            / len(mine["patterns"])
            for one in told["en-zh"]
            if one["place"].endswith("cross")
        }
        nearest = sorted(theirs, key=lambda at: theirs[at])[:5]
        assert [(one["place"], one["head"]) for one in found] == nearest
        assert [one["difference"] for one in found] == pytest.approx(sorted(theirs.values())[:5])
        page = (await client.get(f"/heads/reverse/{place}/0")).text
        assert f'href="/heads/en-zh/{nearest[0][0]}/{nearest[0][1]}' in page
        unknown = await client.get("/api/models/en-zh/heads/x/0/elsewhere")
        hold(unknown, 404, "unknown-head", "head")

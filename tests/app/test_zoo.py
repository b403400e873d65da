"""The models of the zoo as the server has them: beside the others, by default."""

from pathlib import Path

import httpx
import pytest

from app.engine.catalog import Catalog
from app.settings import ZOO, Settings
from tests.app.conftest import Serving

NAMES = sorted(path.name for path in ZOO.iterdir())


def test_the_zoo_is_served_unless_it_is_not_wanted() -> None:
    assert NAMES
    assert Settings().zoo_bundles == {f"zoo-{name}": f"zoo/{name}" for name in NAMES}
    assert Settings(zoo=False).zoo_bundles == {}
    own = Settings(models="en-zh,zoo-copy=mine").zoo_bundles
    assert "zoo-copy" not in own  # the id is taken
    assert len(own) == len(NAMES) - 1


def test_a_broken_one_is_reported_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="not a model bundle"):
        Catalog.load({"en-zh": "en-zh"}, "cpu", small={"zoo-copy": str(tmp_path)})


async def test_they_stand_behind_the_default_and_say_what_they_are(serving: Serving) -> None:
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
        # Neither has made the one that counts go.
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
        assert problem["detail"] == "direction must be in-out: this model was trained in no other"

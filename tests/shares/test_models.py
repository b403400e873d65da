"""Shares with replies of another model than their own: they say which model that was."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from app.assets.bundles import script
from app.engine.model_catalog import Catalog
from app.engine.reply_formats import Reply
from tests.handouts.test_handout import unpacked
from tests.serving.fixtures import Serving

ZOO = ["encoder.0.self.weights", "encoder.0.self.mask"]
STATE = {"source": "abc", "view": "compare", "other": "model", "model_b": "zoo-copy"}
OWN = {"trace": {"source": "acb", "select": ["encoder.0.self.weights"]}}
OTHER = {"trace": {"source": "abc", "model": "zoo-copy", "select": ZOO}}
SPLIT = {"trace": {"source": "abc", "select": ["inside.score.encoder.0.self.0.1.1.parts"]}}
OCTETS = {"Accept": "application/octet-stream"}


@pytest.fixture
async def client(serving: Serving) -> AsyncIterator[httpx.AsyncClient]:
    """A client of an app with two models."""
    both = Catalog.load({"en-zh": "en-zh", "zoo-copy": "zoo/copy"}, "cpu")
    async with serving(catalog=both) as client:
        yield client


async def create(client: httpx.AsyncClient, **body: object) -> tuple[str, int]:
    response = await client.post("/api/shares", json=body)
    assert response.status_code in {200, 201}, response.text
    return response.json()["id"], response.status_code


async def test_a_reply_of_another_model_describes_it(client: httpx.AsyncClient) -> None:
    share, _ = await create(client, state=STATE, asks=[OWN, OTHER])
    path = f"/api/shares/{share}/asks"
    own = (await client.get(f"{path}/0")).json()
    assert "described" not in own
    other = (await client.get(f"{path}/1")).json()
    models = {one["id"]: one for one in (await client.get("/api/models")).json()}
    assert models["zoo-copy"].pop("in_general") == {}  # of a served model alone
    assert other["described"] == models["zoo-copy"]
    assert other["model"] == "zoo-copy"
    file = Reply.parse((await client.get(f"{path}/1", headers=OCTETS)).content)
    assert file.document["described"] == models["zoo-copy"]
    live: Any = (await client.post("/api/trace", json=OTHER["trace"])).json()
    assert {name: other["tensors"][name]["data"] for name in ZOO} == {
        name: live["tensors"][name]["data"] for name in ZOO
    }


@pytest.mark.parametrize(
    ("asks", "page"),
    [
        ([], "handout"),
        ([OWN], "handout"),
        ([OWN, OTHER], "full-handout"),
        ([SPLIT], "full-handout"),
    ],
)
async def test_a_handout_has_no_modules_that_it_does_not_need(
    client: httpx.AsyncClient, asks: list[dict[str, Any]], page: str
) -> None:
    body = {"state": {"source": "abc"}, "asks": asks}
    direct = (await client.post("/api/handout", json=body)).text
    share = (await client.post("/api/shares", json=body)).json()["id"]
    kept = (await client.get(f"/s/{share}/handout.html")).text
    assert [unpacked(one, "script").decode() for one in (direct, kept)] == [script(page)] * 2


async def test_the_same_share_is_found_again(client: httpx.AsyncClient) -> None:
    first, made = await create(client, state=STATE, asks=[OTHER])
    again, found = await create(client, state=STATE, asks=[OTHER])
    assert (first, made, found) == (again, 201, 200)
    alone, _ = await create(client, state=STATE)
    assert alone != first

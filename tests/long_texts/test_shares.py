"""Shares and handouts of long texts: pictures of all heads, and windows of some, are stored."""

import io
from collections.abc import AsyncIterator
from typing import Any

import httpx
import numpy as np
import pytest
from PIL import Image

from app.assets.bundles import script
from app.engine.model_catalog import Catalog
from app.engine.reply_formats import Reply
from app.figures.heatmap import colours
from app.shares.schemas import ShareReply
from tests.handouts.test_handout import unpacked
from tests.long_texts.test_texts import OCTETS, TEXT
from tests.model.tiny_huggingface import make
from tests.serving.fixtures import Serving
from tests.serving.problem import hold

pytest.importorskip("transformers")

STATE = {"text": TEXT, "model": "gpt2", "view": "attention", "layer": 1, "head": 2, "query": 17}
EDGES = {"query": [0, 4, 11, 20], "key": [0, 6, 20]}
TILES: list[dict[str, Any]] = [
    {"at": "decoder.1.self", "head": 2, "query": [0, 16], "key": [0, 16], "cells": [4, 8]},
    {"at": "decoder.1.self", "head": 2, "query": [17, 18], "key": [0, 24]},
    {"at": "decoder.0.self", "head": 0, "edges": EDGES},
]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    root = tmp_path_factory.mktemp("models")
    names = {name: f"hf:{make(name, root / name)}" for name in ("gpt2", "bloom", "bart")}
    return Catalog.load(names, "cpu", 4)


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test's text counts as a long one."""
    monkeypatch.setattr("app.long_texts.routes.MAX_TOKENS", 20)


@pytest.fixture
async def client(serving: Serving, small: Catalog) -> AsyncIterator[httpx.AsyncClient]:
    async with serving(catalog=small) as client:
        yield client


async def create(client: httpx.AsyncClient, **body: Any) -> str:
    reply = await client.post("/api/shares", json={"state": STATE, "tiles": TILES, **body})
    assert reply.status_code == 201, reply.text
    return str(reply.json()["id"])


async def read(client: httpx.AsyncClient, share: str) -> Reply:
    return Reply.parse((await client.get(f"/api/shares/{share}", headers=OCTETS)).content)


async def live(client: httpx.AsyncClient, path: str, **asked: Any) -> Reply:
    body = {"text": TEXT, "model": "gpt2", **asked}
    return Reply.parse((await client.post(f"/api/{path}", json=body, headers=OCTETS)).content)


async def test_it_stores_all_heads_and_the_windows(client: httpx.AsyncClient) -> None:
    frozen = await read(client, await create(client))
    seen = await live(client, "overview", cells=64, dtype="uint8")
    assert frozen.document["tokens"] == seen.document["tokens"]
    for name, picture in seen.arrays.items():
        np.testing.assert_array_equal(frozen.arrays[name], picture)
    for n, window in enumerate(TILES):
        one = await live(client, "tile", **window)
        ((name, about),) = one.document["tensors"].items()
        np.testing.assert_array_equal(frozen.arrays[f"tile.{n}"], one.arrays[name])
        assert frozen.document["tensors"][f"tile.{n}"] == {**about, "at": window["at"]}
    assert len(frozen.arrays) == len(seen.arrays) + len(TILES)


async def test_it_opens_when_the_model_is_gone(serving: Serving, small: Catalog) -> None:
    async with serving(catalog=small) as client:
        share = await create(client)
        before = await read(client, share)
    async with serving() as client:
        after = await read(client, share)
        told = (await client.get(f"/api/shares/{share}")).json()
        ShareReply.model_validate(told)
        assert told["trace"]["tensors"]["tile.2"]["edges"] == EDGES
        page = await client.get(f"/s/{share}")
        assert page.status_code == 200
        kept = await client.get(f"/s/{share}/handout.html")
        assert kept.status_code == 200
    assert after.arrays.keys() == before.arrays.keys()
    for name, values in before.arrays.items():
        np.testing.assert_array_equal(after.arrays[name], values)


async def test_two_texts(client: httpx.AsyncClient) -> None:
    state = {"source": TEXT, "target": "A dog", "model": "bart", "block": "cross", "layer": 1}
    window = {"at": "decoder.1.cross", "head": 1, "query": [0, 2], "key": [0, 9]}
    frozen = await read(client, await create(client, state=state, tiles=[window]))
    assert {name.rpartition(".weights")[0] for name in frozen.arrays} == {
        "",
        *(f"encoder.{n}.self" for n in (0, 1)),
        *(f"decoder.{n}.{kind}" for n in (0, 1, 2) for kind in ("self", "cross")),
    }
    assert frozen.arrays["tile.0"].shape == (2, 9)
    assert frozen.document["output"]["text"] == "A dog"


async def test_its_preview_shows_the_pictures(client: httpx.AsyncClient) -> None:
    share = await create(client)
    frozen = await read(client, share)
    steps = frozen.arrays["decoder.1.self.weights.max"][2]
    reply = await client.get(f"/s/{share}/preview.png")
    picture = np.asarray(Image.open(io.BytesIO(reply.content)).convert("RGB"))
    pixels = {tuple(pixel) for pixel in picture.reshape(-1, 3).tolist()}
    strong = np.argwhere((steps > 60) & (steps < 255))
    assert len(strong) > 3
    drawn = colours(steps / 254)
    for row, column in strong:
        assert tuple(drawn[row, column].tolist()) in pixels


GOOD = TILES[0]
REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"state": {**STATE, "model": "bloom"}}, "state.text", "unsupported"),
    ({"state": {**STATE, "query": 40}}, "state.query", "out-of-range"),
    ({"state": {**STATE, "pad_to": 30}}, "state.pad_to", "unsupported"),
    (
        {"state": {**STATE, "interventions": [{"at": "decoder.0.self", "head": 0, "do": "zero"}]}},
        "state.interventions",
        "unsupported",
    ),
    ({"tiles": [GOOD, {**GOOD, "head": 4}]}, "tiles[1].head", "out-of-range"),
    ({"tiles": [GOOD, {**GOOD, "at": "encoder.0.self"}]}, "tiles[1].at", "out-of-range"),
    ({"tiles": [GOOD, {**GOOD, "query": [3, 99]}]}, "tiles[1].query[1]", "out-of-range"),
    ({"tiles": [{**GOOD, "cells": [0, 3]}]}, "tiles[0].cells", "out-of-range"),
    ({"tiles": [GOOD] * 65}, "tiles", "too-long"),
    ({"select": ["*.q"]}, "select", "unsupported"),
    ({"about": {"predict": "looks"}}, "about.predict", "unsupported"),
    ({"state": {**STATE, "text": "The cat", "query": 0}}, "tiles", "unsupported"),
]


@pytest.mark.parametrize(("body", "field", "kind"), REFUSED)
async def test_what_cannot_be_stored_is_refused(
    client: httpx.AsyncClient, body: dict[str, Any], field: str, kind: str
) -> None:
    sent = {"state": STATE, "tiles": TILES, **body}
    hold(await client.post("/api/shares", json=sent), 422, kind, field)


async def test_its_numbers_are_limited(serving: Serving, small: Catalog) -> None:
    async with serving(catalog=small, max_values=100_000) as client:
        frozen = await read(client, await create(client, about={"title": "First"}))
    whole = frozen.values
    async with serving(catalog=small, max_values=whole - 1) as client:
        reply = await client.post("/api/shares", json={"state": STATE, "tiles": TILES})
        problem = hold(reply, 422, "reply-too-large", None)
        assert problem["limit"] == whole - 1
    async with serving(catalog=small, max_values=whole) as client:
        await create(client)


async def test_a_handout_has_the_same(client: httpx.AsyncClient) -> None:
    body = {"state": STATE, "tiles": TILES}
    with_tiles = await client.post("/api/handout", json=body)
    without = await client.post("/api/handout", json={"state": STATE})
    assert with_tiles.status_code == without.status_code == 200
    assert len(with_tiles.content) > len(without.content)
    page = unpacked(with_tiles.text, "script").decode()
    assert page == script("long-handout"), "with the map of long texts"
    hold(
        await client.post("/api/handout", json={**body, "tiles": [{**GOOD, "head": 9}]}),
        422,
        "out-of-range",
        "tiles[0].head",
    )

"""POST /api/overview and /api/tile: pictures of attention over a long text."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import httpx
import numpy as np
import pytest

from app.engine.model_catalog import Catalog
from app.engine.reply_formats import Reply
from app.long_texts.schemas import OverviewReply, TileReply
from tests.model.tiny_huggingface import make
from tests.serving.fixtures import Serving
from tests.serving.problem import hold

pytest.importorskip("transformers")

OCTETS = {"Accept": "application/octet-stream"}
TEXT = "The cat sat on the mat. A dog ran after the cat, and it didn't stop."
MODELS = ("gpt2", "mistral", "bloom", "bart")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    root = tmp_path_factory.mktemp("models")
    return Catalog.load({name: f"hf:{make(name, root / name)}" for name in MODELS}, "cpu", 4)


@pytest.fixture
async def client(serving: Serving, small: Catalog) -> AsyncIterator[httpx.AsyncClient]:
    async with serving(catalog=small) as client:
        yield client


async def send(client: httpx.AsyncClient, path: str, **asked: Any) -> Reply:
    body = {"text": TEXT, "model": "gpt2", **asked}
    reply = await client.post(f"/api/{path}", json=body, headers=OCTETS)
    assert reply.status_code == 200, reply.text
    return Reply.parse(reply.content)


async def weights(client: httpx.AsyncClient, place: str, **asked: Any) -> Any:
    """Return the weights of a trace, NaN where masked."""
    body = {"text": TEXT, "model": "gpt2", "select": [f"{place}.weights", f"{place}.mask"], **asked}
    trace = Reply.parse((await client.post("/api/trace", json=body, headers=OCTETS)).content)
    return np.where(trace.arrays[f"{place}.mask"], trace.arrays[f"{place}.weights"], np.nan)


def pooled(values: Any, tall: int, wide: int) -> Any:
    rows, columns = values.shape[-2:]
    cells = [
        [values[..., a : a + tall, c : c + wide] for c in range(0, columns, wide)]
        for a in range(0, rows, tall)
    ]
    filled = [[np.nan_to_num(one, nan=-1).max((-1, -2)) for one in row] for row in cells]
    found = np.moveaxis(np.array(filled), (0, 1), (-2, -1))
    return np.where(found < 0, np.nan, found)


@pytest.mark.parametrize("model", ["gpt2", "mistral"])
async def test_an_overview_is_the_trace_in_larger_cells(
    client: httpx.AsyncClient, model: str
) -> None:
    found = await send(client, "overview", cells=9, model=model)
    assert [*found.document["tensors"]] == [f"decoder.{n}.self.weights.max" for n in (0, 1)]
    about = found.document["tensors"]["decoder.1.self.weights.max"]
    tokens = len(found.document["tokens"]["text"])
    side = -(-tokens // 9)
    assert about["span"] == {"query": side, "key": side}
    assert about["dims"] == ["head", "query_cell", "key_cell"]
    assert (about["dtype"], about["over"]) == ("float16", {"query": "text", "key": "text"})
    expected = pooled(await weights(client, "decoder.1.self", model=model), side, side)
    np.testing.assert_allclose(
        found.arrays["decoder.1.self.weights.max"], expected, rtol=4e-3, atol=1e-6
    )


async def test_bytes_tell_hidden_cells(client: httpx.AsyncClient) -> None:
    found = await send(client, "overview", cells=9, dtype="uint8", select=["decoder.0.*"])
    fine = await send(client, "overview", cells=9, dtype="float32", select=["decoder.0.*"])
    (steps,), (exact,) = found.arrays.values(), fine.arrays.values()
    assert steps.dtype == np.uint8
    assert ((steps == 255) == np.isnan(exact)).all()
    np.testing.assert_allclose(steps[steps < 255] / 254, exact[steps < 255], atol=0.5 / 254)


async def test_a_tile_is_a_window_of_the_trace(client: httpx.AsyncClient) -> None:
    expected = await weights(client, "decoder.1.self")
    window = {"at": "decoder.1.self", "head": 2, "query": [5, 20], "key": [3, 17]}
    found = await send(client, "tile", **window)
    about = found.document["tensors"]["decoder.1.self.weights.max"]
    assert (about["head"], about["query"], about["key"]) == (2, [5, 20], [3, 17])
    assert about["span"] == {"query": 1, "key": 1}
    exact = expected[2, 5:20, 3:17]
    np.testing.assert_allclose(
        found.arrays["decoder.1.self.weights.max"], exact, rtol=4e-3, atol=1e-6
    )
    found = await send(client, "tile", **window, cells=[4, 7])
    np.testing.assert_allclose(
        found.arrays["decoder.1.self.weights.max"], pooled(exact, 4, 2), rtol=4e-3, atol=1e-6
    )
    row = await send(client, "tile", at="decoder.1.self", head=0, query=[7, 8])
    np.testing.assert_allclose(
        row.arrays["decoder.1.self.weights.max"], expected[0, 7:8], rtol=4e-3, atol=1e-6
    )


async def test_groups_of_tokens_share_attention(client: httpx.AsyncClient) -> None:
    expected = np.nan_to_num(await weights(client, "decoder.0.self"))[1]
    edges = {"query": [0, 4, 11], "key": [0, 6, 20]}
    found = await send(client, "tile", at="decoder.0.self", head=1, edges=edges)
    (values,) = found.arrays.values()
    sums = [expected[a:b, :6].sum(-1).mean() for a, b in ((0, 4), (4, 11))]
    np.testing.assert_allclose(values[:, 0], sums, rtol=4e-3)
    assert np.isnan(values[0, 1])  # later than every query of the group


async def test_two_texts_have_pictures_of_each_attention(client: httpx.AsyncClient) -> None:
    body = {"source": TEXT, "target": "A dog", "model": "bart", "select": ["decoder.1.cross"]}
    reply = await client.post("/api/overview", json=body)
    found = OverviewReply.model_validate(reply.json()).model_dump()
    tensor = found["tensors"]["decoder.1.cross.weights.max"]
    assert tensor["over"] == {"query": "target", "key": "source"}
    lengths = [len(found["tokens"][name]) for name in ("target", "source")]
    assert tensor["shape"][1:] == lengths
    assert found["output"]["text"] == "A dog"


async def test_json_is_as_the_reference_says(client: httpx.AsyncClient) -> None:
    body = {"text": TEXT, "model": "gpt2", "at": "decoder.0.self", "head": 0}
    found = (await client.post("/api/tile", json=body)).json()
    TileReply.model_validate(found)
    assert found["tensors"]["decoder.0.self.weights.max"]["data"][0][1] is None


REFUSED: list[tuple[str, dict[str, Any], str, str]] = [
    ("overview", {"select": ["encoder.*"]}, "select[0]", "unknown-tensor"),
    ("overview", {"cells": 0}, "cells", "out-of-range"),
    ("overview", {"cells": 600}, "cells", "out-of-range"),
    ("overview", {"dtype": "int8"}, "dtype", "unknown-value"),
    ("overview", {"model": "bloom"}, "model", "unsupported"),
    ("overview", {"text": ""}, "text", "empty-text"),
    (
        "overview",
        {"interventions": [{"at": "decoder.0.self", "head": 0, "do": "zero"}]},
        "interventions",
        "unsupported",
    ),
    ("tile", {"at": "decoder.7.self", "head": 0}, "at", "out-of-range"),
    ("tile", {"at": "decoder.0.self", "head": 4}, "head", "out-of-range"),
    ("tile", {"at": "decoder.0.self", "head": 0, "query": [3, 99]}, "query[1]", "out-of-range"),
    ("tile", {"at": "decoder.0.self", "head": 0, "key": [3, 3]}, "key[1]", "out-of-range"),
    ("tile", {"at": "decoder.0.self", "head": 0, "cells": [0, 3]}, "cells", "out-of-range"),
    (
        "tile",
        {"at": "decoder.0.self", "head": 0, "edges": {"query": [0, 5], "key": [4, 4]}},
        "edges.key[1]",
        "out-of-range",
    ),
    (
        "tile",
        {
            "at": "decoder.0.self",
            "head": 0,
            "query": [0, 3],
            "edges": {"query": [0, 5], "key": [4, 9]},
        },
        "query",
        "unknown-field",
    ),
]


@pytest.mark.parametrize(("path", "asked", "field", "kind"), REFUSED)
async def test_what_does_not_exist_is_refused(
    client: httpx.AsyncClient, path: str, asked: dict[str, Any], field: str, kind: str
) -> None:
    body = {"text": TEXT, "model": "gpt2", **asked}
    hold(await client.post(f"/api/{path}", json=body), 422, kind, field)


async def test_a_reply_too_large_is_refused_before_it_is_computed(
    serving: Serving, small: Catalog
) -> None:
    async with serving(catalog=small, max_values=1_000) as client:
        body = {"text": TEXT, "model": "gpt2"}
        reply = await client.post("/api/overview", json=body)
        problem = hold(reply, 422, "reply-too-large", "select")
        assert problem["limit"] == 250


async def test_a_pass_is_run_once_for_all_looks(
    serving: Serving, small: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []
    adapter = small["gpt2"]
    run = adapter.read_long

    def counted(request: Any, dtype: Any) -> Any:
        ran.append(request.source)
        return run(request, dtype)

    monkeypatch.setattr(adapter, "read_long", counted)
    looks = [{"at": "decoder.0.self", "head": n} for n in range(4)]
    async with serving(catalog=small) as client:
        text = TEXT + " Once."
        await send(client, "overview", text=text)
        await asyncio.gather(*(send(client, "tile", text=text, **one) for one in looks))
        assert ran == [text]
        await send(client, "overview", text=TEXT + " Twice.")
        assert len(ran) == 2


async def test_tokens_alone_need_no_run(
    client: httpx.AsyncClient, small: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in MODELS:
        monkeypatch.setattr(small[name], "run", None)
        field = "source" if name == "bart" else "text"
        body = {field: TEXT, "model": name, "select": []}
        reply = await client.post("/api/overview", json=body)
        assert reply.status_code == 200, reply.text
        found = reply.json()
        assert "".join(one["text"] for one in found["tokens"][field]) == TEXT
        assert found["tensors"] == {}


async def test_a_text_too_long_says_how_much_fits(client: httpx.AsyncClient) -> None:
    for path, text in (("overview", TEXT * 5), ("trace", TEXT * 6)):
        body = {"text": text, "model": "gpt2"}
        problem = hold(await client.post(f"/api/{path}", json=body), 422, "text-too-long", "text")
        assert (problem["unit"], problem["limit"]) == ("tokens", 64)
        cut = text[: problem["fits"]]
        assert text.startswith(cut + " ")
        kept = await client.post("/api/overview", json={**body, "text": cut, "select": []})
        assert 55 < len(kept.json()["tokens"]["text"]) <= 64


async def test_a_longer_text_than_the_settings_allow(serving: Serving, small: Catalog) -> None:
    async with serving(catalog=small, max_long_characters=20) as client:
        reply = await client.post("/api/overview", json={"text": TEXT, "model": "gpt2"})
        problem = hold(reply, 422, "text-too-long", "text")
        assert (problem["unit"], problem["fits"]) == ("characters", 20)
    async with serving(catalog=small, max_text_characters=30) as client:  # 16 for each of 64 tokens
        reply = await client.post("/api/overview", json={"text": "! " * 513, "model": "gpt2"})
        problem = hold(reply, 422, "text-too-long", "text")
        assert (problem["unit"], problem["fits"]) == ("characters", 1024)


async def test_a_chat_is_another_text(
    serving: Serving, small: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = []
    adapter = small["gpt2"]
    run = adapter.long

    def told(request: Any, dtype: Any) -> Any:
        read.append(request.chat)
        return run(replace(request, chat=False), dtype)

    monkeypatch.setattr(adapter, "long", told)
    async with serving(catalog=small) as client:
        for chat in (False, True):
            await send(client, "tile", text=TEXT + " Both.", at="decoder.0.self", head=0, chat=chat)
    assert read == [False, True], "the pass of one must not answer the other"

"""Progress of a long text's pass, over a real socket: it is told, and the pass can be stopped."""

import asyncio
import base64
import json
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import uvicorn

from app.assets.static_files import Vendor
from app.engine.model_catalog import Catalog
from app.engine.reply_formats import Reply
from app.main import create_app
from app.settings import Settings
from model.long.long_attention import LongAttention
from model.progress import StoppedError, go_on
from tests.model.tiny_huggingface import make
from tests.servers import PATIENCE, free_port
from tests.serving.live import until
from tests.serving.problem import hold

pytest.importorskip("transformers")

TEXT = "The cat sat on the mat. A dog ran after the cat, and it didn't stop."
LINES = {"Accept": "application/x-ndjson"}
OCTETS = {"Accept": "application/octet-stream"}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    folder = tmp_path_factory.mktemp("models") / "gpt2"
    return Catalog.load({"gpt2": f"hf:{make('gpt2', folder)}"}, "cpu", 4)


@asynccontextmanager
async def serving(catalog: Catalog, data: Path) -> AsyncIterator[httpx.AsyncClient]:
    app = create_app(Settings(data_dir=data), catalog)
    server = uvicorn.Server(uvicorn.Config(app, port=free_port(), log_level="error"))
    running = asyncio.create_task(server.serve())
    await until(lambda: server.started)
    url = f"http://127.0.0.1:{server.config.port}"
    try:
        async with httpx.AsyncClient(base_url=url, timeout=PATIENCE) as client:
            yield client
    finally:
        server.should_exit = True
        await running


class Gate:
    """A model whose passes wait in their first layer until the gate is open."""

    def __init__(self, adapter: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        self.opened = threading.Event()
        self.stopped = threading.Event()
        self.passes = 0
        keep, run = LongAttention.keep, adapter.read_long

        def waiting(*given: Any) -> LongAttention:
            while not self.opened.wait(0.02):
                try:
                    go_on()
                except StoppedError:
                    self.stopped.set()
                    raise
            return keep(*given)

        def counted(request: Any, dtype: Any) -> Any:
            self.passes += 1
            return run(request, dtype)

        monkeypatch.setattr(LongAttention, "keep", waiting)
        monkeypatch.setattr(adapter, "read_long", counted)


@pytest.fixture
def gate(small: Catalog, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    monkeypatch.setattr("app.long_texts.routes.TELL_SECONDS", 0.05)
    monkeypatch.setattr(Vendor, "compress", lambda _: None)
    gate = Gate(small["gpt2"], monkeypatch)
    yield gate
    gate.opened.set()


def body(text: str, **more: Any) -> dict[str, Any]:
    return {"text": text, "model": "gpt2", "cells": 9, **more}


async def watched(client: httpx.AsyncClient, text: str) -> AsyncGenerator[dict[str, Any]]:
    sent = client.stream("POST", "/api/overview", json=body(text), headers=LINES)
    async with sent as reply:
        assert reply.status_code == 200
        async for one in reply.aiter_lines():
            yield json.loads(one)


async def test_progress_is_told_and_the_reply_is_the_same(
    small: Catalog, gate: Gate, tmp_path: Path
) -> None:
    async with serving(small, tmp_path) as client:
        seen = list[dict[str, Any]]()
        async for one in watched(client, TEXT):
            seen.append(one)
            if one.get("progress", {}).get("of"):
                gate.opened.set()
        reply = await client.post("/api/overview", json=body(TEXT), headers=OCTETS)
    told = [one["progress"] for one in seen[:-1]]
    assert told[0]["phase"] in ("queue", "pass")
    assert {"phase": "pass", "done": 0, "of": 2}.items() <= told[-1].items()
    assert 0 < told[-1]["seconds"] < 60
    plain = Reply.parse(reply.content)
    found = Reply.parse(base64.b64decode(seen[-1]["end"]["file"]))
    assert found.document == plain.document
    assert found.arrays.keys() == plain.arrays.keys()
    for name, array in plain.arrays.items():
        np.testing.assert_array_equal(found.arrays[name], array)
    assert gate.passes == 1


async def test_watchers_share_a_pass_that_stops_with_the_last(
    small: Catalog, gate: Gate, tmp_path: Path
) -> None:
    async with serving(small, tmp_path) as client:
        first, second = (watched(client, TEXT + " Left.") for _ in range(2))
        assert [(await anext(one)).keys() for one in (first, second)] == [{"progress"}] * 2
        await first.aclose()
        for _ in range(5):
            await anext(second)
        assert not gate.stopped.is_set()
        await second.aclose()
        assert await asyncio.to_thread(gate.stopped.wait, 10)
        assert gate.passes == 1


async def test_an_error_ends_the_stream(
    small: Catalog, gate: Gate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise ValueError

    monkeypatch.setattr("app.engine.long_text_pictures.overview", fails)
    async with serving(small, tmp_path) as client:
        watching = watched(client, TEXT + " Fails.")
        await anext(watching)
        gate.opened.set()
        *_, last = [one async for one in watching]
        assert last["error"]["status"] == 500


async def test_bad_input_is_refused_before_the_stream(small: Catalog, tmp_path: Path) -> None:
    async with serving(small, tmp_path) as client:
        wrong = body(TEXT, select=["encoder.*"])
        reply = await client.post("/api/overview", json=wrong, headers=LINES)
        hold(reply, 422, "unknown-tensor", "select[0]")

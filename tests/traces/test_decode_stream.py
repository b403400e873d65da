"""The lines of POST /api/decode on the wire: sent at once, and no work after a disconnect."""

import asyncio
import json
import zlib
from collections.abc import Callable

import pytest
import zstandard

from app.traces.schemas import DecodeLine
from tests.servers import PATIENCE
from tests.serving.live import Live, until


async def test_a_disconnect_stops_the_work(live: Live) -> None:
    live.model.go.set()
    reader, writer = await live.send("endless", "/api/decode")
    for _ in range(30):
        await reader.readline()
    writer.close()
    await until(lambda: live.engine.streams == 0)
    taken = live.model.steps
    await asyncio.sleep(0.1)
    assert live.model.steps == taken
    assert live.engine.waiting == 0


async def test_a_disconnect_before_the_first_step_leaves_the_queue(live: Live) -> None:
    _, first = await live.send("first")
    await until(live.model.started.is_set)
    _, leaver = await live.send("leaver", "/api/decode")
    await until(lambda: live.engine.streams == 1)
    leaver.close()
    await until(lambda: live.engine.streams == 0)
    live.model.go.set()
    await until(lambda: live.engine.waiting == 0)
    assert live.model.steps == 0
    first.close()


async def test_other_requests_are_answered_during_a_stream(live: Live) -> None:
    live.model.go.set()
    _, endless = await live.send("endless", "/api/decode")
    await until(lambda: live.model.steps > 3)
    reader, writer = await live.send("short")
    async with asyncio.timeout(PATIENCE):
        assert b"200 OK" in await reader.readline()
    assert live.engine.streams == 1
    endless.close()
    writer.close()


async def test_an_error_during_a_stream_is_the_last_line(live: Live) -> None:
    live.model.go.set()
    reader, writer = await live.send("poison", "/api/decode")
    body = (await reader.read()).split(b"\r\n\r\n", 1)[1]
    lines = [json.loads(line) for line in body.splitlines() if line.startswith(b"{")]
    assert [next(iter(line)) for line in lines] == ["start", "step", "step", "error"]
    problem = DecodeLine.model_validate(lines[-1]).error
    assert problem is not None
    assert (problem.status, problem.type) == (500, "urn:headlight:internal")
    assert "poison" not in problem.detail
    writer.close()


@pytest.mark.parametrize("encoding", ["identity", "gzip", "zstd"])
async def test_lines_are_sent_at_once(live: Live, encoding: str) -> None:
    """The first line arrives completely before the model takes the first step."""
    reader, writer = await live.send("hello", "/api/decode", encoding)
    unzip = zlib.decompressobj(31)
    unpackers: dict[str, Callable[[bytes], bytes]] = {
        "identity": bytes,
        "gzip": lambda data: unzip.decompress(data),
        "zstd": zstandard.ZstdDecompressor().decompressobj().decompress,
    }
    unpack = unpackers[encoding]
    head = await reader.readuntil(b"\r\n\r\n")
    assert (b"content-encoding: " + encoding.encode() in head) == (encoding != "identity")
    told = b""
    async with asyncio.timeout(PATIENCE):
        while not told.endswith(b"\n"):
            size = int(await reader.readline(), 16)
            told += unpack((await reader.readexactly(size + 2))[:-2])
    assert json.loads(told).keys() == {"start"}
    assert live.model.steps == 0
    writer.close()

"""Behaviour that needs a real socket: disconnecting clients, and a server that is stopped."""

import asyncio

import pytest

from tests.serving.live import Live, until


async def test_a_disconnected_client_leaves_the_queue(live: Live) -> None:
    reader, writer = await live.send("first")
    await until(live.model.started.is_set)
    _, leaver = await live.send("leaver")
    await until(lambda: live.engine.waiting == 1)
    leaver.close()
    await until(lambda: live.engine.waiting == 0)
    live.model.go.set()
    assert b"200 OK" in await reader.readline()
    writer.close()
    assert live.model.batches == [["first"]]


async def test_shutdown_waits_for_running_requests(live: Live) -> None:
    reader, writer = await live.send("first")
    await until(live.model.started.is_set)
    live.server.should_exit = True
    await asyncio.sleep(0.2)
    live.model.go.set()
    assert b"200 OK" in await reader.readline()
    writer.close()
    with pytest.raises(OSError, match="Connect call failed"):
        await asyncio.open_connection("127.0.0.1", live.port)

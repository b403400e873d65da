"""Following a room over server-sent events."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from tests.rooms.room_client import LINK, Room, opened
from tests.servers import PATIENCE, AppServer


@asynccontextmanager
async def opened_at(server: AppServer) -> AsyncIterator[Room]:
    """Open a room on a server."""
    async with httpx.AsyncClient(base_url=server.url, trust_env=False, timeout=PATIENCE) as client:
        yield await opened(client)


@asynccontextmanager
async def following(url: str, **query: str) -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
    """Open a stream; yield its states."""

    async def states(reply: httpx.Response) -> AsyncIterator[dict[str, Any]]:
        async for line in reply.aiter_lines():
            if line.startswith("data: "):
                yield json.loads(line.removeprefix("data: "))

    async with (
        httpx.AsyncClient(trust_env=False, timeout=PATIENCE) as client,
        client.stream("GET", f"{url}/events", params=query) as reply,
    ):
        assert reply.status_code == 200
        assert reply.headers["content-type"].startswith("text/event-stream")
        assert "content-encoding" not in reply.headers
        yield states(reply)


async def test_a_member_is_in_step_once_it_was_sent_the_newest_state(
    live_server: AppServer,
) -> None:
    async with opened_at(live_server) as room:
        url = live_server.url + room.path

        async def in_step() -> tuple[int, int]:
            counts = await room.read("/class")
            return counts["in_step"], counts["following"]

        async with (
            following(url, member="abcdefgh") as states,
            following(url, member="ijk-exploring", exploring="true") as others,
        ):
            await anext(states)
            await anext(others)
            assert await in_step() == (1, 1)
            # A poller has what it says that it has.
            await room.enter("pollers-pc")
            assert await in_step() == (1, 2)
            later = room.anyone.read("/state?member=pollers-pc&since=1")
            waiting = asyncio.create_task(later)
            while await in_step() != (2, 2):
                await asyncio.sleep(0.02)
            await room.present("/lab")
            await anext(states)
            assert (await waiting)["seq"] == 2
            while await in_step() != (1, 2):  # the poller has not come back yet
                await asyncio.sleep(0.02)


async def test_events_bring_the_present_state_then_each_change_until_the_end(
    live_server: AppServer,
) -> None:
    async with opened_at(live_server) as room:
        url = live_server.url + room.path
        async with (
            following(url, member="abcdefgh") as states,
            following(url, member="ijklmnop", exploring="true") as others,
            following(url) as screen,
        ):
            for each in (states, others, screen):
                assert (await anext(each))["link"] == LINK
            assert await room.read("/class") == {
                "seq": 1, "joined": 2, "following": 1, "in_step": 1, "exploring": 1, "answered": 0,
            }  # fmt: skip
            await room.present("/lab")
            assert [(await anext(each))["seq"] for each in (states, others, screen)] == [2, 2, 2]
            await room.ask({"entry": "choice", "ask": {"kind": "looks", "link": "", "row": 0}})
            event = await anext(states)
            assert event == await room.state()
            assert event["question"]["ask"].keys() == {"kind", "link", "page", "row", "words"}
            await room.delete()
            assert (await anext(states))["over"]
            with pytest.raises(StopAsyncIteration):
                await anext(states)


async def test_the_stream_begins_with_padding(live_server: AppServer) -> None:
    async with (
        opened_at(live_server) as room,
        room.client.stream("GET", f"{room.path}/events") as reply,
    ):
        first = await anext(reply.aiter_bytes())
        assert len(first) > 2048
        assert first.startswith(b": ")


async def test_a_slow_reader_gets_the_latest_state_and_no_backlog(
    launch: Callable[..., AppServer],
) -> None:
    server = launch(max_room_changes_per_second="1000", max_stall_seconds="60")
    async with opened_at(server) as room:
        # The kernel buffers little for this reader: 4 kB, and what the server's side may have.
        listening = ("127.0.0.1", int(server.url.rsplit(":")[-1]))
        slow = socket.socket()
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect(listening)
        reader, writer = await asyncio.open_connection(sock=slow, limit=4096)
        writer.write(f"GET {room.path}/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        await writer.drain()
        changes, size = 600, 15_000
        for n in range(changes):
            await room.present(f"/?source={'x' * size}&n={n}")
        received = bytearray()
        async with asyncio.timeout(PATIENCE):
            while f"n={changes - 1}".encode() not in received[-size * 2 :]:
                received += await reader.read(65536)
        # The kernel buffers up to 4 MB of the 9; nothing else is kept for this reader.
        assert received.count(b"data: ") < changes * 0.7
        writer.close()


async def test_a_stopping_server_ends_its_streams(launch: Callable[..., AppServer]) -> None:
    server = launch()
    async with opened_at(server) as room:
        pass
    async with following(server.url + room.path) as states:
        await anext(states)
        stopping = asyncio.create_task(asyncio.to_thread(server.stop))
        async with asyncio.timeout(PATIENCE):
            with pytest.raises(StopAsyncIteration):
                await anext(states)
        await stopping

"""Rooms over HTTP: a client, and a room that it opened."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from app.rooms.room import CODE_LENGTH
from tests.serving.fixtures import Serving

LINK = "/?source=Hi&layer=1"
STRANGER = {"Authorization": "Bearer " + "a" * 26}


@pytest.fixture
async def client(
    serving: Serving, rooms_url: str | None, empty_database: Path, tmp_path: Path
) -> AsyncIterator[httpx.AsyncClient]:
    """A client of an app whose rooms are in memory, or in Redis."""
    shutil.copy(empty_database, tmp_path)
    async with serving(rooms_url=rooms_url) as client:
        yield client


@asynccontextmanager
async def came_from(client: httpx.AsyncClient, address: str) -> AsyncIterator[httpx.AsyncClient]:
    """Open a client of the same app at another address."""
    transport = client._transport
    assert isinstance(transport, httpx.ASGITransport)
    other = httpx.ASGITransport(transport.app, client=(address, 1))
    async with httpx.AsyncClient(transport=other, base_url=client.base_url) as made:
        yield made


async def opened(client: httpx.AsyncClient, link: str = LINK) -> tuple[str, dict[str, str]]:
    """Open a room; return its address in the API and the headers of its owner."""
    reply = await client.post("/api/rooms", json={"state": {"link": link}})
    assert reply.status_code == 201, reply.text
    made = reply.json()
    assert len(made["code"]) == CODE_LENGTH
    assert made["url"].endswith(f"/room/{made['code']}")
    assert reply.headers["cache-control"] == "no-store"
    return f"/api/rooms/{made['code']}", {"Authorization": f"Bearer {made['key']}"}

"""Clients of a long load: they type, sweep, share, disconnect early, or do not read.

Each is a coroutine that does one round of such a client's work and returns the statuses that it
got. A reply that a client must not get raises `UnexpectedError`.
"""

import asyncio
import json
import random
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx

from tests.shipped_head_counts import IN_ENCODER

WORDS = ["the", "cat", "sat", "on", "a", "mat", "and", "looked", "at", "every", "bird", "old"]
LATER = {429, 503}  # a server under load may say so
STALLED_SECONDS = 10.0
LINES_READ = 2  # lines read before disconnecting


class UnexpectedError(Exception):
    """A client got a reply that it must not get."""


Client = Callable[[httpx.AsyncClient, random.Random], Awaitable[list[int]]]


def sentence(chance: random.Random, most: int = 12) -> str:
    """Return a sentence that has probably not been sent before."""
    return " ".join(chance.choices(WORDS, k=chance.randint(1, most)))


def held(response: httpx.Response, *statuses: int) -> int:
    """Return the status, which must be one of these, or say that the server is busy."""
    if response.status_code not in {*statuses, *LATER}:
        raise UnexpectedError(f"{response.request.url}: {response.status_code} {response.text}")
    return response.status_code


async def typing(client: httpx.AsyncClient, chance: random.Random) -> list[int]:
    """Send a sentence after every third letter, as the page does."""
    text, seen = sentence(chance, 5), list[int]()
    for end in range(1, len(text) + 1, 3):
        body = {"source": text[:end], "select": ["*.weights"], "summarise": ["*"]}
        accept = {"Accept": "application/octet-stream"}
        seen.append(held(await client.post("/api/trace", json=body, headers=accept), 200, 422))
    return seen


async def changing(client: httpx.AsyncClient, chance: random.Random) -> list[int]:
    """Trace with a head switched off and everything recorded, as JSON."""
    change = {"at": "encoder.1.self", "head": chance.randrange(IN_ENCODER), "do": "zero"}
    body = {"source": sentence(chance), "interventions": [change], "select": ["encoder.*"]}
    return [held(await client.post("/api/trace", json=body), 200)]


async def sweeping(client: httpx.AsyncClient, chance: random.Random) -> list[int]:
    """Sweep over all heads, and read to the last line."""
    return [await _stream(client, "/api/sweep", {"source": sentence(chance, 6)})]


async def watching(client: httpx.AsyncClient, chance: random.Random) -> list[int]:
    """Stream a beam search, and read to the last line."""
    body = {"source": sentence(chance), "decode": {"method": "beam", "beam": 3}}
    return [await _stream(client, "/api/decode", body)]


async def leaving(client: httpx.AsyncClient, chance: random.Random) -> list[int]:
    """Start a sweep or a decoding, and disconnect after some lines."""
    path = chance.choice(["/api/sweep", "/api/decode"])
    return [await _stream(client, path, {"source": sentence(chance)}, most=LINES_READ)]


async def sharing(client: httpx.AsyncClient, chance: random.Random) -> list[int]:
    """Create a share, open it in all formats, and mostly delete it."""
    body = {
        "state": {"source": sentence(chance), "view": "heads"},
        "asks": [{"parameters": {"select": ["encoder.0.self.W_q"]}}],
    }
    made = await client.post("/api/shares", json=body)
    seen = [held(made, 201)]
    if made.status_code != 201:
        return seen
    one = made.json()
    for path in (
        f"/api/shares/{one['id']}",
        f"/api/shares/{one['id']}/asks/0",
        f"/s/{one['id']}",
        f"/s/{one['id']}/preview.png",
        f"/s/{one['id']}/handout.html",
    ):
        seen.append(held(await client.get(path), 200))
    if chance.random() < 0.9:
        key = {"Edit-Key": one["edit_key"]}
        seen.append(held(await client.delete(f"/api/shares/{one['id']}", headers=key), 204))
    return seen


async def browsing(client: httpx.AsyncClient, chance: random.Random) -> list[int]:
    """Open pages, tables and invalid addresses."""
    length = chance.randint(1, 60)
    paths = {
        "/": 200,
        "/api/models": 200,
        "/api/models/en-zh/learning/0": 200,
        f"/api/positions?length={length}&d_model=64": 200,
        "/api/shares/2222222222222": 404,
        "/api/trace": 405,
    }
    return [held(await client.get(path), status) for path, status in paths.items()]


async def stalling(client: httpx.AsyncClient, chance: random.Random) -> list[int]:
    """Request a large reply, and read hardly any of it."""
    url = urlsplit(str(client.base_url))
    reader, writer = await asyncio.open_connection(url.hostname, url.port, limit=4_096)
    try:
        body = json.dumps({"source": sentence(chance), "select": ["*"]}).encode()
        head = (
            f"POST /api/trace HTTP/1.1\r\nHost: {url.hostname}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode() + body)
        first = await reader.readline()
        status = int(first.split()[1])
        if status not in {200, *LATER}:
            raise UnexpectedError(f"one who does not read: {first!r}")
        await asyncio.sleep(STALLED_SECONDS)
        return [status]
    finally:
        writer.transport.abort()


async def _stream(
    client: httpx.AsyncClient, path: str, body: Mapping[str, Any], most: int | None = None
) -> int:
    async with client.stream("POST", path, json=body) as response:
        if response.status_code != 200:
            await response.aread()
            return held(response, 200)
        lines = list[str]()
        async for line in response.aiter_lines():
            lines.append(line)
            if len(lines) == most:
                return 200
    told = json.loads(lines[-1])
    if "end" not in told and told.get("error", {}).get("status") not in LATER:
        raise UnexpectedError(f"{path} ended with {lines[-1]}")
    return 200


# The number of clients of each kind.
CLIENTS: Mapping[Client, int] = {
    typing: 6,
    changing: 2,
    sweeping: 2,
    watching: 2,
    leaving: 4,
    sharing: 3,
    browsing: 2,
    stalling: 3,
}

"""Rooms over HTTP: a room as its teacher and its members use it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx

from app.rooms.room_document import CODE_LENGTH
from tests.serving.owned import Owned, bearer

LINK = "/?source=Hi&layer=1"
STRANGER = bearer("a" * 26)


class Room(Owned):
    """A room: requests are those of its teacher, unless they are a member's."""

    async def state(self) -> Any:
        return await self.anyone.read("/state")

    async def question(self) -> Any:
        return (await self.state())["question"]

    async def enter(self, member: str) -> int:
        return (await self.anyone.get(f"/state?member={member}")).status_code

    async def answer(self, member: str, answer: list[str], n: int = 1, **more: Any) -> int:
        body = {"member": member, "n": n, "answer": answer, **more}
        return (await self.anyone.post("/answers", body)).status_code

    async def present(self, link: str, **state: Any) -> httpx.Response:
        return await self.put("/state", {"link": link, **state})

    async def ask(self, question: dict[str, Any]) -> httpx.Response:
        return await self.put("/question", question)

    async def proceed(self, stage: str, **body: Any) -> Any:
        """Go on to a stage; return the question."""
        reply = await self.patch("/question", {"stage": stage, **body})
        assert reply.status_code == 200, reply.text
        return reply.json()["question"]

    async def answers(self) -> list[dict[str, Any]]:
        answers: list[dict[str, Any]] = (await self.read("/answers"))["answers"]
        return answers

    async def members(self) -> list[dict[str, Any]]:
        members: list[dict[str, Any]] = (await self.read("/members"))["members"]
        return members


@asynccontextmanager
async def came_from(client: httpx.AsyncClient, address: str) -> AsyncIterator[httpx.AsyncClient]:
    """Open a client of the same app at another address."""
    transport = client._transport
    assert isinstance(transport, httpx.ASGITransport)
    other = httpx.ASGITransport(transport.app, client=(address, 1))
    async with httpx.AsyncClient(transport=other, base_url=client.base_url) as made:
        yield made


async def opened(client: httpx.AsyncClient, link: str = LINK) -> Room:
    """Open a room."""
    reply = await client.post("/api/rooms", json={"state": {"link": link}})
    assert reply.status_code == 201, reply.text
    made = reply.json()
    assert len(made["code"]) == CODE_LENGTH
    assert made["url"].endswith(f"/room/{made['code']}")
    assert reply.headers["cache-control"] == "no-store"
    return Room(client, f"/api/rooms/{made['code']}", bearer(made["key"]), made)

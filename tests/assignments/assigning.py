"""Assignments for tests of the store and of the routes."""

from typing import Any, Self

import httpx

from tests.serving.owned import Owned, bearer

LOOKS = {"entry": "choice", "ask": {"kind": "looks", "link": "source=Hi&query=0"}}
ROW = {"entry": "shares", "ask": {"kind": "row", "link": "source=Hi&query=1"}}
WORDS = {"entry": "text", "ask": {"kind": "sentence", "link": "", "words": "Your sentence?"}}
BODY: dict[str, Any] = {
    "title": "Week 3 <b>",
    "note": "Guess first.\nThen look.",
    "questions": [
        {**LOOKS, "truth": {"right": ["1", "2"]}},
        {**ROW, "truth": {"numbers": [0.25, 0.75]}},
        WORDS,
    ],
    "nicknames": True,
}
PATH = "/api/assignments"


class Assignment(Owned):
    """An assignment: requests are those of its author, unless they are a student's."""

    @property
    def id(self) -> str:
        identity: str = self.reply["id"]
        return identity

    async def submit(self, member: str, *answers: Any, **more: str) -> httpx.Response:
        return await self.anyone.post("/answers", {"member": member, "answers": answers, **more})

    async def sent(self, member: str, *answers: Any) -> int:
        return (await self.submit(member, *answers)).status_code

    def of(self, student: str) -> Self:
        """Return the same, as a student reads it."""
        return self.by(bearer(student))


async def made(client: httpx.AsyncClient, **body: object) -> Assignment:
    """Create an assignment."""
    response = await client.post(PATH, json={**BODY, **body})
    assert response.status_code == 201, response.text
    told = response.json()
    return Assignment(client, f"{PATH}/{told['id']}", bearer(told["key"]), told)

"""Assignments for tests of the store and of the routes."""

from typing import Any

import httpx

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


async def made(client: httpx.AsyncClient, **more: object) -> dict[str, Any]:
    response = await client.post(PATH, json={**BODY, **more})
    assert response.status_code == 201, response.text
    told: dict[str, Any] = response.json()
    return told


def owner(one: dict[str, Any]) -> dict[str, str]:
    return {"Authorization": f"Bearer {one['key']}"}


async def sent(client: httpx.AsyncClient, one: dict[str, Any], member: str, *answers: Any) -> int:
    body = {"member": member, "answers": answers}
    return (await client.post(f"{PATH}/{one['id']}/answers", json=body)).status_code

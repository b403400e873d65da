"""Collections for tests of the store, of the routes and of the pages."""

from typing import Any

import httpx

SENTENCE = "/?source=The+cat+sat.&view=lines&block=cross&layer=1&head=2"
BY_HAND = "/lab?tokens=the%0Acat&x=1_0*0_1&w_q=1_0*0_1&w_k=1_0*0_1&w_v=1_0*0_1"
FIGURE = {"lesson": "what-a-head-does", "figure": 1}
BODY: dict[str, Any] = {
    "title": "Week 2 <b>",
    "note": "Read\nfirst.",
    "items": [
        {"link": SENTENCE, "note": "Which word?"},
        {"link": BY_HAND},
        FIGURE | {"title": "A head"},
        {"lesson": "masks"},
    ],
}
PATH = "/api/collections"


async def made(client: httpx.AsyncClient, **more: object) -> dict[str, Any]:
    response = await client.post(PATH, json={**BODY, **more})
    assert response.status_code == 201, response.text
    told: dict[str, Any] = response.json()
    return told


def owner(one: dict[str, Any], tag: str = "*") -> dict[str, str]:
    return {"Edit-Key": one["edit_key"], "If-Match": tag}

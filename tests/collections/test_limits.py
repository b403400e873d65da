"""Limits of collections: lengths, requests per minute, bytes."""

import httpx
import pytest

from app.collections.schemas import MAX_ITEMS
from app.shares.schemas import MAX_NOTE, MAX_TITLE
from tests.collections.collecting import BODY, FIGURE, PATH, made, owner
from tests.serving.fixtures import Serving
from tests.serving.problem import hold


@pytest.mark.parametrize(
    ("body", "kind", "field"),
    [
        ({}, "missing", "title"),
        ({"title": ""}, "too-short", "title"),
        ({"title": "a" * (MAX_TITLE + 1)}, "too-long", "title"),
        ({"title": "a", "note": "a" * (MAX_NOTE + 1)}, "too-long", "note"),
        ({"title": "a\0"}, "not-text", "title"),
        ({"title": "a", "items": [FIGURE] * (MAX_ITEMS + 1)}, "too-long", "items"),
        ({"title": "a", "items": [{}]}, "missing", "items[0]"),
        ({"title": "a", "items": [{"link": "/lab", "share": "a"}]}, "missing", "items[0]"),
        ({"title": "a", "items": [{"share": "a", "figure": 1}]}, "missing", "items[0]"),
        ({"title": "a", "items": [{"lesson": "masks", "figure": 0}]}, "out-of-range", None),
        ({"title": "a", "items": [FIGURE | {"html": "<b>"}]}, "unknown-field", "items[0]"),
        ({"title": "a", "items": [FIGURE | {"note": "a" * 2001}]}, "too-long", "items[0].note"),
    ],
)
def test_bad_bodies_name_the_field(
    reader: httpx.Client, body: object, kind: str, field: str | None
) -> None:
    response = reader.post(PATH, json=body)
    assert response.json()["type"] == f"urn:headlight:{kind}", response.text
    assert field is None or response.json()["field"] == field


async def test_creating_and_changing_is_limited(serving: Serving) -> None:
    async with serving(max_shares_per_minute=2) as client:
        one = await made(client)
        path = f"{PATH}/{one['id']}"
        assert (await client.put(path, json=BODY, headers=owner(one))).status_code == 200
        for refused in (
            await client.post(PATH, json=BODY),
            await client.put(path, json=BODY, headers=owner(one)),
        ):
            hold(refused, 429, "too-many-shares", None)
            assert int(refused.headers["retry-after"]) > 0


async def test_collections_take_room_beside_shares(serving: Serving) -> None:
    async with serving(max_shares_bytes_per_address=3_000) as client:
        one = await made(client, note="a" * 1_500)
        hold(
            await client.post(PATH, json={**BODY, "note": "a" * 1_500}), 507, "quota-reached", None
        )
        path = f"{PATH}/{one['id']}"
        longer = {**BODY, "items": [FIGURE | {"note": "a" * 1_900}]}
        assert (await client.put(path, json=longer, headers=owner(one))).status_code == 200
        hold(
            await client.put(path, json={**longer, "note": "a" * 1_900}, headers=owner(one)),
            507,
            "quota-reached",
            None,
        )
        assert (await client.put(path, json={"title": "a"}, headers=owner(one))).status_code == 200
        assert (await made(client, note="a" * 1_500))["id"]

"""Rooms over HTTP."""

import asyncio
from typing import Any

import httpx
import pytest

from app.rooms.codes import CODE_LENGTH
from app.store.ids import ALPHABET
from tests.app.conftest import Serving
from tests.app.room_client import LINK, STRANGER, opened
from tests.app.room_client import client as client
from tests.servers import PATIENCE


async def test_a_room_presents_what_its_owner_sends(client: httpx.AsyncClient) -> None:
    room, owner = await opened(client)
    first = (await client.get(f"{room}/state")).json()
    assert first == {
        "seq": 1,
        "link": LINK,
        "pointer": None,
        "question": None,
        "handed": False,
        "over": False,
    }
    pointer = {"figure": "figure-2", "query": {"side": "target", "index": 2}, "key": None}
    state = {"link": "/lab?x=1#y", "pointer": pointer}
    reply = await client.put(f"{room}/state", json=state, headers=owner)
    assert reply.json() == {**first, "seq": 2, **state}
    again = await client.put(f"{room}/state", json=state, headers=owner)
    assert again.json()["seq"] == 2  # nothing has changed
    assert (await client.get(f"{room}/state")).json() == reply.json()


@pytest.mark.parametrize(
    "link",
    [
        "/", "/lab", "/lab?x=1", "/learn/order?scene=2", "/s/abcdefg234567?query=1",
        "/c/abcdefg234567?shows=source%3DHi#item-2",
        "/?source=%F0%9F%99%82&a=1#source=long",
    ],
)  # fmt: skip
async def test_links_of_pages_can_be_presented(client: httpx.AsyncClient, link: str) -> None:
    room, _ = await opened(client, link)
    assert (await client.get(f"{room}/state")).json()["link"] == link


@pytest.mark.parametrize(
    "link",
    [
        "//example.org/", "/\\example.org", "https://example.org", "javascript:alert(1)", "lab",
        "/api/health", "/learn/../api", "/?a=b c", "/?a\n", "/s/", "/c/",
        "/c/a/b", "/room/abcdef", "?a=1",
    ],
)  # fmt: skip
async def test_other_links_are_refused(client: httpx.AsyncClient, link: str) -> None:
    reply = await client.post("/api/rooms", json={"state": {"link": link}})
    assert reply.status_code == 422
    assert reply.json()["field"] == "state.link"


async def test_a_long_link_names_the_limit(client: httpx.AsyncClient) -> None:
    reply = await client.post("/api/rooms", json={"state": {"link": "/?" + "a" * 16_000}})
    assert reply.status_code == 422
    assert "16000" in reply.json()["detail"]


async def test_the_record_has_every_link_in_order(client: httpx.AsyncClient) -> None:
    room, owner = await opened(client)
    links = [LINK, *(f"/?source=Hi&layer={n}" for n in range(12))]
    for link in links[1:]:
        await client.put(f"{room}/state", json={"link": link}, headers=owner)
    pointing = {"link": links[-1], "pointer": {"query": {"side": "source", "index": 0}}}
    await client.put(f"{room}/state", json=pointing, headers=owner)
    states = (await client.get(f"{room}/record", headers=owner)).json()["states"]
    assert [one["link"] for one in states] == links
    assert [one["at"] for one in states] == sorted(one["at"] for one in states)


async def test_a_code_may_be_typed_in_capitals_and_groups(client: httpx.AsyncClient) -> None:
    room, _ = await opened(client)
    code = room[-CODE_LENGTH:].upper()
    for typed in (code, f"{code[:3]} {code[3:]}", f"{code[:3]}-{code[3:]}", f" {code} "):
        assert (await client.get(f"/api/rooms/{typed}/state")).status_code == 200
        door = await client.get("/room", params={"code": typed})
        assert door.status_code == 303
        assert door.headers["location"] == f"/room/{code.lower()}"


async def test_unknown_ended_and_malformed_codes_look_the_same(client: httpx.AsyncClient) -> None:
    room, owner = await opened(client)
    await client.delete(room, headers=owner)
    replies = [
        await client.get(f"/api/rooms/{code}/state")
        for code in (room[-CODE_LENGTH:], ALPHABET[:CODE_LENGTH], "a", "!" * 60)
    ]
    assert {(one.status_code, one.text) for one in replies} == {(404, replies[0].text)}
    assert (await client.get("/room", params={"code": "zzzzzz"})).status_code == 404
    page = await client.get("/room/zzzzzz", headers={"Accept": "text/html"})
    assert page.status_code == 404
    assert "There is no such room" in page.text


async def test_wrong_codes_are_counted_and_then_no_code_is_answered(
    serving: Serving, rooms_url: str | None
) -> None:
    async with serving(rooms_url=rooms_url, max_room_tries_per_minute=3) as client:
        room, owner = await opened(client)
        known = {"member": "abcdefgh"}
        assert (await client.get(f"{room}/state", params=known)).status_code == 200
        tries = ["/api/rooms/zzzzzz/state", "/room?code=zzzzzz", "/room/zzzzzz"]
        assert {(await client.get(path)).status_code for path in tries} == {404}
        code = room[-CODE_LENGTH:]
        right = [
            f"{room}/state", f"{room}/state?member=ijklmnop", f"{room}/events",
            f"/room?code={code}", f"/room/{code}",
        ]  # fmt: skip
        for path in (*tries, *right):
            reply = await client.get(path)
            assert reply.status_code == 429, path
            assert reply.json()["type"] == "urn:headlight:too-many-room-tries"
        wrong = {"Authorization": "Bearer x"}
        assert (await client.get(f"{room}/class", headers=wrong)).status_code == 429
        # Those who are in the room, and its owner, go on.
        assert (await client.get(f"{room}/state", params=known)).status_code == 200
        assert (await client.get(f"{room}/class", headers=owner)).status_code == 200


async def test_limits_of_rooms(serving: Serving, rooms_url: str | None) -> None:
    limits = {"max_rooms": 2, "max_room_members": 2, "max_room_changes_per_second": 3}
    async with serving(rooms_url=rooms_url, **limits) as client:
        room, owner = await opened(client)
        await opened(client)
        full = await client.post("/api/rooms", json={"state": {"link": "/"}})
        assert (full.status_code, full.json()["type"]) == (503, "urn:headlight:rooms-full")
        for member, status in (("a" * 8, 200), ("b" * 8, 200), ("c" * 8, 409), ("a" * 8, 200)):
            reply = await client.get(f"{room}/state", params={"member": member})
            assert reply.status_code == status, member
        for _ in range(4):  # a wrong key takes no change away from the owner
            reply = await client.put(f"{room}/state", json={"link": "/"}, headers=STRANGER)
            assert reply.status_code == 403
        replies = [
            await client.put(f"{room}/state", json={"link": f"/?layer={n}"}, headers=owner)
            for n in range(4)
        ]
        assert [one.status_code for one in replies] == [200, 200, 200, 429]
        assert replies[3].headers["retry-after"] == "1"


async def test_one_address_opens_few_rooms_a_minute(
    serving: Serving, rooms_url: str | None
) -> None:
    async with serving(rooms_url=rooms_url, max_rooms_per_minute=1) as client:
        await opened(client)
        reply = await client.post("/api/rooms", json={"state": {"link": "/"}})
        assert (reply.status_code, reply.json()["type"]) == (429, "urn:headlight:too-many-rooms")


async def test_a_room_without_changes_ends(serving: Serving) -> None:
    async with serving(room_hours=0.5 / 3600) as client:
        room, _ = await opened(client)
        assert (await client.get(f"{room}/state")).status_code == 200
        await asyncio.sleep(0.6)
        assert (await client.get(f"{room}/state")).status_code == 404


async def test_a_class_that_opens_a_new_state_runs_the_model_once(serving: Serving) -> None:
    async with serving(metrics=True, max_queue=4) as client:

        async def passes() -> float:
            lines = (await client.get("/metrics")).text.splitlines()
            counts = [line for line in lines if line.startswith("headlight_batch_size_sum")]
            return sum(float(line.rpartition(" ")[2]) for line in counts)

        async def ask(n: int, body: dict[str, Any]) -> bytes:
            headers = {"Headlight-Client": f"student-{n}"}
            reply = await client.post("/api/trace", json=body, headers=headers)
            assert reply.status_code == 200, reply.text
            return reply.content

        before = await passes()
        # The same state in other words: fields in another order, a default that is named.
        same = [
            {"source": "The cat sat.", "select": ["*.cross.weights"]},
            {"select": ["*.cross.weights"], "source": "The cat sat.", "dtype": "float32"},
        ]
        replies = await asyncio.gather(*(ask(n, same[n % 2]) for n in range(200)))
        assert len({*replies}) == 1
        assert await passes() - before == 1
        await ask(0, {**same[0], "source": "The dog sat."})
        assert await passes() - before == 2


async def test_polling_waits_for_a_newer_state(client: httpx.AsyncClient) -> None:
    room, owner = await opened(client)
    waiting = asyncio.create_task(client.get(f"{room}/state", params={"since": 1}))
    await asyncio.sleep(0.1)
    assert not waiting.done()
    await client.put(f"{room}/state", json={"link": "/lab"}, headers=owner)
    async with asyncio.timeout(PATIENCE):
        assert (await waiting).json()["seq"] == 2
    behind = await client.get(f"{room}/state", params={"since": 1})
    assert behind.json()["seq"] == 2

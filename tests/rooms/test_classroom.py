"""Rooms over HTTP."""

import asyncio
from typing import Any

import httpx
import pytest

from app.rooms.room import CODE_LENGTH
from app.store.documents import ALPHABET
from tests.rooms.room_client import LINK, STRANGER, came_from, opened
from tests.rooms.room_client import client as client
from tests.servers import PATIENCE
from tests.serving.fixtures import Serving


async def test_a_room_presents_what_its_owner_sends(client: httpx.AsyncClient) -> None:
    room, owner = await opened(client)
    first = (await client.get(f"{room}/state")).json()
    assert first == {
        "seq": 1,
        "link": LINK,
        "pointer": None,
        "question": None,
        "handed": False,
        "closed": False,
        "paused": False,
        "picked": None,
        "wall": "closed",
        "over": False,
    }
    pointer = {"figure": "figure-2", "query": {"side": "target", "index": 2}, "key": None}
    state = {"link": "/lab?x=1#y", "pointer": pointer}
    reply = await client.put(f"{room}/state", json=state, headers=owner)
    assert reply.json() == {**first, "seq": 2, **state}
    again = await client.put(f"{room}/state", json=state, headers=owner)
    assert again.json()["seq"] == 2  # nothing has changed
    assert (await client.get(f"{room}/state")).json() == reply.json()


LINKS = [
    "/", "/lab", "/lab?x=1", "/learn/order?scene=2", "/s/abcdefg234567?query=1",
    "/c/abcdefg234567?shows=source%3DHi#item-2", "/?source=%F0%9F%99%82&a=1#source=long",
]  # fmt: skip
NO_LINKS = [
    "//example.org/", "/\\example.org", "https://example.org", "javascript:alert(1)", "lab",
    "/api/health", "/learn/../api", "/?a=b c", "/?a\n", "/s/", "/c/", "/c/a/b", "/room/abcdef",
    "?a=1", "/?" + "a" * 16_000,
]  # fmt: skip


async def test_links_of_pages_can_be_presented(client: httpx.AsyncClient) -> None:
    room, owner = await opened(client)
    for link in LINKS:
        await client.put(f"{room}/state", json={"link": link}, headers=owner)
        assert (await client.get(f"{room}/state")).json()["link"] == link


def test_other_links_are_refused(reader: httpx.Client) -> None:
    for link in NO_LINKS:
        reply = reader.post("/api/rooms", json={"state": {"link": link}})
        assert (reply.status_code, reply.json()["field"]) == (422, "state.link"), link
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
        page = await client.get(f"/room/{code}", headers={"Accept": "text/html"})
        assert page.status_code == 429
        assert "<h1>Too many wrong codes</h1>" in page.text
        wrong = {"Authorization": "Bearer x"}
        assert (await client.get(f"{room}/class", headers=wrong)).status_code == 429
        # Those who are in the room, and its owner, go on.
        assert (await client.get(f"{room}/state", params=known)).status_code == 200
        assert (await client.get(f"{room}/class", headers=owner)).status_code == 200


async def test_limits_of_rooms(serving: Serving, rooms_url: str | None) -> None:
    limits = {"max_rooms": 2, "max_room_members": 3, "max_room_changes_per_second": 3}
    async with serving(rooms_url=rooms_url, **limits) as client, came_from(client, "b") as other:
        room, owner = await opened(client)
        body = {"state": {"link": "/"}}
        share = await client.post("/api/rooms", json=body)
        assert (share.status_code, share.json()["type"]) == (503, "urn:headlight:rooms-full")
        await opened(other)
        full = await other.post("/api/rooms", json=body)
        assert (full.status_code, full.json()["type"]) == (503, "urn:headlight:rooms-full")
        assert full.json()["detail"] == "of at most 2 rooms, 2 are in use"
        for reader, member, status in (
            (client, "a", 200), (client, "b", 200), (client, "c", 409), (client, "a", 200),
            (other, "d", 200), (other, "b", 200), (other, "e", 409),
        ):  # fmt: skip
            reply = await reader.get(f"{room}/state", params={"member": member * 8})
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


async def test_a_teacher_closes_a_flooded_room_and_removes_the_flood(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    room, owner = await opened(client)

    async def comes(reader: httpx.AsyncClient, member: str) -> int:
        return (await reader.get(f"{room}/state", params={"member": member})).status_code

    async def listed() -> dict[str, Any]:
        reply = await client.get(f"{room}/members", headers=owner)
        assert reply.status_code == 200, reply.text
        return reply.json()  # type: ignore[no-any-return]

    asked = {"entry": "choice", "ask": {"kind": "looks", "link": ""}}
    async with came_from(client, "192.0.2.1") as stranger, came_from(client, "192.0.2.2") as late:
        assert [await comes(client, f"student-{n}") for n in range(3)] == [200] * 3
        await client.put(f"{room}/question", json=asked, headers=owner)
        for reader, name, count in ((client, "student", 2), (stranger, "invented", 20)):
            for n in range(count):
                body = {"member": f"{name}-{n}", "n": 1, "answer": [name]}
                assert (await reader.post(f"{room}/answers", json=body)).status_code == 204
        told = await listed()
        assert (told["closed"], told["network"]) == (False, 1)
        of = [one["network"] for one in told["members"]]
        assert of == [1] * 3 + [2] * 20
        assert [one["answered"] for one in told["members"]] == [True] * 2 + [False] + [True] * 20
        flood = [one["id"] for one in told["members"] if one["network"] == 2]
        sent = {"members": [*flood, "unknown"]}
        done = await client.post(f"{room}/removals", json=sent, headers=owner)
        assert done.json() == {"removed": 20}
        assert [one["network"] for one in (await listed())["members"]] == [1] * 3
        assert [await comes(stranger, f"invented-{n}") for n in (0, 99)] == [409] * 2
        reply = await late.get(f"{room}/state", params={"member": "late-comer"})
        assert (reply.status_code, reply.json()["type"]) == (409, "urn:headlight:room-closed")
        body = {"member": "invented-0", "n": 1, "answer": ["x"]}
        assert (await stranger.post(f"{room}/answers", json=body)).status_code == 409
        # Those who were there go on.
        assert await comes(client, "student-1") == 200
        body = {"member": "student-2", "n": 1, "answer": ["student"]}
        assert (await client.post(f"{room}/answers", json=body)).status_code == 204
        shown = await client.patch(
            f"{room}/question", json={"stage": "revealed", "truth": {}}, headers=owner
        )
        assert shown.json()["question"]["results"]["first"]["chosen"] == {"student": 3}
        again = await client.patch(room, json={"closed": False}, headers=owner)
        assert again.json()["closed"] is False
        assert await comes(late, "late-comer") == 200
        for method, path in (("GET", "members"), ("POST", "removals")):
            body = {"members": flood} if method == "POST" else None  # type: ignore[assignment]
            wrong = await client.request(method, f"{room}/{path}", json=body, headers=STRANGER)
            assert wrong.json()["type"] == "urn:headlight:wrong-room-key"
        assert (await client.patch(room, json={"closed": True})).status_code == 403


async def test_a_class_behind_one_address_fits_and_places_of_those_who_left_are_free(
    serving: Serving, rooms_url: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(rooms_url=rooms_url, max_room_members=80) as client:
        room, owner = await opened(client)

        async def comes(n: int) -> int:
            params = {"member": f"student-{n}"}
            return (await client.get(f"{room}/state", params=params)).status_code

        assert [await comes(n) for n in range(41)] == [200] * 40 + [409]
        monkeypatch.setattr("app.rooms.hub.LEFT_SECONDS", -1.0)
        monkeypatch.setattr("app.rooms.rooms.LEFT_SECONDS", -1.0)
        assert [await comes(40), await comes(0)] == [200] * 2  # all others have left
        listed = (await client.get(f"{room}/members", headers=owner)).json()["members"]
        assert len(listed) < 40


async def test_a_room_limits_its_questions_answers_and_bytes(
    serving: Serving, rooms_url: str | None
) -> None:
    limits = {"max_room_questions": 2, "max_room_bytes": 250_000}
    async with serving(rooms_url=rooms_url, **limits) as client, came_from(client, "b") as other:
        room, owner = await opened(client)

        async def ask(entry: str) -> httpx.Response:
            body = {"entry": entry, "ask": {"kind": "row", "link": "source=Hi"}}
            return await client.put(f"{room}/question", json=body, headers=owner)

        async def answer(reader: httpx.AsyncClient, n: int, size: int) -> httpx.Response:
            numbers = ["1" + " " * (size // 100 - 4)] * 100  # JSON has three more for each
            body = {"member": f"{n}-student", "n": 1, "answer": numbers}
            return await reader.post(f"{room}/answers", json=body)

        assert (await ask("numbers")).status_code == 200
        large = await client.post(
            f"{room}/answers",
            json={"member": "a-student", "n": 1, "answer": ["1" + " " * 499] * 130},
        )
        assert large.status_code == 422
        assert "64000 are allowed" in large.json()["detail"]
        taken = [(await answer(client, n, 40_000)).status_code for n in range(4)]
        assert taken == [204] * 3 + [507]  # half of what is free
        full = await answer(client, 4, 40_000)
        assert full.json()["type"] == "urn:headlight:room-out-of-space"
        assert full.json()["limit"] == 250_000
        assert (await answer(other, 5, 40_000)).status_code == 204
        assert (await answer(client, 0, 30_000)).status_code == 204  # in place of a longer one
        assert (await ask("text")).status_code == 200
        most = await ask("text")
        assert (most.status_code, most.json()["type"]) == (409, "urn:headlight:too-many-questions")
        assert "at most 2 questions" in most.json()["detail"]


async def test_no_number_and_no_choice_breaks_a_room_or_its_size(client: httpx.AsyncClient) -> None:
    room, owner = await opened(client)

    async def ask(entry: str, **about: float) -> httpx.Response:
        body = {"entry": entry, "ask": {"kind": "own-number", "link": "", **about}}
        return await client.put(f"{room}/question", json=body, headers=owner)

    for wrong in (1e308, -1.1e9):
        assert (await ask("numbers", value=wrong)).json()["field"] == "ask.value"
    assert (await ask("numbers", value=1e9, within=0.5)).status_code == 200
    for n, (number, status) in enumerate(
        [("1e308", 422), ("inf", 422), ("nan", 422), ("-1e10", 422), ("1e9", 204), ("-1e9", 204)]
    ):
        body = {"member": f"student-{n}", "n": 1, "answer": [number]}
        assert (await client.post(f"{room}/answers", json=body)).status_code == status, number
    truth = {"numbers": [1e308]}
    sent = {"stage": "revealed", "truth": truth}
    reply = await client.patch(f"{room}/question", json=sent, headers=owner)
    assert reply.json()["field"] == "truth.numbers[0]"
    reply = await client.patch(f"{room}/question", json={"stage": "revealed"}, headers=owner)
    assert reply.json()["question"]["results"]["first"]["mean"] == [0]
    await ask("choice")
    for n in range(60):
        choice = f"{n:03}" * (1 if n % 3 else 160)
        body = {"member": f"student-{n}", "n": 2, "answer": [choice]}
        assert (await client.post(f"{room}/answers", json=body)).status_code == 204
    sent = {"stage": "revealed", "truth": {"right": ["059"]}}
    reply = await client.patch(f"{room}/question", json=sent, headers=owner)
    first = reply.json()["question"]["results"]["first"]
    assert (first["count"], len(first["chosen"]), first["others"]) == (60, 21, 39)
    assert first["chosen"]["059"] == first["right"] == 1
    assert len((await client.get(f"{room}/state")).content) < 25_000


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

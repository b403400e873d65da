"""Rooms over HTTP."""

import asyncio
from typing import Any

import httpx
import pytest

from app.rooms.room_document import CODE_LENGTH
from app.store.documents import ALPHABET
from tests.rooms.room_client import LINK, STRANGER, Room, came_from, opened
from tests.servers import PATIENCE
from tests.serving.fixtures import Serving
from tests.serving.owned import bearer


async def test_a_room_presents_what_its_owner_sends(room: Room) -> None:
    first = await room.state()
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
    reply = await room.put("/state", state)
    assert reply.json() == {**first, "seq": 2, **state}
    assert (await room.put("/state", state)).json()["seq"] == 2  # nothing has changed
    assert await room.state() == reply.json()


LINKS = [
    "/", "/lab", "/lab?x=1", "/learn/order?scene=2", "/s/abcdefg234567?query=1",
    "/c/abcdefg234567?shows=source%3DHi#item-2", "/?source=%F0%9F%99%82&a=1#source=long",
]  # fmt: skip
NO_LINKS = [
    "//example.org/", "/\\example.org", "https://example.org", "javascript:alert(1)", "lab",
    "/api/health", "/learn/../api", "/?a=b c", "/?a\n", "/s/", "/c/", "/c/a/b", "/room/abcdef",
    "?a=1", "/?" + "a" * 16_000,
]  # fmt: skip


async def test_links_of_pages_can_be_presented(room: Room) -> None:
    for link in LINKS:
        await room.present(link)
        assert (await room.state())["link"] == link


def test_other_links_are_refused(reader: httpx.Client) -> None:
    for link in NO_LINKS:
        reply = reader.post("/api/rooms", json={"state": {"link": link}})
        assert (reply.status_code, reply.json()["field"]) == (422, "state.link"), link
    assert "16000" in reply.json()["detail"]


async def test_the_record_has_every_link_in_order(room: Room) -> None:
    links = [LINK, *(f"/?source=Hi&layer={n}" for n in range(12))]
    for link in links[1:]:
        await room.present(link)
    await room.present(links[-1], pointer={"query": {"side": "source", "index": 0}})
    states = (await room.read("/record"))["states"]
    assert [one["link"] for one in states] == links
    assert [one["at"] for one in states] == sorted(one["at"] for one in states)


async def test_a_code_may_be_typed_in_capitals_and_groups(
    client: httpx.AsyncClient, room: Room
) -> None:
    code = room.reply["code"].upper()
    for typed in (code, f"{code[:3]} {code[3:]}", f"{code[:3]}-{code[3:]}", f" {code} "):
        assert (await client.get(f"/api/rooms/{typed}/state")).status_code == 200
        door = await client.get("/room", params={"code": typed})
        assert door.status_code == 303
        assert door.headers["location"] == f"/room/{code.lower()}"


async def test_unknown_ended_and_malformed_codes_look_the_same(
    client: httpx.AsyncClient, room: Room
) -> None:
    await room.delete()
    replies = [
        await client.get(f"/api/rooms/{code}/state")
        for code in (room.reply["code"], ALPHABET[:CODE_LENGTH], "a", "!" * 60)
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
        room = await opened(client)
        assert await room.enter("abcdefgh") == 200
        tries = ["/api/rooms/zzzzzz/state", "/room?code=zzzzzz", "/room/zzzzzz"]
        assert {(await client.get(path)).status_code for path in tries} == {404}
        code = room.reply["code"]
        right = [
            f"{room.path}/state", f"{room.path}/state?member=ijklmnop", f"{room.path}/events",
            f"/room?code={code}", f"/room/{code}",
        ]  # fmt: skip
        for path in (*tries, *right):
            reply = await client.get(path)
            assert reply.status_code == 429, path
            assert reply.json()["type"] == "urn:headlight:too-many-room-tries"
        page = await client.get(f"/room/{code}", headers={"Accept": "text/html"})
        assert page.status_code == 429
        assert "<h1>Too many wrong codes</h1>" in page.text
        assert (await room.by(bearer("x")).get("/class")).status_code == 429
        # Those who are in the room, and its owner, go on.
        assert await room.enter("abcdefgh") == 200
        assert (await room.get("/class")).status_code == 200


async def test_limits_of_rooms(serving: Serving, rooms_url: str | None) -> None:
    limits = {"max_rooms": 2, "max_room_members": 3, "max_room_changes_per_second": 3}
    async with serving(rooms_url=rooms_url, **limits) as client, came_from(client, "b") as other:
        room = await opened(client)
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
            assert await room.by({}, reader).enter(member * 8) == status, member
        for _ in range(4):  # a wrong key takes no change away from the owner
            assert (await room.by(STRANGER).present("/")).status_code == 403
        replies = [await room.present(f"/?layer={n}") for n in range(4)]
        assert [one.status_code for one in replies] == [200, 200, 200, 429]
        assert replies[3].headers["retry-after"] == "1"


async def test_a_teacher_closes_a_flooded_room_and_removes_the_flood(
    client: httpx.AsyncClient, room: Room
) -> None:
    async with came_from(client, "192.0.2.1") as stranger, came_from(client, "192.0.2.2") as late:
        flooded, later = room.by({}, stranger), room.by({}, late)
        assert [await room.enter(f"student-{n}") for n in range(3)] == [200] * 3
        await room.ask({"entry": "choice", "ask": {"kind": "looks", "link": ""}})
        for reader, name, count in ((room, "student", 2), (flooded, "invented", 20)):
            for n in range(count):
                assert await reader.answer(f"{name}-{n}", [name]) == 204
        told = await room.read("/members")
        assert (told["closed"], told["network"]) == (False, 1)
        assert [one["network"] for one in told["members"]] == [1] * 3 + [2] * 20
        assert [one["answered"] for one in told["members"]] == [True] * 2 + [False] + [True] * 20
        flood = [one["id"] for one in told["members"] if one["network"] == 2]
        done = await room.post("/removals", {"members": [*flood, "unknown"]})
        assert done.json() == {"removed": 20}
        assert [one["network"] for one in await room.members()] == [1] * 3
        assert [await flooded.enter(f"invented-{n}") for n in (0, 99)] == [409] * 2
        reply = await later.get("/state?member=late-comer")
        assert (reply.status_code, reply.json()["type"]) == (409, "urn:headlight:room-closed")
        assert await flooded.answer("invented-0", ["x"]) == 409
        # Those who were there go on.
        assert await room.enter("student-1") == 200
        assert await room.answer("student-2", ["student"]) == 204
        shown = await room.proceed("revealed", truth={})
        assert shown["results"]["first"]["chosen"] == {"student": 3}
        assert (await room.patch("", {"closed": False})).json()["closed"] is False
        assert await later.enter("late-comer") == 200
        wrong = room.by(STRANGER)
        for refused in (
            await wrong.get("/members"), await wrong.post("/removals", {"members": flood})
        ):  # fmt: skip
            assert refused.json()["type"] == "urn:headlight:wrong-room-key"
        assert (await room.anyone.patch("", {"closed": True})).status_code == 403


async def test_a_class_behind_one_address_fits_and_places_of_those_who_left_are_free(
    serving: Serving, rooms_url: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(rooms_url=rooms_url, max_room_members=80) as client:
        room = await opened(client)
        assert [await room.enter(f"student-{n}") for n in range(41)] == [200] * 40 + [409]
        monkeypatch.setattr("app.rooms.room_on_server.LEFT_SECONDS", -1.0)
        monkeypatch.setattr("app.rooms.open_rooms.LEFT_SECONDS", -1.0)
        # All others have left.
        assert [await room.enter(f"student-{n}") for n in (40, 0)] == [200] * 2
        assert len(await room.members()) < 40


async def test_a_room_limits_its_questions_answers_and_bytes(
    serving: Serving, rooms_url: str | None
) -> None:
    limits = {"max_room_questions": 2, "max_room_bytes": 250_000}
    async with serving(rooms_url=rooms_url, **limits) as client, came_from(client, "b") as other:
        room = await opened(client)
        elsewhere = room.by({}, other)

        async def ask(entry: str) -> httpx.Response:
            return await room.ask({"entry": entry, "ask": {"kind": "row", "link": "source=Hi"}})

        def numbers(size: int) -> list[str]:
            return ["1" + " " * (size // 100 - 4)] * 100  # JSON has three more for each

        assert (await ask("numbers")).status_code == 200
        body = {"member": "a-student", "n": 1, "answer": ["1" + " " * 499] * 130}
        large = await room.anyone.post("/answers", body)
        assert large.status_code == 422
        assert "64000 are allowed" in large.json()["detail"]
        taken = [await room.answer(f"{n}-student", numbers(40_000)) for n in range(4)]
        assert taken == [204] * 3 + [507]  # half of what is free
        body = {"member": "4-student", "n": 1, "answer": numbers(40_000)}
        full = (await room.anyone.post("/answers", body)).json()
        assert (full["type"], full["limit"]) == ("urn:headlight:room-out-of-space", 250_000)
        assert await elsewhere.answer("5-student", numbers(40_000)) == 204
        # In place of a longer one.
        assert await room.answer("0-student", numbers(30_000)) == 204
        assert (await ask("text")).status_code == 200
        most = await ask("text")
        assert (most.status_code, most.json()["type"]) == (409, "urn:headlight:too-many-questions")
        assert "at most 2 questions" in most.json()["detail"]


async def test_no_number_and_no_choice_breaks_a_room_or_its_size(room: Room) -> None:
    async def ask(entry: str, **about: float) -> httpx.Response:
        return await room.ask({"entry": entry, "ask": {"kind": "own-number", "link": "", **about}})

    for wrong in (1e308, -1.1e9):
        assert (await ask("numbers", value=wrong)).json()["field"] == "ask.value"
    assert (await ask("numbers", value=1e9, within=0.5)).status_code == 200
    for n, (number, status) in enumerate(
        [("1e308", 422), ("inf", 422), ("nan", 422), ("-1e10", 422), ("1e9", 204), ("-1e9", 204)]
    ):
        assert await room.answer(f"student-{n}", [number]) == status, number
    sent = {"stage": "revealed", "truth": {"numbers": [1e308]}}
    assert (await room.patch("/question", sent)).json()["field"] == "truth.numbers[0]"
    assert (await room.proceed("revealed"))["results"]["first"]["mean"] == [0]
    await ask("choice")
    for n in range(60):
        choice = f"{n:03}" * (1 if n % 3 else 160)
        assert await room.answer(f"student-{n}", [choice], n=2) == 204
    first = (await room.proceed("revealed", truth={"right": ["059"]}))["results"]["first"]
    assert (first["count"], len(first["chosen"]), first["others"]) == (60, 21, 39)
    assert first["chosen"]["059"] == first["right"] == 1
    assert len((await room.get("/state")).content) < 25_000


async def test_one_address_opens_few_rooms_a_minute(
    serving: Serving, rooms_url: str | None
) -> None:
    async with serving(rooms_url=rooms_url, max_rooms_per_minute=1) as client:
        await opened(client)
        reply = await client.post("/api/rooms", json={"state": {"link": "/"}})
        assert (reply.status_code, reply.json()["type"]) == (429, "urn:headlight:too-many-rooms")


async def test_a_room_without_changes_ends(serving: Serving) -> None:
    async with serving(room_hours=0.5 / 3600) as client:
        room = await opened(client)
        assert (await room.get("/state")).status_code == 200
        await asyncio.sleep(0.6)
        assert (await room.get("/state")).status_code == 404


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


async def test_polling_waits_for_a_newer_state(room: Room) -> None:
    waiting = asyncio.create_task(room.anyone.read("/state?since=1"))
    await asyncio.sleep(0.1)
    assert not waiting.done()
    await room.present("/lab")
    async with asyncio.timeout(PATIENCE):
        assert (await waiting)["seq"] == 2
    assert (await room.anyone.read("/state?since=1"))["seq"] == 2

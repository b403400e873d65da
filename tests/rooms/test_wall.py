"""What members explore, as their teacher sees it over HTTP."""

from typing import Any

import httpx

from app.figures.challenge_checking import MAX_WORK
from tests.rooms.room_client import LINK, STRANGER, Room

MEMBERS = [f"member-{n}" for n in range(3)]


async def sent(room: Room, member: str, **more: Any) -> httpx.Response:
    return await room.anyone.put("/work", {"member": member, "link": LINK, **more})


async def adjusted(room: Room, **body: Any) -> Any:
    reply = await room.patch("", body)
    assert reply.status_code == 200, reply.text
    return reply.json()


async def works(room: Room) -> Any:
    return (await room.read("/work"))["works"]


async def test_work_is_sent_only_while_the_teacher_has_opened_the_wall(room: Room) -> None:
    refused = await sent(room, MEMBERS[0])
    assert (refused.status_code, refused.json()["type"]) == (409, "urn:headlight:wall-closed")
    assert (await adjusted(room, wall="open"))["wall"] == "open"
    assert (await room.state())["wall"] == "open"  # members are told
    ids = [(await sent(room, member)).json()["id"] for member in MEMBERS]
    assert len({*ids}) == 3
    assert [work["id"] for work in await works(room)] == sorted(ids)
    assert not {member["id"] for member in await room.members()} & {*ids}
    assert (await room.by(STRANGER).get("/work")).status_code == 403
    await adjusted(room, wall="closed")
    await adjusted(room, wall="open")
    assert await works(room) == []  # closing has deleted them


async def test_a_member_has_one_entry_that_is_bounded_in_size_and_rate(room: Room) -> None:
    await adjusted(room, wall="open")
    assert (await sent(room, MEMBERS[0])).status_code == 200
    soon = await sent(room, MEMBERS[0])
    assert (soon.status_code, soon.headers["retry-after"]) == (429, "1")
    assert len(await works(room)) == 1
    longest = "/?source=" + "x" * (MAX_WORK - len("/?source="))
    assert (await sent(room, MEMBERS[1], link=longest)).status_code == 200
    assert (await sent(room, MEMBERS[2], link=longest + "x")).status_code == 422
    assert (await sent(room, MEMBERS[2], link="//other.example/")).status_code == 422


async def test_nicknames_are_taken_only_if_the_teacher_asked_for_them(room: Room) -> None:
    await adjusted(room, wall="open")
    assert (await sent(room, MEMBERS[0], nickname="Mina")).status_code == 422
    await adjusted(room, wall="named")
    assert (await sent(room, MEMBERS[0], nickname="Mina")).status_code == 200
    await sent(room, MEMBERS[1])
    assert {work.get("nickname") for work in await works(room)} == {"Mina", None}
    assert "Mina" not in str(await room.state())


async def test_what_is_picked_is_presented_with_thanks_and_its_member_knows(room: Room) -> None:
    await adjusted(room, wall="open")
    picked = {"id": (await sent(room, MEMBERS[0])).json()["id"], "words": "Well found!"}
    await room.present(LINK, picked=picked)
    assert (await room.state())["picked"] == picked
    await room.present(LINK)
    assert (await room.state())["picked"] is None


async def test_a_removed_member_is_not_on_the_wall(room: Room) -> None:
    await adjusted(room, wall="open")
    for member in MEMBERS:
        await sent(room, member)
    await room.post("/removals", {"members": [(await room.members())[0]["id"]]})
    assert len(await works(room)) == 2


async def test_a_change_of_one_thing_leaves_the_others(room: Room) -> None:
    await adjusted(room, closed=True)
    state = await adjusted(room, paused=True)
    assert (state["closed"], state["paused"], state["wall"]) == (True, True, "closed")
    assert (await adjusted(room, paused=True))["seq"] == state["seq"]
    assert (await adjusted(room))["seq"] == state["seq"]

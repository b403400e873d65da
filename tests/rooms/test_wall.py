"""What members explore, as their teacher sees it over HTTP."""

from typing import Any

import httpx

from app.challenges.checking import MAX_WORK
from tests.rooms.room_client import LINK, STRANGER, opened
from tests.rooms.room_client import client as client

MEMBERS = [f"member-{n}" for n in range(3)]


async def sent(client: httpx.AsyncClient, room: str, member: str, **more: Any) -> httpx.Response:
    return await client.put(f"{room}/work", json={"member": member, "link": LINK, **more})


async def adjusted(client: httpx.AsyncClient, room: str, owner: dict[str, str], **body: Any) -> Any:
    reply = await client.patch(room, json=body, headers=owner)
    assert reply.status_code == 200, reply.text
    return reply.json()


async def works(client: httpx.AsyncClient, room: str, owner: dict[str, str]) -> Any:
    return (await client.get(f"{room}/work", headers=owner)).json()["works"]


async def test_work_is_sent_only_while_the_teacher_has_opened_the_wall(
    client: httpx.AsyncClient,
) -> None:
    room, owner = await opened(client)
    refused = await sent(client, room, MEMBERS[0])
    assert (refused.status_code, refused.json()["type"]) == (409, "urn:headlight:wall-closed")
    assert (await adjusted(client, room, owner, wall="open"))["wall"] == "open"
    assert (await client.get(f"{room}/state")).json()["wall"] == "open"  # members are told
    ids = [(await sent(client, room, member)).json()["id"] for member in MEMBERS]
    assert len({*ids}) == 3
    assert [work["id"] for work in await works(client, room, owner)] == sorted(ids)
    listed = (await client.get(f"{room}/members", headers=owner)).json()["members"]
    assert not {member["id"] for member in listed} & {*ids}
    assert (await client.get(f"{room}/work", headers=STRANGER)).status_code == 403
    await adjusted(client, room, owner, wall="closed")
    await adjusted(client, room, owner, wall="open")
    assert await works(client, room, owner) == []  # closing has deleted them


async def test_a_member_has_one_entry_that_is_bounded_in_size_and_rate(
    client: httpx.AsyncClient,
) -> None:
    room, owner = await opened(client)
    await adjusted(client, room, owner, wall="open")
    assert (await sent(client, room, MEMBERS[0])).status_code == 200
    soon = await sent(client, room, MEMBERS[0])
    assert (soon.status_code, soon.headers["retry-after"]) == (429, "1")
    assert len(await works(client, room, owner)) == 1
    longest = "/?source=" + "x" * (MAX_WORK - len("/?source="))
    assert (await sent(client, room, MEMBERS[1], link=longest)).status_code == 200
    assert (await sent(client, room, MEMBERS[2], link=longest + "x")).status_code == 422
    assert (await sent(client, room, MEMBERS[2], link="//other.example/")).status_code == 422


async def test_nicknames_are_taken_only_if_the_teacher_asked_for_them(
    client: httpx.AsyncClient,
) -> None:
    room, owner = await opened(client)
    await adjusted(client, room, owner, wall="open")
    assert (await sent(client, room, MEMBERS[0], nickname="Mina")).status_code == 422
    await adjusted(client, room, owner, wall="named")
    assert (await sent(client, room, MEMBERS[0], nickname="Mina")).status_code == 200
    await sent(client, room, MEMBERS[1])
    names = {work.get("nickname") for work in await works(client, room, owner)}
    assert names == {"Mina", None}
    assert "Mina" not in (await client.get(f"{room}/state")).text


async def test_what_is_picked_is_presented_with_thanks_and_its_member_knows(
    client: httpx.AsyncClient,
) -> None:
    room, owner = await opened(client)
    await adjusted(client, room, owner, wall="open")
    work = (await sent(client, room, MEMBERS[0])).json()["id"]
    state = {"link": LINK, "picked": {"id": work, "words": "Well found!"}}
    await client.put(f"{room}/state", json=state, headers=owner)
    seen = (await client.get(f"{room}/state")).json()
    assert seen["picked"] == {"id": work, "words": "Well found!"}
    await client.put(f"{room}/state", json={"link": LINK}, headers=owner)
    assert (await client.get(f"{room}/state")).json()["picked"] is None


async def test_a_removed_member_is_not_on_the_wall(client: httpx.AsyncClient) -> None:
    room, owner = await opened(client)
    await adjusted(client, room, owner, wall="open")
    for member in MEMBERS:
        await sent(client, room, member)
    listed = (await client.get(f"{room}/members", headers=owner)).json()["members"]
    body = {"members": [listed[0]["id"]]}
    await client.post(f"{room}/removals", json=body, headers=owner)
    assert len(await works(client, room, owner)) == 2


async def test_a_change_of_one_thing_leaves_the_others(client: httpx.AsyncClient) -> None:
    room, owner = await opened(client)
    await adjusted(client, room, owner, closed=True)
    state = await adjusted(client, room, owner, paused=True)
    assert (state["closed"], state["paused"], state["wall"]) == (True, True, "closed")
    before = state["seq"]
    assert (await adjusted(client, room, owner, paused=True))["seq"] == before
    assert (await adjusted(client, room, owner))["seq"] == before

"""Two servers that share a Redis, one of which is killed during a lesson."""

import asyncio
import random
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from redis import Redis

from app.rooms.asking import identity_of
from tests.rooms.room_members import Member, port, until
from tests.servers import PATIENCE, AppServer, running_app

MEMBERS = 16
ASK = {"entry": "choice", "ask": {"kind": "looks", "link": "source=Hi&query=0"}}


@pytest.fixture
def pair(redis: str, tmp_path: Path, server_cache: Path) -> Iterator[Sequence[AppServer]]:
    with Redis.from_url(redis) as client:
        client.flushall()
    with ExitStack() as stack:
        yield [
            stack.enter_context(
                running_app(tmp_path / name, {"rooms_url": redis}, warm=True, cache=server_cache)
            )
            for name in ("one", "other")
        ]


async def answer(
    client: httpx.AsyncClient, member: Member, room: str, given: dict[str, int]
) -> None:
    """Answer with 1, 2, 3 …, until cancelled; note what a server acknowledges."""
    n = 0
    while True:
        await asyncio.sleep(random.uniform(0, 0.3))
        n += 1
        body = {"member": member.name, "n": 1, "answer": [str(n)]}
        for server in member.ports:
            try:
                reply = await client.post(f"http://127.0.0.1:{server}{room}/answers", json=body)
            except httpx.TransportError:
                continue
            assert reply.status_code == 204, reply.text
            given[member.name] = n
            break


async def test_members_of_a_killed_server_go_on_with_the_other_and_no_answer_is_lost(
    pair: Sequence[AppServer],
) -> None:
    ports = [port(one) for one in pair]
    async with httpx.AsyncClient(trust_env=False, timeout=PATIENCE) as client:
        made = (await client.post(f"{pair[1].url}/api/rooms", json={"state": {"link": "/"}})).json()
        room, owner = f"/api/rooms/{made['code']}", {"Authorization": f"Bearer {made['key']}"}
        orders = [[*ports[n % 2 :], *ports[: n % 2]] for n in range(MEMBERS)]
        members = [Member(f"member-{n}", order, made["code"]) for n, order in enumerate(orders)]
        await until(lambda: all(one.seq for one in members), 30)
        asked = await client.put(f"{pair[1].url}{room}/question", json=ASK, headers=owner)
        seq = asked.json()["seq"]
        given = dict[str, int]()
        writing = [asyncio.create_task(answer(client, one, room, given)) for one in members]
        await until(lambda: len(given) == MEMBERS, 30)

        pair[1].kill()  # the server that opened the room
        lost = [one for one in members if one.connected[-1][0] == ports[1]]
        assert len(lost) == MEMBERS // 2
        await until(lambda: all(one.connected[-1][0] == ports[0] for one in members), 30)
        # Each is given the present state, which has the question that is still open.
        assert {(one.state["seq"], one.state["question"]["n"]) for one in lost} == {(seq, 1)}
        before = dict(given)
        await until(lambda: all(given[one.name] > before[one.name] for one in members), 30)

        moved = await client.put(f"{pair[0].url}{room}/state", json={"link": "/lab"}, headers=owner)
        await until(lambda: all(one.seq == moved.json()["seq"] for one in members), 30)
        for one in writing:
            one.cancel()
        ended = await asyncio.gather(*writing, return_exceptions=True)
        assert not [one for one in ended if isinstance(one, Exception)]
        told = await client.get(f"{pair[0].url}{room}/answers", headers=owner)
        found = {one["id"]: int(one["answer"][0]) for one in told.json()["answers"]}
        assert len(found) == MEMBERS
        # An answer whose reply was cut off may be there although it was not acknowledged.
        for name, n in given.items():
            assert found[identity_of(1, name)] >= n
        counts = (await client.get(f"{pair[0].url}{room}/class", headers=owner)).json()
        assert (counts["joined"], counts["answered"]) == (MEMBERS, MEMBERS)
        await asyncio.gather(*(one.stop() for one in members))

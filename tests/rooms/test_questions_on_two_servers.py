"""Questions and counts on two servers that share a bus: the order of stages, and whole numbers."""

import asyncio
import itertools
from collections.abc import Callable, Coroutine
from typing import Any, get_args

import pytest

from app.http.problems import ProblemError
from app.rooms import asking, open_rooms, rooms_across_servers, rooms_in_redis
from app.rooms.open_rooms import Rooms
from app.rooms.room_document import Counts
from app.rooms.room_on_server import Hub
from app.rooms.schemas import Stage
from tests.rooms.test_servers import Pair
from tests.rooms.test_servers import servers as servers
from tests.servers import PATIENCE

ABOUT = {"kind": "looks", "link": "source=Hi"}
FOLLOWS = {
    ("first", "discuss"),
    ("first", "revealed"),
    ("discuss", "second"),
    ("discuss", "revealed"),
    ("second", "revealed"),
}
WAY: dict[Stage, tuple[Stage, ...]] = {
    "first": (),
    "discuss": ("discuss",),
    "second": ("discuss", "second"),
    "revealed": ("revealed",),
}


async def refused(work: Coroutine[Any, Any, object]) -> str:
    with pytest.raises(ProblemError) as problem:
        await work
    return problem.value.kind


async def asked(servers: Pair, *way: Stage) -> tuple[str, str]:
    """Open a room, ask it and go on to stages, on the servers in turn."""
    code, key, _ = await servers[0].create("/")
    await asking.ask(servers[1], code, key, "choice", ABOUT)
    for n, stage in enumerate(way):
        await asking.proceed(servers[n % 2], code, key, stage)
    return code, key


async def until(done: Callable[[], Coroutine[Any, Any, bool]]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not await done():
            await asyncio.sleep(0.02)


@pytest.mark.parametrize(
    ("now", "wanted"),
    [
        (now, wanted)
        for now, wanted in itertools.product(get_args(Stage), get_args(Stage))
        if "closed" not in (now, wanted)
    ],
)
async def test_each_stage_is_followed_only_by_its_own(
    servers: Pair, now: Stage, wanted: Stage
) -> None:
    code, key = await asked(servers, *WAY[now])
    if (now, wanted) in FOLLOWS:
        await asking.proceed(servers[1], code, key, wanted)
        now = wanted
    else:
        for server in servers:
            assert await refused(asking.proceed(server, code, key, wanted)) == "not-asking"
    for server in servers:
        question = (await server.join(code, None)).room.question
        assert question
        assert question.stage == now


async def test_a_server_that_ends_between_closing_and_revealing_is_made_up_for(
    servers: Pair,
) -> None:
    first, second = servers
    code, key = await asked(servers)
    await asking.answer(first, await first.hub(code), "member-1", 1, ["1"])
    await first.change(code, key, lambda room: asking._staged(room, "closed"))
    late = asking.answer(second, await second.join(code, None), "member-2", 1, ["2"])
    assert await refused(late) == "not-asking"
    for stage in ("discuss", "second"):
        assert await refused(asking.proceed(second, code, key, stage)) == "not-asking"
    room = await asking.proceed(second, code, key, "revealed")
    assert room.question
    assert room.question.results
    assert room.question.results["first"].chosen == {"1": 1}


async def test_answers_are_not_shown_under_a_question_that_was_asked_meanwhile(
    servers: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = servers
    code, key = await asked(servers)
    fields = first.bus.fields

    async def late(*sent: str) -> dict[str, bytes]:
        monkeypatch.setattr(first.bus, "fields", fields)
        await asking.ask(second, code, key, "choice", ABOUT)
        return await fields(*sent)

    monkeypatch.setattr(first.bus, "fields", late)
    assert await refused(asking.proceed(first, code, key, "revealed")) == "not-asking"
    question = (await first.join(code, None)).room.question
    assert question
    assert (question.n, question.stage, question.results) == (2, "first", None)


async def test_the_answers_of_the_present_vote_are_counted_on_each_server(servers: Pair) -> None:
    code, key = await asked(servers)

    async def answer(n: int, *members: int) -> None:
        for m in members:
            server = servers[m % 2]
            hub = await server.join(code, None)
            await asking.answer(server, hub, f"member-{m}", n, ["1"])

    async def counted() -> list[int]:
        return [await asking.answered(one, await one.join(code, None)) for one in servers]

    await answer(1, 0, 1, 2, 1)
    assert await counted() == [3, 3]
    await asking.proceed(servers[1], code, key, "discuss")
    assert await counted() == [3, 3]
    await asking.proceed(servers[0], code, key, "second")
    assert await counted() == [0, 0]
    await answer(1, 1, 2)
    assert await counted() == [2, 2]
    await asking.ask(servers[1], code, key, "choice", ABOUT)
    assert await counted() == [0, 0]
    await answer(2, 3)
    assert await counted() == [1, 1]
    await asking.dismiss(servers[0], code, key)
    assert await counted() == [0, 0]


async def test_answers_are_in_the_order_in_which_they_came(servers: Pair) -> None:
    code, _ = await asked(servers)
    for m, choice in ((1, "a"), (2, "b"), (3, "c"), (1, "d")):
        server = servers[m % 2]
        await asking.answer(server, await server.join(code, None), f"member-{m}", 1, [choice])
    found = await asking.given(servers[0], await servers[0].hub(code), 1)
    assert [one.answer for one in found] == [["b"], ["c"], ["d"]]


async def test_those_who_are_present_are_counted_on_all_servers_once(
    servers: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (rooms_across_servers, rooms_in_redis):
        monkeypatch.setattr(module, "IDLE_SECONDS", 0.1)
    first, second = servers
    code, _, _ = await first.create("/")
    one, other = [await each.hub(code) for each in servers]

    async def told(rooms: Rooms, hub: Hub) -> tuple[int, int]:
        counts = await rooms.counts(hub)
        return counts.following, counts.exploring

    with (
        one.present("member-1", False),
        one.present("member-2", True),
        other.present("member-3", False),
        other.present("member-4", False),
        other.present("member-5", True),
        other.present("member-6", True),
    ):

        async def agreed() -> bool:
            return {await told(first, one), await told(second, other)} == {(3, 3)}

        await until(agreed)
        await asyncio.sleep(0.3)  # each has reported itself by then
        assert await agreed()
        # A server that was killed reports no more.
        await other.stop()
        other.feed = lambda server: None  # type: ignore[method-assign]
        gone = Counts(following=2, exploring=2, at=one.counts().at - open_rooms.STALE_SECONDS - 1)
        await first.bus.write(code, "servers", second._server, gone.model_dump_json().encode())
        assert await told(first, one) == (1, 1)

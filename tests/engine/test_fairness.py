"""Prices, budgets, turns by work, and cached results."""

import asyncio
import json
import math
import time
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import httpx
import pytest

from app.engine.engine import Bounds, BusyError, Engine
from app.engine.fair_queue import (
    Budgets,
    Client,
    FairQueue,
    Flow,
    SpentError,
    Waiting,
    asking,
    fitting,
)
from app.engine.jobs import price
from app.engine.model_catalog import Catalog
from app.engine.runners import Runners
from app.engine.streamed_replies import DecodeJob, SweepJob
from app.http.tasks_and_caches import ByteCache
from model.adapters.requests.request import Decode, Request
from model.trace.interventions import Intervention
from tests.serving.endless import ask, begun, engine_of
from tests.serving.fixtures import Serving
from tests.serving.problem import hold
from tests.serving.slow import Slow
from tests.serving.small_engine import job
from tests.shipped_head_counts import IN_ALL

LONG = "All of the old houses by the river stood empty while the birds flew south again. " * 3


@dataclass
class Clock:
    """A clock that a test sets."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_budget_fills_by_the_second() -> None:
    clock = Clock()
    budgets, client = Budgets(10, 100, 4, clock), Client("a", 0)
    budgets.charge(client, 100)
    with pytest.raises(SpentError) as spent:
        budgets.charge(client, 50)
    assert spent.value.retry_after == pytest.approx(5)
    clock.now = 5
    budgets.charge(client, 50)
    clock.now = 1e9
    budgets.charge(client, 100)  # it holds no more than that
    with pytest.raises(SpentError):
        budgets.charge(client, 1)


def test_pages_per_address_are_limited() -> None:
    budgets = Budgets(10, 100, 4, Clock())
    clients = {Client.of("a", f"token {n}", 4) for n in range(1000)}
    assert len(clients) == 4
    for client in clients:
        budgets.charge(client, 100)
    for client in clients:
        with pytest.raises(SpentError):
            budgets.charge(client, 1)
    budgets.charge(Client.of("b", "token 1", 4), 100)


def test_prices_follow_the_work(catalog: Catalog) -> None:
    info = catalog["en-zh"].info

    def of(request: Request) -> float:
        return price(replace(job(""), request=request), info)

    short, target = Request("The cat sat."), "猫坐了。"
    given = of(replace(short, target=target))
    assert given < of(short) < of(Request(LONG))
    beam = replace(short, decode=Decode("beam", 8))
    assert of(beam) > 4 * of(replace(short, decode=Decode("greedy")))
    freeze = Intervention("encoder.0.self", "freeze", 0, Request(LONG))
    assert of(replace(short, interventions=(freeze,))) > of(short) + of(Request(LONG))
    swept = price(SweepJob("en-zh", replace(short, target=target), "zero", None), info)
    assert 0.8 * IN_ALL * given < swept < 1.3 * IN_ALL * given
    assert price(DecodeJob("en-zh", short, 3), info) < of(short)


def waiting(client: int, cost: float, size: float = 10.0, text: str = "") -> Waiting:
    flow = Flow("0", Client(str(client), 0))
    return Waiting(job(text or "x"), flow, cost, size, asyncio.Future())


async def test_turns_are_by_work() -> None:
    """Two clients get about the same amount of work, whatever their requests cost."""
    queue, had = FairQueue(), Counter[str]()
    for _ in range(40):
        queue.add(waiting(1, 10))
        queue.add(waiting(2, 50))
    while queue.count("0") > 38:
        head = queue.heads()[0]
        [taken] = queue.take(head, 1)
        had[taken.flow.client.address] += int(taken.price)
    assert abs(had["1"] - had["2"]) <= 60


async def test_turns_cannot_be_saved_up() -> None:
    queue = FairQueue()
    for _ in range(20):
        queue.add(waiting(1, 10))
    for _ in range(10):
        queue.take(queue.heads()[0], 1)
    for _ in range(20):
        queue.add(waiting(2, 10))
    order = [queue.take(queue.heads()[0], 1)[0].flow.client.address for _ in range(8)]
    assert 3 <= order.count("1") <= 5, order


async def test_a_batch_has_similar_lengths() -> None:
    head = waiting(1, 1, 10)
    others = [waiting(1, 1, size) for size in (12, 400, 9, 390, 30)]
    assert [one.size for one in fitting(head, others, 7)] == [12, 9, 30]
    assert [one.size for one in fitting(head, others, 2)] == [12, 9]
    assert [one.size for one in fitting(waiting(1, 1, 395), others, 7)] == [400, 390]
    lonely = waiting(1, 1, math.inf)
    assert fitting(lonely, [*others, lonely], 7) == []
    assert lonely not in fitting(head, [*others, lonely], 9)


async def test_a_light_client_is_next_in_any_queue() -> None:
    model = Slow()
    model_order = model.batches
    async with engine_of(model, max_batch=1) as engine:
        heavy, light = Client("heavy", 0), Client("light", 0)
        first = ask(engine, "first", heavy)
        await begun(model)
        many = [ask(engine, f"{LONG}{n}", heavy) for n in range(6)]
        await asyncio.sleep(0)
        typed = ask(engine, "typed", light)
        await asyncio.sleep(0)
        model.go.set()
        await asyncio.gather(first, typed, *many)
    assert model_order[1] == ["typed"]


async def test_a_client_that_fills_the_queue_makes_room_for_others() -> None:
    model = Slow()
    async with engine_of(model, max_queue=4) as engine:
        heavy, light = Client("heavy", 0), Client("light", 0)
        first = ask(engine, "first", heavy)
        await begun(model)
        many = [ask(engine, str(n), heavy) for n in range(5)]
        await asyncio.sleep(0)
        typed = [ask(engine, f"typed {n}", light) for n in range(3)]
        await asyncio.sleep(0)
        model.go.set()
        told = await asyncio.gather(first, *many, *typed, return_exceptions=True)
    refused = [isinstance(one, BusyError) for one in told]
    # The heavy client's fifth does not fit; two of its requests make room for the light client.
    assert refused == [False, False, False, True, True, True, False, False, True]


async def test_only_work_that_runs_is_charged() -> None:
    """Requests that are refused, displaced, or leave the queue cost their client nothing."""
    model, heavy, light = Slow(), Client("heavy", 0), Client("light", 0)
    budgets = Budgets(1, 1_000, 1, lambda: 0.0)
    once = price(job("first"), Slow.info)
    runners = Runners.in_threads(Catalog.of({"0": model}))
    async with Engine(runners, Bounds(max_queue=2, max_batch=1), None, budgets) as engine:
        first = ask(engine, "first", heavy)
        await begun(model)
        many = [ask(engine, f"more {n}", heavy) for n in range(5)]  # two wait, three are refused
        await asyncio.sleep(0)
        typed = [ask(engine, "typed", light)]  # displaces one
        await asyncio.sleep(0)
        asking.set(heavy)
        streams = [anext(engine.stream(DecodeJob("0", Request("x"), 3))) for _ in range(2)]
        told = await asyncio.gather(*streams, return_exceptions=True)
        assert [type(one) for one in told] == [BusyError, BusyError]
        many[0].cancel()
        await asyncio.gather(*many, return_exceptions=True)
        model.go.set()
        await asyncio.gather(first, *typed)
    budgets.charge(heavy, 1_000 - once)
    with pytest.raises(SpentError):
        budgets.charge(heavy, 0.1)


async def test_equal_requests_are_computed_once_and_kept() -> None:
    model = Slow()
    cache = ByteCache[Any](100_000, len)
    async with Engine(Runners.in_threads(Catalog.of({"0": model})), Bounds(), cache) as engine:
        same = [ask(engine, "same") for _ in range(5)]
        await begun(model)
        same[0].cancel()
        model.go.set()
        answers = await asyncio.gather(*same[1:])
        assert await ask(engine, "same") == answers[0]
        assert await ask(engine, "other") != answers[0]
    assert model.batches == [["same"], ["other"]]


async def test_failures_are_not_kept() -> None:
    model = Slow()
    model.go.set()
    cache = ByteCache[Any](100_000, len)
    async with Engine(Runners.in_threads(Catalog.of({"0": model})), Bounds(), cache) as engine:
        for _ in range(2):
            with pytest.raises(RuntimeError, match="poison"):
                await ask(engine, "poison")
    assert model.batches == [["poison"], ["poison"]]


async def test_too_expensive_requests_are_refused_at_once(serving: Serving) -> None:
    async with serving(max_work=3_000) as client:
        body = {"source": "The cat sat on the mat.", "target": "猫坐在垫子上。"}
        assert (await client.post("/api/trace", json=body)).status_code == 200
        problem = hold(await client.post("/api/sweep", json=body), 422, "too-much-work", None)
        assert problem["limit"] == 3_000
        assert problem["value"] > 3_000


async def test_a_refusal_is_cheap_however_long_the_text(serving: Serving) -> None:
    """It is decided without a look at each character, and before any work."""

    async def seconds(client: httpx.AsyncClient, select: str, text: str) -> float:
        body = {"source": text, "target": "猫", "select": [select]}
        started = time.process_time()
        for _ in range(30):
            reply = await client.post("/api/trace", json=body)
            expected = ("text-too-long", "source") if len(text) > 2_000 else ("too-much-work", None)
            hold(reply, 422, *expected)
        return time.process_time() - started

    async with serving(max_work=60, max_body_bytes=10**6) as client:
        shortest = min([await seconds(client, "inside.integrated-gradients", "Hi!") for _ in "abc"])
        for select, text in (
            ("inside.integrated-gradients", "The cat. " * 200),
            ("inside.?elevance.*", "猫" * 1_999),
            ("*", "x" * 50_000),
        ):
            longer = min([await seconds(client, select, text) for _ in "abc"])
            assert longer < 4 * shortest, (select, longer / shortest)


async def test_a_spent_budget_affects_only_its_client(serving: Serving) -> None:
    async def send(client: httpx.AsyncClient, n: int, page: str) -> httpx.Response:
        body = {"source": f"The cat sat on mat {n}.", "select": []}
        return await client.post("/api/trace", json=body, headers={"Headlight-Client": page})

    async with serving(max_work=2_000, work_per_second=1) as client:
        seen = [await send(client, n, "one") for n in range(8)]
        statuses = [response.status_code for response in seen]
        assert statuses[0] == 200
        hold(seen[-1], 429, "too-many-requests", None)
        assert int(seen[-1].headers["retry-after"]) > 0
        assert (await send(client, 100, "another")).status_code == 200
        assert (await send(client, 0, "one")).status_code == 200  # it is kept: no work


async def test_many_patterns_are_refused_as_cheaply_as_few(serving: Serving) -> None:
    """None is compiled, however different they are, and too long ones are not read at all."""

    def patterns(count: int, n: int) -> list[str]:
        hurting = [f"*[!abc{n}]*?*?*?[!cba{i}X]*s" for i in range(count)]
        return [*hurting, "*zzz"]

    async def seconds(client: httpx.AsyncClient, count: int, start: int) -> float:
        started = time.process_time()
        for n in range(start, start + 10):
            body = {"source": "Hi!", "target": "猫", "select": patterns(count, n)}
            reply = await client.post("/api/trace", json=body)
            if count <= 64:
                hold(reply, 422, "unknown-tensor", f"select[{count}]")
            else:
                assert hold(reply, 422, "too-many-patterns", "select")["limit"] == 2_048
        return time.process_time() - started

    async with serving() as client:
        few, many, too_many = [
            min([await seconds(client, count, 1_000 * n + 100 * count) for n in range(3)])
            for count in (0, 64, 255)
        ]
        assert many < 3 * few, many / few
        assert too_many < 3 * few, too_many / few


async def test_many_edges_are_refused_as_soon_as_they_are_read(serving: Serving) -> None:
    """They are counted before any is checked; the limit is that of all interventions together."""
    edges = {"at": "encoder.0.self", "do": {"cut": [[0, 0]] * 300}}
    rows = {"at": "encoder.0.self.q", "do": {"patch": {"source": "Ho!", "rows": [[0, 0]] * 300}}}
    much = json.dumps({"source": "Hi!", "interventions": [edges, rows] * 20})
    headers = {"Content-Type": "application/json"}

    async def seconds(client: httpx.AsyncClient, body: str, kind: str, field: str) -> float:
        started = time.process_time()
        for _ in range(10):
            reply = await client.post("/api/trace", content=body, headers=headers)
            problem = hold(reply, 422, kind, field)
        assert "4096" in problem["detail"] or kind != "too-long"
        return time.process_time() - started

    def reading() -> float:
        started = time.process_time()
        for _ in range(10):
            json.loads(much)
        return time.process_time() - started

    async with serving() as client:
        little = json.dumps({"source": "Hi!", "select": ["zzz"]})
        plain = min([await seconds(client, little, "unknown-tensor", "select[0]") for _ in "abc"])
        refused = min([await seconds(client, much, "too-long", "interventions") for _ in "abc"])
        read = min([reading() for _ in "abc"])
        assert refused < 2 * (plain + read), (refused, plain, read)


@pytest.mark.parametrize(
    "select",
    [
        [f"inside.score.encoder.0.self.0.{n}.0.parts@0" for n in range(250)],
        [f"inside.contrast.{n}.2.*" for n in range(100)],
        [f"*{n}{'?' * 100}" for n in range(30)],
    ],
)
async def test_what_is_counted_is_refused_before_it_is_queued(
    serving: Serving, select: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(Engine, "run", never)
    async with serving() as client:
        reply = await client.post("/api/trace", json={"source": "Hi!", "select": select})
        hold(reply, 422, "too-many-patterns", "select")

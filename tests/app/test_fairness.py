"""Cost before work: prices, budgets, turns by work, and work that ends when nobody waits for it."""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import httpx
import pytest

from app.engine.byte_cache import ByteCache
from app.engine.catalog import Catalog
from app.engine.clients import NOBODY, Budgets, Client, SpentError, asking
from app.engine.decoding import DecodeJob
from app.engine.engine import Bounds, BusyError, Engine
from app.engine.fair_queue import FairQueue, Waiting, fitting
from app.engine.price import price
from app.engine.runners import Runners
from app.engine.sweeping import SweepJob
from app.engine.worker import Batch, Worker
from model.adapters.request import Decode, Request, Trace
from model.stopping import StoppedError, go_on, stoppable
from model.trace.interventions import Intervention
from tests.app.conftest import Serving
from tests.app.problem import hold
from tests.app.slow import Slow
from tests.app.test_engine import job

LONG = "All of the old houses by the river stood empty while the birds flew south again. " * 3


class Endless(Slow):
    """A model whose runs end only when they are stopped."""

    def run(self, requests: Sequence[Request]) -> list[Trace]:
        self.batches.append([request.source for request in requests])
        self.started.set()
        while not self.go.is_set():
            go_on()
            time.sleep(0.001)
        return super().run(requests)


def engine_of(model: Slow, **more: Any) -> Engine:
    bounds = Bounds(**{"max_queue": 8, "max_batch": 4, "max_wait_seconds": 10.0, **more})
    return Engine(Runners.in_threads(Catalog.of({"0": model})), bounds)


def ask(engine: Engine, text: str, client: Client = NOBODY) -> asyncio.Task[Any]:
    """Send a text as a client."""

    async def run() -> Any:
        asking.set(client)
        return await engine.run(job(text))

    return asyncio.create_task(run())


async def begun(model: Slow) -> None:
    await asyncio.to_thread(model.started.wait, 10)
    model.started.clear()


async def test_who_leaves_ends_what_runs() -> None:
    model = Endless()
    async with engine_of(model) as engine:
        first = ask(engine, "first")
        await begun(model)
        second = ask(engine, "second")
        await asyncio.sleep(0)
        first.cancel()
        await begun(model)  # the second runs, though nothing let the first one go
        second.cancel()
        await asyncio.gather(first, second, return_exceptions=True)
    assert model.batches == [["first"], ["second"]]


async def test_a_deadline_ends_what_runs() -> None:
    model = Endless()
    async with engine_of(model, max_wait_seconds=0.2) as engine:
        with pytest.raises(BusyError, match=r"0\.2 seconds"):
            await ask(engine, "first")
        await begun(model)
        second = ask(engine, "second")
        await begun(model)
        model.go.set()
        assert await second


async def test_as_long_as_somebody_waits_it_goes_on() -> None:
    model = Endless()
    async with engine_of(model) as engine:
        together = [ask(engine, "same"), ask(engine, "same")]
        await begun(model)
        together[0].cancel()
        await asyncio.sleep(0.05)
        model.go.set()
        assert await together[1]
    assert model.batches == [["same"], ["same"]]  # once; told by both classes


def test_a_run_ends_before_its_next_layer(catalog: Catalog) -> None:
    asked: Counter[str] = Counter()

    def stopped() -> bool:
        asked["times"] += 1
        return asked["times"] > 7

    with stoppable(stopped), pytest.raises(StoppedError):
        catalog["en-zh"].trace("The cat sat on the mat.")
    assert asked["times"] == 8
    assert catalog["en-zh"].trace("The cat sat on the mat.").output.text


async def test_a_sweep_with_freezes_leaves_with_its_client(catalog: Catalog) -> None:
    """It took the model for minutes after its client had gone."""
    frozen = tuple(
        Intervention("encoder.0.self", "freeze", 0, Request(f"{LONG} {n}")) for n in range(8)
    )
    async with Engine(Runners.in_threads(catalog), Bounds()) as engine:
        quick = replace(job("Hi."), model="en-zh", selection=None)
        await engine.run(replace(quick, encoding=replace(quick.encoding, max_values=10**6)))
        sweep = engine.stream(SweepJob("en-zh", Request(LONG, interventions=frozen), "zero", None))
        leaver: asyncio.Task[bytes] = asyncio.create_task(anext(sweep))  # type: ignore[arg-type]
        await asyncio.sleep(0.3)
        assert not leaver.done()
        leaver.cancel()
        start = time.perf_counter()
        other = replace(job("Hello."), model="en-zh", identity="other")
        await engine.run(replace(other, encoding=replace(quick.encoding, max_values=10**6)))
        assert time.perf_counter() - start < 5  # alone it takes a tenth of a second
        assert engine.streams == 0


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


def test_pages_at_an_address_are_bounded() -> None:
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
    assert 60 * given < swept < 90 * given  # 72 heads
    assert price(DecodeJob("en-zh", short, 3), info) < of(short)


def waiting(client: int, cost: float, size: float = 10.0, text: str = "") -> Waiting:
    flow = "0", Client(str(client), 0)
    return Waiting(job(text or "x"), flow, cost, size, asyncio.Future())


async def test_turns_are_by_work() -> None:
    """Each of two clients has had about as much, whatever a request of theirs costs."""
    queue, had = FairQueue(), Counter[str]()
    for _ in range(40):
        queue.add(waiting(1, 10))
        queue.add(waiting(2, 50))
    while queue.count("0") > 38:
        head = queue.heads()[0]
        [taken] = queue.take(head, 1)
        had[taken.flow[1].address] += int(taken.price)
    assert abs(had["1"] - had["2"]) <= 60


async def test_nobody_saves_turns_up() -> None:
    queue = FairQueue()
    for _ in range(20):
        queue.add(waiting(1, 10))
    for _ in range(10):
        queue.take(queue.heads()[0], 1)
    for _ in range(20):
        queue.add(waiting(2, 10))
    order = [queue.take(queue.heads()[0], 1)[0].flow[1].address for _ in range(8)]
    assert 3 <= order.count("1") <= 5, order


async def test_a_batch_is_of_like_lengths() -> None:
    head = waiting(1, 1, 10)
    others = [waiting(1, 1, size) for size in (12, 400, 9, 390, 30)]
    assert [one.size for one in fitting(head, others, 7)] == [12, 9, 30]
    assert [one.size for one in fitting(head, others, 2)] == [12, 9]
    assert [one.size for one in fitting(waiting(1, 1, 395), others, 7)] == [400, 390]


async def test_a_typing_user_is_next_whoever_else_waits() -> None:
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


async def test_who_fills_the_queue_makes_room_for_another() -> None:
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
    # The heavy one's fifth does not fit, two more make room; the third of the light one does not.
    assert refused == [False, False, False, True, True, True, False, False, True]


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


async def test_what_costs_too_much_is_refused_before_it_waits(serving: Serving) -> None:
    async with serving(max_work=3_000) as client:
        body = {"source": "The cat sat on the mat.", "target": "猫坐在垫子上。"}
        assert (await client.post("/api/trace", json=body)).status_code == 200
        problem = hold(await client.post("/api/sweep", json=body), 422, "too-much-work", None)
        assert problem["limit"] == 3_000
        assert problem["value"] > 3_000


async def test_a_client_that_asks_for_too_much_waits_and_no_other(serving: Serving) -> None:
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


class Patient(Endless):
    """Endless for long texts alone."""

    info = replace(Slow.info, max_tokens=1000)

    def run(self, requests: Sequence[Request]) -> list[Trace]:
        if len(requests[0].source) >= len(LONG):
            return super().run(requests)
        return Slow.run(self, requests)


async def test_what_is_long_pauses_for_what_is_short() -> None:
    model, other = Patient(), Client("other", 0)
    async with engine_of(model) as engine:
        long = ask(engine, LONG * 2, Client("heavy", 0))
        await begun(model)
        own = ask(engine, "own", Client("heavy", 0))
        await asyncio.sleep(0)
        await asyncio.sleep(0.05)
        assert model.batches == [[LONG * 2]]  # its own waits for it
        own.cancel()
        short = ask(engine, "short", other)
        await begun(model)  # though nothing has let the long one go
        await asyncio.sleep(0.05)
        assert not long.done()
        model.go.set()
        assert await short
        assert await long
    assert model.batches[:2] == [[LONG * 2], ["short"]]


async def test_what_pauses_does_so_until_the_other_has_ended(catalog: Catalog) -> None:
    """Between two layers, and not at all once nothing urgent runs."""
    worker = Worker(catalog)
    asked: list[str] = []

    def stopped() -> bool:
        asked.append("layer")
        return False

    work = Batch((replace(job("The cat."), model="en-zh"),))
    with worker._first():  # as while something urgent runs
        pausing = asyncio.create_task(asyncio.to_thread(worker.run, work, lambda: False))
        urgent = await asyncio.to_thread(worker.run, work, stopped, True)
        assert len(asked) > 3
        assert urgent
        assert not pausing.done()
    assert len(await pausing) == 1

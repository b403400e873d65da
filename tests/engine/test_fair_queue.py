"""Turns of the fair queue, computed by hand."""

import asyncio
from collections import Counter
from collections.abc import Iterator

import pytest

from app.engine import fair_queue
from app.engine.fair_queue import Client, FairQueue, Flow, Length, Waiting
from tests.serving.small_engine import job


def flow(client: str, model: str = "0") -> Flow:
    return Flow(model, Client(client, 0))


def waiting(client: str, cost: float = 10, name: str = "", model: str = "0") -> Waiting:
    return Waiting(job(name or client), flow(client, model), cost, 10.0, asyncio.Future())


def long(client: str, cost: float = 100, name: str = "") -> Waiting:
    flow = Flow("0", Client(client, 0), "long")
    return Waiting(job(name or client), flow, cost, 10.0, asyncio.Future())


def texts(some: list[Waiting]) -> list[str]:
    return [one.work.request.source for one in some]  # type: ignore[union-attr]


def served(queue: FairQueue, one: Waiting) -> None:
    queue.add(one)
    assert queue.take(one, 1) == [one]


async def test_a_long_wait_does_not_set_the_clock_back() -> None:
    """A client's model was busy while others were served; a newcomer starts level with these."""
    queue, late = FairQueue(), waiting("late", 1, model="1")
    queue.add(late)
    for _ in range(3):
        served(queue, waiting("busy", 50))
    assert queue.had(flow("nobody")) == 100
    queue.take(late, 1)
    assert queue.had(flow("nobody")) == 100


async def test_served_work_counts_until_others_catch_up() -> None:
    queue = FairQueue()
    served(queue, waiting("heavy", 100))
    assert queue.had(flow("heavy")) == 100
    assert queue.had(flow("light")) == 0
    for had in (30, 60, 90):
        served(queue, waiting("light", 30))
        assert queue.had(flow("light")) == had
        assert flow("heavy") in queue.served
    served(queue, waiting("light", 30))
    served(queue, waiting("light", 30))
    assert flow("heavy") not in queue.served, "it begins anew"


async def test_clients_are_forgotten_in_the_order_in_which_they_are_overtaken() -> None:
    queue, cost = FairQueue(), {"a": 40, "b": 10, "c": 30, "d": 20}
    for name in cost:
        queue.add(waiting(name, cost[name]))
    while queue:
        queue.take(queue.heads()[0], 1)
    for passed in range(5, 50, 5):
        served(queue, waiting("light", 5))
        served(queue, waiting("light", 0))  # the clock is where it ended
        assert queue.now["short"] == passed
        ahead = {flow(name) for name in cost if cost[name] > passed}
        assert queue.served.keys() - {flow("light")} == ahead


async def test_a_client_that_waits_again_is_not_forgotten() -> None:
    queue, late = FairQueue(), waiting("late", 30, model="1")
    served(queue, waiting("late", 30, model="1"))
    queue.add(late)
    cancelled = waiting("late", 30, model="1")
    queue.add(cancelled)
    assert queue.remove(cancelled)
    for _ in range(20):
        served(queue, waiting("busy", 50))
        assert queue.had(late.flow) == 30, "its turn is due"
    assert queue.take(queue.heads()[0], 1) == [late]
    assert late.flow not in queue.served, "it was due long ago"
    for n in range(200):  # one that sends and cancels is one client
        queue.add(one := waiting("cancels", 1))
        assert queue.remove(one)
        assert len(queue.served) <= 2, n


async def test_clients_seen_once_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_queue, "KNOWN", known := 60)
    queue = FairQueue()
    queue.add(waiting("stays"))
    served(queue, waiting("heavy", 100))
    for n in range(known + 50):
        served(queue, waiting(f"client {n}", 1))
        assert len(queue.served) <= known + 1
    assert {flow("stays"), flow("heavy")} <= queue.served.keys(), "it waits, and is far ahead"
    assert flow("client 50") not in queue.served
    assert flow("client 51") in queue.served, "the latest are"
    for n in range(known + 50):
        queue.add(one := waiting(f"cancels {n}", 1))
        assert queue.remove(one)
        assert len(queue.idle["short"]) <= known


async def test_a_turn_does_not_look_at_all_clients() -> None:
    class Served(dict[Flow, float]):
        looks = 0

        def get(self, flow: Flow, default: float = 0.0) -> float:  # type: ignore[override]
            self.looks += 1
            return super().get(flow, default)

        def __iter__(self) -> Iterator[Flow]:
            raise AssertionError("it goes through all")

    queue = FairQueue(served=(counted := Served()))
    for n in range(1000):
        served(queue, waiting(f"client {n}", 10))
    counted.looks = 0
    for n in range(10):
        served(queue, waiting(f"new {n}", 1))
    assert counted.looks < 100


async def test_a_full_queue_drops_a_request_of_the_client_with_two_more() -> None:
    queue = FairQueue()
    for n in range(5):
        queue.add(waiting("elsewhere", name=str(n), model="1"))
    queue.add(waiting("new"))
    for n in range(2):
        queue.add(waiting("greedy", name=f"greedy {n}"))
    assert queue.displaced(flow("new")) is None, "it would only change places"
    queue.add(waiting("greedy", name="greedy 2"))
    given = queue.displaced(flow("new"))
    assert given is not None
    assert texts([given]) == ["greedy 2"]
    assert queue.displaced(flow("greedy")) is None


async def test_a_batch_takes_each_clients_first_request_before_any_second() -> None:
    queue = FairQueue()
    for name in ("a1", "a2", "a3", "b1", "b2", "c1"):
        queue.add(waiting(name[0], name=name))
    [head, *_] = queue.heads()
    assert texts(queue.take(head, 4)) == ["a1", "b1", "c1", "a2"]
    assert sorted(texts(list(queue))) == ["a3", "b2"]
    assert [queue.had(flow(name)) for name in "abc"] == [20, 10, 10]


async def test_a_retried_job_runs_alone() -> None:
    """A job whose process crashed may crash the next process too."""
    queue = FairQueue()
    again, other = waiting("again"), waiting("other")
    again.tries = 1
    queue.add(again)
    queue.add(other)
    assert queue.take(again, 8) == [again]
    queue.add(again)
    assert queue.take(other, 8) == [other]


async def test_a_retried_job_is_first_in_its_clients_queue() -> None:
    queue = FairQueue()
    for name in ("one", "two"):
        queue.add(waiting("a", name=name))
    queue.add(waiting("a", name="again"), first=True)
    assert texts(list(queue)) == ["again", "one", "two"]
    assert (len(queue), queue.count("0"), queue.count("1")) == (3, 3, 0)


async def test_a_short_request_goes_before_the_long_ones_of_twenty_clients() -> None:
    queue = FairQueue()
    for n in range(20):
        queue.add(long(f"heavy {n}"))
        queue.add(long(f"heavy {n}", name="again"))
    running = queue.heads()[0]
    queue.take(running, 1)
    for n in range(8):
        typed = waiting("typing", 10, name=f"typed {n}")
        queue.add(typed)
        assert queue.order(typed.flow) < queue.order(running.flow), "it interrupts what runs"
        assert queue.heads()[0] is typed
        assert queue.take(typed, 8) == [typed], "no long one joins its batch"


@pytest.mark.parametrize(("short", "costs"), [(4, (10, 100)), (1, (10, 1000)), (20, (50, 60))])
async def test_long_requests_are_a_fifth_of_the_work_while_short_ones_wait(
    short: int, costs: tuple[float, float]
) -> None:
    queue, work = FairQueue(), Counter[Length]()
    for n in range(50):
        served(queue, long("heavy", costs[1], str(n)))  # alone; no turns are saved up
    names = [f"typing {n}" for n in range(short)]
    while work.total() < 100 * sum(costs):
        for name in names:
            if flow(name) not in queue.flows:
                queue.add(waiting(name, costs[0]))
        if not any(one.length == "long" for one in queue.flows):
            queue.add(long("heavy", costs[1]))
        [taken] = queue.take(queue.heads()[0], 1)
        work[taken.flow.length] += int(taken.price)
    assert work["long"] / work.total() == pytest.approx(0.2, abs=0.05)


async def test_the_work_ahead_is_a_turn_of_each_and_what_the_other_length_gets_meanwhile() -> None:
    queue, new = FairQueue(), Flow("0", Client("new", 0))
    queue.add(waiting("a", 30))
    queue.add(waiting("b", 5))
    assert queue.ahead(new, 10) == 15, "of a as much as it asks for"
    queue.add(long("heavy", 4))
    assert queue.ahead(new, 10) == 19
    queue.add(long("heavy", 1000))
    assert queue.ahead(new, 10) == pytest.approx(15 + 25 / 4)
    assert queue.ahead(Flow("0", Client("new", 0), "long"), 100) == 100 + 35
    queue.add(waiting("new", 7))
    assert queue.ahead(new, 10) == pytest.approx(22 + 32 / 4), "all that it has waiting itself"

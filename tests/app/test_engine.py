"""The engine: batches under load, bounded queues that take turns, places given up, its end."""

import asyncio
import pickle
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import orjson
import pytest

from app.engine.catalog import Catalog
from app.engine.decoding import DecodeJob
from app.engine.engine import Bounds, BusyError, Engine
from app.engine.jobs import Encoding, StreamJob, TraceJob
from app.engine.runners import Runners
from app.engine.sweeping import SweepJob
from app.engine.wire import FORMS, JSON, Reply
from model.adapters.request import Adapter, Decode, Request
from model.errors import InputError
from model.trace.interventions import Cell, Intervention
from tests.app.slow import Slow


@asynccontextmanager
async def running(
    *models: Slow,
    max_queue: int = 8,
    max_batch: int = 4,
    max_wait_seconds: float = 10,
    max_models: int = 2,
) -> AsyncIterator[Engine]:
    """Run an engine for these models, called "0", "1" and so on."""
    loaders = {str(n): (lambda model=model: model) for n, model in enumerate(models or [Slow()])}
    runners = Runners.in_threads(Catalog(loaders, max_models))
    engine = Engine(runners, Bounds(max_queue, max_batch, max_wait_seconds))
    async with engine:
        yield engine


def job(source: str, model: str = "0", form: str = JSON) -> TraceJob:
    return TraceJob(model, Request(source), "id", "float32", Encoding(form, 1000))


async def run(engine: Engine, source: str, model: str = "0") -> str:
    """Send one request and return what it wrote; one text asks for a form that there is not."""
    form = "nonsense" if source == "bitter" else JSON
    encoded = await engine.run(job(source, model, form))
    return str(orjson.loads(encoded.content)["output"]["text"])


def send(engine: Engine, source: str, model: str = "0") -> asyncio.Task[str]:
    return asyncio.create_task(run(engine, source, model))


async def held(engine: Engine, model: Slow) -> asyncio.Task[str]:
    """Send one request and wait until the model is at it, so that what follows must queue."""
    first = send(engine, "first")
    await asyncio.to_thread(model.started.wait, 10)
    return first


async def test_what_waits_becomes_a_batch_in_order() -> None:
    model = Slow()
    async with running(model) as engine:
        first = await held(engine, model)
        rest = [send(engine, str(n)) for n in range(5)]
        await asyncio.sleep(0)
        model.go.set()
        texts = await asyncio.gather(first, *rest)
    assert model.batches == [["first"], ["0", "1", "2", "3"], ["4"]]
    assert texts == ["first", "0", "1", "2", "3", "4"]


async def test_a_batch_is_of_one_model() -> None:
    one, other = Slow(), Slow()
    other.go.set()
    async with running(one, other) as engine:
        first = await held(engine, one)
        rest = [send(engine, *of) for of in (("a", "0"), ("b", "1"), ("c", "0"))]
        await asyncio.sleep(0)
        one.go.set()
        await asyncio.gather(first, *rest)
    assert one.batches == [["first"], ["a", "c"]]
    assert other.batches == [["b"]]


async def test_a_slow_model_holds_up_no_other() -> None:
    slow, quick = Slow(), Slow()
    quick.go.set()
    async with running(slow, quick, max_queue=2) as engine:
        first = await held(engine, slow)
        waiting = [send(engine, name) for name in "ab"]
        await asyncio.sleep(0)
        with pytest.raises(BusyError):  # its own queue is full
            await run(engine, "c")
        assert [await run(engine, name, "1") for name in "def"] == ["d", "e", "f"]
        slow.go.set()
        await asyncio.gather(first, *waiting)


async def test_queues_take_turns_at_one_thread() -> None:
    models = [Slow(), Slow(), Slow()]
    order = list[list[str]]()
    for model in models:
        model.batches = order
    async with running(*models, max_models=1, max_batch=1) as engine:
        first = await held(engine, models[0])
        rest = [send(engine, f"{name}{n}", str(n)) for n in range(3) for name in "ab"]
        await asyncio.sleep(0.01)
        for model in models:
            model.go.set()
        await asyncio.gather(first, *rest)
    turns = ["".join(batch)[-1] for batch in order[1:]]
    assert sorted(turns[:3]) == sorted(turns[3:]) == ["0", "1", "2"], order


async def test_a_queue_that_waits_for_its_turn_fills() -> None:
    model, other = Slow(), Slow()
    async with running(model, other, max_models=1) as engine:
        first = await held(engine, model)
        rest = []
        for name in "ab":
            rest.append(send(engine, name, "1"))
            await asyncio.sleep(0.01)
        model.go.set()
        other.go.set()
        await asyncio.gather(first, *rest)
    assert other.batches == [["a", "b"]]


async def test_a_full_queue_is_busy() -> None:
    model = Slow()
    async with running(model, max_queue=2) as engine:
        first = await held(engine, model)
        rest = [send(engine, str(n)) for n in range(2)]
        await asyncio.sleep(0)
        assert engine.waiting == 2
        with pytest.raises(BusyError, match="2 requests"):
            await run(engine, "late")
        model.go.set()
        await asyncio.gather(first, *rest)
        assert await run(engine, "later") == "later"


async def test_bad_input_is_its_own_fault_alone() -> None:
    model = Slow()
    async with running(model) as engine:
        first = await held(engine, model)
        rest = [send(engine, source) for source in ("a", "", "b")]
        await asyncio.sleep(0)
        model.go.set()
        a, bad, b = await asyncio.gather(*rest, return_exceptions=True)
        await first
    assert (a, b) == ("a", "b")
    assert isinstance(bad, InputError)
    assert model.batches == [["first"], ["a", "b"]]


async def test_who_leaves_gives_up_the_place() -> None:
    model = Slow()
    async with running(model, max_queue=1) as engine:
        first = await held(engine, model)
        leaver = send(engine, "leaver")
        await asyncio.sleep(0)
        leaver.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leaver
        assert engine.waiting == 0
        stayer = send(engine, "stayer")
        await asyncio.sleep(0)
        model.go.set()
        await asyncio.gather(first, stayer)
    assert model.batches == [["first"], ["stayer"]]


async def test_a_long_wait_is_busy_and_gives_up_the_place() -> None:
    model = Slow()
    async with running(model, max_wait_seconds=0.05) as engine:
        first = await held(engine, model)
        with pytest.raises(BusyError, match=r"0\.05 seconds"):
            await run(engine, "second")
        assert engine.waiting == 0
        with pytest.raises(BusyError):
            await first
        model.go.set()
    assert model.batches == [["first"]]


async def test_one_failure_fails_alone() -> None:
    model = Slow()
    async with running(model) as engine:
        first = await held(engine, model)
        sources = ["a", "poison", "b", "bitter"]
        rest = [send(engine, source) for source in sources]
        await asyncio.sleep(0)
        model.go.set()
        results = await asyncio.gather(first, *rest, return_exceptions=True)
    good = [result for result in results if isinstance(result, str)]
    assert good == ["first", "a", "b"]
    assert isinstance(results[2], RuntimeError)
    assert isinstance(results[4], KeyError)


async def test_the_end_lets_the_running_finish_and_sends_the_waiting_away() -> None:
    model = Slow()
    async with running(model) as engine:
        first = await held(engine, model)
        second = send(engine, "second")
        await asyncio.sleep(0)
        asyncio.get_running_loop().call_later(0.05, model.go.set)
    assert await first == "first"
    with pytest.raises(BusyError, match="shutting down"):
        await second
    with pytest.raises(BusyError, match="shutting down"):
        await run(engine, "third")


@dataclass(frozen=True)
class Counting(StreamJob):
    """Count up, and say how far it has got."""

    model: str = "0"
    most: int = 1000
    made: list[int] = field(default_factory=list)

    def lines(self, adapter: Adapter) -> Iterator[bytes]:
        for number in range(self.most):
            self.made.append(number)
            yield str(number).encode()


async def test_a_stream_makes_what_is_asked_for_and_no_more() -> None:
    counting = Counting()
    async with running() as engine:
        async for line in engine.stream(counting):
            await asyncio.sleep(0.01)
            assert counting.made == list(range(int(line) + 1))
            if line == b"3":
                break
        await asyncio.sleep(0.02)
        assert counting.made == [0, 1, 2, 3]
        assert [line async for line in engine.stream(Counting(most=3))] == [b"0", b"1", b"2"]
        assert engine.streams == 0


async def test_a_stream_works_off_the_event_loop() -> None:
    class Threads(Counting):
        def lines(self, adapter: Adapter) -> Iterator[bytes]:
            while True:
                yield str(threading.get_ident()).encode()

    async with running() as engine:
        stream = engine.stream(Threads())
        seen = {await anext(stream) for _ in range(5)}
    assert len(seen) == 1
    assert str(threading.get_ident()).encode() not in seen


async def test_others_have_their_turn_between_two_lines() -> None:
    model, counting = Slow(), Counting()
    model.go.set()

    async def read(engine: Engine) -> None:
        async for _ in engine.stream(counting):
            pass

    async with running(model) as engine:
        reading = [asyncio.create_task(read(engine)) for _ in range(2)]
        await asyncio.sleep(0)
        before = len(counting.made)
        assert await send(engine, "hello") == "hello"
        # A line of each that stood before it, and one that was being made.
        assert len(counting.made) - before <= 4
        for task in reading:
            task.cancel()
        await asyncio.gather(*reading, return_exceptions=True)
        assert (engine.streams, engine.waiting) == (0, 0)


async def test_a_stream_needs_a_place_once() -> None:
    model = Slow()
    async with running(model, max_queue=1) as engine:
        stream = engine.stream(Counting())
        assert await anext(stream) == b"0"
        with pytest.raises(BusyError, match="1 requests"):
            await anext(engine.stream(Counting()))
        first = await held(engine, model)
        second = send(engine, "second")
        await asyncio.sleep(0)
        going_on = asyncio.ensure_future(anext(stream))  # though the queue is full now
        await asyncio.sleep(0)
        model.go.set()
        assert (await first, await second, await going_on) == ("first", "second", b"1")


async def test_a_stream_that_fails_says_so_and_is_over() -> None:
    class Failing(Counting):
        def lines(self, adapter: Adapter) -> Iterator[bytes]:
            yield b"1"
            raise ValueError("bitter")

    async with running() as engine:
        stream = engine.stream(Failing())
        assert await anext(stream) == b"1"
        with pytest.raises(ValueError, match="bitter"):
            await anext(stream)
        assert engine.streams == 0


async def test_the_end_ends_streams() -> None:
    async with running() as engine:
        stream = engine.stream(Counting())
        await anext(stream)
    with pytest.raises(BusyError, match="shutting down"):
        await anext(stream)


def test_a_job_can_leave_its_process() -> None:
    changes = (
        Intervention("encoder.0.self", "set", 1, Cell(0, 1, 0.5, True)),
        Intervention("encoder.0.self", "cut", None, (0, 1)),
        Intervention("encoder.0.self", "freeze", 2, Request("another", target="一")),
    )
    request = Request("hi", decode=Decode("beam", prefix=(1, 2)), interventions=changes)
    for sent in (
        TraceJob("0", request, "id", "uint8", Encoding(JSON, 10)),
        DecodeJob("0", request, 3),
        SweepJob("0", request, "zero", None),
    ):
        assert pickle.loads(pickle.dumps(sent)) == sent


@pytest.mark.parametrize("form", FORMS)
def test_so_can_its_answer(form: str) -> None:
    encoded = Encoding(form, 10)(Reply({"tensors": {}}, {}))
    assert pickle.loads(pickle.dumps(encoded)) == encoded

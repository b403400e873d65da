"""The engine: batches under load, a bounded queue, places given up, an orderly end."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from app.engine.engine import BusyError, Engine
from model.adapters.request import Request, Trace
from model.errors import InputError
from tests.app.slow import Slow


@asynccontextmanager
async def running(
    max_queue: int = 8, max_batch: int = 4, max_wait_seconds: float = 10
) -> AsyncIterator[Engine]:
    engine = Engine(max_queue=max_queue, max_batch=max_batch, max_wait_seconds=max_wait_seconds)
    async with engine:
        yield engine


def text(trace: Trace) -> str:
    """Make of a trace what it wrote; one text cannot be made anything of."""
    if trace.output.text == "bitter":
        raise ValueError("bitter")
    return trace.output.text


def send(engine: Engine, model: Slow, source: str) -> asyncio.Task[str]:
    return asyncio.create_task(engine.run(model, Request(source), text))


async def held(engine: Engine, model: Slow) -> asyncio.Task[str]:
    """Send one request and wait until the model is at it, so that what follows must queue."""
    first = send(engine, model, "first")
    await asyncio.to_thread(model.started.wait, 10)
    return first


async def test_what_waits_becomes_a_batch_in_order() -> None:
    model = Slow()
    async with running() as engine:
        first = await held(engine, model)
        rest = [send(engine, model, str(n)) for n in range(5)]
        await asyncio.sleep(0)
        model.go.set()
        texts = await asyncio.gather(first, *rest)
    assert model.batches == [["first"], ["0", "1", "2", "3"], ["4"]]
    assert texts == ["first", "0", "1", "2", "3", "4"]


async def test_a_batch_is_of_one_model() -> None:
    one, other = Slow(), Slow()
    other.go.set()
    async with running() as engine:
        first = await held(engine, one)
        rest = [send(engine, model, name) for name, model in (("a", one), ("b", other), ("c", one))]
        await asyncio.sleep(0)
        one.go.set()
        await asyncio.gather(first, *rest)
    assert one.batches == [["first"], ["a", "c"]]
    assert other.batches == [["b"]]


async def test_a_full_queue_is_busy() -> None:
    model = Slow()
    async with running(max_queue=2) as engine:
        first = await held(engine, model)
        rest = [send(engine, model, str(n)) for n in range(2)]
        await asyncio.sleep(0)
        assert engine.waiting == 2
        with pytest.raises(BusyError, match="2 requests"):
            await engine.run(model, Request("late"), text)
        model.go.set()
        await asyncio.gather(first, *rest)
        assert await engine.run(model, Request("later"), text) == "later"


async def test_bad_input_does_not_wait() -> None:
    model = Slow()
    async with running(max_queue=1) as engine:
        first = await held(engine, model)
        with pytest.raises(InputError):
            await asyncio.wait_for(engine.run(model, Request(""), text), 1)
        model.go.set()
        await first


async def test_who_leaves_gives_up_the_place() -> None:
    model = Slow()
    async with running(max_queue=1) as engine:
        first = await held(engine, model)
        leaver = send(engine, model, "leaver")
        await asyncio.sleep(0)
        leaver.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leaver
        assert engine.waiting == 0
        stayer = send(engine, model, "stayer")
        await asyncio.sleep(0)
        model.go.set()
        await asyncio.gather(first, stayer)
    assert model.batches == [["first"], ["stayer"]]


async def test_a_long_wait_is_busy_and_gives_up_the_place() -> None:
    model = Slow()
    async with running(max_wait_seconds=0.05) as engine:
        first = await held(engine, model)
        with pytest.raises(BusyError, match=r"0\.05 seconds"):
            await engine.run(model, Request("second"), text)
        assert engine.waiting == 0
        with pytest.raises(BusyError):
            await first
        model.go.set()
    assert model.batches == [["first"]]


async def test_one_failure_fails_alone() -> None:
    model = Slow()
    async with running() as engine:
        first = await held(engine, model)
        sources = ["a", "poison", "b", "bitter"]
        rest = [send(engine, model, source) for source in sources]
        await asyncio.sleep(0)
        model.go.set()
        results = await asyncio.gather(first, *rest, return_exceptions=True)
    good = [result for result in results if isinstance(result, str)]
    assert good == ["first", "a", "b"]
    assert isinstance(results[2], RuntimeError)
    assert isinstance(results[4], ValueError)


async def test_the_end_lets_the_running_finish_and_sends_the_waiting_away() -> None:
    model = Slow()
    async with running() as engine:
        first = await held(engine, model)
        second = send(engine, model, "second")
        await asyncio.sleep(0)
        asyncio.get_running_loop().call_later(0.05, model.go.set)
    assert await first == "first"
    with pytest.raises(BusyError, match="shutting down"):
        await second
    with pytest.raises(BusyError, match="shutting down"):
        await engine.run(model, Request("third"), text)


def counting(made: list[int], most: int = 1000) -> Iterator[int]:
    """Count up, and say how far it has got."""
    for number in range(most):
        made.append(number)
        yield number


async def test_a_stream_makes_what_is_asked_for_and_no_more() -> None:
    made: list[int] = []
    async with running() as engine:
        async for number in engine.stream(counting(made)):
            await asyncio.sleep(0.01)
            assert made == list(range(number + 1))
            if number == 3:
                break
        await asyncio.sleep(0.02)
        assert made == [0, 1, 2, 3]
        assert [n async for n in engine.stream(counting([], 3))] == [0, 1, 2]
        assert engine.streams == 0


async def test_a_stream_works_off_the_event_loop() -> None:
    def threads() -> Iterator[int]:
        while True:
            yield threading.get_ident()

    async with running() as engine:
        stream = engine.stream(threads())
        seen = {await anext(stream) for _ in range(5)}
    assert len(seen) == 1
    assert threading.get_ident() not in seen


async def test_others_have_their_turn_between_two_items() -> None:
    model, made = Slow(), list[int]()
    model.go.set()

    async def read(engine: Engine) -> None:
        async for _ in engine.stream(counting(made)):
            pass

    async with running() as engine:
        reading = [asyncio.create_task(read(engine)) for _ in range(2)]
        await asyncio.sleep(0)
        before = len(made)
        assert await send(engine, model, "hello") == "hello"
        # An item of each that stood before it, and one that was being made.
        assert len(made) - before <= 4
        for task in reading:
            task.cancel()
        await asyncio.gather(*reading, return_exceptions=True)
        assert (engine.streams, engine.waiting) == (0, 0)


async def test_a_stream_needs_a_place_once() -> None:
    model = Slow()
    async with running(max_queue=1) as engine:
        stream = engine.stream(counting([]))
        assert await anext(stream) == 0
        with pytest.raises(BusyError, match="1 requests"):
            await anext(engine.stream(counting([])))
        first = await held(engine, model)
        second = send(engine, model, "second")
        await asyncio.sleep(0)
        going_on = asyncio.ensure_future(anext(stream))  # though the queue is full now
        await asyncio.sleep(0)
        model.go.set()
        assert (await first, await second, await going_on) == ("first", "second", 1)


async def test_a_stream_that_fails_says_so_and_is_over() -> None:
    def failing() -> Iterator[int]:
        yield 1
        raise ValueError("bitter")

    async with running() as engine:
        stream = engine.stream(failing())
        assert await anext(stream) == 1
        with pytest.raises(ValueError, match="bitter"):
            await anext(stream)
        assert engine.streams == 0


async def test_the_end_ends_streams() -> None:
    async with running() as engine:
        stream = engine.stream(counting([]))
        await anext(stream)
    with pytest.raises(BusyError, match="shutting down"):
        await anext(stream)

"""Streams in the engine: lines on demand, one place in the queue, and an end."""

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from app.engine.engine import BusyError, Engine
from app.engine.jobs import StreamJob
from model.adapters.requests.adapter_interface import Adapter
from tests.serving.slow import Slow
from tests.serving.small_engine import held, running, send


@dataclass(frozen=True)
class Counting(StreamJob):
    """Counts up, and records how far."""

    model: str = "0"
    most: int = 1000
    made: list[int] = field(default_factory=list)

    def lines(self, adapter: Adapter) -> Iterator[bytes]:
        for number in range(self.most):
            self.made.append(number)
            yield str(number).encode()


async def test_a_stream_computes_only_requested_lines() -> None:
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
    assert str(threading.get_ident()).encode() not in seen


async def test_other_requests_run_between_two_lines() -> None:
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
        # One line of each stream that queued before it, and one that was running.
        assert len(counting.made) - before <= 4
        for task in reading:
            task.cancel()
        await asyncio.gather(*reading, return_exceptions=True)
        assert (engine.streams, engine.waiting) == (0, 0)


async def test_an_open_stream_needs_no_new_place_in_the_queue() -> None:
    model = Slow()
    async with running(model, max_queue=1, max_streams=1) as engine:
        stream = engine.stream(Counting())
        assert await anext(stream) == b"0"
        with pytest.raises(BusyError, match="1 streams"):
            await anext(engine.stream(Counting()))
        first = await held(engine, model)
        second = send(engine, "second")
        await asyncio.sleep(0)
        going_on = asyncio.ensure_future(anext(stream))  # although the queue is full
        await asyncio.sleep(0)
        model.go.set()
        assert (await first, await second, await going_on) == ("first", "second", b"1")


async def test_a_failing_stream_reports_the_error_and_ends() -> None:
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


async def test_shutdown_ends_streams() -> None:
    async with running() as engine:
        stream = engine.stream(Counting())
        await anext(stream)
    with pytest.raises(BusyError, match="shutting down"):
        await anext(stream)

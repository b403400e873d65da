"""A replica in a cluster: the same bytes as an engine process, and streams that move."""

import asyncio
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from app.engine.child_process import Opening, encode
from app.engine.engine_process import Ended, EngineError, Run
from app.engine.jobs import Encoding, StreamJob
from app.engine.long_text_pictures import LongJob, Tile
from app.engine.model_catalog import Catalog
from app.engine.model_thread import Batch, Line, Outcome, Work
from app.http.file_formats import SAFETENSORS
from app.scale.replica import STREAM_SECONDS, Replica
from model.adapters.requests.adapter_interface import Adapter
from model.adapters.requests.request import Request
from tests.model.tiny_huggingface import make
from tests.serving.slow import Slow
from tests.serving.small_engine import job


@dataclass(frozen=True)
class Counting(StreamJob):
    """Counts up to three."""

    def lines(self, adapter: Adapter) -> Iterator[bytes]:
        for number in range(3):
            yield f"{number}".encode()


def replica_of(model: Slow, clock: Callable[[], float] = lambda: 0.0) -> Replica:
    return Replica(Opening(partial(Catalog.of, {"0": model}), int, threads=1), clock)


async def run(replica: Replica, work: Work, *, urgent: bool = False) -> list[Outcome]:
    ended: Ended = pickle.loads(await replica.run(encode(Run(7, work, urgent))))
    assert ended.number == 7
    return ended.outcomes


async def line(replica: Replica, index: int, stream: int = 1) -> Any:
    [outcome] = await run(replica, Line(stream, Counting("0"), index))
    return outcome.result


async def test_a_batch_comes_back_as_bytes() -> None:
    model = Slow()
    model.go.set()
    replica = replica_of(model)
    assert pickle.loads(await replica.listing()) == Catalog.of({"0": model}).listing
    good, bad = await run(replica, Batch((job("a"), job("b", form="nonsense"))))
    assert b"a" in good.result.content
    assert isinstance(bad.error, EngineError)
    assert model.batches == [["a", "b"]]


async def test_another_replica_runs_a_long_text_once_and_answers_the_same(tmp_path: Path) -> None:
    """The views of a pass are sent to one replica; without it, another one starts anew."""
    pytest.importorskip("transformers")
    folder = make("gpt2", tmp_path / "gpt2")
    request, encoding = Request("The cat sat on the mat. A dog ran."), Encoding(SAFETENSORS, 10_000)
    windows = [Tile("decoder.1.self", head, (2, 9), (0, 7), None, None, 100) for head in range(4)]
    jobs = [
        LongJob("gpt2", request, "one text", view, f"view {n}", encoding)
        for n, view in enumerate(windows)
    ]
    assert {Batch((one,)).long_pass for one in jobs} == {"one text"}
    assert Batch((job("a"),)).long_pass is None
    seen = []
    for _ in range(2):
        load = partial(Catalog.load, {"gpt2": f"hf:{folder}"}, "cpu")
        replica = Replica(Opening(load, int, threads=1))
        ran = counted(replica.catalog["gpt2"])
        outcomes = [(await run(replica, Batch((one,))))[0] for one in jobs]
        assert len(ran) == 1
        assert {outcome.result.passes for outcome in outcomes} == {frozenset({"one text"})}
        seen.append([outcome.result.content for outcome in outcomes])
    assert seen[0] == seen[1]
    assert len(set(seen[0])) == len(jobs)


def counted(adapter: Any) -> list[Request]:
    """Return a list to which each pass adds its request."""
    ran: list[Request] = []
    run = adapter.long

    def long(request: Request, dtype: Any) -> Any:
        ran.append(request)
        return run(request, dtype)

    adapter.long = long
    return ran


async def test_a_stream_continues_on_any_replica() -> None:
    """A stream restarts if a line is requested again, or was begun on another replica."""
    replica = replica_of(Slow())
    assert [await line(replica, n) for n in (0, 1)] == [b"0", b"1"]
    assert await line(replica, 1) == b"1"  # its reply was lost
    assert await line(replica, 2) == b"2"
    assert await line(replica, 1, stream=2) == b"1"  # begun elsewhere
    assert await line(replica, 3) is None
    assert await line(replica, 0) == b"0"


async def test_streams_that_nobody_reads_are_closed() -> None:
    now = 0.0
    replica = replica_of(Slow(), lambda: now)
    for stream in (1, 2):
        await line(replica, 0, stream)
    now = STREAM_SECONDS + 1
    await line(replica, 0, stream=3)
    assert set(replica.worker._streams) == {3}
    await replica.forget(3)
    assert not replica.worker._streams


async def test_turns_wait_for_each_other_except_urgent_ones() -> None:
    model = Slow()
    replica = replica_of(model)
    first = asyncio.create_task(run(replica, Batch((job("first"),))))
    await asyncio.to_thread(model.started.wait, 10)
    model.started.clear()
    second = asyncio.create_task(run(replica, Batch((job("second"),))))
    urgent = asyncio.create_task(run(replica, Batch((job("urgent"),)), urgent=True))
    await asyncio.to_thread(model.started.wait, 10)
    assert model.batches == [["first"], ["urgent"]]
    model.go.set()
    await asyncio.gather(first, second, urgent)
    assert model.batches == [["first"], ["urgent"], ["second"]]


async def test_a_cancelled_turn_ends_with_its_work() -> None:
    model = Slow()
    replica = replica_of(model)
    first = asyncio.create_task(run(replica, Batch((job("first"),))))
    await asyncio.to_thread(model.started.wait, 10)
    second = asyncio.create_task(run(replica, Batch((job("second"),))))
    first.cancel()
    done, _ = await asyncio.wait([first, second], timeout=0.05)
    assert not done
    model.go.set()
    with pytest.raises(asyncio.CancelledError):
        await first
    [outcome] = await second
    assert outcome.error is None
    assert model.batches == [["first"], ["second"]]

"""Work without a client stops, and long work pauses for short work."""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest

from app.engine.engine import Bounds, BusyError, Engine
from app.engine.fair_queue import Client
from app.engine.model_catalog import Catalog
from app.engine.model_thread import Batch, Worker
from app.engine.runners import Runners
from app.engine.streamed_replies import SweepJob
from model.adapters.requests.request import Request
from model.adapters.requests.trace import Trace
from model.progress import StoppedError, stoppable
from model.trace.interventions import Intervention
from tests.serving.endless import Endless, ask, begun, engine_of
from tests.serving.slow import Slow
from tests.serving.small_engine import job

LONG = "All of the old houses by the river stood empty while the birds flew south again. " * 3


async def test_cancelling_a_request_stops_its_run() -> None:
    model = Endless()
    async with engine_of(model) as engine:
        first = ask(engine, "first")
        await begun(model)
        second = ask(engine, "second")
        await asyncio.sleep(0)
        first.cancel()
        await begun(model)  # the second runs, although the first was never released
        second.cancel()
        await asyncio.gather(first, second, return_exceptions=True)
    assert model.batches == [["first"], ["second"]]


async def test_a_timeout_stops_the_run() -> None:
    model = Endless()
    async with engine_of(model, max_wait_seconds=0.2) as engine:
        with pytest.raises(BusyError, match=r"0\.2 seconds"):
            await ask(engine, "first")
        await begun(model)
        second = ask(engine, "second")
        await begun(model)
        model.go.set()
        assert await second


async def test_a_run_continues_while_someone_waits() -> None:
    model = Endless()
    async with engine_of(model) as engine:
        together = [ask(engine, "same"), ask(engine, "same")]
        await begun(model)
        together[0].cancel()
        await asyncio.sleep(0.05)
        model.go.set()
        assert await together[1]
    assert model.batches == [["same"], ["same"]]  # once, recorded by both classes


def test_a_stopped_run_ends_before_its_next_layer(catalog: Catalog) -> None:
    asked: Counter[str] = Counter()

    def stopped() -> bool:
        asked["times"] += 1
        return asked["times"] > 4  # past the encoder, before the decoder's last layer

    with stoppable(stopped), pytest.raises(StoppedError):
        catalog["en-zh"].trace("The cat sat on the mat.")
    assert asked["times"] == 5
    assert catalog["en-zh"].trace("The cat sat on the mat.").output.text


@pytest.mark.parametrize(
    ("name", "gradients"),  # of one number, or of each of the three written tokens
    [("inside.relevance.*", 1), ("inside.gradient-input", 3), ("inside.integrated-gradients", 3)],
)
def test_gradients_pause_at_every_layer(catalog: Catalog, name: str, gradients: int) -> None:
    """Short work goes first within a backward pass, too, and a stop ends it there."""
    adapter, asked = catalog["en-zh"], Counter[str]()
    request = Request("Hi.", target="嗨。", select=(name,))
    layers = sum(adapter.info.layers.values())

    def stopped() -> bool:
        asked["times"] += 1
        return asked["times"] > asked["most"] > 0

    with stoppable(stopped):
        adapter.run([request])
    # Two passes forward, then back through the layers that read what the gradient is of.
    assert asked["times"] >= 2 * layers + gradients * (layers - 2)
    asked = Counter(most=asked["times"] - 1)
    with stoppable(stopped), pytest.raises(StoppedError):
        adapter.run([request])


async def test_a_sweep_with_frozen_sentences_stops_on_disconnect(catalog: Catalog) -> None:
    """Such a sweep once occupied the model for minutes after its client had disconnected."""
    frozen = tuple(
        Intervention("encoder.0.self", "freeze", 0, Request(f"{LONG} {n}")) for n in range(8)
    )
    async with Engine(Runners.in_threads(catalog), Bounds()) as engine:
        quick = replace(job("Hi."), model="en-zh", selection=None)
        await engine.run(replace(quick, encoding=replace(quick.encoding, max_values=10**6)))
        sweep = engine.stream(SweepJob("en-zh", Request(LONG, interventions=frozen), "zero", None))
        leaver: asyncio.Task[bytes] = asyncio.create_task(anext(sweep))
        await asyncio.sleep(0.3)
        assert not leaver.done()
        leaver.cancel()
        start = time.process_time()
        other = replace(job("Hello."), model="en-zh", identity="other")
        await engine.run(replace(other, encoding=replace(quick.encoding, max_values=10**6)))
        assert time.process_time() - start < 5  # alone it takes a tenth of a second
        assert engine.streams == 0


class Patient(Endless):
    """A model that is endless only for long texts."""

    info = replace(Slow.info, max_tokens=1000)

    def run(self, requests: Sequence[Request]) -> list[Trace]:
        if len(requests[0].source) >= len(LONG):
            return super().run(requests)
        return Slow.run(self, requests)


async def test_long_work_pauses_for_short_work() -> None:
    model, other = Patient(), Client("other", 0)
    async with engine_of(model) as engine:
        long = ask(engine, LONG * 2, Client("heavy", 0))
        await begun(model)
        later = ask(engine, LONG, Client("heavy", 0))
        await asyncio.sleep(0.05)
        assert model.batches == [[LONG * 2]]  # its client's next long one waits for it
        later.cancel()
        short = ask(engine, "short", other)
        await begun(model)  # although the long one was not released
        await asyncio.sleep(0.05)
        assert not long.done()
        model.go.set()
        assert await short
        assert await long
    assert model.batches[:2] == [[LONG * 2], ["short"]]


async def test_paused_work_resumes_when_urgent_work_ends(catalog: Catalog) -> None:
    """Work pauses between two layers, and only while urgent work runs."""
    worker = Worker(catalog)
    asked: list[str] = []

    def stopped() -> bool:
        asked.append("layer")
        return False

    work = Batch((replace(job("The cat."), model="en-zh"),))
    with worker._first():  # as if urgent work were running
        pausing = asyncio.create_task(asyncio.to_thread(worker.run, work, lambda: False))
        urgent = await asyncio.to_thread(worker.run, work, stopped, True)
        assert len(asked) > 3
        assert urgent
        assert not pausing.done()
    assert len(await pausing) == 1

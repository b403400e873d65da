"""The engine: batches under load, fair limited queues, cancellation, shutdown."""

import asyncio
import pickle

import pytest

from app.engine.child_process import encode
from app.engine.engine import BusyError
from app.engine.jobs import Encoding, TraceJob
from app.engine.reply_formats import Reply
from app.engine.streamed_replies import DecodeJob, SweepJob
from app.http.file_formats import FORMS, JSON
from model.adapters.requests.request import Decode, Request
from model.errors import InputError
from model.trace.interventions import Cell, Intervention
from tests.serving.slow import Slow
from tests.serving.small_engine import held, run, running, send


async def test_waiting_requests_form_a_batch_in_order() -> None:
    model = Slow()
    async with running(model) as engine:
        first = await held(engine, model)
        rest = [send(engine, str(n)) for n in range(5)]
        await asyncio.sleep(0)
        model.go.set()
        texts = await asyncio.gather(first, *rest)
    assert model.batches == [["first"], ["0", "1", "2", "3"], ["4"]]
    assert texts == ["first", "0", "1", "2", "3", "4"]


async def test_a_batch_has_requests_for_one_model() -> None:
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


async def test_a_slow_model_does_not_delay_others() -> None:
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
        names = ("aaaa", "bbbb")  # as long as "first", so that all cost the same
        rest = [send(engine, f"{name}{n}", str(n)) for n in range(3) for name in names]
        await asyncio.sleep(0.01)
        for model in models:
            model.go.set()
        await asyncio.gather(first, *rest)
    turns = ["".join(batch)[-1] for batch in order[1:]]
    assert sorted(turns[:3]) == sorted(turns[3:]) == ["0", "1", "2"], order


async def test_a_queue_fills_while_another_model_runs() -> None:
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


async def test_bad_input_does_not_affect_the_batch() -> None:
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


async def test_equal_requests_are_computed_once_for_all_who_wait() -> None:
    model = Slow()
    async with running(model, max_queue=2) as engine:
        first = await held(engine, model)
        rest = [send(engine, "same") for _ in range(200)]
        await asyncio.sleep(0)
        assert engine.waiting == 1
        for one in rest[::2]:
            one.cancel()
        running_too = [send(engine, "first") for _ in range(200)]
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.sleep(0)
        model.go.set()
        assert await asyncio.gather(*rest[1::2]) == ["same"] * 100
        assert await asyncio.gather(*running_too) == ["first"] * 200
    assert model.batches == [["first"], ["same"]]


async def test_a_cancelled_request_leaves_the_queue() -> None:
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


async def test_a_request_that_waits_too_long_is_busy_and_leaves_the_queue() -> None:
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


async def test_a_failure_affects_only_its_own_request() -> None:
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


async def test_shutdown_finishes_running_and_refuses_waiting_requests() -> None:
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


def test_jobs_can_be_pickled() -> None:
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
def test_replies_can_be_pickled(form: str) -> None:
    encoded = Encoding(form, 10)(Reply({"tensors": {}}, {}))
    restored = pickle.loads(encode(encoded))
    assert (restored.content, restored.values) == (encoded.content, encoded.values)

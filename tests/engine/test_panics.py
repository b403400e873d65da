"""What is no `Exception`: a tokenizer that gives up, a thread that is told to exit."""

import asyncio
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.engine import engine as engines
from app.engine.engine import Bounds, BusyError, Engine
from app.engine.jobs import Encoded, ReplyJob
from app.engine.model_catalog import Catalog
from app.engine.model_thread import Outcome, Work
from app.engine.runners import CrashedError, Runner, Runners, Turn
from model.adapters.requests.adapter_interface import Adapter
from model.progress import Listener, ignore
from tests.servers import PATIENCE
from tests.serving.fixtures import Serving
from tests.serving.panics import TEXT, hostile_bundle
from tests.serving.problem import hold
from tests.serving.slow import Slow
from tests.serving.small_engine import run, running


async def test_a_tokenizer_that_gives_up_fails_for_its_text_alone(
    serving: Serving, tmp_path: Path
) -> None:
    catalog = Catalog.load({"hostile": str(hostile_bundle(tmp_path))}, "cpu")
    body = {"model": "hostile", "source": TEXT}
    async with serving(catalog=catalog, zoo=False) as client, asyncio.timeout(PATIENCE):
        for path in ("trace", "sweep", "decode"):
            reply = await client.post(f"/api/{path}", json=body)
            problem = hold(reply, 503, "unreadable-file")
            assert "hostile: its tokenizer failed" in problem["detail"]
        for text in ("the dog", TEXT[:8]):
            reply = await client.post("/api/trace", json={**body, "source": text})
            assert reply.status_code == 200


@dataclass(frozen=True)
class Exiting(ReplyJob):
    """Tells its thread to exit."""

    how: Callable[[], object] = sys.exit

    def alone(self, adapter: Adapter) -> Encoded:
        self.how()
        raise AssertionError


def interrupt() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("how", [sys.exit, interrupt])
async def test_work_that_exits_is_as_work_that_crashes(how: Callable[[], object]) -> None:
    model = Slow()
    model.go.set()
    async with running(model) as engine:
        with pytest.raises(BusyError, match="process ended"):
            await asyncio.wait_for(engine.run(Exiting("0", how)), PATIENCE)
        assert await run(engine, "after that") == "after that"


class Stuck(Runner):
    """Never ends its work by itself."""

    def __init__(self) -> None:
        self.ready = True
        self.done: asyncio.Future[list[Outcome]] = asyncio.Future()

    def open(self, changed: Callable[[], None]) -> None:
        pass

    def start(self, work: Work, urgent: bool = False, listener: Listener = ignore) -> Turn:
        return Turn(self.done, lambda: None)

    def forget(self, stream: int) -> None:
        pass

    async def close(self) -> None:
        self.done.set_exception(CrashedError())


async def test_an_engine_closes_also_if_its_work_does_not_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(engines, "ENDING_SECONDS", 0.01)
    runners = Runners(Catalog.of({"0": Slow()}).listing, (Stuck(),))
    async with asyncio.timeout(PATIENCE):
        async with Engine(runners, Bounds()) as engine:
            waiting = asyncio.ensure_future(run(engine, "for ever"))
            await asyncio.sleep(0)
        with pytest.raises(BusyError, match="shutting down"):
            await waiting

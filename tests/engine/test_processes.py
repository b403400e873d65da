"""Models in separate processes: the same replies, invisible crashes, a clean shutdown."""

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import Pipe
from pathlib import Path

import pytest
import torch

from app.engine import child_process
from app.engine.child_process import Opening, receive, send
from app.engine.engine import Bounds, BusyError, Engine
from app.engine.engine_process import Ended, EngineError, Opened, Run, _Server
from app.engine.jobs import Encoded, Encoding, ReplyJob, StreamJob, TraceJob
from app.engine.model_catalog import Catalog
from app.engine.model_listing import ParametersJob
from app.engine.model_thread import Batch
from app.engine.runners import Process, Runners, in_processes
from app.engine.start_processes import Launcher, Template, launch
from app.http.file_formats import JSON
from model.adapters.requests.adapter_interface import Adapter
from model.adapters.requests.request import Request
from model.errors import FileError, InputError
from model.progress import Progress, report
from tests.servers import PATIENCE
from tests.serving.panics import panic

ENCODING = Encoding(JSON, 1_000_000)

LOAD = partial(Catalog.load, {"0": "en-zh"}, "cpu", 1)


def counted(folder: Path, drafts: Path) -> Catalog:
    """Open the models, use them, and note it in a folder."""
    (folder / f"{time.monotonic_ns()}.loaded").touch()
    catalog = Catalog.load({"0": "en-zh"}, "cpu", 1, drafts)
    assert catalog["0"].run([Request("A cat.")])
    return catalog


def job(text: str) -> TraceJob:
    return TraceJob("0", Request(text), text, "float32", ENCODING)


def opening(load: Callable[[], Catalog] = LOAD) -> Opening:
    return Opening(load, int, threads=2)


@dataclass(frozen=True)
class Reporting(ReplyJob):
    """Reports progress, then waits for a file."""

    folder: str

    def alone(self, adapter: Adapter) -> Encoded:
        report("pass", 3, 7)
        while not Path(self.folder, "go").exists():
            time.sleep(0.01)
        return Encoded((b"done",), 1)


@dataclass(frozen=True)
class Busy(ReplyJob):
    """Multiplies matrices; replies with the processor's time, as multiples of this thread's."""

    def alone(self, adapter: Adapter) -> Encoded:
        square = torch.ones(1024, 1024)
        whole, thread = time.process_time(), time.thread_time()
        assert (square @ square == 1024).all()
        ratio = (time.process_time() - whole) / (time.thread_time() - thread)
        return Encoded((str(ratio).encode(),), 0)


@dataclass(frozen=True)
class Dying(ReplyJob):
    """Ends its process the first times that it runs; each time leaves a file."""

    folder: str
    times: int
    end: Callable[[int], object] = os._exit

    def alone(self, adapter: Adapter) -> Encoded:
        died = len([*Path(self.folder).iterdir()])
        if died < self.times:
            Path(self.folder, str(died)).touch()
            self.end(1)
        return Encoded((str(died).encode(),), 0)


@dataclass(frozen=True)
class Failing(ReplyJob):
    """Fails in different ways."""

    how: type[Exception]

    def alone(self, adapter: Adapter) -> Encoded:
        if self.how is InputError:
            raise InputError("kind", "field", "detail")
        raise self.how("a text of a user")


@dataclass(frozen=True)
class Panicking(ReplyJob):
    """Has a tokenizer give up."""

    def alone(self, adapter: Adapter) -> Encoded:
        panic()
        raise AssertionError("the tokenizer read it")


@dataclass(frozen=True)
class Unsendable(ReplyJob):
    """Fails with an error that cannot be pickled, since its class has no name in a module."""

    def alone(self, adapter: Adapter) -> Encoded:
        class LocalError(InputError):
            pass

        raise LocalError("kind", "field", "a text of a user")


class Odd:
    """Can be pickled, but not read again."""

    def __reduce__(self) -> tuple[type, tuple[str]]:
        return int, ("odd",)


@dataclass(frozen=True)
class Unreadable(ReplyJob):
    """Has a reply that the server cannot read."""

    def alone(self, adapter: Adapter) -> Encoded:
        return Encoded((b"",), Odd())  # type: ignore[arg-type]


@dataclass(frozen=True)
class Unpicklable(ReplyJob):
    """Cannot be sent to a process."""

    what: object = field(default_factory=lambda: lambda: None, hash=False, compare=False)

    def alone(self, adapter: Adapter) -> Encoded:
        return Encoded((b"",), 0)


@dataclass(frozen=True)
class Pids(StreamJob):
    """Yields numbers and the process id; the first time, ends the process at one of the lines."""

    fatal: int = -1
    folder: str = ""

    def lines(self, adapter: Adapter) -> Iterator[bytes]:
        for number in range(5):
            if number == self.fatal and not [*Path(self.folder).iterdir()]:
                Path(self.folder, "died").touch()
                os._exit(1)
            yield f"{number} {os.getpid()}".encode()


@asynccontextmanager
async def engine_of(runners: Runners, seconds: float = 60) -> AsyncIterator[Engine]:
    """Run an engine, and end its processes."""
    async with Engine(runners, Bounds(max_wait_seconds=seconds)) as engine:
        yield engine


async def test_processes_run_crash_and_restart(
    tmp_path: Path, server_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A single test, since the process that engines are forked from takes seconds to start.

    An engine that worked and ends is started again at once, however often: a second start in
    succession would wait for longer than any test does.
    """
    monkeypatch.setattr(child_process, "START_AGAIN_SECONDS", (0.0, 10 * PATIENCE))
    load = partial(counted, tmp_path, server_cache / "drafts")
    launchers = launch([opening(load)] * 2)
    runners = await asyncio.to_thread(in_processes, launchers)
    own = LOAD()
    assert runners.listing == own.listing
    async with engine_of(runners) as engine:
        await _threads(engine, launchers[0])
        await _the_same_bytes(engine, own)
        await _errors(engine)
        await _streams(engine, tmp_path / "stream")
        await _progress(engine, tmp_path / "progress")
        await _crashes(engine, tmp_path / "crash")
        await _messages_that_do_not_arrive(engine)
        pids = [one.pid for one in runners.runners if isinstance(one, Process)]
    # Engines are copies of a process that has the models: none is opened again after a crash.
    assert len([*tmp_path.glob("*.loaded")]) == 1
    for pid in pids:
        assert pid is not None
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


async def _the_same_bytes(engine: Engine, own: Catalog) -> None:
    asked = [job(text) for text in ("The cat sat.", "A dog.", "你好")]
    answers = [await engine.run(one) for one in asked]
    for one, answered in zip(asked, answers, strict=True):
        [trace] = own["0"].run([one.request])
        assert len(answered.content) == len(one.reply(trace).content)
        assert answered.values == one.reply(trace).values
    matrices = ParametersJob("0", "", ("encoder.0.self.W_q",), Encoding(JSON, 1000))
    with pytest.raises(InputError, match="numbers"):
        await engine.run(matrices)


async def _progress(engine: Engine, folder: Path) -> None:
    folder.mkdir()
    one = Reporting("0", str(folder))
    assert engine.progress(one) is None
    running = asyncio.ensure_future(engine.run(one))
    async with asyncio.timeout(PATIENCE):
        while engine.progress(one) != Progress("pass", 3, 7):
            await asyncio.sleep(0.01)
    Path(folder, "go").touch()
    assert (await running).content == b"done"
    assert engine.progress(one) is None


async def _errors(engine: Engine) -> None:
    with pytest.raises(InputError) as told:
        await engine.run(Failing("0", InputError))
    assert (told.value.kind, told.value.field) == ("kind", "field")
    with pytest.raises(EngineError) as failed:
        await engine.run(Failing("0", ValueError))
    assert "user" not in str(failed.value)
    with pytest.raises(FileError, match="0: its tokenizer failed"):
        await asyncio.wait_for(engine.run(Panicking("0")), PATIENCE)


async def _streams(engine: Engine, folder: Path) -> None:
    folder.mkdir()
    lines = [line.split() async for line in engine.stream(Pids("0"))]
    assert [int(number) for number, _ in lines] == [0, 1, 2, 3, 4]
    assert len({pid for _, pid in lines}) == 1
    assert int(lines[0][1]) != os.getpid()
    lines = [line.split() async for line in engine.stream(Pids("0", 3, str(folder)))]
    assert [int(number) for number, _ in lines] == [0, 1, 2, 3, 4]  # each once
    assert len({pid for _, pid in lines[:3]}) == len({pid for _, pid in lines[3:]}) == 1
    assert lines[2][1] != lines[3][1]


async def _crashes(engine: Engine, folder: Path) -> None:
    for times in (1, 2, 3):
        (folder / str(times)).mkdir(parents=True)
    together = [engine.run(job(text)) for text in ("one", "two", "three")]
    *others, once = await asyncio.gather(*together, engine.run(Dying("0", str(folder / "1"), 1)))
    assert all(others)
    assert once.content == b"1"  # tried once more
    with pytest.raises(BusyError, match="process ended"):
        await engine.run(Dying("0", str(folder / "2"), 2))
    assert await engine.run(job("after that"))
    exits = Dying("0", str(folder / "3"), 1, sys.exit)  # which ends a thread, not its process
    assert (await asyncio.wait_for(engine.run(exits), PATIENCE)).content == b"1"
    for times in range(4):
        await until_ready(engine)
        killed = {runner.pid for runner in engine.runners if isinstance(runner, Process)}
        for pid in killed:
            assert pid is not None
            os.kill(pid, signal.SIGKILL)
        async with asyncio.timeout(PATIENCE):  # work outlasts one process that ends, not two
            while not killed.isdisjoint(
                runner.pid for runner in engine.runners if isinstance(runner, Process)
            ):
                await asyncio.sleep(0.005)
        assert await engine.run(job(f"after all of them ended {times} times"))


async def _messages_that_do_not_arrive(engine: Engine) -> None:
    for lost in (Unpicklable("0"), Unreadable("0")):
        beside = asyncio.ensure_future(engine.run(job(f"beside {lost}"[:20])))
        with pytest.raises(BusyError, match="process ended"):
            await asyncio.wait_for(engine.run(lost), PATIENCE)
        assert await beside
        await until_ready(engine)


async def _threads(engine: Engine, template: Launcher) -> None:
    """The process that is forked has one thread, its copies have those that they use."""
    assert isinstance(template, Template)
    assert len([*Path(f"/proc/{template.pid}/task").iterdir()]) == 1
    assert float((await engine.run(Busy("0"))).content) > 1.3


async def until_ready(engine: Engine) -> None:
    async with asyncio.timeout(PATIENCE):
        while not all(one.ready for one in engine.runners):
            await asyncio.sleep(0.05)


def test_a_model_that_cannot_be_opened_is_reported_at_startup(tmp_path: Path) -> None:
    broken = partial(Catalog.load, {"0": str(tmp_path)}, "cpu", 1)
    with pytest.raises(RuntimeError, match="not a model bundle"):
        in_processes(launch([opening(broken)]))


def test_a_reply_that_cannot_be_pickled_is_an_error() -> None:
    here, there = Pipe()
    serving = threading.Thread(target=_Server(there, LOAD()).serve, daemon=True)
    serving.start()
    assert isinstance(receive(here), Opened)
    send(here, Run(7, Batch((Failing("0", InputError), Unsendable("0"))), urgent=False))
    assert here.poll(20)
    ended = receive(here)
    assert isinstance(ended, Ended)
    assert ended.number == 7
    told, failed = [one.error for one in ended.outcomes]
    assert isinstance(told, InputError)  # the other job of the batch is not affected
    assert isinstance(failed, EngineError)
    assert "user" not in str(failed)
    send(here, None)
    serving.join(20)

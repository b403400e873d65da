"""All training runs of this server: those that train, those that wait and those that have ended.

A paused run makes room for a waiting one: its process saves its state and ends. When it is resumed,
it goes to the end of the queue, and a new process continues from the saved state.
"""

import asyncio
import hmac
import logging
import os
import shutil
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, Self

from app.assets.templates import PageFacts
from app.engine.child_process import ChildProcess
from app.engine.fair_queue import Client
from app.engine.start_processes import start
from app.http.limits import Shared
from app.http.log_format import logging_of
from app.http.problems import ProblemError
from app.http.request_metrics import Metrics
from app.http.route_dependencies import Services
from app.http.tasks_and_caches import begin, repeat
from app.runs.run_process import Wanted, main
from app.runs.training_run import Run, claim, release, size_of
from app.settings import Settings
from app.store.documents import digest_of, new_edit_key, new_id
from app.store.storage_errors import files
from model.live_training.options_and_events import LiveOptions, state_path

PER_CLIENT = 2  # runs of one client that have not ended
SWEEP_SECONDS = 1.0
END_SECONDS = 10.0  # for a process to finish its step and save its state before it is killed
SIZE_SWEEPS = 10  # sweeps between two measurements of the folder's size
RETRY_SECONDS = 10

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RunLimits:
    """The limits of training runs, from the settings."""

    at_once: int
    queue: int
    minutes: float
    threads: int
    nice: int
    unwatched_seconds: float
    keep_minutes: float
    total_bytes: int

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the limits that the operator has set."""
        return cls(
            at_once=settings.max_runs,
            queue=settings.max_run_queue,
            minutes=settings.max_run_minutes,
            threads=settings.max_run_threads,
            nice=settings.run_nice,
            unwatched_seconds=settings.max_run_unwatched_seconds,
            keep_minutes=settings.keep_runs_minutes,
            total_bytes=settings.max_runs_bytes,
        )


class Runs:
    """The queue and registry of training runs, used as `async with Runs(…) as runs`."""

    def __init__(
        self, limits: RunLimits, folder: Path, prepare: Callable[[], object] = lambda: None
    ) -> None:
        self.limits = limits
        self._base, self._prepare = folder, prepare
        self._runs: dict[str, Run] = {}
        self._queue: list[Run] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._sweeps = 0
        self._closing = False

    async def __aenter__(self) -> Self:
        if self.limits.at_once:
            self.folder, self._lock = await asyncio.to_thread(claim, self._base)
            self._do(repeat(self._sweep, SWEEP_SECONDS))
        return self

    async def __aexit__(self, *_: object) -> None:
        self._closing = True
        self.hang_up()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(_end(run.process) for run in self._runs.values() if run.process))
        if self.limits.at_once:
            await asyncio.to_thread(release, self.folder, self._lock)

    @property
    def training(self) -> int:
        """Number of runs that have a process."""
        return sum(run.process is not None for run in self._runs.values())

    @property
    def waiting(self) -> int:
        """Number of runs in the queue."""
        return len(self._queue)

    def hang_up(self) -> None:
        """End all streams, because the server is about to end."""
        for run in self._runs.values():
            run.hang_up()

    def find(self, run_id: str) -> Run:
        """Return the run with this id and mark it as seen. Raises a 404 ProblemError."""
        run = self._runs.get(run_id)
        if run is None:
            detail = "this server has no run with this id; ended runs are deleted after a while"
            raise ProblemError(404, "unknown-run", detail, field="id")
        run.look()
        return run

    def controlled(self, run_id: str, key: str) -> Run:
        """Return the run like `find`, if `key` is its key. Raises a 403 ProblemError if not."""
        run = self.find(run_id)
        if not hmac.compare_digest(run.key, digest_of(key.strip().lower().encode())):
            detail = "Run-Key is not the key of this run"
            raise ProblemError(403, "wrong-run-key", detail, field="Run-Key")
        return run

    def start(
        self, options: LiveOptions, client: Client, parent: tuple[Run, int] | None = None
    ) -> tuple[Run, str]:
        """Add a run to the queue; return the run and the key that controls it.

        `parent` is a run and the step at which to continue it. Raises a ProblemError: 404 if
        training is off, 429 if the client has too many runs, 503 if the queue is full; and
        StorageError if the run's folder cannot be written.
        """
        self._admit(client)
        run_id, key = new_id(), new_edit_key()
        run = Run(
            id=run_id,
            key=digest_of(key.encode()),
            options=options,
            client=client,
            folder=self.folder / run_id,
            learning_rate=options.learning_rate,
        )
        with files():
            run.folder.mkdir(mode=0o700)
            if parent:
                _begin_at(run, *parent)
        self._runs[run_id] = run
        self._enqueue(run)
        return run, key

    @property
    def on(self) -> bool:
        """Whether this server trains."""
        return self.limits.at_once > 0

    def check_on(self) -> None:
        """Raise a 404 ProblemError if training is off."""
        if not self.on:
            raise ProblemError(404, "training-off", "training is off on this server")

    def _admit(self, client: Client) -> None:
        self.check_on()
        mine = [run for run in self._runs.values() if run.client == client and not run.over]
        if len(mine) >= PER_CLIENT:
            detail = f"at most {PER_CLIENT} runs per page at once; stop one first"
            headers = {"Retry-After": str(RETRY_SECONDS)}
            raise ProblemError(429, "too-many-runs", detail, headers=headers)
        places = Shared(self.limits.at_once + self.limits.queue, "training runs")
        holders = [
            run.client.address
            for run in self._runs.values()
            if self._holds_place(run) or (run.client.address == client.address and not run.over)
        ]
        if why := places.refusal(holders, client.address):
            headers = {"Retry-After": str(RETRY_SECONDS)}
            raise ProblemError(503, "runs-busy", why, headers=headers)

    def _holds_place(self, run: Run) -> bool:
        """Return whether a run trains, waits, or is paused with its process still there."""
        return run.process is not None or run in self._queue

    def pause(self, run: Run) -> None:
        """Pause a run. A waiting run leaves the queue."""
        if run in self._queue:
            self._queue.remove(run)
        elif run.process:
            run.process.send({"pause": True})
        run.turn("paused")
        self._advance()

    def resume(self, run: Run) -> None:
        """Resume a run: at once if it still has a process, else from the end of the queue."""
        if run.process and not run.process.ending:
            run.process.send({"pause": False})
            run.turn("running" if run.begun else "starting")
        else:
            self._enqueue(run)

    def set_rate(self, run: Run, factor: float) -> None:
        """Set the factor on the learning-rate schedule, from the next step on."""
        run.learning_rate = factor
        if run.process:
            run.process.send({"learning_rate": float(factor)})
        run.tell(learning_rate={"factor": factor, "step": run.step})

    def stop(self, run: Run, why: str = "asked") -> None:
        """End a run for good; its snapshots stay."""
        if run in self._queue:
            self._queue.remove(run)
        if run.process:
            self._do(_end(run.process))
        run.turn("stopped", why=why)
        self._advance()

    def _enqueue(self, run: Run) -> None:
        self._queue.append(run)
        run.turn("queued", place=len(self._queue))
        self._advance()

    def _advance(self) -> None:
        """Start as many waiting runs as there is room for; update the places of the others."""
        if self._closing:
            return
        busy = [run for run in self._runs.values() if run.process]
        for run in [queued for queued in self._queue if not queued.process]:
            if len(busy) < self.limits.at_once:
                self._queue.remove(run)
                self._begin(run)
                busy.append(run)
        leaving = sum(run.process.ending for run in busy if run.process)
        for run in busy:
            if run.process and run.state == "paused" and leaving < len(self._queue):
                leaving += not run.process.ending
                self._do(_end(run.process))  # then `_lost` calls `_advance` again
        for place, run in enumerate(self._queue, 1):
            run.turn("queued", place=place)

    def _begin(self, run: Run) -> None:
        limits = self.limits
        task = Wanted(
            self._prepare,
            run.folder,
            run.options,
            run.learning_rate,
            limits.minutes,
            limits.threads,
            limits.nice,
            run.fork,
        )
        run.turn("starting")
        run.process = ChildProcess(
            "run",
            lambda: start("run", main, task),
            partial(self._heard, run),
            partial(self._lost, run),
        )
        run.process.open(asyncio.get_running_loop())

    def _heard(self, run: Run, document: dict[str, Any]) -> None:
        match document:
            case {"begun": begun}:
                run.begun = begun
                run.step = begun["step"]
                if run.state == "starting":
                    run.turn("running")
            case {"progress": {"step": step}}:
                run.step = step
            case {"snapshot": {"step": step} as snapshot}:
                run.step, run.snapshots[step] = step, snapshot
            case {"ended": {"why": why, "step": step}}:
                run.step = step
                run.turn("finished", why=why)
                return
            case {"failed": {"why": why}}:
                self._fail(run, why)
                return
        if not run.over:
            run.tell(**document)

    def _lost(self, run: Run) -> None:
        """Handle the end of a run's process, expected or not."""
        was_ended = run.process is not None and run.process.ending
        run.process = None
        if not run.over and run.state != "paused" and not was_ended:
            self._fail(run, "crashed")
        self._advance()

    def _fail(
        self, run: Run, why: Literal["crashed", "storage-full", "storage-unavailable"]
    ) -> None:
        """End a run for a reason that is not its own; its snapshots stay."""
        if run.over:
            return
        log.error("a run failed: %s", why)
        if run in self._queue:
            self._queue.remove(run)
        run.turn("failed", why=why)

    async def _sweep(self) -> None:
        now = time.monotonic()
        for run in list(self._runs.values()):
            if not run.over and run.unwatched(now) > self.limits.unwatched_seconds:
                self.stop(run, "unwatched")
        await self._forget(now)

    async def _forget(self, now: float) -> None:
        """Delete runs that ended long ago, and the oldest one if all take too much disk space."""
        over = [run for run in self._runs.values() if run.over and not run.watchers]
        over.sort(key=lambda run: run.seen)
        old = [run for run in over if now - run.seen > self.limits.keep_minutes * 60]
        self._sweeps += 1
        counts = over and not old and self._sweeps % SIZE_SWEEPS == 0
        if counts and await asyncio.to_thread(size_of, self.folder) > self.limits.total_bytes:
            old = over[:1]
        for run in old:
            if run.process is None:
                del self._runs[run.id]
                await asyncio.to_thread(shutil.rmtree, run.folder, ignore_errors=True)

    def _do(self, work: Any) -> None:
        task = begin(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


@asynccontextmanager
async def open_runs(services: Services) -> AsyncIterator[None]:
    """Open the training runs of a server, and tell their numbers to the metrics."""
    settings, metrics = services[Settings], services[Metrics]
    runs = Runs(RunLimits.of(settings), settings.data_dir / "runs", logging_of(settings))
    metrics.watch("runs", "Training runs that have a process.", lambda: runs.training)
    metrics.watch("runs_waiting", "Training runs in the queue.", lambda: runs.waiting)
    services[PageFacts].add("trains", lambda: runs.on)
    services.on_shutdown(runs.hang_up)
    async with runs:
        services.add(runs)
        yield


def _end(process: ChildProcess) -> Coroutine[Any, Any, None]:
    """Ask a process to save its state and end; return what kills it after `END_SECONDS`."""
    process.ask_to_end({"end": True})
    return asyncio.to_thread(process.end, None, END_SECONDS)


def _begin_at(run: Run, parent: Run, step: int) -> None:
    """Link the parent's snapshot into the run's folder, in case the parent is deleted first."""
    state = run.folder / "fork.safetensors"
    try:
        os.link(state_path(parent.folder, step), state)
    except OSError:
        shutil.rmtree(run.folder, ignore_errors=True)
        raise
    run.parent, run.step = (parent.id, step), step
    run.fork = state, parent.options

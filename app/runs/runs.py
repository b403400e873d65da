"""All runs of this server: who trains now, who waits, and what is kept of those that have ended.

A run that is paused gives its place up to one that waits: its process saves its state and ends, and
another goes on from there later, behind those that have come meanwhile.
"""

import asyncio
import hmac
import logging
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self

from app.engine.clients import Client
from app.http.problems import ProblemError
from app.runs.process_handle import ProcessHandle
from app.runs.run import Run
from app.runs.run_folder import claim, release, size_of
from app.runs.run_process import Wanted
from app.store.content_by_digest import digest_of
from app.store.ids import new_edit_key, new_id
from model.live.options import LiveOptions
from model.live.snapshots import state_path

PER_CLIENT = 2  # runs of one page that have not ended
SWEEP_SECONDS = 1.0
SIZE_SWEEPS = 10  # from one count of all bytes to the next
RETRY_SECONDS = 10

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RunLimits:
    """What the settings allow."""

    at_once: int
    queue: int
    minutes: float
    threads: int
    nice: int
    unwatched_seconds: float
    keep_minutes: float
    total_bytes: int


class Runs:
    """Used as `async with Runs(…) as runs`."""

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
            self._do(self._keep_sweeping())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._closing = True
        self.hang_up()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(run.process.end() for run in self._runs.values() if run.process))
        if self.limits.at_once:
            await asyncio.to_thread(release, self.folder, self._lock)

    @property
    def training(self) -> int:
        """How many have a process."""
        return sum(run.process is not None for run in self._runs.values())

    @property
    def waiting(self) -> int:
        """How many wait for one."""
        return len(self._queue)

    def hang_up(self) -> None:
        """Ends all streams: the server is about to end."""
        for run in self._runs.values():
            run.hang_up()

    def find(self, run_id: str) -> Run:
        """The run of an id, which is looked at by that; a 404 ProblemError where there is none."""
        run = self._runs.get(run_id)
        if run is None:
            detail = "there is no run with this id on this server; runs are not kept for long"
            raise ProblemError(404, "unknown-run", detail, field="id")
        run.look()
        return run

    def controlled(self, run_id: str, key: str) -> Run:
        """The same for whoever started it; a 403 ProblemError for another key."""
        run = self.find(run_id)
        if not hmac.compare_digest(run.key, digest_of(key.strip().lower().encode())):
            detail = "Run-Key is not the key of this run"
            raise ProblemError(403, "wrong-run-key", detail, field="Run-Key")
        return run

    def start(
        self, options: LiveOptions, client: Client, parent: tuple[Run, int] | None = None
    ) -> tuple[Run, str]:
        """Puts a run into the queue; the run, and the key that controls it.

        Raises a ProblemError: 404 where the server trains nothing, 429 for a client with too many
        runs, 503 where the queue is full.
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
        if parent:
            _begin_at(run, *parent)
        self._runs[run_id] = run
        self._enqueue(run)
        return run, key

    def check_on(self) -> None:
        """Raises a 404 ProblemError where the server trains nothing."""
        if not self.limits.at_once:
            raise ProblemError(404, "training-off", "this server trains no models")

    def _admit(self, client: Client) -> None:
        self.check_on()
        mine = [run for run in self._runs.values() if run.client == client and not run.over]
        if len(mine) >= PER_CLIENT:
            detail = f"at most {PER_CLIENT} runs of one page at once; stop one first"
            headers = {"Retry-After": str(RETRY_SECONDS)}
            raise ProblemError(429, "too-many-runs", detail, headers=headers)
        busy = sum(run.process is not None for run in self._runs.values())
        # A run that finds a free place does not wait in the queue.
        if busy >= self.limits.at_once and len(self._queue) >= self.limits.queue:
            detail = f"{len(self._queue)} runs are waiting already; try again shortly"
            headers = {"Retry-After": str(RETRY_SECONDS)}
            raise ProblemError(503, "runs-busy", detail, headers=headers)

    def pause(self, run: Run) -> None:
        """Lets a run rest. One that waits leaves the queue."""
        if run in self._queue:
            self._queue.remove(run)
        elif run.process:
            run.process.send({"pause": True})
        run.turn("paused")
        self._advance()

    def resume(self, run: Run) -> None:
        """Lets it go on: at once where its process is there, else from the queue's end."""
        if run.process and not run.process.ending:
            run.process.send({"pause": False})
            run.turn("running" if run.begun else "starting")
        else:
            self._enqueue(run)

    def set_rate(self, run: Run, factor: float) -> None:
        """Changes the learning rate from the next step on."""
        run.learning_rate = factor
        if run.process:
            run.process.send({"learning_rate": float(factor)})
        run.tell(learning_rate={"factor": factor, "step": run.step})

    def stop(self, run: Run, why: str = "asked") -> None:
        """Ends it for good; its snapshots stay."""
        if run in self._queue:
            self._queue.remove(run)
        if run.process:
            self._do(run.process.end())
        run.turn("stopped", why=why)
        self._advance()

    def _enqueue(self, run: Run) -> None:
        self._queue.append(run)
        run.turn("queued", place=len(self._queue))
        self._advance()

    def _advance(self) -> None:
        """Starts those that are next, as far as there is room, and tells the others their place."""
        if self._closing:
            return
        busy = [run for run in self._runs.values() if run.process]
        for run in [one for one in self._queue if not one.process]:
            if len(busy) < self.limits.at_once:
                self._queue.remove(run)
                self._begin(run)
                busy.append(run)
        leaving = sum(run.process.ending for run in busy if run.process)
        for run in busy:
            if run.process and run.state == "paused" and leaving < len(self._queue):
                leaving += not run.process.ending
                self._do(run.process.end())  # `_lost` goes on from here
        for place, run in enumerate(self._queue, 1):
            run.turn("queued", place=place)

    def _begin(self, run: Run) -> None:
        limits = self.limits
        wanted = Wanted(
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
        run.process = ProcessHandle(wanted, partial(self._heard, run), partial(self._lost, run))

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
        if not run.over:
            run.tell(**document)

    def _lost(self, run: Run) -> None:
        """Its process has ended, told to or not."""
        run.process = None
        if not run.over and run.state != "paused" and not self._closing:
            log.error("a run's process ended unasked")
            run.turn("failed", why="crashed")
        self._advance()

    async def _keep_sweeping(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            now = time.monotonic()
            for run in list(self._runs.values()):
                if not run.over and run.unwatched(now) > self.limits.unwatched_seconds:
                    self.stop(run, "unwatched")
            await self._forget(now)

    async def _forget(self, now: float) -> None:
        """Deletes what has ended long ago, and the oldest where all take too much room."""
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
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _begin_at(run: Run, parent: Run, step: int) -> None:
    """Links the parent's snapshot into the run's folder: it may begin when the parent is gone."""
    run.folder.mkdir(mode=0o700)
    state = run.folder / "fork.safetensors"
    os.link(state_path(parent.folder, step), state)
    run.parent, run.step = (parent.id, step), step
    run.fork = state, parent.options

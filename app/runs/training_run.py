"""One training run: its state, and the numbered log of its events that watchers read.

The folder of a server's runs: one per server, since servers may share a data folder.
"""

import asyncio
import shutil
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Literal

import orjson
from filelock import FileLock, Timeout

from app.engine.child_process import ChildProcess
from app.engine.fair_queue import Client
from model.live_training.options_and_events import LiveOptions

State = Literal["queued", "starting", "running", "paused", "finished", "stopped", "failed"]
ENDED: frozenset[State] = frozenset({"finished", "stopped", "failed"})
ALIVE_SECONDS = 15.0  # without an event, after which a watcher gets a keep-alive line
ALIVE = b'{"alive":true}\n'


@dataclass(eq=False)
class Run:
    """A training run of this server. All its fields change on the event loop only."""

    id: str
    key: bytes  # digest of the key that its creator was given
    options: LiveOptions
    client: Client
    folder: Path
    learning_rate: float
    parent: tuple[str, int] | None = None  # id of the run that it continues, and the step
    fork: tuple[Path, LiveOptions] | None = None  # that run's snapshot and options
    state: State = "queued"
    why: str | None = None  # the reason that it ended
    place: int | None = None  # in the queue, from 1
    step: int = 0
    begun: dict[str, Any] | None = None
    snapshots: dict[int, dict[str, Any]] = field(default_factory=dict)
    process: ChildProcess | None = None
    watchers: int = 0
    seen: float = field(default_factory=time.monotonic)  # when it was last requested or watched
    ended: float | None = None  # when it ended
    closed: bool = False  # whether its streams have been closed
    _log: list[bytes] = field(default_factory=list)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def over(self) -> bool:
        """Whether the run has ended."""
        return self.state in ENDED

    @property
    def told(self) -> int:
        """Number of events so far."""
        return len(self._log)

    def tell(self, **document: Any) -> None:
        """Append an event to the log, under the next number, and wake all watchers."""
        numbered = {"n": len(self._log), **document}
        self._log.append(orjson.dumps(numbered, option=orjson.OPT_APPEND_NEWLINE))
        self._wake()

    def turn(self, state: State, *, why: str | None = None, place: int | None = None) -> None:
        """Change the state, its reason or the place in the queue, and log it as an event."""
        if (state, why, place) == (self.state, self.why, self.place):
            return
        self.state, self.why, self.place = state, why, place
        if self.over:
            self.ended = time.monotonic()
        self.tell(state={"state": state, "why": why, "place": place, "step": self.step})

    def look(self) -> None:
        """Record that the run has just been requested or watched."""
        self.seen = time.monotonic()

    def unwatched(self, now: float) -> float:
        """Return for how many seconds nobody has requested or watched the run."""
        return 0.0 if self.watchers else now - self.seen

    def hang_up(self) -> None:
        """End the streams of all watchers."""
        self.closed = True
        self._wake()

    async def events(self, since: int) -> AsyncIterator[bytes]:
        """Yield the events from number `since` on, as JSON lines, until the run has ended."""
        self.watchers += 1
        try:
            while not self.closed:
                changed = self._changed
                for line in self._log[since:]:
                    since += 1
                    yield line
                if since < len(self._log):
                    continue
                if self.over:
                    return
                try:
                    async with asyncio.timeout(ALIVE_SECONDS):
                        await changed.wait()
                except TimeoutError:
                    yield ALIVE
        finally:
            self.watchers -= 1
            self.look()

    def _wake(self) -> None:
        """Wake all watchers. Each change gets a new `Event`, so that no watcher misses one."""
        self._changed.set()
        self._changed = asyncio.Event()


LOCK = "lock"


def claim(base: Path) -> tuple[Path, FileLock]:
    """Create a locked folder in `base`; delete those of servers that no longer run."""
    base.mkdir(mode=0o700, parents=True, exist_ok=True)
    for old in base.iterdir():
        lock = FileLock(old / LOCK, timeout=0, thread_local=False)
        try:
            with lock:
                shutil.rmtree(old, ignore_errors=True)
        except (Timeout, OSError):
            continue  # in use, or just deleted by another server
    folder = Path(mkdtemp(dir=base))
    lock = FileLock(folder / LOCK, timeout=0, thread_local=False)
    lock.acquire()
    return folder, lock


def release(folder: Path, lock: FileLock) -> None:
    """Delete the folder and release its lock."""
    shutil.rmtree(folder, ignore_errors=True)
    lock.release()


def size_of(folder: Path) -> int:
    """Return the total size of all files in the folder, in bytes."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:  # deleted in the meantime
            continue
    return total

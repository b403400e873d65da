"""One run: its state, and everything that it has told, numbered, for whoever watches."""

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import orjson

from app.engine.clients import Client
from app.runs.process_handle import ProcessHandle
from model.live.options import LiveOptions

State = Literal["queued", "starting", "running", "paused", "finished", "stopped", "failed"]
ENDED: frozenset[State] = frozenset({"finished", "stopped", "failed"})
ALIVE_SECONDS = 15.0  # of silence, after which a watcher is told that the server is there
ALIVE = b'{"alive":true}\n'


@dataclass(eq=False)
class Run:
    """A run of this server. Everything about it changes on the event loop."""

    id: str
    key: bytes  # digest of what its maker was told
    options: LiveOptions
    client: Client
    folder: Path
    learning_rate: float
    parent: tuple[str, int] | None = None  # a run, and the step that this one began at
    fork: tuple[Path, LiveOptions] | None = None  # the same, for its process
    state: State = "queued"
    why: str | None = None  # it ended
    place: int | None = None  # in the queue, from 1
    step: int = 0
    begun: dict[str, Any] | None = None
    snapshots: dict[int, dict[str, Any]] = field(default_factory=dict)
    process: ProcessHandle | None = None
    watchers: int = 0
    seen: float = field(default_factory=time.monotonic)  # when it was last looked at
    ended: float | None = None  # when it did
    closed: bool = False  # nobody is told anything more
    _log: list[bytes] = field(default_factory=list)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.state in ENDED

    @property
    def told(self) -> int:
        """How many events there are."""
        return len(self._log)

    def tell(self, **document: Any) -> None:
        """Adds an event, under the next number, and wakes whoever watches."""
        numbered = {"n": len(self._log), **document}
        self._log.append(orjson.dumps(numbered, option=orjson.OPT_APPEND_NEWLINE))
        self._wake()

    def turn(self, state: State, *, why: str | None = None, place: int | None = None) -> None:
        """Goes over to another state, or place in the queue, and tells it."""
        if (state, why, place) == (self.state, self.why, self.place):
            return
        self.state, self.why, self.place = state, why, place
        if self.over:
            self.ended = time.monotonic()
        self.tell(state={"state": state, "why": why, "place": place, "step": self.step})

    def look(self) -> None:
        """Somebody has looked at it."""
        self.seen = time.monotonic()

    def unwatched(self, now: float) -> float:
        """For how many seconds nobody has looked."""
        return 0.0 if self.watchers else now - self.seen

    def hang_up(self) -> None:
        """Ends the streams of whoever watches."""
        self.closed = True
        self._wake()

    async def events(self, since: int) -> AsyncIterator[bytes]:
        """The events from a number on, as lines, until the run has ended."""
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
        """Each change has an event of its own, so that nobody sleeps through one."""
        self._changed.set()
        self._changed = asyncio.Event()

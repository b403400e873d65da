"""A replica of a model in a cluster: bytes in, bytes out, like an engine process.

It runs one turn at a time, and an urgent one beside it. It does not depend on Ray.
"""

import asyncio
import pickle
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from app.engine.child_process import Opening, encode
from app.engine.engine_process import Ended, Run, opened, plain
from app.engine.model_thread import Line, Outcome, Worker

STREAM_SECONDS = 120.0  # how long an unread stream stays open; later it is restarted


@dataclass(frozen=True)
class Place:
    """The position of a stream."""

    index: int  # of its next line
    since: float


class Replica:
    """The models of an opening, and the open streams."""

    def __init__(self, opening: Opening, clock: Callable[[], float] = time.monotonic) -> None:
        """Open the models. Blocks; raises what `opened` raises."""
        opening.prepare()
        self.catalog = opened(opening, opening.threads)
        self.worker = Worker(self.catalog)
        self._clock = clock
        self._places: dict[int, Place] = {}
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="model")
        self._turn = asyncio.Lock()

    async def listing(self) -> bytes:
        """Return the descriptions of the models: a pickled `Listing`."""
        return encode(self.catalog.listing)

    async def run(self, content: bytes) -> bytes:
        """Run a pickled `Run`; return a pickled `Ended`.

        When cancelled, it returns once the running work has ended.
        """
        turn: Run = pickle.loads(content)
        if turn.urgent:
            return encode(Ended(turn.number, await self._run(turn)))
        async with self._turn:
            return encode(Ended(turn.number, await self._run(turn)))

    async def forget(self, stream: int) -> None:
        """Drop a stream of which no further line is needed."""
        self._places.pop(stream, None)
        self.worker.forget(stream)

    async def _run(self, turn: Run) -> list[Outcome]:
        await self._forget_unread()
        if isinstance(turn.work, Line):
            await self._find_place(turn.work)
        stopped = threading.Event()
        loop = asyncio.get_running_loop()
        running = loop.run_in_executor(
            self._threads, self.worker.run, turn.work, stopped.is_set, turn.urgent
        )
        try:
            outcomes = await asyncio.shield(running)
        except asyncio.CancelledError:
            stopped.set()
            await asyncio.wait([running])
            raise
        if isinstance(turn.work, Line) and outcomes[0].result is not None:
            self._places[turn.work.stream] = Place(turn.work.index + 1, self._clock())
        return [plain(outcome) for outcome in outcomes]

    async def _find_place(self, line: Line) -> None:
        """Restart a stream that is not at the requested line, for example after a lost reply."""
        place = self._places.pop(line.stream, None)
        if place is None or place.index != line.index:
            self.worker.forget(line.stream)

    async def _forget_unread(self) -> None:
        oldest = self._clock() - STREAM_SECONDS
        for stream in [
            stream_id for stream_id, place in self._places.items() if place.since < oldest
        ]:
            await self.forget(stream)

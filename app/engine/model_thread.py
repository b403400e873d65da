"""Runs work on the models of a catalog, on a thread of any process."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

from app.engine.jobs import ReplyJob, StreamJob, TraceJob
from app.engine.long_text_pictures import LongJob, Passes
from app.engine.model_catalog import Catalog
from model.adapters.requests.adapter_interface import Adapter
from model.file_reading import panics_of
from model.progress import Listener, StoppedError, ignore, reporting, stoppable


@dataclass(frozen=True)
class Batch:
    """Jobs for one model to run together: traces, or a single job of another kind."""

    jobs: tuple[TraceJob | ReplyJob, ...]

    @property
    def long_pass(self) -> str | None:
        """Return the key of the pass over a long text that the job views; None for other jobs."""
        first = self.jobs[0]
        return first.key if isinstance(first, LongJob) else None


@dataclass(frozen=True)
class Line:
    """The next line of a stream: the one at `index`, from 0."""

    stream: int
    job: StreamJob
    index: int


Work = Batch | Line
PAUSE_SECONDS = 0.1  # how often paused work checks whether to stop


@dataclass(frozen=True)
class Outcome:
    """The result of a job, or its error.

    For a stream without a further line, the result is None.
    """

    result: Any = None
    error: Exception | None = None


class Worker:
    """Runs work on the models of a catalog, and keeps the open streams. Blocks."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self._streams: dict[int, Iterator[bytes]] = {}
        self._urgent = 0  # number of urgent jobs running
        self._changed = threading.Condition()

    def run(
        self,
        work: Work,
        stopped: Callable[[], bool],
        urgent: bool = False,
        listener: Listener = ignore,
    ) -> list[Outcome]:
        """Return the outcome of each job; raises no `Exception`.

        Stops early once `stopped` returns true. While urgent work runs, other work waits between
        two layers. `listener` hears the progress of long work.
        """
        with reporting(listener):
            if not urgent:
                return self._run(work, partial(self._gone, stopped))
            with self._first():
                return self._run(work, stopped)

    def _run(self, work: Work, stopped: Callable[[], bool]) -> list[Outcome]:
        with stoppable(stopped):
            if isinstance(work, Line):
                return [attempt(work.job.model, partial(self._line, work))]
            return run_jobs(self.catalog, work.jobs)

    @contextmanager
    def _first(self) -> Iterator[None]:
        with self._changed:
            self._urgent += 1
        try:
            yield
        finally:
            with self._changed:
                self._urgent -= 1
                self._changed.notify_all()

    def _gone(self, stopped: Callable[[], bool]) -> bool:
        """Return whether to stop, checked once no urgent work runs."""
        if self._urgent:
            with self._changed:
                while self._urgent and not stopped():
                    self._changed.wait(PAUSE_SECONDS)
        return stopped()

    def forget(self, stream: int) -> None:
        """Drop a stream of which no further line is needed."""
        self._streams.pop(stream, None)

    def _line(self, work: Line) -> bytes | None:
        stream = self._streams.get(work.stream)
        if stream is None:  # new, or from a crashed process: skip the lines already sent
            stream = islice(lines(self.catalog, work.job), work.index, None)
            self._streams[work.stream] = stream
        try:
            return next(stream)
        except StopIteration:
            self.forget(work.stream)
            return None
        except BaseException:
            self.forget(work.stream)
            raise


def attempt(model: str, work: Callable[[], Any]) -> Outcome:
    """Return the outcome of a piece of work on a model."""
    try:
        with panics_of(model):
            return Outcome(work())
    except Exception as error:
        return Outcome(error=error)


def run_jobs(catalog: Catalog, jobs: Sequence[TraceJob | ReplyJob]) -> list[Outcome]:
    """Run jobs for one model as a batch; a job's failure affects no other job.

    Loads the model if it is not loaded.
    """
    try:
        with panics_of(jobs[0].model), catalog.using(jobs[0].model) as adapter:
            checks = [_checked(adapter, job) for job in jobs]
            fit = [job for job, check in zip(jobs, checks, strict=True) if not check.error]
            replies = iter(_run_checked(adapter, fit, catalog.passes) if fit else ())
            return [check if check.error else next(replies) for check in checks]
    except Exception as error:  # the model cannot be loaded
        return [Outcome(error=error) for _ in jobs]


def lines(catalog: Catalog, job: StreamJob) -> Iterator[bytes]:
    """Yield the lines of a stream, which keeps its model loaded while it is open."""
    with catalog.using(job.model) as adapter:
        yield from job.lines(adapter)


def _checked(adapter: Adapter, job: TraceJob | ReplyJob) -> Outcome:
    if isinstance(job, TraceJob):
        return attempt(job.model, partial(adapter.check, job.request))
    return Outcome()


def _run_checked(
    adapter: Adapter, jobs: Sequence[TraceJob | ReplyJob], passes: Passes
) -> list[Outcome]:
    traced = [job for job in jobs if isinstance(job, TraceJob)]
    if len(traced) < len(jobs):
        return [
            attempt(
                job.model,
                partial(job.seen, adapter, passes)
                if isinstance(job, LongJob)
                else partial(job.alone, adapter),
            )
            for job in jobs
            if not isinstance(job, TraceJob)
        ]
    try:
        with panics_of(traced[0].model):
            traces = adapter.run([job.request for job in traced])
    except StoppedError as error:
        return [Outcome(error=error) for _ in jobs]
    except Exception as error:
        if len(traced) == 1:
            return [Outcome(error=error)]
        return [outcome for job in traced for outcome in _run_checked(adapter, [job], passes)]
    pairs = zip(traced, traces, strict=True)
    return [attempt(job.model, partial(job.reply, trace)) for job, trace in pairs]

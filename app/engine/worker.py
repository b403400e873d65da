"""What happens on a worker thread, in whatever process it is: work in, outcomes out."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

from app.engine.catalog import Catalog
from app.engine.jobs import AnswerJob, StreamJob, TraceJob
from model.adapters.request import Adapter
from model.cancellation import StoppedError, stoppable


@dataclass(frozen=True)
class Batch:
    """Jobs of one model to run together: traces, or one of another kind alone."""

    jobs: tuple[TraceJob | AnswerJob, ...]


@dataclass(frozen=True)
class Line:
    """The next line of a stream: the one at `index`, from 0."""

    stream: int
    job: StreamJob
    index: int


Work = Batch | Line
PAUSE_SECONDS = 0.1  # that work which waits for urgent work looks whether it is to stop


@dataclass(frozen=True)
class Outcome:
    """What a job came to: a result, or what went wrong with it.

    A stream without a further line comes to None.
    """

    result: Any = None
    error: Exception | None = None


class Worker:
    """Runs work on the models of a catalog, and keeps the streams that are open. Blocks."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self._streams: dict[int, Iterator[bytes]] = {}
        self._urgent = 0  # how much that is urgent runs
        self._changed = threading.Condition()

    def run(self, work: Work, stopped: Callable[[], bool], urgent: bool = False) -> list[Outcome]:
        """What each of the jobs came to; nothing is raised. Ends early once `stopped` is true.

        While urgent work runs, other work waits between two layers.
        """
        if not urgent:
            return self._run(work, partial(self._gone, stopped))
        with self._first():
            return self._run(work, stopped)

    def _run(self, work: Work, stopped: Callable[[], bool]) -> list[Outcome]:
        with stoppable(stopped):
            if isinstance(work, Line):
                return [attempt(partial(self._line, work))]
            return answer(self.catalog, work.jobs)

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
        """Whether to stop, asked once nothing urgent runs."""
        if self._urgent:
            with self._changed:
                while self._urgent and not stopped():
                    self._changed.wait(PAUSE_SECONDS)
        return stopped()

    def forget(self, stream: int) -> None:
        """Nobody asks for another line."""
        self._streams.pop(stream, None)

    def _line(self, work: Line) -> bytes | None:
        made = self._streams.get(work.stream)
        if made is None:  # new, or begun in a process that has ended: what was sent is skipped
            made = islice(lines(self.catalog, work.job), work.index, None)
            self._streams[work.stream] = made
        try:
            return next(made)
        except StopIteration:
            self.forget(work.stream)
            return None
        except BaseException:
            self.forget(work.stream)
            raise


def attempt(work: Callable[[], Any]) -> Outcome:
    """What a piece of work came to."""
    try:
        return Outcome(work())
    except Exception as error:
        return Outcome(error=error)


def answer(catalog: Catalog, jobs: Sequence[TraceJob | AnswerJob]) -> list[Outcome]:
    """Runs jobs of one model as a batch; a failure is its own job's and no neighbour's.

    Loads the model if it is not loaded.
    """
    try:
        with catalog.using(jobs[0].model) as adapter:
            checks = [_checked(adapter, job) for job in jobs]
            fit = [job for job, check in zip(jobs, checks, strict=True) if not check.error]
            answers = iter(_answers(adapter, fit) if fit else ())
            return [check if check.error else next(answers) for check in checks]
    except Exception as error:  # the model cannot be loaded
        return [Outcome(error=error) for _ in jobs]


def lines(catalog: Catalog, job: StreamJob) -> Iterator[bytes]:
    """The lines of a stream, which keeps its model loaded while it is open."""
    with catalog.using(job.model) as adapter:
        yield from job.lines(adapter)


def _checked(adapter: Adapter, job: TraceJob | AnswerJob) -> Outcome:
    if isinstance(job, TraceJob):
        return attempt(partial(adapter.check, job.request))
    return Outcome()


def _answers(adapter: Adapter, jobs: Sequence[TraceJob | AnswerJob]) -> list[Outcome]:
    traced = [job for job in jobs if isinstance(job, TraceJob)]
    if len(traced) < len(jobs):
        return [
            attempt(partial(job.alone, adapter)) for job in jobs if not isinstance(job, TraceJob)
        ]
    try:
        traces = adapter.run([job.request for job in traced])
    except StoppedError as error:
        return [Outcome(error=error) for _ in jobs]
    except Exception as error:
        if len(traced) == 1:
            return [Outcome(error=error)]
        return [outcome for job in traced for outcome in _answers(adapter, [job])]
    pairs = zip(traced, traces, strict=True)
    return [attempt(partial(job.answer, trace)) for job, trace in pairs]

"""What happens on a worker thread: jobs in, outcomes out."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from app.engine.catalog import Catalog
from app.engine.jobs import StreamJob, TraceJob
from model.adapters.request import Adapter


@dataclass(frozen=True)
class Outcome:
    """What a job came to: a result, or what went wrong with it."""

    result: Any = None
    error: Exception | None = None


def attempt(work: Callable[[], Any]) -> Outcome:
    """What a piece of work came to."""
    try:
        return Outcome(work())
    except Exception as error:
        return Outcome(error=error)


def answer(catalog: Catalog, jobs: Sequence[TraceJob]) -> list[Outcome]:
    """Runs jobs of one model as a batch; a failure is its own job's and no neighbour's.

    Loads the model if it is not loaded.
    """
    try:
        with catalog.using(jobs[0].model) as adapter:
            checks = [attempt(partial(adapter.check, job.request)) for job in jobs]
            fit = [job for job, check in zip(jobs, checks, strict=True) if not check.error]
            answers = iter(_answers(adapter, fit) if fit else ())
            return [check if check.error else next(answers) for check in checks]
    except Exception as error:  # the model cannot be loaded
        return [Outcome(error=error) for _ in jobs]


def lines(catalog: Catalog, job: StreamJob) -> Iterator[bytes]:
    """The lines of a stream, which keeps its model loaded while it is open."""
    with catalog.using(job.model) as adapter:
        yield from job.lines(adapter)


def _answers(adapter: Adapter, jobs: Sequence[TraceJob]) -> list[Outcome]:
    try:
        traces = adapter.run([job.request for job in jobs])
    except Exception as error:
        if len(jobs) == 1:
            return [Outcome(error=error)]
        return [outcome for job in jobs for outcome in _answers(adapter, [job])]
    pairs = zip(jobs, traces, strict=True)
    return [attempt(partial(job.answer, trace)) for job, trace in pairs]

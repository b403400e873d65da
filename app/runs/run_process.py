"""The process of a run: it trains, sends events and follows commands.

Only this process imports the training code (`model.live_training.live_run`), and only after its
start; the server never does. It sends events as plain documents and receives the commands
`{"pause": true}`, `{"learning_rate": 0.5}` and `{"end": true}`. If the server is gone, it saves its
state and ends. If the disk takes no more, it sends `{"failed": {"why": …}}` and ends.
"""

import contextlib
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.engine.child_process import receive, send
from app.store.disk_files import disk_problem
from model.live_training.options_and_events import LiveOptions, trace_path

if TYPE_CHECKING:
    from model.live_training.live_run import LiveRun
    from model.live_training.options_and_events import Advanced, Begun, LiveEvent, Observed


@dataclass(frozen=True)
class Wanted:
    """The arguments of a run's process. They can be pickled."""

    prepare: Callable[[], object]  # called first: sets up logging
    folder: Path
    options: LiveOptions
    learning_rate: float  # the current one, which may differ from that of `options`
    minutes: float
    threads: int
    nice: int  # added to the niceness of the process, up to 19
    fork: tuple[Path, LiveOptions] | None = None  # a snapshot to continue, and its run's options


class EndError(Exception):
    """The run was asked to end."""


def main(connection: Connection, task: Wanted) -> None:
    """Train to the end, until asked to end, or until the server is gone."""
    from model.live_training.live_run import LiveRun, branch, in_background
    from model.train.run_state import STATE

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # on Ctrl-C the server ends this process
    task.prepare()
    in_background(task.threads, task.nice)
    try:
        if task.fork and not (task.folder / STATE).is_file():
            branch(*task.fork, task.folder, task.options)
        run = LiveRun(task.folder, task.options, task.minutes)
        run.learning_rate = task.learning_rate
        with contextlib.closing(run.events()) as events:  # closing it saves the state
            _train(connection, run, events)
    except Exception as error:
        if (why := disk_problem(error)) is None:
            raise
        with contextlib.suppress(OSError):  # the server is gone
            send(connection, {"failed": {"why": why}})


def _train(connection: Connection, run: "LiveRun", events: "Iterator[LiveEvent]") -> None:
    """Send the events until the run ends, is asked to end, or the server is gone."""
    with contextlib.suppress(EndError, EOFError, ConnectionError):
        for event in events:
            send(connection, document(event, run.folder))
            _obey(connection, run)


def _obey(connection: Connection, run: "LiveRun") -> None:
    """Follow the commands that have arrived; return when training may go on. Raises EndError."""
    paused, began = False, time.monotonic()
    while paused or connection.poll():
        match receive(connection):
            case {"end": True}:
                raise EndError
            case {"pause": bool(paused)}:
                pass
            case {"learning_rate": float(factor)}:
                run.learning_rate = factor
    run.rested(time.monotonic() - began)


def document(event: "LiveEvent", folder: Path) -> dict[str, Any]:
    """Return an event as the document that is sent; write its traces to the run's folder first."""
    kind = type(event).__name__
    return {name: tell(event, folder) for name, tell in TOLD[kind].items()}


def _begun(event: "Begun", _: Path) -> dict[str, Any]:
    from app.traces.replies import ModelReply

    model = ModelReply.model_validate(event.model).model_dump(mode="json")
    probes = [{"source": source, "target": target} for source, target in event.probes]
    return {"step": event.step, "examples": event.examples, "probes": probes, "model": model}


def _advanced(event: "Advanced", _: Path) -> dict[str, Any]:
    return {"step": event.step, "loss": event.loss, "rate": event.rate, "seconds": event.seconds}


def _observed(event: "Observed", folder: Path) -> dict[str, Any]:
    for probe, content in enumerate(_traces(event, folder.name)):
        trace_path(folder, event.step, probe).write_bytes(content)
    return {
        "step": event.step,
        "loss": event.loss,
        "accuracy": event.accuracy,
        "seconds": event.seconds,
        "written": [probe.written for probe in event.probes],
    }


def _traces(event: "Observed", name: str) -> Iterator[bytes]:
    from app.engine.reply_formats import trace_reply

    for probe, observation in enumerate(event.probes):
        identity = f"{name}-{event.step}-{probe}"
        yield trace_reply(observation.trace, identity, observation.trace.model.id).safetensors()


TOLD: dict[str, dict[str, Callable[[Any, Path], Any]]] = {
    "Begun": {"begun": _begun},
    "Advanced": {"progress": _advanced},
    "Observed": {"snapshot": _observed},
    "Ended": {"ended": lambda event, _: {"why": event.why, "step": event.step}},
}

"""What a run's own process does: trains, tells what happens, and does as it is told.

It alone imports what trains (`model.live.run`), and only once it has been started: the server never
does. From here come documents, as JSON; to here come `{"pause": true}`, `{"learning_rate": 0.5}`
and `{"end": true}`. When there is nobody to tell any more, it saves its state and ends.
"""

import contextlib
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from model.live.options import LiveOptions
from model.live.snapshots import trace_path

if TYPE_CHECKING:
    from model.live.events import Advanced, Begun, LiveEvent, Observed
    from model.live.run import LiveRun


@dataclass(frozen=True)
class Wanted:
    """What a run's process needs to begin; all of it can be sent to another process."""

    prepare: Callable[[], object]  # called first: logging
    folder: Path
    options: LiveOptions
    learning_rate: float  # as it is now
    minutes: float
    threads: int
    nice: int  # how far it yields to all else on the machine, to 19
    fork: tuple[Path, LiveOptions] | None = None  # a snapshot to begin at, and what made it


class EndError(Exception):
    """The run was told to end."""


def main(connection: Connection, wanted: Wanted) -> None:
    """Trains to the end, or until told to end, or until whoever started this is gone."""
    from model.live.run import LiveRun, branch, in_background
    from model.train.run_state import STATE

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this
    wanted.prepare()
    in_background(wanted.threads, wanted.nice)
    if wanted.fork and not (wanted.folder / STATE).is_file():
        branch(*wanted.fork, wanted.folder, wanted.options)
    run = LiveRun(wanted.folder, wanted.options, wanted.minutes)
    run.learning_rate = wanted.learning_rate
    events = run.events()
    with contextlib.suppress(EndError, EOFError, OSError):
        for event in events:
            connection.send_bytes(orjson.dumps(document(event, wanted.folder)))
            _obey(connection, run)
    events.close()  # saves where it is


def _obey(connection: Connection, run: "LiveRun") -> None:
    """Does what has been said since; returns when it may go on. Raises EndError."""
    paused, began = False, time.monotonic()
    while paused or connection.poll():
        match orjson.loads(connection.recv_bytes()):
            case {"end": True}:
                raise EndError
            case {"pause": bool(paused)}:
                pass
            case {"learning_rate": float(factor)}:
                run.learning_rate = factor
    run.rested(time.monotonic() - began)


def document(event: "LiveEvent", folder: Path) -> dict[str, Any]:
    """An event as it is told; traces go into the run's folder before."""
    kind = type(event).__name__
    return {name: tell(event, folder) for name, tell in TOLD[kind].items()}


def _begun(event: "Begun", _: Path) -> dict[str, Any]:
    from app.schemas.replies import ModelReply

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
        "written": [one.written for one in event.probes],
    }


def _traces(event: "Observed", name: str) -> Iterator[bytes]:
    from app.engine.wire import trace_reply

    for probe, one in enumerate(event.probes):
        identity = f"{name}-{event.step}-{probe}"
        yield trace_reply(one.trace, identity, one.trace.model.id).safetensors()


TOLD: dict[str, dict[str, Callable[[Any, Path], Any]]] = {
    "Begun": {"begun": _begun},
    "Advanced": {"progress": _advanced},
    "Observed": {"snapshot": _observed},
    "Ended": {"ended": lambda event, _: {"why": event.why, "step": event.step}},
}

"""Starts engine processes. Imports nothing slow, so that it can run first.

If the system can fork, engines are forked from a process that has imported PyTorch: the first
engine opens its models while the server is still importing, and a crashed engine is replaced at
once.
"""

import multiprocessing
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from app.engine.opening import Opening

# Imported before the fork. None of them may start a thread: a forked process would not have it.
PRELOADED = [f"{__package__}.engine_process", "ctranslate2"]


@dataclass(frozen=True)
class Launched:
    """A started engine process, and this end of the pipe to it."""

    opening: Opening
    connection: Connection
    process: BaseProcess


def launch(opening: Opening) -> Launched:
    """Start an engine process, from any thread, without waiting until it is open."""
    return Launched(opening, *start("engine", _engine, opening))


def start(
    name: str, target: Callable[..., object], *arguments: object
) -> tuple[Connection, BaseProcess]:
    """Start a process that calls `target(connection, *arguments)`; return this end of its pipe."""
    if "forkserver" in multiprocessing.get_all_start_methods():
        forking = multiprocessing.get_context("forkserver")
        forking.set_forkserver_preload(PRELOADED)
        connection, theirs = forking.Pipe()
        process: BaseProcess = forking.Process(
            target=target, args=(theirs, *arguments), name=name, daemon=True
        )
    else:
        spawning = multiprocessing.get_context("spawn")
        connection, theirs = spawning.Pipe()
        process = spawning.Process(target=target, args=(theirs, *arguments), name=name, daemon=True)
    process.start()
    theirs.close()  # so that its exit is noticed here
    return connection, process


def _engine(connection: Connection, opening: Opening) -> None:
    from app.engine.engine_process import main  # imports PyTorch; the caller may not have it yet

    main(connection, opening)

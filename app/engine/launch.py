"""Starts engine processes. Imports nothing that takes long, so that it can be done first of all.

Where the system can fork, engines are forked off a process that has imported PyTorch: the server's
first engine opens its models while the server still imports, and one that crashed is back at once.
"""

import multiprocessing
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from app.engine.opening import Opening

# Imported before the fork. None of them starts a thread, which a forked process would lack.
PRELOADED = ["app.engine.engine_process", "ctranslate2"]


@dataclass(frozen=True)
class Launched:
    """An engine process that has been started, and this end of the pipe to it."""

    opening: Opening
    connection: Connection
    process: BaseProcess


def launch(opening: Opening) -> Launched:
    """Start an engine process, from any thread, without waiting until it is open."""
    if "forkserver" in multiprocessing.get_all_start_methods():
        forking = multiprocessing.get_context("forkserver")
        forking.set_forkserver_preload(PRELOADED)
        connection, theirs = forking.Pipe()
        process: BaseProcess = forking.Process(target=_engine, args=(theirs, opening), daemon=True)
    else:
        spawning = multiprocessing.get_context("spawn")
        connection, theirs = spawning.Pipe()
        process = spawning.Process(target=_engine, args=(theirs, opening), daemon=True)
    process.name = "engine"
    process.start()
    theirs.close()  # so that its end is seen here
    return Launched(opening, connection, process)


def _engine(connection: Connection, opening: Opening) -> None:
    from app.engine.engine_process import main  # brings PyTorch, which the caller may lack as yet

    main(connection, opening)

"""What a process of its own does: opens the models, says what they are, runs what it is sent.

Messages are plain bytes, one pickle each. To here: `Run`, `Stop`, `Forget`, and None to end. From
here: `Opened` or `Failed` first, then an `Ended` for each `Run`.
"""

import logging
import os
import pickle
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from app.engine.catalog import Catalog
from app.engine.model_listing import Listing
from app.engine.opening import Opening
from app.engine.worker import Outcome, Work, Worker
from model.cancellation import StoppedError
from model.errors import InputError

log = logging.getLogger(__name__)

TOLD = (InputError, StoppedError)  # of all errors these travel as they are


class EngineError(Exception):
    """Something went wrong in the engine's process, which has logged what."""


@dataclass(frozen=True)
class Opened:
    """The models can be asked."""

    listing: Listing


@dataclass(frozen=True)
class Failed:
    """The models cannot be opened."""

    why: str


@dataclass(frozen=True)
class Run:
    """Work, under a number."""

    number: int
    work: Work
    urgent: bool


@dataclass(frozen=True)
class Stop:
    """Nobody waits for the work of this number."""

    number: int


@dataclass(frozen=True)
class Forget:
    """Nobody reads this stream."""

    stream: int


@dataclass(frozen=True)
class Ended:
    """What the work of a number came to."""

    number: int
    outcomes: list[Outcome]


def encode(message: Any) -> bytes:
    """A message as bytes."""
    return pickle.dumps(message, pickle.HIGHEST_PROTOCOL)


def main(connection: Connection, opening: Opening) -> None:
    """Serves until told to end, or until whoever started this is gone."""
    for told in (signal.SIGINT, signal.SIGTERM):  # the server is told as well, and ends this
        signal.signal(told, signal.SIG_IGN)
    opening.prepare()
    try:
        catalog = opened(opening)
    except Exception as error:  # whatever is wrong with a bundle or a device, its words are enough
        connection.send_bytes(encode(Failed(str(error) or type(error).__name__)))
        return
    _Server(connection, catalog).serve()
    os._exit(0)  # without waiting for what still runs: nobody reads it


def opened(opening: Opening) -> Catalog:
    """The models, on the threads and the device that the opening names. Blocks."""
    import torch

    torch.set_num_threads(opening.threads)
    if opening.device is not None:
        torch.cuda.set_device(opening.device)
    return opening.catalog()


class _Server:
    """Reads messages on this thread and runs the work on others."""

    def __init__(self, connection: Connection, catalog: Catalog) -> None:
        self.connection = connection
        self.worker = Worker(catalog)
        self.threads = ThreadPoolExecutor(catalog.listing.at_once + 1)
        self.running: dict[int, threading.Event] = {}
        self.writing = threading.Lock()
        self._send(Opened(catalog.listing))

    def serve(self) -> None:
        """Returns when told to end, or when there is nobody to tell."""
        while True:
            try:
                message = pickle.loads(self.connection.recv_bytes())
            except (EOFError, OSError):
                return
            match message:
                case Run(number):
                    self.running[number] = threading.Event()
                    self.threads.submit(self._run, message)
                case Stop(number):
                    if number in self.running:
                        self.running[number].set()
                case Forget(stream):
                    self.worker.forget(stream)
                case _:
                    return

    def _run(self, turn: Run) -> None:
        stopped = self.running[turn.number].is_set
        outcomes = [plain(one) for one in self.worker.run(turn.work, stopped, turn.urgent)]
        del self.running[turn.number]
        self._send(Ended(turn.number, outcomes))

    def _send(self, message: Any) -> None:
        with self.writing:
            try:
                self.connection.send_bytes(encode(message))
            except OSError:
                os._exit(0)  # nobody reads any more


def plain(outcome: Outcome) -> Outcome:
    """An outcome that can be sent; any other error than those told is logged here."""
    if outcome.error is None or isinstance(outcome.error, TOLD):
        return outcome
    log.error("work failed", exc_info=outcome.error)
    return Outcome(error=EngineError(type(outcome.error).__name__))

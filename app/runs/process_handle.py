"""The server's handle of a run's process."""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import orjson

from app.engine.launch import start
from app.runs.run_process import Wanted, main

END_SECONDS = 10.0  # for a process to finish its step and save its state before it is killed


class ProcessHandle:
    """Starts a run's process and passes its messages to callbacks on the event loop.

    `heard` gets each message; `lost` is called once, when the process has ended.
    """

    def __init__(
        self,
        wanted: Wanted,
        heard: Callable[[dict[str, Any]], None],
        lost: Callable[[], None],
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._heard, self._lost = heard, lost
        self.ending = False  # whether the process was asked to end
        self._connection, self._process = start("run", main, wanted)
        reading = threading.Thread(
            target=self._read, args=(self._connection,), name="from-run", daemon=True
        )
        reading.start()

    @property
    def pid(self) -> int | None:
        """Process id."""
        return self._process.pid

    def send(self, message: dict[str, Any]) -> None:
        """Send a message to the process. Does not block: messages fit into the pipe's buffer."""
        with contextlib.suppress(OSError):  # the process has ended; `_read` notices
            self._connection.send_bytes(orjson.dumps(message))

    async def end(self) -> None:
        """Ask the process to save its state and end; kill it if it has not after `END_SECONDS`."""
        self.ending = True
        self.send({"end": True})
        await asyncio.to_thread(self._process.join, END_SECONDS)
        if self._process.is_alive():
            self._process.kill()
            await asyncio.to_thread(self._process.join)

    def _read(self, connection: Connection) -> None:
        with contextlib.suppress(EOFError, OSError):
            while True:
                self._tell(self._heard, orjson.loads(connection.recv_bytes()))
        connection.close()
        self._process.join()
        self._tell(self._lost)

    def _tell(self, what: Callable[..., object], *arguments: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(what, *arguments)

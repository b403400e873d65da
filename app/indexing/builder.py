"""Runs the process that indexes a text, and ends it."""

import asyncio
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import orjson

from app.engine.launch import start
from app.indexing.process import Wanted, main


async def build(
    wanted: Wanted, seconds: float, heard: Callable[[int, int], None]
) -> dict[str, Any]:
    """Index a text; return its last state. `heard` gets the progress on the event loop.

    The process is killed after so many seconds, or if this call is cancelled.
    """
    loop = asyncio.get_running_loop()
    connection, process = await asyncio.to_thread(start, "index", main, wanted)
    result: dict[str, Any] = {"state": "failed", "why": "crashed"}

    def take(document: dict[str, Any]) -> None:
        if "of" in document:
            heard(document["done"], document["of"])
        elif "why" in document:
            result.update(document)
        else:
            result.clear()
            result.update({"state": "done", **document})

    try:
        async with asyncio.timeout(seconds):
            while (document := await loop.run_in_executor(None, _next, connection)) is not None:
                take(document)
    except TimeoutError:
        result = {"state": "failed", "why": "too-slow"}
    finally:
        process.kill()  # its work is done, or not wanted any more
        await asyncio.shield(asyncio.to_thread(process.join))
    return result


def _next(connection: Connection) -> dict[str, Any] | None:
    """Wait for the next document; None at the end. Blocks."""
    try:
        found: dict[str, Any] = orjson.loads(connection.recv_bytes())
    except (EOFError, OSError):
        return None
    return found

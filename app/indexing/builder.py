"""Runs the process that indexes a text, and ends it."""

import asyncio
from collections.abc import Callable
from typing import Any

from app.engine.child_process import ChildProcess
from app.engine.launch import start
from app.indexing.process import Wanted, main


async def build(
    wanted: Wanted, seconds: float, heard: Callable[[int, int], None]
) -> dict[str, Any]:
    """Index a text; return its last state. `heard` gets the progress on the event loop.

    The process is killed after so many seconds, or if this call is cancelled. Raises what `heard`
    raises.
    """
    loop = asyncio.get_running_loop()
    ended = loop.create_future()
    result: dict[str, Any] = {"state": "failed", "why": "crashed"}

    def take(document: dict[str, Any]) -> None:
        nonlocal result
        try:
            if "of" in document:
                heard(document["done"], document["of"])
            elif "why" in document:
                result = {"state": "failed", **document}
            else:
                result = {"state": "done", **document}
        except Exception as error:
            if not ended.done():
                ended.set_exception(error)

    process = ChildProcess(
        "index",
        lambda: start("index", main, wanted),
        take,
        lambda: None if ended.done() else ended.set_result(None),
    )
    process.open(loop)
    try:
        async with asyncio.timeout(seconds):
            await ended
    except TimeoutError:
        return {"state": "failed", "why": "too-slow"}
    finally:
        process.kill()  # its work is done, or not wanted any more
        await asyncio.shield(asyncio.to_thread(process.end, None, 0))
    return result

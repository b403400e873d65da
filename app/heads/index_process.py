"""Sentences of a reader's text.

The process that indexes one text of a reader, with the code of the command line.

Only this process imports the measuring code, and only after its start. It sends documents:
`{"done": n, "of": m}` while it works, and at the end `{"sentences": n}` or `{"why": …}`:
"unreadable", or what is wrong with the disk. If the server is gone, it ends.

Runs the process that indexes a text, and ends it.
"""

import asyncio
import contextlib
import os
import re
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from app.engine.child_process import ChildProcess, send
from app.engine.start_processes import start
from app.store.disk_files import disk_problem
from model.errors import Excess, InputError

# After a mark that ends a sentence, and what closes after it. A full stop ends one only before a
# space; an abbreviation such as “Mr. Smith” is cut, too.
ENDS = re.compile(
    "(?<=[。！？])(?![。！？”’」』）])|(?<=[。！？][”’」』）])|(?<=[.!?…])\\s+|(?<=[.!?][\"'”’)])\\s+"
)


def sentences_of(text: str, split: str) -> list[str]:
    """Return the lines of a text, or its sentences ("sentences"), without empty ones.

    A line with a tab has two texts that are translations of each other; it is never split.
    """
    lines = [line.strip(" \r\n") for line in text.splitlines()]
    if split == "sentences":
        lines = [part for line in lines for part in ([line] if "\t" in line else ENDS.split(line))]
    return [line.strip(" ") for line in lines if line.strip()]


def check(sentences: Sequence[str], max_sentences: int, most_characters: int, pairs: bool) -> None:
    """Raise InputError for no sentence, too many, one that is too long, or too many tabs.

    `pairs` says whether a sentence may have a translation.
    """
    if not sentences:
        raise InputError("too-short", "text", "text must have at least 1 sentence")
    if len(sentences) > max_sentences:
        detail = f"text has {len(sentences)} sentences; it may have at most {max_sentences}"
        excess = Excess(max_sentences, "sentences", len(sentences))
        raise InputError("too-many-sentences", "text", detail, excess)
    for number, sentence in enumerate(sentences, 1):
        longest = max(map(len, sentence.split("\t")))
        if longest > most_characters:
            detail = (
                f"text: sentence {number} has {longest} characters; "
                f"it may have at most {most_characters}"
            )
            excess = Excess(most_characters, "characters", longest)
            raise InputError("text-too-long", "text", detail, excess)
        tabs, most_tabs = sentence.count("\t"), int(pairs)
        if tabs > most_tabs:
            detail = f"text: line {number} has {tabs} tabs; it may have at most {most_tabs}"
            raise InputError("out-of-range", "text", detail)


@dataclass(frozen=True)
class Wanted:
    """The arguments of an indexing process. They can be pickled."""

    prepare: Callable[[], object]  # called first: sets up logging
    model: str  # as in `model.adapters.open_model.open_model`
    lines: tuple[str, ...]
    title: str
    folder: Path
    threads: int
    nice: int


def main(connection: Connection, task: Wanted) -> None:
    """Index the lines, on the CPU: the device of the models stays theirs."""
    import torch

    from model.adapters.open_model import open_model
    from model.measure.head_survey import survey_heads

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # on Ctrl-C the server ends this process
    task.prepare()
    os.nice(task.nice)
    torch.set_num_threads(task.threads)

    def tell(**document: object) -> None:
        send(connection, document)

    with contextlib.suppress(ConnectionError):  # the server is gone
        try:
            surveyed = survey_heads(
                open_model(task.model, "cpu"),
                task.lines,
                task.folder,
                title=task.title,
                index=True,
                told=lambda done, of: tell(done=done, of=of),
            )
        except ValueError:
            tell(why="unreadable")
        except ConnectionError:
            raise
        except Exception as error:
            if (why := disk_problem(error)) is None:
                raise
            tell(why=why)
        else:
            tell(sentences=surveyed["sentences"])


async def build(
    task: Wanted, seconds: float, progress: Callable[[int, int], None]
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
                progress(document["done"], document["of"])
            elif "why" in document:
                result = {"state": "failed", **document}
            else:
                result = {"state": "done", **document}
        except Exception as error:
            if not ended.done():
                ended.set_exception(error)

    process = ChildProcess(
        "index",
        lambda: start("index", main, task),
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

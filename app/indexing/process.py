"""The process that indexes one text of a reader, with the code of the command line.

Only this process imports the measuring code, and only after its start. It sends documents:
`{"done": n, "of": m}` while it works, and at the end `{"sentences": n}` or `{"why": …}`:
"unreadable", or what is wrong with the disk. If the server is gone, it ends.
"""

import contextlib
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from app.engine.messages import send
from app.store.disk_errors import disk_problem


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


def main(connection: Connection, wanted: Wanted) -> None:
    """Index the lines, on the CPU: the device of the models stays theirs."""
    import torch

    from model.adapters.open_model import open_model
    from model.measure.head_survey import survey_heads

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # on Ctrl-C the server ends this process
    wanted.prepare()
    os.nice(wanted.nice)
    torch.set_num_threads(wanted.threads)

    def tell(**document: object) -> None:
        send(connection, document)

    with contextlib.suppress(ConnectionError):  # the server is gone
        try:
            found = survey_heads(
                open_model(wanted.model, "cpu"),
                wanted.lines,
                wanted.folder,
                title=wanted.title,
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
            tell(sentences=found["sentences"])

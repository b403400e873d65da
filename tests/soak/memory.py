"""The memory of a server's processes, and whether it grows."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
MEGABYTE = 1 << 20
SHARE, ROOM = 0.05, 16 * MEGABYTE  # that the last third may lie above the middle one
FILES = 64  # likewise


@dataclass(frozen=True)
class Usage:
    """The memory of a process in bytes, and its open files and sockets.

    Only anonymous pages count. Mapped files, such as weights,
    are loaded and dropped by the kernel.
    """

    memory: int
    files: int


def family(pid: int) -> list[int]:
    """Return a process and all its descendants, the oldest first."""
    children = [
        int(child)
        for task in PROC.glob(f"{pid}/task/*/children")
        for child in task.read_text().split()
    ]
    return [pid, *(one for child in sorted(children) for one in family(child))]


def usage(pid: int) -> Usage:
    """Return the present usage of a process. Raises OSError if it has ended."""
    status = (PROC / str(pid) / "status").read_text()
    (kilobytes,) = (line.split()[1] for line in status.splitlines() if line.startswith("RssAnon"))
    return Usage(int(kilobytes) * 1024, len([*(PROC / str(pid) / "fd").iterdir()]))


def name(pid: int) -> str:
    """Return the kind of a process; an engine has the command of the process it was forked from."""
    command = _command(pid)
    if "resource_tracker" in command:
        return "tracker"
    if "forkserver" in command:
        status = (PROC / str(pid) / "status").read_text()
        (parent,) = (line.split()[1] for line in status.splitlines() if line.startswith("PPid"))
        return "engine" if "forkserver" in _command(int(parent)) else "fork server"
    return "server"


def _command(pid: int) -> str:
    return (PROC / str(pid) / "cmdline").read_bytes().decode()


def growth(seen: Sequence[int]) -> float:
    """Return the growth from the middle third of a series to the last, by their medians.

    The first third is left out, since caches fill and the allocator grows to the peak.
    """
    third = len(seen) // 3
    if not third:
        return 0.0
    return statistics.median(seen[-third:]) - statistics.median(seen[third : 2 * third])


def is_flat(seen: Sequence[Usage]) -> bool:
    """Return whether neither memory nor open files grow from the middle third to the last."""
    memory, files = [one.memory for one in seen], [one.files for one in seen]
    return growth(memory) <= max(ROOM, SHARE * max(memory)) and growth(files) <= FILES

"""How much memory the processes of a server hold, and whether it stays as it is."""

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
    """What a process holds: its memory in bytes, and files and sockets that are open.

    Memory is what is the process's own: anonymous pages. Files that are mapped, such as weights,
    come and go as the kernel likes.
    """

    memory: int
    files: int


def family(pid: int) -> list[int]:
    """A process and all that it has started, the oldest first."""
    children = [
        int(child)
        for task in PROC.glob(f"{pid}/task/*/children")
        for child in task.read_text().split()
    ]
    return [pid, *(one for child in sorted(children) for one in family(child))]


def usage(pid: int) -> Usage:
    """What a process holds now; raises OSError where it has ended."""
    status = (PROC / str(pid) / "status").read_text()
    (kilobytes,) = (line.split()[1] for line in status.splitlines() if line.startswith("RssAnon"))
    return Usage(int(kilobytes) * 1024, len([*(PROC / str(pid) / "fd").iterdir()]))


def name(pid: int) -> str:
    """What a process is. An engine has the command of the process that it was forked off."""
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
    """How much more the last third of a series has than the middle third, by their medians.

    The first third is left out: caches fill, and an allocator takes what a load needs at most.
    """
    third = len(seen) // 3
    if not third:
        return 0.0
    return statistics.median(seen[-third:]) - statistics.median(seen[third : 2 * third])


def is_flat(seen: Sequence[Usage]) -> bool:
    """Whether neither memory nor open files grow from the middle third to the last one."""
    memory, files = [one.memory for one in seen], [one.files for one in seen]
    return growth(memory) <= max(ROOM, SHARE * max(memory)) and growth(files) <= FILES

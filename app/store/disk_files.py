"""Files on the disk: readable by their owner alone, and what is wrong when one cannot be written.

Only their owner can read them, since shares contain users' texts. Imports nothing slow.
"""

import errno
import os
import re
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

# What a private data folder may contain.
OWN = {"cache", "corpora", "exported", "kept", "lost+found", "runs"}


def make_private_file(file: Path, suffixes: Iterable[str] = ("",)) -> None:
    """Create a file and its folder if they are missing, and deny other users access.

    `suffixes` name files next to it that are treated alike, if they exist. Raises OSError.
    """
    file.parent.parent.mkdir(parents=True, exist_ok=True)
    file.parent.mkdir(mode=0o700, exist_ok=True)
    os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
    for suffix in suffixes:
        _close(Path(f"{file}{suffix}"))


def make_private_folder(folder: Path) -> None:
    """Create a folder if it is missing, and deny other users access.

    A shared folder is not changed: one of another owner, or one that contains other folders. Raises
    OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    status = folder.stat()
    ours = status.st_uid == os.geteuid() and not status.st_mode & stat.S_ISVTX
    if ours and {child.name for child in folder.iterdir() if child.is_dir()} <= OWN:
        _close(folder)


def _close(path: Path) -> None:
    with suppress(FileNotFoundError, PermissionError):  # files of other owners stay as they are
        path.chmod(path.stat().st_mode & 0o700)


FULL, UNAVAILABLE = "storage-full", "storage-unavailable"

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

NO_FAULT = (ConnectionError, FileNotFoundError, NotADirectoryError)

RUST = re.compile(r"os error (\d{1,4})\)")  # how safetensors reports an error of the system


OF_CHILD = re.compile(
    r"\[Errno (\d{1,4})\]|os error (\d{1,4})\)"
)  # in the last line of a traceback


def error_of_child(written: str) -> OSError | None:
    """Return the error of the disk that ended a process, from what it wrote; None if another."""
    last_line = written.rstrip().rpartition("\n")[2]
    if match := OF_CHILD.search(last_line):
        number = int(match[1] or match[2])
        error = OSError(number, os.strerror(number))
        return error if disk_problem(error) else None
    return None


def disk_problem(error: BaseException) -> str | None:
    """Return the kind of an error of the disk; None if it is something else.

    The end of a pipe or a connection is none, and neither is a file that is not there.
    """
    if isinstance(error, OSError) and not isinstance(error, NO_FAULT):
        number = error.errno
    elif type(error).__name__ == "SafetensorError" and (match := RUST.search(str(error)[-100:])):
        number = int(match[1])
    else:
        return None
    return FULL if number in NO_ROOM else UNAVAILABLE

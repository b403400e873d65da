"""Files and folders for their owner alone: a share holds what somebody typed."""

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

# What may lie in a data folder without making it anybody else's.
OWN = {"cache", "lost+found"}


def make_private_file(file: Path, suffixes: Iterable[str] = ("",)) -> None:
    """Makes a file, and its folder, where there is none, and closes it to others.

    `suffixes` are of files beside it that are closed too, if they are there. Raises OSError.
    """
    file.parent.parent.mkdir(parents=True, exist_ok=True)
    file.parent.mkdir(mode=0o700, exist_ok=True)
    os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
    for suffix in suffixes:
        _close(Path(f"{file}{suffix}"))


def make_private_folder(folder: Path) -> None:
    """Makes a folder where there is none, and closes it to others.

    One that others share stays open: it belongs to somebody else, or holds other folders. Raises
    OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    found = folder.stat()
    ours = found.st_uid == os.geteuid() and not found.st_mode & stat.S_ISVTX
    if ours and {one.name for one in folder.iterdir() if one.is_dir()} <= OWN:
        _close(folder)


def _close(path: Path) -> None:
    with suppress(FileNotFoundError, PermissionError):  # what belongs to another is theirs to close
        path.chmod(path.stat().st_mode & 0o700)

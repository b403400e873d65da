"""Where a server keeps its runs: a folder of its own in the data folder, which others may share."""

import shutil
from pathlib import Path
from tempfile import mkdtemp

from filelock import FileLock, Timeout

LOCK = "lock"


def claim(base: Path) -> tuple[Path, FileLock]:
    """A new folder in `base`, held by a lock; what servers left that are gone is deleted."""
    base.mkdir(mode=0o700, parents=True, exist_ok=True)
    for old in base.iterdir():
        lock = FileLock(old / LOCK, timeout=0, thread_local=False)
        try:
            with lock:
                shutil.rmtree(old, ignore_errors=True)
        except (Timeout, OSError):
            continue  # its server runs, or it has just been deleted
    folder = Path(mkdtemp(dir=base))
    lock = FileLock(folder / LOCK, timeout=0, thread_local=False)
    lock.acquire()
    return folder, lock


def release(folder: Path, lock: FileLock) -> None:
    """Deletes the folder."""
    shutil.rmtree(folder, ignore_errors=True)
    lock.release()


def size_of(folder: Path) -> int:
    """Bytes of all files in it."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:  # deleted meanwhile
            continue
    return total

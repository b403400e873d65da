"""The folder of a server's runs: one per server, since servers may share a data folder."""

import shutil
from pathlib import Path
from tempfile import mkdtemp

from filelock import FileLock, Timeout

LOCK = "lock"


def claim(base: Path) -> tuple[Path, FileLock]:
    """Create a locked folder in `base`; delete those of servers that no longer run."""
    base.mkdir(mode=0o700, parents=True, exist_ok=True)
    for old in base.iterdir():
        lock = FileLock(old / LOCK, timeout=0, thread_local=False)
        try:
            with lock:
                shutil.rmtree(old, ignore_errors=True)
        except (Timeout, OSError):
            continue  # in use, or just deleted by another server
    folder = Path(mkdtemp(dir=base))
    lock = FileLock(folder / LOCK, timeout=0, thread_local=False)
    lock.acquire()
    return folder, lock


def release(folder: Path, lock: FileLock) -> None:
    """Delete the folder and release its lock."""
    shutil.rmtree(folder, ignore_errors=True)
    lock.release()


def size_of(folder: Path) -> int:
    """Return the total size of all files in the folder, in bytes."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:  # deleted in the meantime
            continue
    return total

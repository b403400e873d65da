"""A disk that fails at any one operation, or from there on, below a folder."""

import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import safetensors
from safetensors import SafetensorError

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class FailingDisk:
    """Counts the operations that change files below `root`; lets the n-th fail with an errno.

    If it `stays` broken, all later ones fail too. Deleting works, as on a full disk. Of the writes
    to one file, the first, second, fourth, eighth … count.
    """

    def __init__(self, root: Path, nth: int, code: int, stays: bool) -> None:
        self.root, self.nth, self.code, self.stays = root, nth, code, stays
        self.done = list[str]()

    @property
    def has_failed(self) -> bool:
        return len(self.done) >= self.nth

    def touch(self, name: str, path: Any) -> None:
        """Count an operation. Raises OSError if it fails."""
        opened = isinstance(path, int)
        where = Path(f"/proc/self/fd/{path}").readlink() if opened else Path(path)
        if not where.is_relative_to(self.root):
            return
        self.done.append(f"{name} {where}")
        if len(self.done) == self.nth or (self.stays and self.has_failed):
            raise OSError(self.code, os.strerror(self.code))

    @contextmanager
    def broken(self) -> Iterator["FailingDisk"]:
        with pytest.MonkeyPatch.context() as patch:
            for name in ("mkdir", "rename", "replace", "link", "fsync"):
                patch.setattr(os, name, self._counted(name, getattr(os, name)))
            patch.setattr(os, "open", self._opened(os.open))
            for module in (io, __import__("builtins")):
                patch.setattr(module, "open", self._file(io.open))
            patch.setattr("safetensors.torch.serialize_file", self._tensors)
            yield self

    def _counted(self, name: str, operation: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any, *arguments: Any, **options: Any) -> Any:
            if name != "mkdir" or not Path(path).is_dir():  # that is EEXIST on any disk
                self.touch(name, path)
            return operation(path, *arguments, **options)

        return call

    def _opened(self, operation: Callable[..., int]) -> Callable[..., int]:
        def call(path: Any, flags: int, *arguments: Any, **options: Any) -> int:
            if flags & WRITING and not str(path).endswith("lock"):
                self.touch("open", path)
            return operation(path, flags, *arguments, **options)

        return call

    def _file(self, operation: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any, mode: str = "r", *arguments: Any, **options: Any) -> Any:
            named = not isinstance(path, int)
            if named and "opener" not in options and set(mode) & set("wax+"):
                self.touch("open", path)
            file = operation(path, mode, *arguments, **options)
            return _Writing(self, file) if set(mode) & set("wax+") else file

        return call

    def _tensors(self, *arguments: Any, **options: Any) -> None:
        try:
            self.touch("write", arguments[1])
        except OSError as error:  # as the library says it
            why = f"I/O error: {error.strerror} (os error {error.errno})"
            raise SafetensorError(f"Error while serializing: {why}") from None
        _SERIALIZE(*arguments, **options)


_SERIALIZE = safetensors.serialize_file


class _Writing:
    """A file each of whose writes counts."""

    def __init__(self, disk: FailingDisk, file: Any) -> None:
        self._disk, self._file, self._writes = disk, file, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> "_Writing":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, content: Any) -> Any:
        self._writes += 1
        if self._writes.bit_count() == 1:
            self._disk.touch("write", self._file.fileno())
        return self._file.write(content)

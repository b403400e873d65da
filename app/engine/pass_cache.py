"""A cache of passes over long texts in this process, limited by bytes."""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Literal

import torch

from model.adapters.requests.trace import LongPass

Precision = Literal["int16", "float32"]
PRECISIONS: dict[Precision, torch.dtype] = {"int16": torch.int16, "float32": torch.float32}
MAX_BYTES = 1_000_000_000


class Passes:
    """Passes by key. The least recently used are evicted first; the newest is always kept.

    Thread-safe. `precision` is that of q and k.
    """

    def __init__(self, max_bytes: int = MAX_BYTES, precision: Precision = "int16") -> None:
        self.max_bytes = max_bytes
        self.dtype = PRECISIONS[precision]
        self._kept: OrderedDict[str, LongPass] = OrderedDict()
        self._lock = Lock()

    @property
    def bytes(self) -> int:
        """Bytes of all cached passes."""
        with self._lock:
            return self._bytes

    @property
    def _bytes(self) -> int:
        return sum(long_pass.bytes for long_pass in self._kept.values())

    @property
    def keys(self) -> frozenset[str]:
        """Keys of all cached passes."""
        with self._lock:
            return frozenset(self._kept)

    def find(self, key: str, make: Callable[[], LongPass]) -> LongPass:
        """Return the cached pass, or make and cache it. Raises what `make` raises."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        long_pass = make()
        with self._lock:
            self._kept[key] = long_pass
            while len(self._kept) > 1 and self._bytes > self.max_bytes:
                self._kept.popitem(last=False)
        return long_pass

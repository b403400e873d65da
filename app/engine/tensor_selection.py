"""The `select` of a request: an entry names tensors, and may have a window and a dtype.

    encoder.2.self.weights                      the whole tensor, in the request's dtype
    encoder.*.self.weights:uint8                value · 255 as a byte
    encoder.2.self.weights@3,0:64,128:192       head 3, queries 0–63, keys 128–191

In the reply, the name of a tensor includes its window and dtype, so that one request can select a
tensor both whole and in low precision, and several windows of it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Self, cast

from model.errors import Excess, InputError
from model.trace.tensor_names import matches
from model.trace.tensor_tap import NamedTensor

Dtype = Literal["float32", "float16", "uint8"]

PATTERN = r"[A-Za-z0-9_.*?\[\]!-]*"
RANGE = r"(?:\d{1,9}|\d{0,9}:\d{0,9})"
ENTRY = rf"^({PATTERN})(?:@({RANGE}(?:,{RANGE})*))?(?::(float32|float16|uint8))?$"
_ENTRY = re.compile(ENTRY)

Index = int | slice


@dataclass(frozen=True)
class Entry:
    """One entry of `select`."""

    field: str  # its path in the request, such as "select[2]"
    pattern: str
    window: str | None
    dtype: Dtype | None

    @classmethod
    def parse(cls, text: str, field: str) -> Self:
        """Parse an entry. Raises InputError if it is not `pattern[@window][:dtype]`."""
        match = _ENTRY.match(text)
        if not match:
            detail = f"{field} is not of the form pattern@window:dtype"
            raise InputError("bad-selection", field, detail)
        pattern, window, dtype = match.groups()
        return cls(field, pattern, window, cast(Dtype | None, dtype))

    @property
    def suffix(self) -> str:
        """The suffix of a tensor's name in the reply."""
        window = f"@{self.window}" if self.window else ""
        return window + (f":{self.dtype}" if self.dtype else "")

    def cut(self, name: str, tensor: NamedTensor) -> NamedTensor:
        """Return the window of a tensor: an index removes its axis, a range keeps it.

        Axes without an entry stay whole, and ranges may extend beyond the end.

        Raises InputError for a window with more axes than the tensor, and for an index or a
        start beyond the last position.
        """
        if self.window is None:
            return tensor
        indices = [_index(part) for part in self.window.split(",")]
        if len(indices) > len(tensor.dims):
            detail = f"{self.field} has {len(indices)} axes; {name} has {len(tensor.dims)}"
            excess = Excess(len(tensor.dims), "axes", len(indices))
            raise InputError("bad-selection", self.field, detail, excess)
        for index, dim, size in zip(indices, tensor.dims, tensor.value.shape, strict=False):
            self._check(index, dim, size)
        slices = [
            dim
            for place, dim in enumerate(tensor.dims)
            if place >= len(indices) or isinstance(indices[place], slice)
        ]
        over = {dim: text for dim, text in tensor.over.items() if dim in slices}
        return NamedTensor(tuple(slices), over, tensor.value[tuple(indices)])

    def _check(self, index: Index, dim: str, size: int) -> None:
        first = index if isinstance(index, int) else (index.start or 0)
        empty = isinstance(index, slice) and index.stop is not None and index.stop <= first
        if first < size and not empty:
            return
        detail = f"{self.field} starts at {dim} {first}, but there are only {size}"
        if empty:
            detail = f"{self.field} has an empty range of {dim}"
        raise InputError("bad-selection", self.field, detail, Excess(size - 1, "places", first))


def _index(part: str) -> Index:
    if ":" not in part:
        return int(part)
    start, stop = part.split(":")
    return slice(int(start) if start else None, int(stop) if stop else None)


@dataclass(frozen=True)
class Part:
    """A requested part of a tensor."""

    key: str  # its name in the reply
    name: str
    tensor: NamedTensor
    dtype: Dtype | None  # None: the request's


@dataclass(frozen=True)
class Selection:
    """The entries of a request's `select`, in order."""

    entries: tuple[Entry, ...]

    @classmethod
    def parse(cls, select: Sequence[str]) -> Self:
        """Parse the entries. Raises InputError if one is not `pattern[@window][:dtype]`."""
        return cls(tuple(Entry.parse(text, f"select[{i}]") for i, text in enumerate(select)))

    @property
    def patterns(self) -> tuple[str, ...]:
        """The patterns of tensors to record."""
        return tuple(entry.pattern for entry in self.entries)

    def parts(self, tensors: Mapping[str, NamedTensor]) -> Iterator[Part]:
        """Yield the requested parts in the order of the tensors, without duplicates."""
        for name, tensor in tensors.items():
            for entry in _distinct(self.entries, name):
                yield Part(name + entry.suffix, name, entry.cut(name, tensor), entry.dtype)


def _distinct(entries: Iterable[Entry], name: str) -> Iterable[Entry]:
    """Yield the entries that match a tensor, one per suffix."""
    return {entry.suffix: entry for entry in entries if matches(entry.pattern, name)}.values()

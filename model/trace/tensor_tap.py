"""Named tensors, and the tap that records and replaces them during one run.

Every quantity of the paper passes through the tap in the line that computes it:

    weights = tap("weights", softmax(scores), (HEAD, QUERY, KEY))

The tap is made for one request and passed down as an argument, so nothing is global and requests
cannot interfere. The base class is the null tap: it returns its argument.

Inside the model a tensor has a leading batch axis that `dims` does not name. A `NamedTensor`
belongs to one request: the batch axis and the padding of the batch have been removed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from numpy.typing import DTypeLike, NDArray
from torch import Tensor

from model.trace.interventions import Intervention, Scene
from model.trace.notebook_html import tensor_html

BATCH = "batch"  # only of tensors that belong to no single request
QUERY = "query"  # the position that attends
KEY = "key"  # the position that is attended to
HEAD = "head"
LAYER = "layer"
CHANNEL = "channel"  # one of a head's d_k features
FEATURE = "feature"  # one of the residual stream's d_model features
HIDDEN = "hidden"  # one of the feed-forward layer's d_ff units
VOCAB = "vocab"
IN = "in"  # rows of a matrix applied as x @ W
OUT = "out"
POSITION = "position"  # a place in a text, from 0
OFFSET = "offset"  # the distance of a key from a query
RANK = "rank"  # 0 is the most probable token

WEIGHTS = ".weights"
SOURCE = "source"
TARGET = "target"


def same(first: Tensor, second: Tensor) -> bool:
    """Return whether two tensors on the CPU are equal, treating NaN as equal to NaN."""
    if first.shape != second.shape or first.dtype != second.dtype:
        return False
    return bool(((first == second) | (first.isnan() & second.isnan())).all())


@dataclass(frozen=True, repr=False, eq=False)
class NamedTensor:
    """A tensor on the CPU whose axes have names; `over` gives the text of the query and key axes.

    `dims` = ("head", "query", "key") with `over` = {"query": "target", "key": "source"} is
    cross-attention: rows are target tokens, columns source tokens. NumPy accepts it as an array.
    """

    dims: tuple[str, ...]
    over: Mapping[str, str]
    value: Tensor

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each axis in `dims`."""
        return tuple(self.value.shape)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NamedTensor):
            return NotImplemented
        axes = self.dims == other.dims and dict(self.over) == dict(other.over)
        return axes and same(self.value, other.value)

    __hash__ = None  # type: ignore[assignment]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        # NumPy has no bfloat16; float32 holds all its values.
        value = self.value.float() if self.value.dtype == torch.bfloat16 else self.value
        return np.array(value.numpy(), dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        axes = (
            f"{dim} {length}" + (f" of {self.over[dim]}" if dim in self.over else "")
            for dim, length in zip(self.dims, self.shape, strict=True)
        )
        return f"NamedTensor({', '.join(axes)})"

    def _repr_html_(self) -> str:
        return tensor_html(self)

    def take(self, **indices: int) -> NamedTensor:
        """Return the tensor at an index of each named axis, without it: `take(head=3)`.

        Raises `KeyError` for an axis that it does not have, and `IndexError` for an index outside
        one.
        """
        for dim, index in indices.items():
            if dim not in self.dims:
                raise KeyError(f"{dim} is no axis of {self!r}")
            length = self.shape[self.dims.index(dim)]
            if not -length <= index < length:
                raise IndexError(f"{dim} is {index}; it must be 0 … {length - 1}")
        chosen = tuple(indices.get(dim, slice(None)) for dim in self.dims)
        dims = tuple(dim for dim in self.dims if dim not in indices)
        over = {dim: text for dim, text in self.over.items() if dim in dims}
        return NamedTensor(dims, over, self.value[chosen])


class Tap:
    """The null tap: records nothing, replaces nothing, costs nothing."""

    def begin(self, start: int) -> Tap:
        """Return the tap for a decoding step whose first new token is at position `start`."""
        return self

    def at(self, place: str, **over: str) -> Tap:
        """Return the tap for a place in this one; `over` gives the texts of query and key axes."""
        return self

    def keep(self, rows: Sequence[int]) -> Tap:
        """Return the tap for a batch whose row i was row `rows[i]`; rows may be repeated."""
        return self

    def wants(self, name: str) -> bool:
        """Return whether `name` is recorded here, for values computed only for recording."""
        return False

    def needs(self, name: str) -> bool:
        """Return whether `name` is recorded or replaced here; if not, it need not exist."""
        return False

    def __call__(self, name: str, value: Tensor, dims: tuple[str, ...]) -> Tensor:
        """Return `value` (batch, *dims) or its replacement, after recording it if requested."""
        return value


NULL = Tap()


@dataclass
class Recorder:
    """Records tensors of one request, in its row of a batch, and applies its interventions.

    `lengths` gives, by text, the number of tokens to keep; `own` how many of them are the request's
    own tokens rather than padding (by default all).
    """

    select: Collection[str] = ()
    lengths: Mapping[str, int] = field(default_factory=dict)
    own: Mapping[str, int] = field(default_factory=dict)
    interventions: Sequence[Intervention] = ()
    tensors: dict[str, NamedTensor] = field(default_factory=dict)
    # What later changes at the same place are computed from, by place and last name.
    _seen: dict[str, dict[str, Tensor]] = field(default_factory=dict, repr=False)

    def changes(self, name: str, over: Mapping[str, str]) -> bool:
        """Return whether an intervention needs the tensor with this name and these axes."""
        return any(change.concerns(name, over.get(KEY)) for change in self.interventions)

    def replace(
        self,
        name: str,
        value: Tensor,
        dims: tuple[str, ...],
        over: Mapping[str, str],
        start: int = 0,
    ) -> Tensor:
        """Return `value` (*dims) after all interventions; its first row is at `start`."""
        place, _, last = name.rpartition(".")
        scene = Scene(
            start=start,
            queries=self.own.get(over.get(QUERY, "")),
            keys=self.own.get(over.get(KEY, "")),
            rows=self.own.get(over.get(dims[-2], "")),
            text=over.get(KEY),
            seen=self._seen.get(place, {}),
        )
        for intervention in self.interventions:
            value = intervention(name, value, scene)
        if any(intervention.reads(name, over.get(KEY)) for intervention in self.interventions):
            self._seen.setdefault(place, {})[last] = value
        return value

    def record(
        self, name: str, value: Tensor, dims: tuple[str, ...], over: Mapping[str, str]
    ) -> None:
        """Keep `value` (*dims), cut to this request's own lengths."""
        followed = {dim: over[dim] for dim in dims if dim in over}
        for axis, dim in enumerate(dims):
            if dim in followed and followed[dim] in self.lengths:
                value = value.narrow(axis, 0, self.lengths[followed[dim]])
        value = value.detach()
        # A copy, since a view would keep the memory of the whole batch alive, and what follows may
        # write to it. Weights of their own memory are large, and nothing writes to them.
        alone = value.untyped_storage().nbytes() == value.nbytes and name.endswith(WEIGHTS)
        stored = value if alone else value.clone(memory_format=torch.contiguous_format)
        self.tensors[name] = NamedTensor(dims, followed, stored.cpu())


@dataclass
class Minders:
    """The rows of a batch, in order, that record or change a tensor."""

    change: list[int]
    record: list[int]


class BatchTap(Tap):
    """Passes row i of every tensor to the i-th request's recorder.

    Most tensors are neither recorded nor changed by any row. The rows for a name are looked up once
    for all steps of a decoding: all taps made from one tap share `minders`.
    """

    def __init__(
        self,
        rows: Sequence[Recorder],
        place: str = "",
        over: Mapping[str, str] | None = None,
        start: int = 0,
        minders: dict[str, Minders] | None = None,
    ) -> None:
        self.rows = rows
        self.place = place
        self.over = over or MappingProxyType({})
        self.start = start
        self.minders = {} if minders is None else minders

    def begin(self, start: int) -> Tap:
        return BatchTap(self.rows, self.place, self.over, start, self.minders)

    def at(self, place: str, **over: str) -> Tap:
        over = {**self.over, **over}
        return BatchTap(self.rows, self._name(place), over, self.start, self.minders)

    def keep(self, rows: Sequence[int]) -> Tap:
        if [*rows] == [*range(len(self.rows))]:
            return self
        # Copies, since each row keeps what it has seen while a layer runs.
        rows_kept = [replace(self.rows[row], _seen={}) for row in rows]
        return BatchTap(rows_kept, self.place, self.over, self.start)

    def wants(self, name: str) -> bool:
        return bool(self._minders(self._name(name)).record)

    def needs(self, name: str) -> bool:
        minders = self._minders(self._name(name))
        return bool(minders.record or minders.change)

    def __call__(self, name: str, value: Tensor, dims: tuple[str, ...]) -> Tensor:
        name = self._name(name)
        minders = self.minders.get(name) or self._minders(name)
        if minders.change:
            value = self._changed(name, value, dims, minders.change)
        if minders.record:
            on_cpu = value.detach().cpu()  # from a GPU, all rows at once
            for index in minders.record:
                self.rows[index].record(name, on_cpu[index], dims, self.over)
        return value

    def _changed(
        self, name: str, batch_value: Tensor, dims: tuple[str, ...], rows: Sequence[int]
    ) -> Tensor:
        value = batch_value
        for index in rows:
            row_value = value[index]
            replaced = self.rows[index].replace(name, row_value, dims, self.over, self.start)
            if replaced is not row_value:
                if value is batch_value:  # may be shared, so it must not be changed in place
                    value = value.clone()
                value[index] = replaced
        return value

    def _minders(self, name: str) -> Minders:
        if name not in self.minders:
            rows = list(enumerate(self.rows))
            self.minders[name] = Minders(
                [index for index, row in rows if row.changes(name, self.over)],
                [index for index, row in rows if name in row.select],
            )
        return self.minders[name]

    def _name(self, name: str) -> str:
        return f"{self.place}.{name}" if self.place else name


class NameTap(Tap):
    """Collects all names that pass through the tap, with their dims."""

    def __init__(self, names: dict[str, tuple[str, ...]], place: str = "") -> None:
        self.names = names
        self.place = place

    def at(self, place: str, **over: str) -> Tap:
        return NameTap(self.names, f"{self.place}.{place}" if self.place else place)

    def wants(self, name: str) -> bool:
        return True

    def needs(self, name: str) -> bool:
        return True

    def __call__(self, name: str, value: Tensor, dims: tuple[str, ...]) -> Tensor:
        self.names[f"{self.place}.{name}" if self.place else name] = dims
        return value

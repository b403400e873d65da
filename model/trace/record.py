"""Records a model's forward passes in any code that calls it.

The tap of a request is passed down as an argument. Research code calls the model itself, so its
records are in a context variable: passes on this thread, inside the `with` block, are recorded.
Nothing is stored on the model, and passes on other threads are not affected.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal, get_args

from torch import Tensor, nn

from model.progress import during
from model.trace.notebook_html import tensors_html
from model.trace.tensor_names import TensorsByPlace, select
from model.trace.tensor_tap import BATCH, NULL, WEIGHTS, NamedTensor, Tap

Keep = Literal["last", "all"]
Hook = Callable[[str, Tensor], Tensor | None]
"""Called with a tensor's name and value (batch, …); returns the value to go on with, or None."""


@dataclass(frozen=True)
class Place:
    """The place of a module: the prefix of its tensors' names, and the texts of their axes."""

    name: str = ""
    over: Mapping[str, str] = field(default_factory=dict)


class Record(TensorsByPlace, Mapping[str, NamedTensor]):
    """The tensors of the recorded passes, by name; `record[name]` is that of the last pass.

    Every tensor is a copy on the CPU, without gradient, in the model's dtype. Its first axis is the
    batch that the model got, including padding, which `….mask` marks.
    """

    def __init__(
        self,
        places: Mapping[nn.Module, Sequence[Place]],
        names: Collection[str],
        patterns: Sequence[str],
        keep: Keep = "last",
        hook: Hook | None = None,
    ) -> None:
        if keep not in get_args(Keep):
            raise ValueError(f"keep is {keep!r}; known are {', '.join(map(repr, get_args(Keep)))}")
        self.names = frozenset(select(patterns, names))
        self._places = {id(module): module_places for module, module_places in places.items()}
        self._modules = [*places]  # keeps the modules alive, so that their ids stay unique
        self._calls: defaultdict[int, int] = defaultdict(int)
        self._keep = keep
        self.hook = hook
        self._tensors: dict[str, list[NamedTensor]] = {}

    def __getitem__(self, name: str) -> NamedTensor:
        """Return the tensor of the last pass that had it."""
        return self.history(name)[-1]

    def history(self, name: str) -> Sequence[NamedTensor]:
        """Return the tensors of every pass, in order; with `keep="last"`, of the last one only."""
        if name in self._tensors:
            return tuple(self._tensors[name])
        if name in self.names:
            raise KeyError(f"{name}: no pass has been recorded yet")
        raise KeyError(f"{name} is not recorded; `select` has {len(self.names)} names")

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)

    def __repr__(self) -> str:
        return f"Record({len(self)} of {len(self.names)} selected tensors)"

    def _repr_html_(self) -> str:
        return tensors_html(repr(self), dict(self))

    def __str__(self) -> str:
        listed = [f"  {name}: {tensors[-1]!r}" for name, tensors in self._tensors.items()]
        return "\n".join([f"Record of {len(self)} tensors", *listed])

    def clear(self) -> None:
        """Delete all recorded tensors."""
        self._tensors.clear()

    def begin(self) -> None:
        """Start a pass: modules that are called several times start at their first place."""
        self._calls.clear()

    def tap(self, module: nn.Module, outer: Tap) -> Tap:
        """Return the tap for a call of a module, which wraps the tap `outer`."""
        places = self._places.get(id(module))
        if not places:
            return outer
        place = places[self._calls[id(module)] % len(places)]
        self._calls[id(module)] += 1
        return RecordTap(self, outer, place.name, MappingProxyType(place.over))

    def changed(self, name: str, value: Tensor) -> Tensor:
        """Return what the hook makes of a value, or the value itself.

        Raises `ValueError` if that has another shape, and `TypeError` if it is no tensor.
        """
        replacement = None if self.hook is None else self.hook(name, value)
        if replacement is None:
            return value
        if not isinstance(replacement, Tensor):
            raise TypeError(f"{name}: the hook returned {type(replacement).__name__}, not a tensor")
        if replacement.shape != value.shape:
            shapes = f"{tuple(replacement.shape)}, not {tuple(value.shape)}"
            raise ValueError(f"{name}: the hook returned a tensor of shape {shapes}")
        return replacement.to(value)

    def put(self, name: str, tensor: NamedTensor) -> None:
        """Add a tensor."""
        passes = self._tensors.setdefault(name, [])
        if self._keep == "last":
            passes.clear()
        passes.append(tensor)


@dataclass(frozen=True)
class RecordTap(Tap):
    """Adds whole batches to a record, after the inner tap has recorded or replaced them."""

    record: Record
    inner: Tap
    place: str
    over: Mapping[str, str]

    def begin(self, start: int) -> Tap:
        return replace(self, inner=self.inner.begin(start))

    def at(self, place: str, **over: str) -> Tap:
        inner = self.inner.at(place, **over)
        return replace(self, inner=inner, place=self._name(place), over={**self.over, **over})

    def keep(self, rows: Sequence[int]) -> Tap:
        return replace(self, inner=self.inner.keep(rows))

    def wants(self, name: str) -> bool:
        return self._name(name) in self.record.names or self.inner.wants(name)

    def needs(self, name: str) -> bool:
        return self._name(name) in self.record.names or self.inner.needs(name)

    def __call__(self, name: str, value: Tensor, dims: tuple[str, ...]) -> Tensor:
        value = self.inner(name, value, dims)
        full = self._name(name)
        if full in self.record.names:
            value = self.record.changed(full, value)
            over = {dim: self.over[dim] for dim in dims if dim in self.over}
            # A copy, since a key-value cache may be changed in place; weights are not.
            copied = value.detach().to("cpu", copy=not full.endswith(WEIGHTS))
            self.record.put(full, NamedTensor((BATCH, *dims), over, copied))
        return value

    def _name(self, name: str) -> str:
        return f"{self.place}.{name}" if self.place else name


_active: ContextVar[tuple[Record, ...]] = ContextVar("active", default=())


def recording(*records: Record) -> AbstractContextManager[None]:
    """Record the passes on this thread in these records only, until the block ends."""
    return during(_active, records)


def open_records() -> tuple[Record, ...]:
    """Return the records of this thread."""
    return _active.get()


def hooked() -> bool:
    """Return whether a hook may change passes on this thread, so that no result is reused."""
    return any(record.hook is not None for record in _active.get())


def recorded(record: Record) -> bool:
    """Return whether passes on this thread are recorded in a record."""
    return any(active is record for active in _active.get())


def heard(module: nn.Module, tap: Tap = NULL) -> Tap:
    """Return the tap for a call of a module, which also adds to the records of this thread."""
    for record in _active.get():
        tap = record.tap(module, tap)
    return tap

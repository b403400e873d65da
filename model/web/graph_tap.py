"""The tap of an exported graph: its tensors become outputs, and changes of them become inputs.

A graph has no code that depends on a request, so a change is given as numbers. Each tensor of a
name such as "encoder.1.self.scores" becomes

    value · scale + bias

with the inputs "encoder.*.self.scores.scale" and "….bias" of shape (layers, batch, *dims), where
every axis but the first may have the length 1. Scale 1 and bias 0 change no bit. Effects that are
applied in order are again a scale and a bias:

    zero         0 · x + 0        fill    0 · x + number      set, freeze, patch    0 · x + value
    scale        factor · x + 0   add     1 · x + vector      mean                  0 · x + mean
    temperature  x / t            cut     1 · x − ∞           uniform               0 · x + 0

A token is hidden by an input that says which tokens of a text may be seen ("source.visible"), and
"….residual.keep" is false where a residual is without its sublayer's input.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from model.trace.tensor_tap import BATCH, KEY, LAYER, Tap

READ_ONLY = ("logits", "probabilities", "candidates")  # nothing is computed from them
MASK, OUTPUT, RESIDUAL = "mask", "output", "residual"
SCALE, BIAS, KEEP, VISIBLE = "scale", "bias", "keep", "visible"


def stacked_name(name: str) -> str:
    """Return the name that a tensor shares with those of other layers: "encoder.*.self.q"."""
    return ".".join("*" if part.isdigit() else part for part in name.split("."))


def layer_of(name: str) -> int:
    """Return the layer in a tensor's name; 0 if it belongs to none."""
    return next((int(part) for part in name.split(".") if part.isdigit()), 0)


@dataclass(frozen=True)
class TappedTensor:
    """A tensor (batch, *dims) that passed through the tap, after its changes."""

    dims: tuple[str, ...]
    over: Mapping[str, str]
    value: Tensor


@dataclass
class GraphTap(Tap):
    """Keeps every tensor of one pass, and applies the changes that are given as tensors."""

    changes: Mapping[str, Tensor] = field(default_factory=dict)
    place: str = ""
    over: Mapping[str, str] = field(default_factory=dict)
    tensors: dict[str, TappedTensor] = field(default_factory=dict)

    def at(self, place: str, **over: str) -> Tap:
        return GraphTap(self.changes, self._name(place), {**self.over, **over}, self.tensors)

    def wants(self, name: str) -> bool:
        return True

    def needs(self, name: str) -> bool:
        return True

    def __call__(self, name: str, value: Tensor, dims: tuple[str, ...]) -> Tensor:
        if self.changes and name not in READ_ONLY:
            value = self._changed(name, value)
        over = {dim: self.over[dim] for dim in dims if dim in self.over}
        self.tensors[self._name(name)] = TappedTensor(dims, over, value)
        return value

    def _changed(self, name: str, value: Tensor) -> Tensor:
        if name == MASK:
            return value & self.changes[f"{self.over[KEY]}.{VISIBLE}"][:, None]
        full_name = self._name(name)
        stacked, layer = stacked_name(full_name), layer_of(full_name)
        if name == RESIDUAL:
            keep = self.changes[f"{stacked}.{KEEP}"][layer]
            value = torch.where(keep, value, self.tensors[self._name(OUTPUT)].value)
        scale, bias = (self.changes[f"{stacked}.{part}"][layer] for part in (SCALE, BIAS))
        return value * scale + bias

    def _name(self, name: str) -> str:
        return f"{self.place}.{name}" if self.place else name


@dataclass(frozen=True)
class ChangeInput:
    """An input (layers, batch, *dims of the tensors that it changes), and its neutral value."""

    name: str
    dims: tuple[str, ...]
    layers: int
    neutral: float | bool

    def tensor(self) -> Tensor:
        """Return the smallest tensor that changes nothing."""
        return torch.full((self.layers, *(1 for _ in self.dims[1:])), self.neutral)


def change_inputs(tensors: Mapping[str, TappedTensor]) -> Iterator[ChangeInput]:
    """Yield the inputs that change the tensors of a pass; tokens are hidden by others."""
    last = {stacked_name(name): name for name in tensors}
    for stacked, name in last.items():
        tensor, kind = tensors[name], name.rpartition(".")[2]
        if kind in READ_ONLY or kind == MASK:
            continue
        dims, layers = (LAYER, BATCH, *tensor.dims), 1 + layer_of(name)
        if kind == RESIDUAL:
            yield ChangeInput(f"{stacked}.{KEEP}", dims, layers, True)
        yield ChangeInput(f"{stacked}.{SCALE}", dims, layers, 1.0)
        yield ChangeInput(f"{stacked}.{BIAS}", dims, layers, 0.0)

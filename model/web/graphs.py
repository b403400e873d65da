"""The two graphs of an encoder–decoder: the encoder, and the decoder with its cache.

A decoder that has read nothing (a cache of length 0) runs a whole target at once, as a trace does;
with a cache it reads the next tokens, as decoding does. Both are the same graph.

Shapes: B batch, S source tokens, T target tokens of this pass, P those read before, H heads.

The tap of an exported graph: its tensors become outputs, and changes of them become inputs.

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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from model.trace.tensor_tap import (
    BATCH,
    CHANNEL,
    FEATURE,
    HEAD,
    KEY,
    LAYER,
    QUERY,
    SOURCE,
    TARGET,
    VOCAB,
    Tap,
)
from model.transformer.attention import Cache
from model.transformer.stacks import Transformer

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


PAST, READ = "past", "read"  # lengths: P, and P + T

CACHE = "cache"  # what was `PAST`, after a pass

LENGTHS = {BATCH: 2, SOURCE: 7, TARGET: 5, PAST: 3, READ: 8}  # of the pass that is exported

ENCODER, DECODER = "encoder", "decoder"


@dataclass(frozen=True)
class TextInput:
    """An input that is not a change; an axis in `LENGTHS` may have any length."""

    name: str
    axes: tuple[str | int, ...]
    dtype: torch.dtype

    def tensor(self) -> Tensor:
        """Return a tensor of the pass that is exported."""
        shape = [LENGTHS[axis] if isinstance(axis, str) else axis for axis in self.axes]
        return torch.ones(shape, dtype=self.dtype)


@dataclass(frozen=True)
class GraphOutput:
    """An output (batch, *dims); `over` gives the texts of its query and key axes."""

    name: str
    dims: tuple[str, ...]
    over: Mapping[str, str]
    value: Tensor


class Graph(nn.Module):
    """A part of a Transformer as a function of the tensors in `inputs` alone."""

    def __init__(self, name: str, model: Transformer, texts: Sequence[TextInput]) -> None:
        super().__init__()
        self.name = name
        self.model = model
        self.texts = texts
        with torch.no_grad():
            tap = GraphTap()
            self.run({text.name: text.tensor() for text in texts}, tap)
        self.changes = [*change_inputs(tap.tensors)]

    @property
    def inputs(self) -> Sequence[TextInput | ChangeInput]:
        """All inputs, in order."""
        return [*self.texts, *self.changes]

    def run(self, texts: Mapping[str, Tensor], tap: GraphTap) -> list[GraphOutput]:
        """Run the part; return the outputs that do not pass through the tap."""
        raise NotImplementedError

    def outputs(self, inputs: Mapping[str, Tensor]) -> list[GraphOutput]:
        """Return all outputs for tensors by the names of inputs."""
        tap = GraphTap(inputs)
        first = self.run(inputs, tap)
        tapped = (GraphOutput(name, t.dims, t.over, t.value) for name, t in tap.tensors.items())
        return [*first, *tapped]

    def forward(self, *values: Tensor) -> tuple[Tensor, ...]:
        """Return the values of all outputs, for inputs in their order."""
        names = (given.name for given in self.inputs)
        return tuple(output.value for output in self.outputs(dict(zip(names, values, strict=True))))


class EncoderGraph(Graph):
    """The encoder: ids and masks of a source (B, S) -> `memory` (B, S, d_model)."""

    def __init__(self, model: Transformer) -> None:
        texts = [
            TextInput("source", (BATCH, SOURCE), torch.int64),
            TextInput("source.real", (BATCH, SOURCE), torch.bool),
            TextInput(f"{SOURCE}.{VISIBLE}", (BATCH, SOURCE), torch.bool),
        ]
        super().__init__(ENCODER, model, texts)

    def run(self, texts: Mapping[str, Tensor], tap: GraphTap) -> list[GraphOutput]:
        memory = self.model.encode(texts["source"], texts["source.real"], tap)
        return [GraphOutput("memory", (QUERY, FEATURE), {QUERY: SOURCE}, memory)]


class DecoderGraph(Graph):
    """The decoder: next ids (B, T), what they read, a cache -> log-probabilities (B, T, V).

    Its outputs `cache.{layer}.k` and `.v` (B, H, P + T, d_k) are `past.…` of the next step.
    """

    def __init__(self, model: Transformer) -> None:
        config = model.config
        heads = config.heads_of[DECODER]
        texts = [
            TextInput("target", (BATCH, TARGET), torch.int64),
            TextInput("target.real", (BATCH, READ), torch.bool),
            TextInput(f"{TARGET}.{VISIBLE}", (BATCH, READ), torch.bool),
            TextInput("memory", (BATCH, SOURCE, config.d_model), torch.float32),
            TextInput("source.real", (BATCH, SOURCE), torch.bool),
            TextInput(f"{SOURCE}.{VISIBLE}", (BATCH, SOURCE), torch.bool),
            *(
                TextInput(name, (BATCH, heads, PAST, config.d_model // heads), torch.float32)
                for layer in range(config.decoder_layers)
                for name in cache_names(PAST, layer)
            ),
        ]
        super().__init__(DECODER, model, texts)

    def run(self, texts: Mapping[str, Tensor], tap: GraphTap) -> list[GraphOutput]:
        cache = Cache(self.model.config.decoder_layers)
        for layer, layer_cache in enumerate(cache.layers):
            k, v = (texts[name] for name in cache_names(PAST, layer))
            layer_cache.own = (k, v)
            cache.length = k.shape[2]
        read = (texts["memory"], texts["source.real"])
        x = self.model.decode(texts["target"], texts["target.real"], *read, tap, cache)
        logprobs = self.model.logits(x, tap).log_softmax(dim=-1)
        kept = (
            GraphOutput(name, (HEAD, KEY, CHANNEL), {KEY: TARGET}, value)
            for layer, layer_cache in enumerate(cache.layers)
            for name, value in zip(cache_names(CACHE, layer), layer_cache.own or (), strict=True)
        )
        return [GraphOutput("logprobs", (QUERY, VOCAB), {QUERY: TARGET}, logprobs), *kept]


def cache_names(prefix: str, layer: int) -> tuple[str, str]:
    """Return the names of a decoder layer's cached keys and values, as inputs or as outputs."""
    return f"{prefix}.{layer}.k", f"{prefix}.{layer}.v"


def graphs_of(model: Transformer) -> list[Graph]:
    """Return both graphs of a model."""
    return [EncoderGraph(model), DecoderGraph(model)]

"""The two graphs of an encoder–decoder: the encoder, and the decoder with its cache.

A decoder that has read nothing (a cache of length 0) runs a whole target at once, as a trace does;
with a cache it reads the next tokens, as decoding does. Both are the same graph.

Shapes: B batch, S source tokens, T target tokens of this pass, P those read before, H heads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from model.trace.tensor_tap import BATCH, CHANNEL, FEATURE, HEAD, KEY, QUERY, SOURCE, TARGET, VOCAB
from model.transformer.attention import Cache
from model.transformer.stacks import Transformer
from model.web.graph_tap import VISIBLE, ChangeInput, GraphTap, change_inputs

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

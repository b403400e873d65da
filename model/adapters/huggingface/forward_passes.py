"""Forward passes of a batch in which each row has its own recorder, and passes over one long text.

Weights of a model that does not use the attention interface are taken from its outputs. A pass over
a long text keeps q, k and the log-sum-exp of every attention, and nothing of size N × M.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from model.adapters.huggingface.attention_probing import (
    READ,
    WRITTEN,
    Layout,
    decoder_inputs,
    weight_options,
)
from model.adapters.huggingface.recorded_attention import Call, passing, passing_long
from model.adapters.huggingface.stream_hooks import Streams
from model.errors import InputError
from model.long.flash_kernels import Scored, flash_attention
from model.long.long_attention import LongAttention
from model.progress import Layers
from model.trace.attentions import CROSS, AttentionInfo, by_place
from model.trace.tensor_tap import HEAD, KEY, NULL, QUERY, RANK, VOCAB, BatchTap, Tap


def as_weights(reported: Tensor, keys: int, *, scores: bool, banded: bool) -> Tensor:
    """Convert what a model reports to weights (B, H, N, M).

    If `scores`, a softmax is applied. If `banded`, the input has the form of LED and Longformer,
    (B, H, N, w + 1): the weights of keys i − w/2 to i + w/2 for query i.
    """
    if scores:
        return reported.softmax(dim=-1)
    return _unbanded(reported, keys) if banded else reported


def _unbanded(reported: Tensor, keys: int) -> Tensor:
    batch, heads, queries, width = reported.shape
    key = torch.arange(queries)[:, None] + torch.arange(width) - width // 2  # (N, w + 1)
    inside = ((key >= 0) & (key < keys)).to(reported.device)
    key = key.clamp(0, keys - 1).to(reported.device).expand(batch, heads, -1, -1)
    full = torch.zeros(batch, heads, queries, keys, dtype=reported.dtype, device=reported.device)
    return full.scatter_add(-1, key, reported.where(inside, 0))


CANDIDATES = 10  # candidates per token

TYPES = "token_type_ids"


@dataclass(frozen=True)
class Encoded:
    """The input and the outputs of an encoder: ids and mask (B, S), and its outputs."""

    ids: Tensor
    real: Tensor
    outputs: Any

    def repeated(self, count: int) -> Encoded:
        """Return its only row `count` times."""
        states = self.outputs[0].expand(count, -1, -1)
        outputs = type(self.outputs)(last_hidden_state=states)
        return Encoded(self.ids.expand(count, -1), self.real.expand(count, -1), outputs)


class TapsInOrder:
    """A pass whose attentions are called in a known order."""

    def __init__(
        self,
        order: Sequence[str],
        layers: dict[str, AttentionInfo],
        tap: Tap,
        streams: Streams | None = None,
    ) -> None:
        self.streams = streams
        self._taps = iter(
            [tap.at(place, **layers[place].over) if place else NULL for place in order]
        )

    def enter(self, call: Call) -> Tap:
        return next(self._taps)


class Forward:
    """A model's forward passes. Thread-safe: all state belongs to a pass.

    `streaming` is a shared copy of the model with hooks on its residual streams, which take time
    even if no one wants a stream; passes of which no tap does use `model`.
    """

    def __init__(self, model: Any, streaming: Any, layout: Layout, writes: bool) -> None:
        self.model = model
        self.streaming = streaming
        self.layout = layout
        self.writes = writes  # whether it returns logits
        self.banded = getattr(model.config, "attention_window", None) is not None
        self.layers = by_place(layout.attentions)
        self.streamed: dict[str, tuple[str, ...]] = {}  # names of residual streams

    def read(
        self, ids: Tensor, real: Tensor, tap: Tap, cache: Any = None, types: Tensor | None = None
    ) -> Tensor:
        """Run the only stack over ids (B, N); return logits (B, N, V), or the last states.

        With a cache, `ids` are the new tokens, and `real` (B, all tokens so far) covers the others.
        `types` (B, N) are the token types of pairs.
        """
        stack = self.layout.attentions[0].stack
        more: dict[str, Any] = {} if types is None else {TYPES: types}
        if cache is not None:
            more |= {"past_key_values": cache, "use_cache": True}
        run = self._model(tap)
        out = self._run(run, stack, tap, input_ids=ids, attention_mask=real.long(), **more)
        self._eager(tap, stack, out.get("attentions"), {}, real, real)
        return self._logits(tap, stack, out[0])

    def encode(self, ids: Tensor, real: Tensor, tap: Tap) -> Encoded:
        """Run the encoder over ids (B, S)."""
        encoder = self._model(tap).get_encoder()
        out = self._run(encoder, "encoder", tap, input_ids=ids, attention_mask=real.long())
        self._eager(tap, "encoder", out.get("attentions"), {}, real, real)
        return Encoded(ids, real, out)

    def decode(
        self, read: Encoded, ids: Tensor, real: Tensor, tap: Tap, cache: Any = None
    ) -> Tensor:
        """Run the decoder over ids (B, T) after an encoder; return logits (B, T, V).

        With a cache, `ids` are the new tokens, and `real` (B, all tokens so far) covers the others.
        """
        cached = {} if cache is None else {"past_key_values": cache, "use_cache": True}
        out = self._run(
            self._model(tap),
            "decoder",
            tap,
            **decoder_inputs(self.model, read.ids, read.outputs),
            attention_mask=read.real.long(),
            decoder_input_ids=ids,
            decoder_attention_mask=real.long(),
            **cached,
        )
        self_weights, cross = out.get("decoder_attentions"), {CROSS: out.get("cross_attentions")}
        self._eager(tap, "decoder", self_weights, cross, real, read.real)
        return self._logits(tap, "decoder", out[0])

    def _model(self, tap: Tap) -> Any:
        return self.streaming if self._watched(tap) else self.model

    def _run(self, module: Any, stack: str, tap: Tap, **inputs: Any) -> Any:
        options = weight_options()
        options["output_attentions"] = self.layout.route != "recorded"
        ids: Tensor = inputs["decoder_input_ids" if "decoder_input_ids" in inputs else "input_ids"]
        streams = Streams(tap, len(ids)) if self._watched(tap) else None
        with passing(TapsInOrder(self.layout.order[stack], self.layers, tap, streams)):
            return module(**inputs, **options)

    def _watched(self, tap: Tap) -> bool:
        """Return whether a tap may want or change a residual stream."""
        if not self.streamed:
            return False
        if not isinstance(tap, BatchTap):
            return True
        return any(
            not self.streamed.keys().isdisjoint(row.select)
            or any(intervention.at in self.streamed for intervention in row.interventions)
            for row in tap.rows
        )

    def _eager(
        self,
        tap: Tap,
        stack: str,
        self_weights: Sequence[Tensor | None] | None,
        cross: dict[str, Sequence[Tensor | None] | None],
        queries: Tensor,
        keys: Tensor,
    ) -> None:
        """Record weights that only the outputs contain, with the mask that its rule implies."""
        for layer in self.layout.attentions:
            if layer.qk or layer.stack != stack:
                continue
            of_kind = cross[CROSS] if layer.kind == CROSS else self_weights
            reported = [
                layer_weights for layer_weights in of_kind or () if layer_weights is not None
            ][layer.layer]
            place_tap = tap.at(layer.place, **layer.over)
            real = (keys if layer.kind == CROSS else queries)[:, None, :]
            weights = as_weights(
                reported,
                real.shape[-1],
                scores=layer.place in self.layout.scores,
                banded=self.banded and layer.stack == "encoder",
            )
            if weights.shape[-1] != real.shape[-1]:
                detail = (
                    f"{layer.key} has {real.shape[-1]} tokens, for which this model reports no "
                )
                raise InputError("unsupported", layer.key, f"{detail}weight on each token")
            allowed = real.expand(weights.shape[0], *weights.shape[-2:])
            place_tap("mask", allowed.tril() if layer.causal else allowed, (QUERY, KEY))
            place_tap("weights", weights, (HEAD, QUERY, KEY))

    def _logits(self, tap: Tap, stack: str, logits: Tensor) -> Tensor:
        if not self.writes:
            return logits
        stack_tap = tap.at(stack, query=self._written(stack))
        logits = stack_tap("logits", logits, (QUERY, VOCAB))
        if stack_tap.wants("probabilities") or stack_tap.wants("candidates"):
            top = logits.softmax(dim=-1).topk(min(CANDIDATES, logits.shape[-1]))
            stack_tap("probabilities", top.values, (QUERY, RANK))
            stack_tap("candidates", top.indices, (QUERY, RANK))
        return logits

    def _written(self, stack: str) -> str:
        return next(
            attention.query for attention in self.layout.attentions if attention.stack == stack
        )

    def names(self) -> dict[str, tuple[str, ...]]:
        """Return every name that a run records, with its dims."""
        names = {**self.streamed}
        for attention in self.layout.attentions:
            kv_head = HEAD if attention.heads == attention.kv_heads else "kv_head"
            vectors: dict[str, tuple[str, ...]] = {
                "q": (HEAD, QUERY, "channel"),
                "k": (kv_head, KEY, "channel"),
                "v": (kv_head, KEY, "channel"),
                "scores": (HEAD, QUERY, KEY),
            }
            recorded = vectors if attention.qk else {}
            recorded = {**recorded, "mask": (QUERY, KEY), "weights": (HEAD, QUERY, KEY)}
            if attention.place in self.layout.sinks:
                recorded["sink"] = (HEAD, QUERY)
            if attention.qk:
                recorded["mix"] = (HEAD, QUERY, "channel")
            names |= {f"{attention.place}.{name}": dims for name, dims in recorded.items()}
        if self.writes:
            stack = self.layout.attentions[-1].stack
            names[f"{stack}.logits"] = (QUERY, VOCAB)
            names[f"{stack}.probabilities"] = (QUERY, RANK)
            names[f"{stack}.candidates"] = (QUERY, RANK)
        return names


def padded_batch(
    rows: Sequence[Sequence[int]], unpadded: Sequence[int], pad: int, device: Any
) -> tuple[Tensor, Tensor]:
    """Return ids (B, longest), padded on the right, and a mask of the requests' own tokens."""
    longest = max(map(len, rows))
    ids = torch.tensor([[*row, *[pad] * (longest - len(row))] for row in rows], device=device)
    lengths = torch.tensor(list(unpadded), device=device)
    return ids, torch.arange(longest, device=device) < lengths[:, None]


CLOSE = 1e-4

Attentions = dict[str, LongAttention]


class LongRecorder:
    """A pass whose attentions are called in a known order; keeps q, k and log-sum-exp of each."""

    def __init__(
        self,
        order: Sequence[str],
        infos: dict[str, AttentionInfo],
        layers: Layers,
        dtype: torch.dtype,
    ) -> None:
        self.kept: Attentions = {}
        self._order = iter(order)
        self._infos = infos
        self._layers = layers
        self._dtype = dtype

    def attend(self, q: Tensor, k: Tensor, v: Tensor, scored: Scored) -> Tensor:
        """Return the mix (H, N, d_v) of the next attention."""
        place = next(self._order)
        info = self._infos.get(place)
        if info:
            self._layers.begin((info.stack, info.layer))
        mix, sums = flash_attention(q, k, v, scored)
        if info:
            self.kept[place] = LongAttention.keep(q, k, sums, scored, info.over, self._dtype)
        return mix


class LongForward:
    """A model's passes over one long text. Thread-safe: all state belongs to a pass."""

    def __init__(self, model: Any, layout: Layout) -> None:
        self.model = model
        self.layout = layout
        self.infos = by_place(layout.attentions)

    def read(
        self, ids: Tensor, dtype: torch.dtype, types: Tensor | None = None
    ) -> tuple[Attentions, Tensor]:
        """Run the only stack over ids (1, N); return its attentions and its last states.

        `types` (1, N) are the token types of a pair. Logits are not computed: for a long text,
        they are larger than the model.
        """
        keeping = self._keeping(self.layout.attentions[0].stack, self._layers(), dtype)
        with passing_long(keeping):
            more = {} if types is None else {TYPES: types}
            out = self.model.base_model(input_ids=ids, attention_mask=torch.ones_like(ids), **more)
        return keeping.kept, out[0]

    def translate(
        self, source: Tensor, target: Tensor, dtype: torch.dtype
    ) -> tuple[Attentions, Tensor]:
        """Run both stacks over ids (1, S) and (1, T); return their attentions and logits."""
        real = torch.ones_like(source)
        layers = self._layers()
        first, second = (self._keeping(name, layers, dtype) for name in ("encoder", "decoder"))
        with passing_long(first):
            read = self.model.get_encoder()(input_ids=source, attention_mask=real)
        with passing_long(second):
            out = self.model(
                **decoder_inputs(self.model, source, read),
                attention_mask=real,
                decoder_input_ids=target,
                decoder_attention_mask=torch.ones_like(target),
            )
        return {**first.kept, **second.kept}, out[0]

    def _layers(self) -> Layers:
        return Layers(len({(info.stack, info.layer) for info in self.infos.values()}))

    def _keeping(self, stack: str, layers: Layers, dtype: torch.dtype) -> LongRecorder:
        return LongRecorder(self.layout.order[stack], self.infos, layers, dtype)

    @torch.inference_mode()
    def works(self) -> bool:
        """Return whether a long pass over a few ids gives the same states as a plain one.

        False for a model whose attentions do not all use the interface of `transformers`.
        """
        if self.layout.route != "recorded":
            return False
        ids = torch.arange(5, 5 + READ, device=self.model.device)[None]
        try:
            if not self.model.config.is_encoder_decoder:
                attentions, states = self.read(ids, torch.float32)
                plain = self.model.base_model(input_ids=ids, attention_mask=torch.ones_like(ids))
            else:
                target = ids[:, :WRITTEN]
                attentions, states = self.translate(ids, target, torch.float32)
                plain = self.model(input_ids=ids, decoder_input_ids=target)
        except Exception:  # a model that uses the mask in its own code
            return False
        equal = torch.allclose(states, plain[0], atol=CLOSE, rtol=CLOSE)
        return equal and attentions.keys() == self.infos.keys()

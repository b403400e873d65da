"""Passes of a model of `transformers` over one long text, without anything of size N × M."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from model.adapters.huggingface.attention import passing_long
from model.adapters.huggingface.probing import Layout, encoded
from model.adapters.huggingface.table import READ, WRITTEN
from model.long.attention import LongAttention
from model.long.flash import Scored, attention
from model.progress import Layers
from model.trace.attentions import AttentionInfo

CLOSE = 1e-4
Attentions = dict[str, LongAttention]


class Keeping:
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
        mix, sums = attention(q, k, v, scored)
        if info:
            self.kept[place] = LongAttention.keep(q, k, sums, scored, info.over, self._dtype)
        return mix


class LongForward:
    """A model's passes over one long text. Thread-safe: all state belongs to a pass."""

    def __init__(self, model: Any, layout: Layout) -> None:
        self.model = model
        self.layout = layout
        self.infos = {one.place: one for one in layout.attentions}

    def read(self, ids: Tensor, dtype: torch.dtype) -> tuple[Attentions, Tensor]:
        """Run the only stack over ids (1, N); return its attentions and its last states.

        Logits are not computed: for a long text, they are larger than the model.
        """
        keeping = self._keeping(self.layout.attentions[0].stack, self._layers(), dtype)
        with passing_long(keeping):
            out = self.model.base_model(input_ids=ids, attention_mask=torch.ones_like(ids))
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
                **encoded(self.model, source, read),
                attention_mask=real,
                decoder_input_ids=target,
                decoder_attention_mask=torch.ones_like(target),
            )
        return {**first.kept, **second.kept}, out[0]

    def _layers(self) -> Layers:
        return Layers(len({(one.stack, one.layer) for one in self.infos.values()}))

    def _keeping(self, stack: str, layers: Layers, dtype: torch.dtype) -> Keeping:
        return Keeping(self.layout.order[stack], self.infos, layers, dtype)

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
                kept, found = self.read(ids, torch.float32)
                plain = self.model.base_model(input_ids=ids, attention_mask=torch.ones_like(ids))
            else:
                target = ids[:, :WRITTEN]
                kept, found = self.translate(ids, target, torch.float32)
                plain = self.model(input_ids=ids, decoder_input_ids=target)
        except Exception:  # a model that uses the mask in its own code
            return False
        same = torch.allclose(found, plain[0], atol=CLOSE, rtol=CLOSE)
        return same and kept.keys() == self.infos.keys()

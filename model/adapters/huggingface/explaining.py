"""The tensors `inside.…` of a model of `transformers`: lens, contributions, relevance, sources."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from model.adapters.huggingface.anatomy import anatomies
from model.adapters.huggingface.forward import Encoded, Forward
from model.adapters.huggingface.networks import Network, networks
from model.adapters.huggingface.parameters import (
    Calculation,
    Parameter,
    calculations,
    norms_before,
    tensors,
)
from model.adapters.huggingface.probing import Layout
from model.adapters.huggingface.readout import stream_of
from model.adapters.huggingface.rows import Row
from model.adapters.huggingface.scores import scores_of
from model.adapters.huggingface.stream_hooks import install, names_of
from model.adapters.model_info import ModelInfo
from model.explain import contrast, logit_lens, score_terms
from model.explain.attribution import SourceRun, attribute
from model.explain.attribution import names as attribution_names
from model.explain.relevance import names as relevance_names
from model.explain.relevance import relevance
from model.explain.stream import Stream
from model.trace.attentions import AttentionInfo
from model.trace.name_patterns import ATTRIBUTIONS
from model.trace.tensor_tap import SOURCE, TARGET, Recorder, Tap

EMBEDDING = f"{SOURCE}.embedding"


class Inside:
    """Computes the `inside.…` tensors that a model supports."""

    def __init__(self, model: Any, layout: Layout, forward: Forward, writes: bool) -> None:
        self.model = model
        self.forward = forward
        self.stream: Stream | None = None
        self.places = [one.place for one in layout.attentions]
        self.traced = writes and layout.route == "recorded"
        with torch.inference_mode():
            found = list(anatomies(model, layout))
            if found and writes:
                self.stream = stream_of(model, found[-1], found[-1].logits)
            self.calculations: dict[str, Calculation] = calculations(model, found)
            self.scores = scores_of(found, self.calculations)
            self.networks: dict[str, Network] = networks(found)
        befores = norms_before(self.calculations, self.networks)
        install(found, befores, self.networks)
        for one in found:
            forward.streamed |= names_of(one, befores, self.networks)
        self.positions = _positions(model, found[0].position is not None if found else False)
        self.norm = "post" if found and found[0].terms[0][0].post is not None else "pre"

    def capabilities(self, kind: str) -> set[str]:
        """Return the capabilities of a model of this kind."""
        able = set[str]()
        if self.stream is not None:
            able |= {"lens", "contributions"} if self.stream.exact else {"lens"}
        if self.forward.layout.route == "recorded":
            able |= {"worksheet", "mean"}
        if self.scores:
            able.add("scores")
        if self.parameters():
            able.add("parameters")
        # What a masked model fills in is not a text whose probability it could give.
        if self.traced and kind != "encoder":
            able.add("relevance")
        if self.traced and EMBEDDING in self.forward.streamed:
            able.add("attribution")
        return able

    def parameters(self) -> dict[str, Parameter]:
        """Return the parameters of all attentions and networks by full name."""
        return tensors(self.calculations) | tensors(self.networks)

    def described(self, one: AttentionInfo) -> AttentionInfo:
        """Return an attention's description with what is known of its calculation."""
        known = self.calculations.get(one.place)
        return one if known is None else known.described(one)

    def names(self, info: ModelInfo, recorded: Collection[str]) -> dict[str, tuple[str, ...]]:
        """Return the names that can be selected, with their dims."""
        found: dict[str, tuple[str, ...]] = {}
        if self.stream is not None:
            found |= logit_lens.names(self.stream, recorded)
        if "relevance" in info.capabilities:
            found |= relevance_names(self.places)
        if "attribution" in info.capabilities:
            found |= attribution_names()
        return found

    def contrasts(
        self, info: ModelInfo, recorded: Collection[str], patterns: Sequence[str]
    ) -> dict[str, tuple[str, ...]]:
        """Return the contrasts that patterns name, with their dims."""
        if self.stream is None:
            return {}
        places = self.places if "relevance" in info.capabilities else []
        return contrast.names(logit_lens.parts(self.stream, recorded), places, patterns)

    def needed(self, selected: Sequence[str]) -> set[str]:
        """Return the tensors to record for the selected ones."""
        found = score_terms.needed(self.scores, selected) & self.forward.names().keys()
        return found if self.stream is None else found | logit_lens.needed(self.stream, selected)

    def look(
        self,
        recorders: Sequence[Recorder],
        rows: Sequence[Row],
        predicted: Sequence[Sequence[int]],
    ) -> None:
        """Add the selected tensors to each recorder; row i of a text predicts `predicted[i]`."""
        if self.stream is not None:
            logit_lens.look(self.stream, recorders, predicted)
        for recorder, row, ids in zip(recorders, rows, predicted, strict=True):
            alone = self._alone(row)
            relevance(partial(alone, 1), recorder, ids)
            if not ATTRIBUTIONS.isdisjoint(recorder.select):
                words = torch.tensor([not token.special for token in row.texts[SOURCE]])
                width = self.model.config.get_text_config().vocab_size
                words = words.to(self.model.device)
                attribute(SourceRun(alone, lambda logits: logits, width, recorder, ids, words))

    def _alone(self, row: Row) -> Callable[[int, Tap], Tensor]:
        """Return a function that runs copies of a row, padded as it is; it returns logits."""

        def given(text: str, count: int) -> tuple[Tensor, Tensor]:
            ids = torch.tensor([row.ids(text)], device=self.model.device)
            real = torch.arange(ids.shape[1], device=ids.device)[None] < row.own[text]
            return ids.expand(count, -1), real.expand(count, -1)

        def run(count: int, tap: Tap) -> Tensor:
            if TARGET not in row.texts:
                [text] = row.texts
                return self.forward.read(*given(text, count), tap)
            read: Encoded = self.forward.encode(*given(SOURCE, count), tap)
            return self.forward.decode(read, *given(TARGET, count), tap)

        return run


def _positions(model: Any, learned: bool) -> str:
    """Return what tells the model the order of tokens, as far as it is known."""
    if learned:
        return "learned"
    rotary = any("Rotary" in type(part).__name__ for part in model.modules())
    return "rotary" if rotary else "none"

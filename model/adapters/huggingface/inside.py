"""The tensors `inside.…` of a model of `transformers`: logit lens, contributions, relevance."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import torch
from torch import Tensor

from model.adapters.huggingface.anatomy import anatomies
from model.adapters.huggingface.forward import Encoded, Forward
from model.adapters.huggingface.probing import Layout
from model.adapters.huggingface.readout import stream_of
from model.adapters.huggingface.rows import Row
from model.adapters.huggingface.streams import install, names_of
from model.adapters.model_info import ModelInfo
from model.explain import logit_lens
from model.explain.relevance import RELEVANCE, relevance
from model.explain.relevance import names as relevance_names
from model.explain.stream import Stream
from model.trace.tensor_tap import SOURCE, TARGET, Recorder, Tap


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
        install(found)
        for one in found:
            forward.streamed |= names_of(one)
        self.positions = _positions(model, found[0].position is not None if found else False)
        self.norm = "post" if found and found[0].terms[0][0].post is not None else "pre"

    def capabilities(self, kind: str) -> set[str]:
        """Return the capabilities of a model of this kind."""
        able = set[str]()
        if self.stream is not None:
            able |= {"lens", "contributions"} if self.stream.exact else {"lens"}
        # What a masked model fills in is not a text whose probability it could give.
        if self.traced and kind != "encoder":
            able.add("relevance")
        return able

    def names(self, info: ModelInfo, recorded: Collection[str]) -> dict[str, tuple[str, ...]]:
        """Return the names that can be selected, with their dims."""
        found: dict[str, tuple[str, ...]] = {}
        if self.stream is not None:
            found |= logit_lens.names(self.stream, recorded)
        if "relevance" in info.capabilities:
            found |= relevance_names(self.places)
        return found

    def needed(self, selected: Sequence[str]) -> set[str]:
        """Return the tensors to record for the selected ones."""
        return set() if self.stream is None else logit_lens.needed(self.stream, selected)

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
            if any(name.startswith(RELEVANCE) for name in recorder.select):
                relevance(self._alone(row), recorder, ids)

    def _alone(self, row: Row) -> Callable[[Tap], Tensor]:
        """Return a function that runs a row alone, padded as it is, and returns its logits."""

        def given(text: str) -> tuple[Tensor, Tensor]:
            ids = torch.tensor([row.ids(text)], device=self.model.device)
            real = torch.arange(ids.shape[1], device=ids.device)[None] < row.own[text]
            return ids, real

        def run(tap: Tap) -> Tensor:
            if TARGET not in row.texts:
                [text] = row.texts
                return self.forward.read(*given(text), tap)
            read: Encoded = self.forward.encode(*given(SOURCE), tap)
            return self.forward.decode(read, *given(TARGET), tap)

        return run


def _positions(model: Any, learned: bool) -> str:
    """Return what tells the model the order of tokens, as far as it is known."""
    if learned:
        return "learned"
    rotary = any("Rotary" in type(part).__name__ for part in model.modules())
    return "rotary" if rotary else "none"


def following(
    ids: Sequence[int], top: Callable[[], Sequence[int]], kind: str, mask: int | None
) -> list[int]:
    """Return the ids that the rows of a model of one text predict.

    A decoder's rows predict the next token of the text; its last row predicts the most
    probable one. An encoder predicts its own token, or the most probable one for a mask.
    """
    if kind == "decoder":
        return [*ids[1:], top()[len(ids) - 1]]
    return [top()[index] if id_ == mask else id_ for index, id_ in enumerate(ids)]

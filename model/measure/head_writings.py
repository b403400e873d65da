"""What each head writes over many sentences: by token that it looks at, what that adds to logits.

A row counts for a token if the head gives it at least half of its weight there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from model.adapters.requests.trace import Trace
from model.explain import direct_effect
from model.explain.stream import Stream
from model.trace.attentions import AttentionInfo

HALF = 0.5  # of a row's weight
LEAST = 3  # rows
TOKENS, WRITTEN = 8, 5  # tokens listed for each head, and for each of them what it adds to
DIGITS = 2
Looked = tuple[str, int, str]  # the attention, the head, and the token that it looks at


class Writings:
    """Gathers the direct effects of the rows of the heads of one stream."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self._sums: dict[Looked, Tensor] = {}  # (D,)
        self._rows: dict[Looked, int] = defaultdict(int)

    def reads(self, attention: AttentionInfo) -> set[str]:
        """Return the tensors to select for `add`."""
        return direct_effect.reads(self.stream, attention)

    def add(self, trace: Trace, attention: AttentionInfo, weights: Tensor) -> None:
        """Add the rows of an attention of one sentence, weights (H, N, M)."""
        largest, key = weights.max(-1)
        tokens = trace.texts[attention.key]
        run = {name: trace[name].value.cpu() for name in self.reads(attention)}
        rows = slice(weights.shape[1])
        terms = direct_effect.carried(self.stream, attention, run, key, rows)
        for head, row in (largest >= HALF).nonzero().tolist():
            token = tokens[int(key[head, row])]
            if not token.special and token.text.strip():
                at = attention.place, head, token.text
                self._rows[at] += 1
                term = terms[head, row]
                self._sums[at] = self._sums[at] + term if at in self._sums else term

    def of(self, place: str, head: int, text: Callable[[int], str]) -> list[dict[str, Any]]:
        """Return the tokens whose values add most to one logit, each with what it adds to.

        `text` gives the text of a token by its id.

        Logits are relative to their mean over the vocabulary: a constant changes no probability.
        """
        often = [
            (token, term / self._rows[at_, of, token])
            for (at_, of, token), term in self._sums.items()
            if (at_, of) == (place, head) and self._rows[at_, of, token] >= LEAST
        ]
        if not often:
            return []
        matrix = self.stream.matrix.detach().cpu().double() * self.stream.scale
        added = torch.stack([term for _, term in often]) @ matrix.T  # (looked at, V)
        best = (added - added.mean(dim=-1, keepdim=True)).topk(WRITTEN, dim=-1)
        order = best.values[:, 0].argsort(descending=True, stable=True)[:TOKENS].tolist()
        return [
            {
                "token": often[n][0],
                "rows": self._rows[place, head, often[n][0]],
                "adds": [
                    [text(id_), round(value, DIGITS)]
                    for id_, value in zip(
                        best.indices[n].tolist(), best.values[n].tolist(), strict=True
                    )
                ],
            }
            for n in order
        ]

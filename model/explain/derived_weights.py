"""Scores and weights computed slice by slice from recorded q and k, instead of being recorded.

q and k grow with the length of a text, weights with its square: for a long text, only slices of
the weights can be stored or shown.

    scores(i, j)  = Scoring(q_i, k_j), with relative positions
    weights(i, j) = exp(scores(i, j) − log Σ_m exp scores(i, m)) where the mask allows j, else 0

Shapes: H heads, N queries, M keys, d_k channels of a head.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from model.trace.interventions import Intervention
from model.trace.tensor_tap import HEAD, KEY, QUERY, NamedTensor
from model.transformer.attention import masked_softmax
from model.transformer.masks import Mask, allowed, named
from model.transformer.positions import Positions
from model.transformer.scoring import Scoring
from model.transformer.stacks import Transformer

CHANGED = ("scores", "mask", "weights")  # interventions on these do not change q and k
ALL = slice(None)


@dataclass(frozen=True, eq=False)
class Derived:
    """One attention of one request: `derived.weights(head, queries, keys)` returns a slice of it.

    With the `logsumexp` (H, N) of the unmasked scores, only the slice is computed; without it,
    whole rows are. Tensors are on the model's device.
    """

    q: Tensor  # (H, N, d_k), as scored
    k: Tensor  # (H, M, d_k), as scored
    over: Mapping[str, str]  # the texts of the query and the key axis
    real: Tensor  # (M,) true where a key is not padding
    rule: Mask
    scoring: Scoring
    positions: Positions
    logsumexp: Tensor | None = None

    dims = (HEAD, QUERY, KEY)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of heads, queries and keys."""
        return self.q.shape[0], self.q.shape[1], self.k.shape[1]

    def mask(self, queries: slice = ALL, keys: slice = ALL) -> Tensor:
        """Return a mask (queries, keys), true where a query may attend."""
        positions = self._at(queries, keys)
        return allowed(self.rule, self.real[None], *positions)[0]

    @torch.inference_mode()
    def scores(self, head: int, queries: slice = ALL, keys: slice = ALL) -> Tensor:
        """Return the scores before the mask, (queries, keys)."""
        # Such a part may differ between heads, so all heads are needed.
        plain = self.scoring.fusible and self.positions.fusible
        heads = slice(head, head + 1) if plain else ALL
        scores = self.scoring(self.q[None, heads, queries], self.k[None, heads, keys])
        placed = self.positions.on_scores(scores, *self._at(queries, keys))
        return placed[0, 0 if plain else head]

    @torch.inference_mode()
    def weights(self, head: int, queries: slice = ALL, keys: slice = ALL) -> Tensor:
        """Return the weights of each query over the keys, (queries, keys)."""
        if self.logsumexp is None:
            rows = masked_softmax(self.scores(head, queries), self.mask(queries))
            return rows[:, keys]
        scores, mask = self.scores(head, queries, keys), self.mask(queries, keys)
        return (scores - self.logsumexp[head, queries, None]).exp().where(mask, 0.0)

    def _at(self, queries: slice, keys: slice) -> tuple[Tensor, Tensor]:
        _, n, m = self.shape
        device = self.q.device
        return torch.arange(n, device=device)[queries], torch.arange(m, device=device)[keys]


def derive(
    model: Transformer,
    place: str,
    tensors: Mapping[str, NamedTensor],
    real: Tensor,
    interventions: Iterable[Intervention] = (),
    logsumexp: Tensor | None = None,
) -> Derived:
    """Return the attention at `place`, such as "encoder.0.self", from recorded q and k.

    `real` (M,) is true where a key is not padding; `interventions` are those of the run. Raises
    `ValueError` if one of them acts between q and k and the weights: then record the weights.
    """
    q, k = tensors[f"{place}.q"], tensors[f"{place}.k"]
    for intervention in interventions:
        if any(intervention.concerns(f"{place}.{name}", k.over[KEY]) for name in CHANGED):
            change = f"{intervention.do} at {intervention.at}"
            raise ValueError(f"{place}.weights do not follow from q and k: {change} changes them")
    stack, layer, kind = place.split(".")
    attention = getattr(getattr(model, stack)[int(layer)], f"{kind}_attention")
    positions = getattr(model, f"{stack}_positions")
    device = model.embedding.weight.device
    return Derived(
        q=q.value.to(device),
        k=k.value.to(device),
        over={QUERY: q.over[QUERY], KEY: k.over[KEY]},
        real=real.to(device),
        rule=named(model.config.masks[f"{stack}.{kind}"]),
        scoring=attention.scoring,
        positions=positions if kind == "self" else Positions(),
        logsumexp=None if logsumexp is None else logsumexp.to(device),
    )

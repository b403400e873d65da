"""Losses of attention weights: a reward for heads that differ, and a guide for two that align.

Most heads of a translation model can be removed one by one (Michel et al. 2019, arXiv:1905.10650):
several do the same. Li et al. 2018, Multi-Head Attention with Disagreement Regularization
(arXiv:1810.10183), reward heads of a layer for differing. Here the reward is the generalised
Jensen–Shannon divergence of their rows (Lin 1991, Divergence measures based on the Shannon
entropy, equation 5.1):

    JSD = H(mean of the heads' rows) − mean of H(each head's row)

It grows when heads attend to different keys and when each attends to few. It says nothing about
which keys: no head is taught where to look.

Two cross-attention heads can be supervised to align words. The alignment comes from the corpus
alone: how often pieces occur in each other's translations (IBM model 1, Brown et al. 1993), with a
diagonal prior (Dyer et al. 2013, fast_align), combined by agreement of both directions (Liang et
al. 2006). The loss is the cross-entropy with it, as in Garg et al. 2019, Jointly Learning to Align
and Translate (arXiv:1909.02074); rows of links are not normalised to 1, so that a token counts by
how certain its links are.

Shapes: B batch, S source tokens, T target tokens, V vocabulary.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn import functional as F

from model.bundle.measurements import READS, WRITES
from model.trace.tensor_tap import Tap
from model.train.data import Corpus, TokenBatch
from model.transformer.config import ModelConfig


@dataclass
class AttentionWeights(Tap):
    """Keeps the weights (B, H, N, M) of every attention, layer by layer.

    `found` has them by stack and kind: `encoder.self`, `decoder.self`, `decoder.cross`.
    """

    path: tuple[str, ...] = ()
    found: defaultdict[str, list[Tensor]] = field(default_factory=lambda: defaultdict(list))

    def at(self, place: str, **over: str) -> Tap:
        return AttentionWeights((*self.path, place), self.found)

    def __call__(self, name: str, value: Tensor, dims: tuple[str, ...]) -> Tensor:
        if name == "weights":
            self.found[f"{self.path[0]}.{self.path[-1]}"].append(value)
        return value


def head_divergence(layers: Sequence[Tensor], real: Tensor) -> Tensor:
    """Return the divergence of the heads of a layer, in nats; the mean over rows and layers.

    `layers` are attention weights (B, H, N, M), `real` (B, N) is false for rows that are padding.
    At least 0 (all heads alike), at most the logarithm of H or of the number of keys.
    """
    rewards = []
    for weights in layers:
        rows = entropy(weights.float().mean(dim=1)) - entropy(weights.float()).mean(dim=1)  # (B, N)
        rewards.append(rows[real].mean())
    return torch.stack(rewards).mean()


def entropy(p: Tensor) -> Tensor:
    """Return the entropy −Σ p ln p of the last axis, in nats; 0 ln 0 = 0."""
    nats: Tensor = torch.special.entr(p.clamp(min=1e-9))  # at 0 its slope is infinite
    return nats.sum(dim=-1)


ROUNDS = 5  # of expectation–maximisation, as in fast_align
UNALIGNED = 0.08  # prior probability that nothing is translated: p_0 of fast_align
TENSION = 4.0  # how strongly the diagonal is preferred: λ of fast_align
SIZE = 30_000  # tokens of a batch to count in
WRITER, READER = 0, 1  # the heads


@dataclass(frozen=True)
class Lexicon:
    """Probability of a piece in the translation of another: t(said | given), (given V, said V)."""

    table: Tensor

    @classmethod
    def learned(cls, corpus: Corpus, vocabulary: int) -> Lexicon:
        """Estimate the probabilities from every example, in both directions."""
        lexicon = cls(torch.ones(vocabulary, vocabulary, device=corpus.device))
        for _ in range(ROUNDS):
            counts = torch.zeros_like(lexicon.table)
            for batch in corpus.batches(SIZE, 0, 0):
                for read, written, share in lexicon._both_ways(batch):
                    cell = read[:, None, :] * vocabulary + written[:, :, None]
                    counts.view(-1).scatter_add_(0, cell.flatten(), share.flatten())
            counts /= counts.sum(dim=1, keepdim=True).clamp(min=1e-9)
            lexicon = cls(counts)
        return lexicon

    def links(self, batch: TokenBatch) -> Tensor:
        """Return the probability that a target token translates a source token: (B, T, S).

        Rows sum to at most 1, and to much less if a token has no clear counterpart.
        """
        (_, _, forth), (_, _, back) = self._both_ways(batch)
        agreed = forth[:, :, 1:] * back[:, :, 1:].transpose(1, 2)
        return F.pad(agreed, (1, 0))  # the tag translates no word

    def _both_ways(self, batch: TokenBatch) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """Yield (given ids, said ids, shares (B, said, given)): target given source, then reverse.

        The first given token means "aligned to nothing": the tag of a source, or <bos> of a target
        (which is shared by both languages, and gets half the share of a tag).
        """
        target = torch.cat([batch.read[:, :1], batch.written], dim=1)
        real = F.pad(batch.target_real, (1, 0), value=True)
        sides = (batch.source, batch.source_real), (target, real)
        for (read, given_real), (written, said_real) in (sides, sides[::-1]):
            written, said_real = written[:, 1:], said_real[:, 1:]
            likely = self.table[read[:, None, :], written[:, :, None]] * prior(
                said_real, given_real
            )
            yield read, written, likely / likely.sum(dim=-1, keepdim=True).clamp(min=1e-30)


def prior(written: Tensor, read: Tensor) -> Tensor:
    """Return the prior probability of links (B, said, given), by their distance to the diagonal.

    `written` and `read` are true except on padding; the first of `read` means "aligned to nothing".
    """
    places = (_place(written)[:, :, None] - _place(read[:, 1:])[:, None, :]).abs()
    near = torch.exp(-TENSION * places) * read[:, None, 1:]
    near = near * (1 - UNALIGNED) / near.sum(dim=-1, keepdim=True)
    return F.pad(near, (1, 0), value=UNALIGNED) * written[:, :, None]


def _place(real: Tensor) -> Tensor:
    """Return the relative position of a token in its row, 0 to 1; `real` (B, N)."""
    count = real.sum(dim=1, keepdim=True)
    return torch.arange(1, real.shape[1] + 1, device=real.device) / count.clamp(min=1)


def check(config: ModelConfig) -> None:
    """Raise `ValueError` for a model without two heads to supervise."""
    if config.heads < 2:
        raise ValueError(f"a guide needs at least 2 heads, not {config.heads}")


def taught(config: ModelConfig, since: int | None) -> list[dict[str, int | str]]:
    """Return the heads that a guide supervises since step `since`; none if there is no guide."""
    heads = (config.decoder_layers - 1, WRITER, WRITES), (0, READER, READS)
    return [
        {"layer": layer, "head": head, "rows": rows, "since": since}
        for layer, head, rows in heads
        if since is not None
    ]


@dataclass(frozen=True)
class Guide:
    """Supervises two cross-attention heads with word alignment.

    Head 1 of the last layer learns to attend to the source of the token to predict, head 2 of the
    first layer to the source of the last token read. The first layer knows little more than that
    token; only the last layer knows what will follow.
    """

    lexicon: Lexicon
    layers: int
    weight: float = 1.0

    @classmethod
    def of(cls, corpus: Corpus, config: ModelConfig, weight: float) -> Guide:
        """Estimate the lexicon of a corpus."""
        check(config)
        lexicon = Lexicon.learned(corpus, config.vocabulary)
        return cls(lexicon, config.decoder_layers, weight)

    def loss(self, weights: AttentionWeights, batch: TokenBatch) -> Tensor:
        """Return `weight` times the cross-entropy of links and heads, in nats per target token."""
        cross = weights.found["decoder.cross"]
        first, last = cross[0], cross[self.layers - 1]  # (B, H, T, S)
        taught = torch.stack([last[:, WRITER], first[:, READER]], dim=1)
        writes = self.lexicon.links(batch)
        reads = F.pad(writes, (0, 0, 1, 0))[:, :-1]  # a row reads what the row before it predicted
        links = torch.stack([writes, reads], dim=1) * batch.target_real[:, None, :, None]
        nats = -(links * taught.float().clamp(min=1e-9).log()).sum()
        return self.weight * nats / batch.target_real.sum()

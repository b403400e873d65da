"""Training losses: smoothed cross-entropy of the output layer, R-Drop's divergence, and their sum.

Of attention weights there are two more: a reward for heads that differ, and a guide for two that
align.

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

Shapes: N rows (target tokens), V vocabulary; B batch, S source tokens, T target tokens.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, fields
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from model.bundle.measurements import READS, WRITES
from model.trace.tensor_tap import NULL, Tap
from model.train.data import Corpus, TokenBatch
from model.transformer.config import ModelConfig
from model.transformer.stacks import Transformer


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


CHUNK = 128  # rows at a time: their logits fit the processor's cache


def output_loss(
    x: Tensor, embedding: Tensor, written: Tensor, smoothing: float, r_drop: float = 0.0
) -> tuple[Tensor, Tensor]:
    """Return the loss of the logits x Eᵀ and their cross-entropy alone, in nats per token.

    `x` (N, d_model), `embedding` (V, d_model), `written` ids (N,). The cross-entropy is
    `F.cross_entropy(x @ embedding.T, written, label_smoothing=smoothing)`. With `r_drop`, the
    second half of the rows is another pass over the tokens of the first, and `r_drop` times the
    mean of KL(p‖q) and KL(q‖p) is added (Wu et al. 2021, equation 2, for a mean over tokens).
    Only the loss has a gradient. On a CPU this takes less than half the time of torch's operations
    (`make bench` prints the ratio).
    """
    loss, entropy = _OutputLoss.apply(x, embedding, written, smoothing, r_drop)  # type: ignore[no-untyped-call]
    return loss, entropy


class _OutputLoss(torch.autograd.Function):
    """Computes loss and gradients together, in chunks of rows.

    With log p = log_softmax(l), smoothing ε and the target distribution t = (1 − ε) 1_y + ε/V, the
    cross-entropy of a row is −t · log p, and its gradient with respect to l is p − t. With
    d = log p − log q, the mean of both divergences is (p − q) · d / 2, and its gradient is
    (p (d − p · d) + p − q) / 2 for p's logits; for q's, p and q change places, and d its sign.

    Products and the gradient of the logits have the dtype of autocast, sums at least float32.
    """

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, embedding: Tensor, written: Tensor, smoothing: float, r_drop: float
    ) -> tuple[Tensor, Tensor]:
        exact = torch.promote_types(x.dtype, torch.float32)
        kind = exact
        if torch.is_autocast_enabled(x.device.type):
            kind = torch.get_autocast_dtype(x.device.type)
        passes = 2 if r_drop else 1
        share = smoothing / len(embedding)
        rows, table, ids = x.to(kind), embedding.to(kind), written[: len(x) // passes, None]
        grad = rows.new_empty(len(x), len(table))  # of the logits, times N
        entropy, apart = (x.new_zeros((), dtype=exact) for _ in range(2))
        chunks = (
            torch.split(tensor, CHUNK) for tensor in (ids, *rows.chunk(passes), *grad.chunk(passes))
        )
        for right, *parts in zip(*chunks, strict=True):
            logs = [(part @ table.T).to(exact).log_softmax(dim=-1) for part in parts[:passes]]
            for log in logs:
                entropy -= (1 - smoothing) * log.gather(1, right).sum() + share * log.sum()
            if r_drop:
                grads, divergence = _divergence(logs, r_drop)
                apart += divergence
            else:
                grads = [logs[0].exp_()]
            for one, into in zip(grads, parts[passes:], strict=True):
                one -= share
                into.copy_(one.scatter_add_(1, right, one.new_full(right.shape, smoothing - 1)))
        ctx.save_for_backward(
            (grad @ table).to(x.dtype) / len(x), (grad.T @ rows).to(embedding.dtype) / len(x)
        )
        entropy /= len(x)
        ctx.mark_non_differentiable(entropy)
        return entropy + r_drop * apart / len(ids), entropy

    @staticmethod
    def backward(ctx: Any, *outer: Tensor) -> tuple[Tensor, Tensor, None, None, None]:
        grad_x, grad_embedding = ctx.saved_tensors
        return grad_x * outer[0], grad_embedding * outer[0], None, None, None


def _divergence(logs: list[Tensor], r_drop: float) -> tuple[list[Tensor], Tensor]:
    """Return p + r_drop · 2 · gradient and likewise for q, and the sum of the divergences.

    `logs` are log p and log q, which are overwritten. The factor 2: the divergence is a mean over
    tokens, each of which has a row in both passes.
    """
    log_p, log_q = logs
    p, q = log_p.exp(), log_q.exp()
    d = log_p.sub_(log_q)
    expected_p = (p * d).sum(dim=-1, keepdim=True)
    expected_q = torch.mul(q, d, out=log_q).sum(dim=-1, keepdim=True)
    d *= r_drop
    of_p = (d + (1 + r_drop - r_drop * expected_p)).mul_(p).sub_(q, alpha=r_drop)
    of_q = d.neg_().add_(1 + r_drop + r_drop * expected_q).mul_(q).sub_(p, alpha=r_drop)
    return [of_p, of_q], (expected_p - expected_q).sum() / 2


def autocast(device: torch.device, precision: str) -> AbstractContextManager[None]:
    """Return autocast: matrix products in bfloat16, sums and softmax in float32, for "bf16".

    "auto" uses bfloat16 on CUDA and on CPUs with instructions for it; others are slower with it.
    """
    bf16 = precision == "bf16" or (precision == "auto" and fast_in_bf16(device))
    return torch.autocast(device.type, torch.bfloat16, enabled=bf16)


def fast_in_bf16(device: torch.device) -> bool:
    """Return whether the device has instructions for products in bfloat16."""
    if device.type != "cpu":
        return device.type == "cuda"
    able: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()  # torch 2.6 has none
    return bool(able.get("avx512_bf16") or able.get("amx_bf16"))


def states(model: Transformer, batch: TokenBatch, tap: Tap = NULL) -> tuple[Tensor, Tensor]:
    """Return the decoder's output (tokens, d_model) without padding, and the target ids (tokens,).

    Padding is dropped before multiplying by the output matrix, the widest one.
    """
    memory = model.encode(batch.source, batch.source_real, tap)
    x = model.decode(batch.read, batch.target_real, memory, batch.source_real, tap)
    rows = batch.target_real.flatten().nonzero()[:, 0]
    written = batch.written.flatten().index_select(0, rows)
    return x.flatten(0, 1).index_select(0, rows), written


def answers(model: Transformer, batch: TokenBatch, tap: Tap = NULL) -> tuple[Tensor, Tensor]:
    """Return the logits (tokens, V) without padding, and the target ids (tokens,)."""
    x, written = states(model, batch, tap)
    return model.logits(x).float(), written


def divergence(p: Tensor, q: Tensor) -> Tensor:
    """Return the mean of KL(p‖q) and KL(q‖p) over rows of logits (tokens, V), in nats per token."""
    p, q = p.log_softmax(dim=-1), q.log_softmax(dim=-1)
    forth = F.kl_div(q, p, log_target=True, reduction="batchmean")
    back = F.kl_div(p, q, log_target=True, reduction="batchmean")
    return (forth + back) / 2


def training_loss(
    model: Transformer,
    batch: TokenBatch,
    smoothing: float,
    r_drop: float,
    guide: Guide | None = None,
    divergence_weight: float = 0.0,
) -> tuple[Tensor, Tensor]:
    """Return the loss to minimise, and the cross-entropy alone for the log; nats per target token.

    With label smoothing ε the target distribution gives 1 − ε to the target token and
    spreads ε over the vocabulary (section 5.4).

    With R-Drop (Wu et al. 2021) the batch runs twice, with two dropout masks, and the divergence of
    the two outputs is added. With a guide, the alignment loss of two heads is added;
    the divergence of the encoder's heads is rewarded by `divergence_weight`.
    """
    if r_drop:
        batch = _twice(batch)
    watch = AttentionWeights()
    tap = watch if guide or divergence_weight else NULL
    if batch.source.device.type == "cpu":
        x, written = states(model, batch, tap)
        loss, entropy = output_loss(x, model.embedding.weight, written, smoothing, r_drop)
    else:
        logits, written = answers(model, batch, tap)
        loss = entropy = F.cross_entropy(logits, written, label_smoothing=smoothing)
        if r_drop:
            loss = loss + r_drop * divergence(*logits.chunk(2))
    if guide:
        loss = loss + guide.loss(watch, batch)
    if divergence_weight:
        apart = head_divergence(watch.found["encoder.self"], batch.source_real)
        loss = loss - divergence_weight * apart
    return loss, entropy.detach()


def _twice(batch: TokenBatch) -> TokenBatch:
    parts = (getattr(batch, part.name) for part in fields(batch))
    return TokenBatch(*(torch.cat([part, part]) for part in parts))


@torch.no_grad()
def dev_loss(
    model: Transformer, batches: Sequence[TokenBatch], precision: str = "float32", tap: Tap = NULL
) -> float:
    """Return the loss over all batches in nats per token, without label smoothing or dropout."""
    training = model.training
    model.eval()
    total, count = 0.0, 0
    for batch in batches:
        with autocast(batch.source.device, precision):
            logits, written = answers(model, batch, tap)
        total += float(F.cross_entropy(logits, written, reduction="sum"))
        count += len(written)
    model.train(training)
    return total / count

"""Training losses: smoothed cross-entropy of the output layer, R-Drop's divergence, and their sum.

Shapes: N rows (target tokens), V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import fields
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from model.trace.tensor_tap import NULL, Tap
from model.train.attention_losses import AttentionWeights, Guide, head_divergence
from model.train.data import TokenBatch
from model.transformer.stacks import Transformer

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

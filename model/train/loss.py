"""Training losses."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import fields

import torch
from torch import Tensor
from torch.nn import functional as F

from model.trace.tensor_tap import NULL, Tap
from model.train.attention_losses import Guide
from model.train.attention_weights import AttentionWeights
from model.train.data import TokenBatch
from model.train.head_divergence import head_divergence
from model.train.output_loss import output_loss
from model.transformer.stacks import Transformer


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
    able = torch.cpu.get_capabilities()
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
    there = F.kl_div(q, p, log_target=True, reduction="batchmean")
    back = F.kl_div(p, q, log_target=True, reduction="batchmean")
    return (there + back) / 2


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

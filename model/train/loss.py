"""What training makes smaller."""

from __future__ import annotations

from contextlib import AbstractContextManager

import torch
from torch import Tensor
from torch.nn import functional as F

from model.train.data import Batch
from model.transformer import Transformer


def autocast(device: torch.device, precision: str) -> AbstractContextManager[None]:
    """Matrix products in bfloat16, sums and softmax in float32, if `precision` is "bf16".

    "auto" takes bfloat16 on CUDA only: a processor without instructions for it is slower so.
    """
    bf16 = precision == "bf16" or (precision == "auto" and device.type == "cuda")
    return torch.autocast(device.type, torch.bfloat16, enabled=bf16)


def answers(model: Transformer, batch: Batch) -> tuple[Tensor, Tensor]:
    """Logits (tokens, V) where something is to be written, and what is: ids (tokens,).

    Padding is dropped before the output matrix, the widest one, is multiplied.
    """
    memory = model.encode(batch.source, batch.source_real)
    x = model.decode(batch.read, batch.target_real, memory, batch.source_real)
    rows = batch.target_real.flatten().nonzero()[:, 0]
    written = batch.written.flatten().index_select(0, rows)
    return model.logits(x.flatten(0, 1).index_select(0, rows)).float(), written


def divergence(p: Tensor, q: Tensor) -> Tensor:
    """The mean of KL(p‖q) and KL(q‖p) over rows of logits (tokens, V), in nats a token."""
    p, q = p.log_softmax(dim=-1), q.log_softmax(dim=-1)
    there = F.kl_div(q, p, log_target=True, reduction="batchmean")
    back = F.kl_div(p, q, log_target=True, reduction="batchmean")
    return (there + back) / 2


def training_loss(
    model: Transformer, batch: Batch, smoothing: float, r_drop: float
) -> tuple[Tensor, Tensor]:
    """What is minimised, and the cross-entropy alone for the log; nats a written token.

    With label smoothing ε the wanted distribution gives 1 − ε to the token that is written and
    spreads ε over the vocabulary (section 5.4).

    With R-Drop (Wu et al. 2021) the batch runs twice, under two dropout masks, and the two answers
    are drawn together.
    """
    if not r_drop:
        loss = F.cross_entropy(*answers(model, batch), label_smoothing=smoothing)
        return loss, loss.detach()
    twice = Batch(
        *(
            torch.cat([part, part])
            for part in (
                batch.source,
                batch.source_real,
                batch.read,
                batch.written,
                batch.target_real,
            )
        )
    )
    logits, written = answers(model, twice)
    loss = F.cross_entropy(logits, written, label_smoothing=smoothing)
    one, two = logits.chunk(2)
    return loss + r_drop * divergence(one, two), loss.detach()


@torch.no_grad()
def dev_loss(model: Transformer, batches: list[Batch], precision: str) -> float:
    """Nats a token over all batches, without smoothing or dropout."""
    model.eval()
    total, count = 0.0, 0
    for batch in batches:
        with autocast(batch.source.device, precision):
            logits, written = answers(model, batch)
        total += float(F.cross_entropy(logits, written, reduction="sum"))
        count += len(written)
    model.train()
    return total / count

"""Compares parts of a training step on a CPU with torch's own."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional as F

from bench.compare import Case
from model.train.data import TokenBatch
from model.train.loss import (
    answers,
    autocast,
    divergence,
    fast_in_bf16,
    output_loss,
    states,
    training_loss,
)
from model.transformer.regularization import Dropout
from model.transformer.stacks import Transformer


def training(model: Transformer) -> Iterator[Case]:
    """Yield the parts alone, with 1,400 target tokens; then the gradients of a small batch."""
    width = model.config.d_model
    torch.manual_seed(0)
    x = torch.randn(1400, width, requires_grad=True)
    embedding = model.embedding.weight.detach().clone().requires_grad_()
    written = torch.randint(len(embedding), (len(x),))

    def whole(r_drop: float) -> Tensor:
        return _with_torch(F.linear(x, embedding).float(), written, r_drop)

    def chunks(r_drop: float) -> Tensor:
        return output_loss(x, embedding, written, 0.1, r_drop)[0]

    def gradients(loss: Callable[[float], Tensor], r_drop: float) -> object:
        with autocast(x.device, "auto"):
            value = loss(r_drop)
        return torch.autograd.grad(value, [x, embedding])

    for name, r_drop in (("cross-entropy", 0.0), ("R-Drop's loss", 1.0)):
        yield Case(
            f"{name} and its gradients: torch's / in chunks of rows",
            partial(gradients, whole, r_drop),
            partial(gradients, chunks, r_drop),
        )
    dropped = x.detach()
    dropout = Dropout(0.1)
    yield Case(
        "dropout: a float per entry / a byte per entry",
        lambda: F.dropout(dropped, 0.1),
        lambda: dropout(dropped),
    )

    yield from _steps(model)


def _steps(model: Transformer) -> Iterator[Case]:
    """Yield gradients of 750 tokens, half source and half target: kernels and precisions."""
    ids = torch.randint(model.config.vocabulary, (25, 15))
    real = torch.ones_like(ids, dtype=torch.bool)
    batch = TokenBatch(ids, real, ids, ids, real)
    explicit, fused = (_copy(model, kernel) for kernel in ("explicit", "fused"))

    def gradients(of: Transformer, precision: str) -> None:
        of.zero_grad(set_to_none=True)
        with autocast(ids.device, precision):
            loss, _ = training_loss(of, batch, 0.1, 0.0)
        loss.backward()  # type: ignore[no-untyped-call]

    def step(loss: Callable[[], Tensor]) -> None:
        explicit.zero_grad(set_to_none=True)
        with autocast(ids.device, "auto"):
            value = loss()
        value.backward()  # type: ignore[no-untyped-call]

    def whole() -> Tensor:
        return _with_torch(*answers(explicit, twice), r_drop=1.0)

    def chunks() -> Tensor:
        x, written = states(explicit, twice)
        return output_loss(x, explicit.embedding.weight, written, 0.1, 1.0)[0]

    twice = TokenBatch(*(torch.cat([part, part]) for part in (ids, real, ids, ids, real)))
    yield Case(
        "gradients of a batch with R-Drop: torch's loss / in chunks of rows",
        partial(step, whole),
        partial(step, chunks),
    )
    for precision in ("float32", "bf16") if fast_in_bf16(ids.device) else ("float32",):
        yield Case(
            f"gradients of a batch, {precision}: fused / explicit attention",
            partial(gradients, fused, precision),
            partial(gradients, explicit, precision),
        )
    if fast_in_bf16(ids.device):
        yield Case(
            "gradients of a batch: float32 / bf16",
            partial(gradients, explicit, "float32"),
            partial(gradients, explicit, "bf16"),
        )


def _with_torch(logits: Tensor, written: Tensor, r_drop: float) -> Tensor:
    """Return the loss of logits (N, V) by torch's operations."""
    entropy = F.cross_entropy(logits, written, label_smoothing=0.1)
    return entropy + r_drop * divergence(*logits.chunk(2)) if r_drop else entropy


def _copy(model: Transformer, kernel: str) -> Transformer:
    copy = Transformer(replace(model.config, kernel=kernel))
    copy.load_state_dict(model.state_dict())
    return copy.train()

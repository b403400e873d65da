"""Finds how a model of `transformers` computes logits from the output of a stack."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn

from model.adapters.huggingface.anatomy import Anatomy
from model.adapters.huggingface.terms import FFN, Seen, Term, close, norm_of
from model.explain.stream import Norm, Stack, Stream, Sublayer

SAME = 1e-3  # of a scale


@dataclass(frozen=True, eq=False)
class Linear:
    """logits(y) = cap(y Wᵀ · scale + bias)."""

    matrix: Tensor
    bias: Tensor | None
    scale: float
    cap: float | None

    def __call__(self, y: Tensor) -> Tensor:
        """Return logits (…, V) of states (…, D)."""
        found = F.linear(y * self.scale, self.matrix, self.bias)  # nothing else of that size
        return found if self.cap is None else (found / self.cap).tanh() * self.cap


def stream_of(model: Any, anatomy: Anatomy, logits: Tensor) -> Stream | None:
    """Return a stack as a `Stream`, given the logits (N, V) of the probe; None if it is unknown."""
    ends = [None, *_ends(anatomy)]
    for end in ends:
        if linear := _linear(model, _after_end(anatomy, end), logits):
            return _stream(model, anatomy, end, linear)
    for end in ends:
        if read := _through(model, anatomy, _after_end(anatomy, end), logits):
            return _stream(model, anatomy, end, read)
    return None


def stack_of(anatomy: Anatomy) -> Stack | None:
    """Return a stack with what follows it, if all its norms are known and its output is read."""
    if not all(_summed(term) for layer in anatomy.terms for term in layer):
        return None
    end = next((one for one in anatomy.seen if one.module is anatomy.last), None)
    return Stack(
        stack=anatomy.stack,
        text=anatomy.text,
        layers=tuple(tuple(map(_sublayer, layer)) for layer in anatomy.terms),
        last=None if end is None else norm_of(end),
    )


def ends(anatomy: Anatomy) -> bool:
    """Return whether what a stack returns is its last output, through a known norm or as it is."""
    if anatomy.last is None:
        return anatomy.output.shape == anatomy.logits.shape and close(
            anatomy.output, anatomy.logits
        )
    return any(one.module is anatomy.last and norm_of(one) for one in anatomy.seen)


def _after_end(anatomy: Anatomy, end: Seen | None) -> Tensor:
    return anatomy.output if end is None else end.output


def _stream(
    model: Any, anatomy: Anatomy, end: Seen | None, read: Callable[[Tensor], Tensor]
) -> Stream:
    last = None if end is None else norm_of(end)
    head = read if isinstance(read, Linear) else None
    exact = head is not None and head.cap is None and (end is None or last is not None)
    return Stream(
        stack=anatomy.stack,
        text=anatomy.text,
        layers=tuple(tuple(map(_sublayer, layer)) for layer in anatomy.terms),
        matrix=model.get_output_embeddings().weight,
        logits=_after(None if end is None else end.module, read),
        last=last,
        bias=head.bias if head else None,
        scale=head.scale if head else 1.0,
        exact=exact and all(_known(term) for layer in anatomy.terms for term in layer),
    )


def _sublayer(term: Term) -> Sublayer:
    # A norm of the sum that is unknown stands for one, since nothing exact is computed then.
    post = term.post_norm
    if term.post is not None and post is None:
        post = Norm(term.output.weight, None, 0.0)  # type: ignore[arg-type]
    return Sublayer(term.name, term.bias, term.W_o, term.own, post)


def _known(term: Term) -> bool:
    heads = term.name == FFN or term.W_o is not None
    return heads and _summed(term)


def _summed(term: Term) -> bool:
    return term.post is None or term.post_norm is not None


def _ends(anatomy: Anatomy) -> Iterator[Seen]:
    """Yield the calls that read the last layer's output and keep its shape."""
    for one in anatomy.seen:
        same = one.read.shape == one.output.shape == anatomy.output.shape
        if same and close(one.read, anatomy.output):
            yield one


def _linear(model: Any, y: Tensor, logits: Tensor) -> Linear | None:
    out = model.get_output_embeddings()
    own = getattr(model, "final_logits_bias", None)
    bias = out.bias if getattr(out, "bias", None) is not None else own
    bias = None if bias is None or not bool(bias.any()) else bias.reshape(-1)
    cap = getattr(model.config.get_text_config(), "final_logit_softcapping", None)
    if y.shape[-1] != out.weight.shape[-1]:
        return None
    raw = y @ out.weight.T
    wanted = logits if bias is None else logits - bias
    fitted = float((wanted * raw).sum() / raw.square().sum())
    for scale, capped in ((1.0 if abs(fitted - 1) < SAME else fitted, None), (1.0, cap)):
        made = Linear(out.weight, bias, scale, capped)
        if close(made(y), logits):
            return made
    return None


def _through(
    model: Any, anatomy: Anatomy, y: Tensor, logits: Tensor
) -> Callable[[Tensor], Tensor] | None:
    """Return a head that is more than a matrix, such as that of BERT."""
    for one in anatomy.seen:
        if one.read.shape != y.shape or not close(one.read, y):
            continue
        if one.output.shape == logits.shape and close(one.output, logits):
            return _called(one.module)
        if one.output.shape == y.shape and (linear := _linear(model, one.output, logits)):
            return _after(one.module, linear)
    return None


def _called(module: nn.Module) -> Callable[[Tensor], Tensor]:
    return lambda x: module(x[None])[0]


def _after(
    module: nn.Module | None, read: Callable[[Tensor], Tensor]
) -> Callable[[Tensor], Tensor]:
    if module is None:
        return read
    return lambda x: read(module(x[None])[0])

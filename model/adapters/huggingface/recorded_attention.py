"""The attention function that `transformers` calls for a model served here, and its mask.

A model whose config names `IMPLEMENTATION` calls `attend` for every attention. The order of calls
tells which attention a call belongs to (Albert calls one module for all its layers). A context
variable holds the pass that runs on this thread, whose taps get the values: requests cannot
interfere, and nothing is stored on the shared model.

In a pass over a long text (`passing_long`) the same function hands q, k and v on unchanged, with
the mask as a rule, so that nothing of size N × M exists (`LongForward`).

On a CPU, weights replace their scores in place if nobody asks for these (`softmax_attention`). In a
large attention, scores exist for one block of rows of one head at a time, small enough for the
processor's cache, and keys that no row of a block may attend to are skipped. So each weight is
written to memory once, instead of a score, a masked score and a weight.

Shapes: B batch, H heads, G heads of keys and values, N queries, M keys, d channels.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedConfig
from transformers.masking_utils import sdpa_mask

from model.long.flash_kernels import Bias, Rule, Scored
from model.progress import during, go_on
from model.trace.record import heard
from model.trace.tensor_tap import CHANNEL, HEAD, KEY, NULL, QUERY, Tap

IMPLEMENTATION = "headlight"

KV_HEAD = "kv_head"  # a head of keys and values that several heads of queries share

SINK = "sink"  # the weight of an attention sink, which is not a token


@dataclass(frozen=True)
class Call:
    """The inputs of one attention call: q (B, H, N, d), k (B, G, M, d), v (B, G, M, d_v)."""

    module: nn.Module
    q: Tensor
    k: Tensor
    v: Tensor
    allowed: Tensor  # (B, N, M), true = may attend
    bias: Tensor | None = None  # added to the scores, such as T5's relative positions
    cap: float | None = None  # scores are cap · tanh(scores / cap)
    sink: Tensor | None = None  # (H,), a score that takes weight but has no value
    scale: float = 1.0
    window: int | None = None
    dropout: float = 0.0


class Pass(Protocol):
    """A running forward pass of a model."""

    def enter(self, call: Call) -> Tap:
        """Return the tap of the next attention."""


class LongAttentionPass(Protocol):
    """A running forward pass over one long text."""

    def attend(self, q: Tensor, k: Tensor, v: Tensor, scored: Scored) -> Tensor:
        """Return the mix (H, N, d_v) of the next attention: q (H, N, d), k and v (G, M, …)."""


_running: ContextVar[Pass | None] = ContextVar("running", default=None)

_long: ContextVar[LongAttentionPass | None] = ContextVar("long", default=None)


def passing(pass_: Pass) -> AbstractContextManager[None]:
    """Assign the attentions that are called on this thread to a pass."""
    return during(_running, pass_)


def running() -> Pass | None:
    """Return the pass that runs on this thread."""
    return _running.get()


def passing_long(pass_: LongAttentionPass) -> AbstractContextManager[None]:
    """Attentions called on this thread belong to this pass; its batches have one row."""
    return during(_long, pass_)


def attend(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    softcap: float | None = None,
    position_bias: Tensor | None = None,
    s_aux: Tensor | None = None,
    sliding_window: int | None = None,
    dropout: float = 0.0,
    **_: Any,
) -> tuple[Tensor, Tensor | None]:
    """Compute attention for the interface of `transformers`; return mix (B, N, H, d_v) and weights.

        weights = softmax(cap(q · k · scale) + bias), a fully masked row is zeros
        mix     = weights · v

    All values pass through the tap of the running pass. Dropout, in training, acts on the weights
    after they were recorded. A pass over a long text returns no weights.
    """
    go_on(query)
    scale = query.shape[-1] ** -0.5 if scaling is None else float(scaling)
    if (long := _long.get()) is not None:
        rule, bias = _rule(attention_mask, position_bias, query, key)
        scored = Scored(rule, scale, softcap, None if bias is None else Bias.of(bias[0]), s_aux)
        return long.attend(query[0], key[0], value[0], scored).transpose(0, 1)[None], None
    allowed, bias = _allowed(attention_mask, position_bias, query, key)
    dropped = dropout if module.training else 0.0
    call = Call(
        module, query, key, value, allowed, bias, softcap, s_aux, scale, sliding_window, dropped
    )
    running = _running.get()
    tap = heard(module, running.enter(call) if running else NULL)
    mix, weights = _attention(call, tap)
    return mix.transpose(1, 2).contiguous(), weights


def _attention(call: Call, tap: Tap) -> tuple[Tensor, Tensor]:
    """Return mix (B, H, N, d_v) and weights (B, H, N, M)."""
    heads, shared = call.q.shape[1], call.k.shape[1]
    kv_head = HEAD if heads == shared else KV_HEAD
    q = tap("q", call.q, (HEAD, QUERY, CHANNEL))
    whole = tap.begin(0)  # a cache returns all keys so far
    k = whole("k", call.k, (kv_head, KEY, CHANNEL))
    v = whole("v", call.v, (kv_head, KEY, CHANNEL))
    call = replace(call, q=q, k=k, v=v)
    mix, weights = (
        _without_scores(call, tap) if _needs_no_scores(call, tap) else _with_scores(call, tap)
    )
    return tap("mix", mix, (HEAD, QUERY, CHANNEL)), weights


def _needs_no_scores(call: Call, tap: Tap) -> bool:
    """Return whether nothing needs scores, and weights are a softmax of q · k · scale."""
    plain = call.cap is None and call.bias is None and call.sink is None
    exact = call.q.device.type == "cpu" and call.q.dtype == torch.float32
    return plain and exact and not torch.is_grad_enabled() and not tap.needs("scores")


def _without_scores(call: Call, tap: Tap) -> tuple[Tensor, Tensor]:
    """Return mix and weights, several times faster than with scores."""
    allowed = tap("mask", call.allowed, (QUERY, KEY))
    weights, mix = softmax_attention(call.q, call.k, call.v, allowed, call.scale)
    tapped = tap("weights", weights, (HEAD, QUERY, KEY))
    if tapped is weights and not call.dropout:
        return mix, weights
    tapped = F.dropout(tapped, call.dropout) if call.dropout else tapped
    return tapped @ _repeated(call.v, tapped.shape[1]), tapped


def _with_scores(call: Call, tap: Tap) -> tuple[Tensor, Tensor]:
    """Return mix and weights, with every value on the way."""
    heads = call.q.shape[1]
    scores = (call.q @ _repeated(call.k, heads).transpose(-1, -2)).mul_(call.scale)  # (B, H, N, M)
    if call.cap is not None:
        scores = torch.tanh(scores / call.cap) * call.cap
    if call.bias is not None:
        scores = scores + call.bias
    scores = tap("scores", scores, (HEAD, QUERY, KEY))
    allowed = tap("mask", call.allowed, (QUERY, KEY))
    if not allowed.all():
        scores = scores.masked_fill(~allowed[:, None], -torch.inf)
    weights, sunk = _softmax(scores, call.sink)
    if sunk is not None:
        tap(SINK, sunk, (HEAD, QUERY))
    weights = tap("weights", weights.to(call.q.dtype), (HEAD, QUERY, KEY))
    dropped = F.dropout(weights, call.dropout) if call.dropout else weights
    return dropped @ _repeated(call.v, heads), dropped


def _softmax(scores: Tensor, sink: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """Return weights (B, H, N, M), zero in a fully masked row, and those of the sink (B, H, N)."""
    if sink is not None:
        column = sink.reshape(1, -1, 1, 1).expand(*scores.shape[:-1], 1).to(scores.dtype)
        with_sink = torch.cat([scores, column], dim=-1).softmax(dim=-1, dtype=torch.float32)
        return with_sink[..., :-1], with_sink[..., -1]
    weights = scores.softmax(dim=-1, dtype=torch.float32)
    empty = weights[..., :1].isnan()  # of a row that is −inf throughout
    return weights.masked_fill(empty, 0) if empty.any() else weights, None


def _repeated(kv: Tensor, heads: int) -> Tensor:
    """Return keys or values (B, G, M, d) for every query head (B, H, M, d)."""
    shared = kv.shape[1]
    return kv if shared == heads else kv.repeat_interleave(heads // shared, dim=1)


def _allowed(
    mask: Tensor | None, bias: Tensor | None, query: Tensor, key: Tensor
) -> tuple[Tensor, Tensor | None]:
    """Return a mask (B, N, M), true = may attend, and the bias that is added to the scores."""
    shape = query.shape[0], query.shape[2], key.shape[2]
    if mask is None:
        return torch.ones(shape, dtype=torch.bool, device=query.device), bias
    mask = mask[..., : key.shape[2]]
    if mask.dtype == torch.bool:
        return mask[:, 0].expand(shape), bias
    # The model's own additive mask: the lowest value masks, any other value is a bias.
    hidden = mask <= torch.finfo(mask.dtype).min / 2
    added = mask.masked_fill(hidden, 0)
    if added.any():
        bias = added if bias is None else bias + added
    return ~hidden.all(dim=1).expand(shape), bias


def _rule(
    mask: Rule | Tensor | None, bias: Tensor | None, query: Tensor, key: Tensor
) -> tuple[Rule, Tensor | None]:
    """Return what may be attended to in a pass over a long text, and what is added to scores."""
    if isinstance(mask, Rule):
        return mask, bias
    if mask is None:
        return Rule.all(query.shape[2], key.shape[2], query.device), bias
    allowed, bias = _allowed(mask, bias, query, key)
    return Rule(lambda rows, keys: allowed[0, rows, keys], *allowed.shape[1:]), bias


def mask(**arguments: Any) -> Rule | Tensor | None:
    """Return a boolean mask (B, 1, N, M), always in full: `attend` has no rule of its own.

    In a pass over a long text, return the rule that the mask follows.
    """
    skips = {"allow_is_causal_skip": False, "allow_is_bidirectional_skip": False}
    make: Callable[..., Any] = partial(sdpa_mask, **{**arguments, **skips})
    if _long.get() is None:
        full: Tensor | None = make()
        return full
    first = arguments.get("q_offset", 0), arguments.get("kv_offset", 0)

    def allows(rows: slice, keys: slice) -> Tensor:
        part: Tensor = make(
            batch_size=1,
            q_length=rows.stop - rows.start,
            kv_length=keys.stop - keys.start,
            q_offset=first[0] + rows.start,
            kv_offset=first[1] + keys.start,
            attention_mask=None,  # the only row has no padding
        )
        return part[0, 0]

    return Rule(allows, arguments["q_length"], arguments["kv_length"])


def register() -> None:
    """Register `attend` and `mask`; without the mask, `transformers` silently uses none."""
    AttentionInterface.register(IMPLEMENTATION, attend)
    AttentionMaskInterface.register(IMPLEMENTATION, mask)


def shared_copy(model: Any) -> Any:
    """Return copies of the modules, in evaluation mode and with their own config.

    They share every parameter and buffer; hooks on them do not concern the model.
    """
    register()
    tensors: list[Tensor] = [*model.parameters(), *model.buffers()]
    for part in model.modules():
        tensors += [value for value in vars(part).values() if isinstance(value, Tensor)]
    copied = copy.deepcopy(model, {id(tensor): tensor for tensor in tensors})
    for config in configs(copied):
        restore_class(config)
        config.use_cache = False  # every pass reads the whole text
    return copied.eval()


def configs(model: nn.Module) -> list[Any]:
    """Return the configs of a model and its parts, each once."""
    configs = (getattr(part, "config", None) for part in model.modules())
    distinct = {id(config): config for config in configs if isinstance(config, PreTrainedConfig)}
    return list(distinct.values())


def restore_class(config: Any) -> None:
    """Restore the original class of a config that names `IMPLEMENTATION` while it is recorded."""
    config.__class__ = getattr(config, "unwatched", type(config))


LARGE = 1 << 16  # weights of a head; with fewer, computing all heads at once is as fast

CACHED = 1 << 18  # scores of a block that hides nothing, 1 MB

BLOCK = 128  # rows of a block that hides some keys: the fewer rows, the more keys to skip


def softmax_attention(
    q: Tensor, k: Tensor, v: Tensor, allowed: Tensor, scale: float
) -> tuple[Tensor, Tensor]:
    """Return weights (B, H, N, M) and mix (B, H, N, d_v) in float32, without gradients.

        weights = softmax(q · k · scale), a fully masked row is zeros
        mix     = weights · v

    q (B, H, N, d), k (B, G, M, d), v (B, G, M, d_v), allowed (B, N, M), true = may attend.
    """
    compute = _in_blocks if q.shape[2] * k.shape[2] >= LARGE else _at_once
    return compute(q, k, v, allowed, scale)


def _at_once(
    q: Tensor, k: Tensor, v: Tensor, allowed: Tensor, scale: float
) -> tuple[Tensor, Tensor]:
    shape = *q.shape[:3], k.shape[2]
    group = q.shape[1] // k.shape[1]
    q, k, v = (
        tensor.repeat_interleave(times, dim=1).flatten(0, 1) if times > 1 else tensor.flatten(0, 1)
        for tensor, times in ((q, 1), (k, group), (v, group))
    )
    weights = q.new_empty(len(q), *shape[2:])
    torch.baddbmm(weights, q, k.mT, beta=0, alpha=scale, out=weights)
    full = weights.view(shape)
    if not (mask := allowed.numpy()).all():
        full.masked_fill_(~allowed[:, None], -torch.inf)
    torch.softmax(weights, -1, out=weights)
    if not mask.any(axis=-1).all():
        full.masked_fill_(~allowed.any(-1)[:, None, :, None], 0)
    return full, (weights @ v).view(*shape[:3], -1)


def _in_blocks(
    q: Tensor, k: Tensor, v: Tensor, allowed: Tensor, scale: float
) -> tuple[Tensor, Tensor]:
    (batch, heads, queries, _), keys = q.shape, k.shape[2]
    group = heads // k.shape[1]
    # NumPy asks for large pages, and they come zeroed: masked weights need no write.
    weights = torch.from_numpy(np.zeros((batch, heads, queries, keys), np.float32))
    mix = q.new_zeros(batch, heads, queries, v.shape[3])
    scratch = q.new_empty(max(CACHED, BLOCK * keys))
    for row in range(batch):
        blocks = list(_blocks(allowed[row]))
        for head in range(heads):
            of_k, of_v = k[row, head // group], v[row, head // group]
            for block in blocks:
                cell = row, head, block.rows
                block_weights = weights[cell][:, block.keys]
                block.write(block_weights, q[cell], of_k[block.keys], scale, scratch)
                torch.mm(block_weights, of_v[block.keys], out=mix[cell])
    return weights, mix


@dataclass(frozen=True)
class Block:
    """A range of rows, the range of keys that any of them may attend to, and what they may not."""

    rows: slice
    keys: slice
    partly: slice  # of these keys: the range of those hidden from some row
    hidden: Tensor  # (rows, partly), true = may not attend
    empty: Tensor | None  # (rows, 1), true = may not attend to any key; None: there is no such row

    def write(self, weights: Tensor, q: Tensor, k: Tensor, scale: float, scratch: Tensor) -> None:
        """Write the weights (rows, keys) of queries (rows, d) and keys (keys, d)."""
        scores = scratch[: weights.numel()].view(weights.shape)
        torch.addmm(scores, q, k.T, beta=0, alpha=scale, out=scores)
        scores[:, self.partly].masked_fill_(self.hidden, -torch.inf)
        torch.softmax(scores, -1, out=weights)
        if self.empty is not None:
            weights.masked_fill_(self.empty, 0)


def _blocks(allowed: Tensor) -> Iterator[Block]:
    """Yield the blocks of a mask (N, M), without those whose rows may not attend to any key."""
    mask: NDArray[np.bool_] = allowed.numpy()
    step = max(BLOCK, CACHED // mask.shape[1]) if mask.all() else BLOCK
    for start in range(0, len(mask), step):
        part = mask[start : start + step]
        (visible,) = np.nonzero(part.any(axis=0))
        if not len(visible):
            continue
        keys = slice(int(visible[0]), int(visible[-1]) + 1)
        (hidden,) = np.nonzero(~part[:, keys].all(axis=0))
        partly = slice(int(hidden[0]), int(hidden[-1]) + 1) if len(hidden) else slice(0, 0)
        empty = ~part.any(axis=1, keepdims=True)
        yield Block(
            slice(start, start + len(part)),
            keys,
            partly,
            torch.from_numpy(~part[:, keys][:, partly]),
            torch.from_numpy(empty) if empty.any() else None,
        )

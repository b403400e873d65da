"""What an attention adds to the logits directly: past all later layers, through their norms.

Every norm is linear if its σ is fixed at that of the run, so a term of the residual stream can be
followed to the end of its stack:

    past a sublayer     t
    through a norm      t ← γ ⊙ (t − mean(t)) / σ (RMSNorm: γ ⊙ t / rms)

The value of one key through W_O is such a term. Multiplied by its weight and summed over the keys,
it is the head's contribution to a logit (`model.explain.logit_lens.contributions`).

Source: OV circuits and direct effects, Elhage et al. 2021, "A Mathematical Framework for
Transformer Circuits".

Shapes: H heads, K key heads, N queries, M keys, D features, d channels of a value.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from model.explain.residual_stream import Stack
from model.trace.attentions import AttentionInfo

Tensors = Mapping[str, Tensor]


def reads(stack: Stack, attention: AttentionInfo) -> set[str]:
    """Return the tensors to record for `carried`; none if the attention is not in the stack."""
    if attention.stack != stack.stack:
        return set()
    names = {f"{attention.place}.v"}
    for layer in range(attention.layer, len(stack.layers)):
        for sublayer in stack.layers[layer]:
            place = f"{stack.stack}.{layer}.{sublayer.name}"
            names |= {f"{place}.residual"} if sublayer.post else set()
            names |= {f"{place}.{sublayer.read}"} if sublayer.own else set()
    if stack.last is not None:
        names.add(stack.output(len(stack.layers) - 1))
    return names


@torch.no_grad()
def carried(
    stack: Stack, attention: AttentionInfo, run: Tensors, keys: Tensor, queries: slice
) -> Tensor:
    """Return what the value of one key in each row is at the end of the stack (H, N, D), float64.

    `keys` (H, N) are the keys, one for each head and row of `queries`. Each value is taken with a
    weight of 1. `run` has the tensors of `reads`.
    """
    names = [sublayer.name for sublayer in stack.layers[attention.layer]]
    index = names.index(attention.kind)
    sublayer = stack.layers[attention.layer][index]
    assert sublayer.W_o is not None
    values = run[f"{attention.place}.v"]  # (K, M, d)
    values = values.repeat_interleave(attention.heads // len(values), dim=0).double()
    chosen = values.gather(1, keys[..., None].expand(-1, -1, values.shape[-1]))  # (H, N, d)
    by_head = sublayer.W_o.detach().double().reshape(attention.heads, values.shape[-1], -1)
    term = chosen @ by_head  # (H, N, D)
    if sublayer.own is not None:
        term = sublayer.own.after(term, run[f"{attention.place}.{sublayer.read}"][queries])
    for layer in range(attention.layer, len(stack.layers)):
        for later in stack.layers[layer][index if layer == attention.layer else 0 :]:
            if later.post is not None:
                read = run[f"{stack.stack}.{layer}.{later.name}.residual"][queries]
                term = later.post.after(term, read)
    if stack.last is not None:
        term = stack.last.after(term, run[stack.output(len(stack.layers) - 1)][queries])
    return term

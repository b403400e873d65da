"""Checks that a text gets the same numbers alone as beside a longer one.

In a batch, a text is padded to the length of the longest. Attention masks padding, but what mixes
positions outside attention (a convolution, a Fourier transform, a pooling) reads it like any other
token. Such a model answers one text at a time.

The check costs two passes over a few tokens when a model is opened.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from model.adapters.huggingface.forward import Forward, batch
from model.adapters.huggingface.probing import agree
from model.adapters.huggingface.refusals import own_attention, told
from model.trace.tensor_tap import WEIGHTS, BatchTap, Recorder

SHORT, LONG = 5, 12  # tokens of the two texts
Numbers = dict[str, Tensor]


@torch.inference_mode()
def mixes_positions(forward: Forward, ids: Tensor, pad: int) -> bool:
    """Return whether the first of `ids` (12,) have other numbers beside all of them than alone.

    Raises `RefusalError` if they have no weights that sum to 1.
    """
    long = ids.tolist()
    alone = _alone(forward, long[:SHORT], pad)
    for one in forward.layout.attentions:
        if one.place not in forward.layout.sinks and not _sum_to_1(alone[f"{one.place}{WEIGHTS}"]):
            raise own_attention(forward.model, "reports numbers that do not sum to 1")
    try:
        beside = _numbers(forward, [long[:SHORT], long], pad)
    except Exception:  # it takes no batch
        _alone(forward, long, pad)
        return True
    dtype = forward.model.dtype
    return not all(agree(value, beside[name], dtype) for name, value in alone.items())


def _alone(forward: Forward, row: Sequence[int], pad: int) -> Numbers:
    try:
        return _numbers(forward, [row], pad)
    except Exception as error:
        reason = f"fails for {len(row)} tokens with {told(error)}"
        raise own_attention(forward.model, reason) from error


def _numbers(forward: Forward, rows: Sequence[Sequence[int]], pad: int) -> Numbers:
    """Return the weights and the output of the first row of a batch."""
    infos = forward.layout.attentions
    texts = {text for one in infos for text in one.over.values()}
    names = {f"{one.place}{WEIGHTS}" for one in infos}
    own = [len(row) for row in rows]
    recorders = [Recorder(names, dict.fromkeys(texts, length)) for length in own]
    ids, real = batch(rows, own, pad, forward.model.device)
    tap = BatchTap(recorders)
    if forward.model.config.is_encoder_decoder:
        output = forward.decode(forward.encode(ids, real, tap), ids, real, tap)
    else:
        output = forward.read(ids, real, tap)
    weights = {name: tensor.value for name, tensor in recorders[0].tensors.items()}
    return {**weights, "output": output[0, : own[0]].float().cpu()}


def _sum_to_1(weights: Tensor) -> bool:
    sums = weights.float().sum(-1)
    return bool((weights >= 0).all()) and torch.allclose(sums, torch.ones_like(sums), atol=1e-2)

"""The lab's steps after attention: residuals, norms, the feed-forward, the loss."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from model.lab.compute import compute
from model.lab.lab_request import LabRequest
from model.train.loss import output_loss
from tests.model.lab_numbers import IDENTITY, SIMPLE, Drawn, close, tensor


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_a_layer_as_torch_module(norm: Any) -> None:
    drawn, width, hidden = Drawn(5), 6, 9
    w = {name: drawn(width, width) for name in "qkvo"}
    w_1, w_2, b_1, b_2 = drawn(width, hidden), drawn(hidden, width), drawn(hidden), drawn(width)
    gains = [drawn(width) for _ in range(4)]
    theirs = nn.TransformerEncoderLayer(
        width, 2, hidden, 0.0, batch_first=True, norm_first=norm == "pre", dtype=torch.float64
    )
    with torch.no_grad():
        theirs.self_attn.in_proj_weight.copy_(torch.cat([tensor(w[name]).T for name in "qkv"]))
        theirs.self_attn.out_proj.weight.copy_(tensor(w["o"]).T)
        for part, value in (
            (theirs.linear1.weight, tensor(w_1).T),
            (theirs.linear1.bias, tensor(b_1)),
            (theirs.linear2.weight, tensor(w_2).T),
            (theirs.linear2.bias, tensor(b_2)),
            (theirs.norm1.weight, tensor(gains[0])),
            (theirs.norm1.bias, tensor(gains[1])),
            (theirs.norm2.weight, tensor(gains[2])),
            (theirs.norm2.bias, tensor(gains[3])),
        ):
            part.copy_(value)
        x = drawn(4, width)
        expected = theirs(tensor(x)[None])[0]
    found = compute(
        LabRequest(
            x, w["q"], w["k"], w["v"], w_o=w["o"], heads=2, norm=norm, gamma=gains[0],
            beta=gains[1], w_1=w_1, b_1=b_1, w_2=w_2, b_2=b_2, ffn_gamma=gains[2],
            ffn_beta=gains[3],
        )
    )  # fmt: skip
    last = "ffn.norm" if norm == "post" else "ffn.residual"
    close(found[last], expected)


def test_a_residual_without_a_norm_is_a_sum() -> None:
    found = compute(replace(SIMPLE, residual=True, w_1=IDENTITY, w_2=IDENTITY))
    close(found["residual"], found["output"] + IDENTITY)
    close(found["ffn.residual"], found["ffn.output"] + found["residual"])
    assert not {"norm", "ffn.norm"} & set(found.steps)
    bare = compute(replace(SIMPLE, w_1=IDENTITY, w_2=IDENTITY))
    close(bare["ffn.output"], np.maximum(bare["output"], 0))
    assert "residual" not in bare.steps


@pytest.mark.parametrize("shift", [True, False])
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 1.0])
def test_the_loss(shift: bool, smoothing: float) -> None:
    drawn, targets = Drawn(9), [4, 0, 2, 2]
    asked = LabRequest(
        drawn(4, 3), IDENTITY, IDENTITY, IDENTITY, w_vocab=drawn(3, 5), targets=targets,
        shift=shift, label_smoothing=smoothing,
    )  # fmt: skip
    found = compute(asked)
    logits = tensor(found["output"]) @ tensor(asked.w_vocab)
    close(found["logits"], logits)
    close(found["probabilities"], logits.softmax(-1))
    rows, ids = (logits[:-1], targets[1:]) if shift else (logits, targets)
    losses = F.cross_entropy(rows, torch.tensor(ids), label_smoothing=smoothing, reduction="none")
    close(found["losses"], losses)
    close(found["loss"], losses.mean())
    vocabulary = tensor(asked.w_vocab).T
    outputs = tensor(found["output"])[: len(rows)]
    close(found["loss"], output_loss(outputs, vocabulary, torch.tensor(ids), smoothing)[0])
    close(-(tensor(found["wanted"]) * rows.log_softmax(-1)).sum(-1).numpy(), losses)
    assert found.steps["loss"].dims == ()


def test_epsilon_is_added_to_the_variance() -> None:
    found = compute(replace(SIMPLE, norm="post", epsilon=0.5, w_1=IDENTITY, w_2=IDENTITY))
    for place in ("", "ffn."):
        expected = F.layer_norm(tensor(found[f"{place}residual"]), (3,), eps=0.5)
        close(found[f"{place}norm"], expected)


@pytest.mark.parametrize("epsilon", [1e-5, 0.5])
def test_pre_norm_ends_in_a_norm(epsilon: float) -> None:
    targets = [0, 2, 1]
    found = compute(replace(SIMPLE, norm="pre", epsilon=epsilon, w_vocab=IDENTITY, targets=targets))
    expected = F.layer_norm(tensor(found["residual"]), (3,), eps=epsilon)
    close(found["final.norm"], expected)
    close(found["logits"], expected)
    close(found["loss"], F.cross_entropy(expected[:-1], torch.tensor(targets[1:])))


def test_the_last_norm_of_a_layer_that_adds_nothing() -> None:
    eye, zeros = [[1, 0], [0, 1]], [[0, 0], [0, 0]]
    asked = LabRequest([[1, 0], [0, 3]], eye, eye, zeros, norm="pre", epsilon=0.5, w_vocab=eye)
    first, second = 0.5 / 0.75**0.5, 1.5 / 2.75**0.5  # distance from the mean / √(variance + ε)
    close(compute(asked)["logits"], [[first, -first], [-second, second]])

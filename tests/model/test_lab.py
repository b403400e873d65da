"""The lab's attention against numbers computed by hand, and against torch's own modules."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.lab.compute import compute
from model.lab.lab_request import LabRequest, Matrix, Relative
from tests.model.lab_numbers import IDENTITY, SIMPLE, Drawn, close, tensor

SIZES = [(1, 1, 1, 1), (3, 3, 2, 2), (8, 8, 4, 2), (5, 7, 12, 3), (64, 64, 64, 8)]


def test_the_identity_example_by_hand() -> None:
    """Three unit vectors as tokens: a score is 1/√3 with itself, else 0."""
    found = compute(SIMPLE)
    own, other = math.exp(1 / math.sqrt(3)), 1.0
    total = own + 2 * other
    expected = [[(own if i == j else other) / total for j in range(3)] for i in range(3)]
    close(found["products"][0], IDENTITY)
    close(found["scores"][0], np.array(IDENTITY) / math.sqrt(3))
    close(found["weights"][0], expected)
    close(found["output"], expected)
    assert found["weights"][0][0] == pytest.approx([0.4711, 0.2645, 0.2645], abs=5e-5)
    assert found.steps["weights"].dims == ("head", "query", "key")
    assert found["weights"].dtype == np.float64


def test_unscaled_and_causal_by_hand() -> None:
    found = compute(replace(SIMPLE, scoring="dot", mask="causal"))
    e = math.e
    close(found["weights"][0][0], [1, 0, 0])
    close(found["weights"][0][1], [1 / (1 + e), e / (1 + e), 0])
    close(found["weights"][0][2], [1 / (2 + e), 1 / (2 + e), e / (2 + e)])
    assert found["mask"].tolist() == np.tri(3).astype(bool).tolist()
    assert "products" not in found.steps


@pytest.mark.parametrize(("queries", "keys", "width", "heads"), SIZES)
@pytest.mark.parametrize("causal", [False, True])
def test_as_scaled_dot_product_attention(
    queries: int, keys: int, width: int, heads: int, causal: bool
) -> None:
    """The sizes of x, memory, q and v all differ."""
    drawn = Drawn(queries + keys)
    x, memory = drawn(queries, 3), drawn(keys, 5)
    w_q, w_k, w_v = drawn(3, width), drawn(5, width), drawn(5, 2 * heads)
    asked = LabRequest(x, w_q, w_k, w_v, memory=memory, heads=heads)
    if causal:
        asked = replace(asked, mask="causal")

    def split(value: Tensor) -> Tensor:
        return value.view(len(value), heads, -1).transpose(0, 1)

    q, k = split(tensor(x) @ tensor(w_q)), split(tensor(memory) @ tensor(w_k))
    v = split(tensor(memory) @ tensor(w_v))
    allowed = torch.ones(queries, keys).tril().bool() if causal else None
    mix = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    found = compute(asked)
    for name, expected in (("q", q), ("k", k), ("v", v), ("mix", mix)):
        close(found[name], expected)
    close(found["output"], mix.transpose(0, 1).flatten(1))
    close(found["concat"], found["output"])


@pytest.mark.parametrize(("queries", "keys", "width", "heads"), SIZES)
def test_as_torch_module(queries: int, keys: int, width: int, heads: int) -> None:
    """Compare with torch's module, with all biases, W_O and padding, and weights per head."""
    drawn = Drawn(width)
    x, memory = drawn(queries, width), drawn(keys, width)
    w = {name: drawn(width, width) for name in "qkvo"}
    b = {name: drawn(width) for name in "qkvo"}
    padding = [n % 3 == 2 for n in range(keys)]
    theirs = nn.MultiheadAttention(width, heads, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([tensor(w[name]).T for name in "qkv"]))
        theirs.in_proj_bias.copy_(torch.cat([tensor(b[name]) for name in "qkv"]))
        theirs.out_proj.weight.copy_(tensor(w["o"]).T)
        theirs.out_proj.bias.copy_(tensor(b["o"]))
        looked_at = tensor(memory)[None]
        output, weights = theirs(
            tensor(x)[None],
            looked_at,
            looked_at,
            key_padding_mask=torch.tensor(padding)[None],
            average_attn_weights=False,
        )
    asked = LabRequest(
        x, w["q"], w["k"], w["v"], memory=memory, w_o=w["o"], heads=heads, padding=padding,
        b_q=b["q"], b_k=b["k"], b_v=b["v"], b_o=b["o"],
    )  # fmt: skip
    found = compute(asked)
    close(found["weights"], weights[0])
    close(found["output"], output[0])


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("bias", [True, False])
def test_additive(shared: bool, bias: bool) -> None:
    drawn = Drawn(7)
    heads, d_k = 2, 3
    x, w_q, w_k, w_v = drawn(4, 5), drawn(5, 6), drawn(5, 6), drawn(5, 6)
    w, b = drawn(d_k if shared else heads * d_k), drawn(d_k if shared else heads * d_k)
    asked = LabRequest(x, w_q, w_k, w_v, heads=heads, scoring="additive", w=w)
    found = compute(replace(asked, b=b) if bias else asked)
    q, k = np.array(x) @ w_q, np.array(x) @ w_k
    for head in range(heads):
        own = slice(head * d_k, (head + 1) * d_k)
        w_own, b_own = (np.array(one if shared else one[own]) for one in (w, b))
        for i in range(4):
            for j in range(4):
                sums = q[i, own] + k[j, own] + (b_own if bias else 0)
                close(found["scores"][head, i, j], np.tanh(sums) @ w_own)
    scores = np.exp(found["scores"])
    close(found["weights"], scores / scores.sum(-1, keepdims=True))


def test_a_column_is_the_transpose_of_a_row() -> None:
    drawn = Drawn(3)

    def turned(matrix: Matrix) -> Any:
        return np.array(matrix).T.tolist()

    row = LabRequest(
        drawn(5, 4), drawn(4, 6), drawn(4, 6), drawn(4, 4), w_o=drawn(4, 4), heads=2,
        b_q=drawn(6), mask="causal-window", window=2, relative=Relative(add={"-1": 0.5}),
        norm="post", gamma=drawn(4), w_1=drawn(4, 7), b_1=drawn(7), w_2=drawn(7, 4),
        w_vocab=drawn(4, 9), targets=[1, 2, 3, 4, 8], label_smoothing=0.1,
    )  # fmt: skip
    names = ("x", "w_q", "w_k", "w_v", "w_o", "w_1", "w_2", "w_vocab")
    matrices = {name: turned(getattr(row, name)) for name in names}
    column = compute(replace(row, convention="column", **matrices))
    expected = compute(row)
    assert list(column.steps) == list(expected.steps)
    for name, step in expected.steps.items():
        swapped = step.value if len(step.dims) < 2 else step.value.swapaxes(-1, -2)
        close(column[name], swapped)
        *others, last = step.dims or ("",)
        turned_dims = (*others[:-1], last, others[-1]) if others else step.dims
        assert column.steps[name].dims == turned_dims
    close(
        column["q"][0], np.array(matrices["w_q"])[:3] @ matrices["x"] + np.array(row.b_q)[:3, None]
    )


@pytest.mark.parametrize(
    ("mask", "window", "rows"),
    [
        (None, None, ["1111", "1111", "1111", "1111"]),
        ("causal", None, ["1000", "1100", "1110", "1111"]),
        ("window", 2, ["1100", "1110", "0111", "0011"]),
        ("causal-window", 2, ["1000", "1100", "0110", "0011"]),
    ],
)
@pytest.mark.parametrize("padded", [False, True])
def test_masks(mask: Any, window: int | None, rows: list[str], padded: bool) -> None:
    drawn = Drawn(1)
    x, w = drawn(4, 3), IDENTITY
    padding = [True, False, False, False] if padded else None
    found = compute(LabRequest(x, w, w, w, mask=mask, window=window, padding=padding))
    allowed = np.array([[one == "1" for one in row] for row in rows])
    if padded:
        allowed[:, 0] = False
    assert found["mask"].tolist() == allowed.tolist()
    scores = np.where(allowed, np.exp(found["scores"][0]), 0)
    total = scores.sum(-1, keepdims=True)
    close(found["weights"][0], np.divide(scores, total, out=np.zeros_like(scores), where=total > 0))


def test_relative_positions() -> None:
    drawn = Drawn(2)
    asked = LabRequest(drawn(4, 3), IDENTITY, IDENTITY, IDENTITY, heads=1)
    plain = compute(asked)["scores"][0]
    pi = {"-2": 0.25, "-1": 0.5, "0": -1.0, "1": 3.0}
    offsets = np.arange(4)[None] - np.arange(4)[:, None]
    for kind, neutral in (("add", 0.0), ("multiply", 1.0)):
        table = np.vectorize(lambda d, neutral=neutral: pi.get(str(d), neutral))(offsets)
        relative = Relative(add=pi) if kind == "add" else Relative(multiply=pi)
        found = compute(replace(asked, relative=relative))
        close(found["position"], table)
        close(found["scored"][0], plain)
        close(found["scores"][0], plain + table if kind == "add" else plain * table)
    clipped = compute(replace(asked, relative=Relative(add=pi, clip=1)))
    expected = np.select([offsets < 0, offsets == 0], [0.5, -1.0], 3.0)
    close(clipped["position"], expected)


@pytest.mark.parametrize("width", [1, 3, 8])
def test_positions_are_added_first(width: int) -> None:
    drawn = Drawn(width)
    x, w = drawn(5, width), drawn(width, 4)
    asked = LabRequest(x, w, w, w, w_o=drawn(4, width), residual=True)
    table = [
        [(math.sin, math.cos)[f % 2](pos / 10000 ** ((f - f % 2) / width)) for f in range(width)]
        for pos in range(5)
    ]
    found = compute(replace(asked, positions="sinusoidal"))
    expected = compute(replace(asked, x=(np.array(x) + table).tolist()))
    close(found["encoding"], table)
    close(found["input"], np.array(x) + table)
    for name in expected.steps:
        close(found[name], expected[name])
    assert list(found.steps)[:3] == ["encoding", "input", "q"]


def test_a_positional_encoding_by_hand() -> None:
    """Check PE(1, ·) of eight features: the third is sin(1/10), not sin(1/10000)."""
    eight = [[0.0] * 8] * 2
    found = compute(
        LabRequest(eight, eight[:1] * 8, eight[:1] * 8, eight[:1] * 8, positions="sinusoidal")
    )
    expected = [0.8415, 0.5403, 0.0998, 0.9950, 0.0100, 1.0000, 0.0010, 1.0000]
    assert found["input"][1] == pytest.approx(expected, abs=5e-5)


def test_a_note_s_example_by_hand() -> None:
    """Check row 2, whose scores are 0, 1, 1: weights are 1 : e : e, not .2119, .3940, .3940."""
    identity = [[1.0, 0.0], [0.0, 1.0]]
    found = compute(
        LabRequest([*identity, [1.0, 1.0]], identity, identity, identity, scoring="dot")
    )
    weights = [[0.4223, 0.1554, 0.4223], [0.1554, 0.4223, 0.4223], [0.2119, 0.2119, 0.5761]]
    np.testing.assert_allclose(found["weights"][0], weights, atol=5e-5)
    outputs = [[0.8446, 0.5777], [0.5777, 0.8446], [0.7881, 0.7881]]
    np.testing.assert_allclose(found["output"], outputs, atol=5e-5)


def test_a_row_that_may_look_nowhere_is_zero() -> None:
    found = compute(replace(SIMPLE, padding=[True, True, True]))
    assert not found["weights"].any()
    assert not found["output"].any()

"""The lab's steps against numbers computed by hand, and against torch's own modules."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from model.errors import InputError
from model.lab.compute import compute
from model.lab.request import LabRequest, Matrix, Relative
from model.transformer.cross_entropy import cross_entropy

IDENTITY = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
SIMPLE = LabRequest(IDENTITY, IDENTITY, IDENTITY, IDENTITY)
SIZES = [(1, 1, 1, 1), (3, 3, 2, 2), (8, 8, 4, 2), (5, 7, 12, 3), (64, 64, 64, 8)]


class Drawn:
    """Random matrices of one seed."""

    def __init__(self, seed: int) -> None:
        self.generator = torch.Generator().manual_seed(seed)

    def __call__(self, *shape: int) -> Any:
        return torch.randn(*shape, generator=self.generator, dtype=torch.float64).tolist()


def tensor(values: Any) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def close(found: NDArray[Any], expected: Any) -> None:
    np.testing.assert_allclose(found, np.asarray(expected), atol=1e-11, rtol=1e-10)


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
    close(found["loss"], cross_entropy(outputs, vocabulary, torch.tensor(ids), smoothing))
    close(-(tensor(found["wanted"]) * rows.log_softmax(-1)).sum(-1).numpy(), losses)
    assert found.steps["loss"].dims == ()


def test_epsilon_is_added_to_the_variance() -> None:
    found = compute(replace(SIMPLE, norm="post", epsilon=0.5, w_1=IDENTITY, w_2=IDENTITY))
    for place in ("", "ffn."):
        expected = F.layer_norm(tensor(found[f"{place}residual"]), (3,), eps=0.5)
        close(found[f"{place}norm"], expected)


def test_pre_norm_ends_in_a_norm() -> None:
    found = compute(replace(SIMPLE, norm="pre", w_vocab=IDENTITY))
    close(found["final.norm"], F.layer_norm(tensor(found["residual"]), (3,)))
    close(found["logits"], found["final.norm"])


def test_a_row_that_may_look_nowhere_is_zero() -> None:
    found = compute(replace(SIMPLE, padding=[True, True, True]))
    assert not found["weights"].any()
    assert not found["output"].any()


MEMORY = [[1.0, 2.0], [3.0, 4.0]]
WRONG: list[tuple[dict[str, Any], str, str, str]] = [
    # request, kind, field, detail
    ({"x": []}, "too-short", "x", "x has no rows; it must have at least 1"),
    ({"x": [[]]}, "too-short", "x[0]", r"x\[0\] \(row 1\) has no numbers"),
    ({"x": 3}, "wrong-type", "x", "x must be a list of rows"),
    ({"x": ["abc"]}, "wrong-type", "x[0]", r"\(row 1\) must be a list of numbers"),
    ({"x": [[1.0]] * 65}, "too-long", "x", "x may have at most 64 rows, not 65"),
    ({"w_v": [[1.0] * 65] * 3}, "too-long", "w_v[0]", "may have at most 64 numbers, not 65"),
    ({"w_q": [[1.0, 2.0], [3.0]]}, "ragged", "w_q[1]", r"\(row 2\) has 1 number, row 1 has 2"),
    ({"w_q": [[1.0, "a"]]}, "wrong-type", "w_q[0][1]", r"\(row 1, column 2\) .* not text"),
    ({"w_q": [[1.0, True]]}, "wrong-type", "w_q[0][1]", "not true or false"),
    ({"w_q": [[None]]}, "wrong-type", "w_q[0][0]", "not nothing"),
    ({"w_k": [[math.nan]]}, "not-finite", "w_k[0][0]", "row 1, column 1.* not nan"),
    ({"w_k": [[1.0], [-math.inf]]}, "not-finite", "w_k[1][0]", "row 2, column 1.* not -inf"),
    ({"w_k": [[2e6]]}, "out-of-range", "w_k[0][0]", "from -1000000 to 1000000, not 2e\\+06"),
    ({"w_k": [[10**400]]}, "out-of-range", "w_k[0][0]", "not one of more than 300 digits"),
    ({"b_q": [1.0, math.nan]}, "not-finite", "b_q[1]", r"\(column 2\) must be a finite number"),
    ({"w_q": MEMORY}, "does-not-fit", "w_q", "w_q has 2 rows, but x has 3 columns"),
    ({"memory": MEMORY}, "does-not-fit", "w_k", "w_k has 3 rows, but memory has 2 columns"),
    ({"w_k": [[1.0]] * 3}, "does-not-fit", "w_k", "w_k has 1 column, but w_q has 3 columns"),
    ({"heads": 2}, "does-not-fit", "heads", "3 columns, which 2 heads cannot share"),
    ({"w_o": MEMORY}, "does-not-fit", "w_o", "w_o has 2 rows, but w_v has 3 columns"),
    ({"b_o": [1.0]}, "missing", "w_o", "b_o needs w_o"),
    ({"b_k": [1.0]}, "does-not-fit", "b_k", "b_k has 1 number; w_k needs 3"),
    ({"scoring": "additive"}, "missing", "w", "additive scoring needs w"),
    ({"scoring": "additive", "w": [1.0]}, "does-not-fit", "w", "w has 1 number, not 3"),
    ({"w": [1.0]}, "does-not-fit", "w", "w belongs to additive scoring, not to scaled"),
    ({"mask": "window"}, "missing", "window", "mask window needs window"),
    ({"padding": [False]}, "does-not-fit", "padding", "padding has 1 number; .* needs 3"),
    ({"padding": [0, 0, 0]}, "wrong-type", "padding[0]", "must be true or false"),
    ({"relative": Relative()}, "missing", "relative", "one of add and multiply"),
    ({"relative": Relative(add={"x": 1.0})}, "out-of-range", "relative.add", "whole number from"),
    ({"relative": Relative(add={"1" * 5000: 1.0})}, "out-of-range", "relative.add", "63"),
    ({"relative": Relative(multiply={"64": 1.0})}, "out-of-range", "relative.multiply", "63"),
    ({"relative": Relative(add={"1": math.inf})}, "not-finite", "relative.add", "offset 1"),
    ({"w_o": [[1.0]] * 3, "residual": True}, "does-not-fit", "residual", "1 features to the 3"),
    ({"gamma": [1.0] * 3}, "missing", "norm", "gamma needs norm"),
    ({"norm": "post", "beta": [1.0]}, "does-not-fit", "beta", "beta has 1 number"),
    ({"w_1": IDENTITY}, "missing", "w_2", "w_1 needs w_2"),
    ({"b_2": [1.0]}, "missing", "w_2", "b_2 needs w_2"),
    ({"w_1": MEMORY, "w_2": MEMORY}, "does-not-fit", "w_1", "w_1 has 2 rows; it multiplies 3"),
    ({"w_1": IDENTITY, "w_2": MEMORY}, "does-not-fit", "w_2", "w_2 has 2 rows, but w_1 has 3"),
    ({"w_1": IDENTITY, "w_2": [[1.0]] * 3, "residual": True}, "does-not-fit", "w_2", "added to 3"),
    ({"w_vocab": MEMORY}, "does-not-fit", "w_vocab", "w_vocab has 2 rows; .* 3 features"),
    ({"targets": [0, 1, 2]}, "missing", "w_vocab", "targets needs w_vocab"),
    ({"targets": [0], "w_vocab": IDENTITY}, "does-not-fit", "targets", "targets has 1 number"),
    ({"targets": [0, 1.0, 0], "w_vocab": IDENTITY}, "wrong-type", "targets[1]", "whole number"),
    ({"targets": [0, 3, 0], "w_vocab": IDENTITY}, "out-of-range", "targets[1]", "from 0 to 2"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "kind", "field", "detail"), WRONG)
def test_errors_name_the_field(changes: dict[str, Any], kind: str, field: str, detail: str) -> None:
    with pytest.raises(InputError, match=detail) as caught:
        compute(replace(SIMPLE, **changes))
    assert (caught.value.kind, caught.value.field) == (kind, field)
    assert field in caught.value.detail


def test_what_is_wrong_is_named_in_the_convention() -> None:
    with pytest.raises(InputError, match="w_q has 2 columns, but x has 3 rows"):
        compute(replace(SIMPLE, w_q=MEMORY, convention="column"))
    one = replace(SIMPLE, x=[[1.0, 0.0, 0.0]], w_vocab=IDENTITY, targets=[0])
    with pytest.raises(InputError, match="shifted targets need at least 2"):
        compute(one)

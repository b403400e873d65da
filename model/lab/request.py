"""Requests to the lab: matrices as nested lists, and the parts that use them.

In the row convention `x` is tokens × features and matrices multiply from the right, x W; in the
column convention `x` is features × tokens and they multiply from the left, W x: each matrix is
transposed. Vectors are the same in both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from annotated_types import Interval

from model.number_ranges import Probability

SIDE = 64  # rows or columns of a matrix
LARGEST = 1_000_000.0

Number = Annotated[float, Interval(ge=-LARGEST, le=LARGEST)]
Vector = Sequence[Number]
Matrix = Sequence[Vector]
Target = Annotated[int, Interval(ge=0, le=SIDE - 1)]
Heads = Annotated[int, Interval(ge=1, le=SIDE)]
Width = Annotated[int, Interval(ge=1, le=SIDE)]
Epsilon = Annotated[float, Interval(ge=0.0, le=1.0)]
Offsets = Mapping[str, Number]


@dataclass(frozen=True)
class Relative:
    """A number per offset of a key from its query, added to the scores or multiplied."""

    add: Offsets | None = None
    """By offset, such as {"-1": 0.5}; 0 for offsets that are not listed."""
    multiply: Offsets | None = None
    """The same as factors; 1 for offsets that are not listed."""
    clip: Width | None = None
    """Larger offsets count as this one."""


@dataclass(frozen=True)
class LabRequest:
    """One attention, and the later steps whose matrices are given."""

    x: Matrix
    """One row per token (column convention: one column)."""
    w_q: Matrix
    """Its columns are the heads' channels, head by head; so are those of `w_k` and `w_v`."""
    w_k: Matrix
    w_v: Matrix
    memory: Matrix | None = None
    """Input of the keys and values; if absent, `x` itself."""
    w_o: Matrix | None = None
    """If absent, the output is the concatenation of the heads."""
    b_q: Vector | None = None
    b_k: Vector | None = None
    b_v: Vector | None = None
    b_o: Vector | None = None
    heads: Heads = 1
    scoring: Literal["dot", "scaled", "additive"] = "scaled"
    w: Vector | None = None
    """For additive scoring, w · tanh(q + k + b): one number per channel of a head, or per channel
    of every head, head by head."""
    b: Vector | None = None
    """Bias of additive scoring, of the same size as `w`; if absent, none."""
    positions: Literal["sinusoidal"] | None = None
    """The paper's table, added to `x` before anything else, and not to `memory`."""
    relative: Relative | None = None
    mask: Literal["causal", "window", "causal-window"] | None = None
    window: Width | None = None
    """Only keys fewer than this many positions away are visible."""
    padding: Sequence[bool] | None = None
    """For each key, whether it is padding, which is always masked."""
    residual: bool = False
    """Add `x` to the output."""
    norm: Literal["post", "pre"] | None = None
    """Layer norm after the residual (post) or before the attention (pre); both add `x`."""
    gamma: Vector | None = None
    """Absent: ones."""
    beta: Vector | None = None
    """Absent: zeros."""
    epsilon: Epsilon = 1e-5
    """Added to the variance by every layer norm."""
    w_1: Matrix | None = None
    """For FFN(x) = max(0, x W_1 + b_1) W_2 + b_2; residual and norm as for the attention."""
    b_1: Vector | None = None
    w_2: Matrix | None = None
    b_2: Vector | None = None
    ffn_gamma: Vector | None = None
    ffn_beta: Vector | None = None
    w_vocab: Matrix | None = None
    """One column per token of the vocabulary (column convention: one row)."""
    targets: Sequence[Target] | None = None
    """The id of each token."""
    shift: bool = True
    """Whether each row predicts the next row's target, and the last row none; otherwise each row
    predicts its own."""
    label_smoothing: Probability = 0.0
    convention: Literal["row", "column"] = "row"


@dataclass(frozen=True)
class Step:
    """A quantity of the computation: its axes by name, and a float64 (mask: bool) array."""

    dims: tuple[str, ...]
    value: Any


@dataclass(frozen=True)
class Steps:
    """All steps by name, in the order of computation."""

    steps: Mapping[str, Step] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        """Return the numbers of a step."""
        return self.steps[name].value

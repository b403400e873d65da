"""Requests to the lab: matrices as nested lists, the parts that use them, and what is invalid.

In the row convention `x` is tokens × features and matrices multiply from the right, x W; in the
column convention `x` is features × tokens and they multiply from the left, W x: each matrix is
transposed. Vectors are the same in both.

Numbers must be finite, and the sizes of matrices match. Errors name the field, row and column (from
1), and the limit, and never repeat text of the request.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from annotated_types import Interval

from model.errors import Excess, InputError
from model.request_limits import Probability

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


MATRICES = ("x", "memory", "w_q", "w_k", "w_v", "w_o", "w_1", "w_2", "w_vocab")

VECTORS = (
    *("b_q", "b_k", "b_v", "b_o", "w", "b"),
    *("gamma", "beta", "b_1", "b_2", "ffn_gamma", "ffn_beta"),
)

NUMBERS = (int, float)

KINDS = {str: "text", bool: "true or false", type(None): "nothing", dict: "an object"}


def check(request: LabRequest) -> None:
    """Raise InputError for an invalid matrix or vector, or one that does not match the others."""
    for name in MATRICES:
        if (matrix := getattr(request, name)) is not None:
            check_matrix(name, matrix)
    for name in VECTORS:
        if (vector := getattr(request, name)) is not None:
            check_vector(name, vector)
    if request.relative:
        check_relative(request)
    check_list("padding", request.padding, bool, "true or false")
    check_list("targets", request.targets, int, "a whole number")
    Fit(request).all()


def check_matrix(name: str, matrix: Sequence[Sequence[Any]]) -> None:
    """Check for rows of equal length, 1 to 64 of them with 1 to 64 numbers."""
    _sized(matrix, name, "", "rows")
    for i, row in enumerate(matrix):
        field, place = f"{name}[{i}]", f"row {i + 1}"
        check_vector(field, row, place)
        if len(row) != len(matrix[0]):
            detail = f"{field} ({place}) has {_count(len(row), 'number')}, row 1 has "
            raise InputError("ragged", field, f"{detail}{len(matrix[0])}")


def check_vector(field: str, vector: Sequence[Any], place: str = "") -> None:
    """Check for 1 to 64 numbers."""
    _sized(vector, field, place, "numbers")
    if all(type(value) in NUMBERS and -LARGEST <= value <= LARGEST for value in vector):
        return  # the usual case; the rest finds the invalid number
    for j, value in enumerate(vector):
        check_number(f"{field}[{j}]", value, f"{place}, column {j + 1}".removeprefix(", "))


def check_number(field: str, value: object, place: str) -> None:
    """Check for a finite number that is not too large."""
    described = f"{field} ({place})"
    if isinstance(value, bool) or not isinstance(value, int | float):
        kind = KINDS.get(type(value), "a list")
        raise InputError("wrong-type", field, f"{described} must be a number, not {kind}")
    if not isinstance(value, int) and not math.isfinite(value):
        raise InputError("not-finite", field, f"{described} must be a finite number, not {value}")
    if not -LARGEST <= value <= LARGEST:
        shown_value = f"{float(value):g}" if abs(value) < 10**300 else "one of more than 300 digits"
        detail = f"{described} must be from {-LARGEST:.0f} to {LARGEST:.0f}, not {shown_value}"
        raise InputError("out-of-range", field, detail)


def check_relative(request: LabRequest) -> None:
    """Check that offsets are whole numbers, and either added or multiplied."""
    relative = request.relative
    assert relative is not None
    if (relative.add is None) == (relative.multiply is None):
        raise InputError("missing", "relative", "relative must have one of add and multiply")
    name = "add" if relative.add is not None else "multiply"
    for offset, value in (relative.add or relative.multiply or {}).items():
        field = f"relative.{name}"
        if not re.fullmatch("-?[0-9]{1,2}", offset) or abs(int(offset)) >= SIDE:
            detail = f"an offset in {field} must be a whole number from {1 - SIDE} to {SIDE - 1}"
            raise InputError("out-of-range", field, detail)
        check_number(field, value, f"offset {offset}")


def check_list(field: str, values: Sequence[Any] | None, kind: type, expected: str) -> None:
    """Check for as many entries as a matrix has rows, each of them a `kind`."""
    if values is None:
        return
    _sized(values, field, "", "entries")
    for i, value in enumerate(values):
        if type(value) is not kind:
            raise InputError("wrong-type", f"{field}[{i}]", f"{field}[{i}] must be {expected}")


def _sized(values: Any, field: str, place: str, unit: str) -> None:
    described = f"{field} ({place})" if place else field
    if not isinstance(values, Sequence) or isinstance(values, str):
        raise InputError("wrong-type", field, f"{described} must be a list of {unit}")
    if not values:
        raise InputError("too-short", field, f"{described} has no {unit}; it must have at least 1")
    if len(values) > SIDE:
        detail = f"{described} may have at most {SIDE} {unit}, not {len(values)}"
        raise InputError("too-long", field, detail, Excess(SIDE, "entries", len(values)))


def _count(n: int, unit: str) -> str:
    return f"{n} {unit}" if n == 1 else f"{n} {unit}s"


class Fit:
    """Checks of matching sizes; rows and columns are those of the requested convention."""

    def __init__(self, request: LabRequest) -> None:
        self.asked = request
        self.column = request.convention == "column"

    def size(self, name: str, axis: int) -> int:
        """Return the rows (0) or columns (1) of a matrix in the row convention."""
        matrix = getattr(self.asked, name)
        return len(matrix[0]) if axis ^ self.column else len(matrix)

    def count(self, name: str, axis: int) -> str:
        """Return the size of an axis of the row convention, worded in the requested convention."""
        return _count(self.size(name, axis), "column" if axis ^ self.column else "row")

    def same(self, name: str, axis: int, other: str, other_axis: int) -> None:
        """Check that two matrices agree in one axis each."""
        if self.size(name, axis) != self.size(other, other_axis):
            have, wants = self.count(name, axis), self.count(other, other_axis)
            detail = f"{name} has {have}, but {other} has {wants}: they must be equal"
            raise InputError("does-not-fit", name, detail)

    def length(self, name: str, wants: int, reason: str) -> None:
        """Check that a vector, if given, has this many numbers."""
        vector = getattr(self.asked, name)
        if vector is not None and len(vector) != wants:
            detail = f"{name} has {_count(len(vector), 'number')}; {reason} needs {wants}"
            raise InputError("does-not-fit", name, detail)

    def needs(self, name: str, *others: str) -> None:
        """Check that `name`, if given, comes with the others."""
        if getattr(self.asked, name) in (None, False):
            return
        for other in others:
            if getattr(self.asked, other) in (None, False):
                raise InputError("missing", other, f"{name} needs {other}")

    def all(self) -> None:
        """Raise InputError for the first pair that does not match."""
        self.projections()
        self.parts()
        width = self.sublayers()
        if self.asked.w_vocab is not None and self.size("w_vocab", 0) != width:
            have = self.count("w_vocab", 0)
            detail = f"w_vocab has {have}; its input has {width} features"
            raise InputError("does-not-fit", "w_vocab", detail)
        self.target_ids()

    def projections(self) -> None:
        """Check W_q, W_k, W_v, W_o and their biases."""
        memory = "x" if self.asked.memory is None else "memory"
        for name, read in (("w_q", "x"), ("w_k", memory), ("w_v", memory)):
            self.same(name, 0, read, 1)
        self.same("w_k", 1, "w_q", 1)
        for name in ("w_q", "w_v"):
            if self.size(name, 1) % self.asked.heads:
                have = self.count(name, 1)
                detail = f"{name} has {have}, which {self.asked.heads} heads cannot share equally"
                raise InputError("does-not-fit", "heads", detail)
        if self.asked.w_o is not None:
            self.same("w_o", 0, "w_v", 1)
        self.needs("b_o", "w_o")
        for letter in "qkvo":
            if getattr(self.asked, f"w_{letter}") is not None:
                self.length(f"b_{letter}", self.size(f"w_{letter}", 1), f"w_{letter}")

    def parts(self) -> None:
        """Check scoring, mask and padding."""
        request = self.asked
        heads, channels = request.heads, self.size("w_q", 1) // request.heads
        if request.scoring == "additive" and request.w is None:
            raise InputError("missing", "w", "additive scoring needs w")
        for name in ("w", "b"):
            vector = getattr(request, name)
            if vector is None:
                continue
            if request.scoring != "additive":
                detail = f"{name} belongs to additive scoring, not to {request.scoring}"
                raise InputError("does-not-fit", name, detail)
            if len(vector) not in (channels, heads * channels):
                sizes = f"{channels} (d_k)" + (f" or {heads * channels}" if heads > 1 else "")
                detail = f"{name} has {_count(len(vector), 'number')}, not {sizes}"
                raise InputError("does-not-fit", name, detail)
        if request.mask in ("window", "causal-window") and request.window is None:
            raise InputError("missing", "window", f"mask {request.mask} needs window")
        keys = self.size("x" if request.memory is None else "memory", 0)
        self.length("padding", keys, "one entry per key")

    def sublayers(self) -> int:
        """Check residual, norm and feed-forward; return the number of output features."""
        request, features = self.asked, self.size("x", 1)
        width = self.size("w_v" if request.w_o is None else "w_o", 1)
        adds = request.residual or request.norm is not None
        if adds and width != features:
            field = "residual" if request.residual else "norm"
            detail = f"{field} adds the output's {width} features to the {features} of x"
            raise InputError("does-not-fit", field, detail)
        for name in ("gamma", "beta", "ffn_gamma", "ffn_beta"):
            self.needs(name, "norm")
            self.length(name, features, "one number per feature of x")
        for name in ("b_1", "w_2", "ffn_gamma", "ffn_beta"):
            self.needs(name, "w_1")
        for name in ("w_1", "b_2"):
            self.needs(name, "w_2")
        if request.w_1 is None:
            return width
        if self.size("w_1", 0) != width:
            detail = f"w_1 has {self.count('w_1', 0)}; it multiplies {width} features"
            raise InputError("does-not-fit", "w_1", detail)
        self.same("w_2", 0, "w_1", 1)
        self.length("b_1", self.size("w_1", 1), "w_1")
        self.length("b_2", self.size("w_2", 1), "w_2")
        if adds and self.size("w_2", 1) != width:
            detail = f"w_2 has {self.count('w_2', 1)}; it is added to {width} features"
            raise InputError("does-not-fit", "w_2", detail)
        return self.size("w_2", 1)

    def target_ids(self) -> None:
        """Check for one id of the vocabulary per token."""
        targets = self.asked.targets
        self.needs("targets", "w_vocab")
        if targets is None:
            return
        tokens, vocabulary = self.size("x", 0), self.size("w_vocab", 1)
        self.length("targets", tokens, "one id per token of x")
        for i, target in enumerate(targets):
            if not 0 <= target < vocabulary:
                detail = f"targets[{i}] must be from 0 to {vocabulary - 1}"
                raise InputError("out-of-range", f"targets[{i}]", detail)
        if self.asked.shift and tokens < 2:
            raise InputError("too-short", "targets", "shifted targets need at least 2 tokens of x")

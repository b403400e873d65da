"""Creates parts of `model.transformer` with the matrices of a request, in float64."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from model.lab.request import LabRequest, Matrix, Vector
from model.transformer.attention import MultiHeadAttention
from model.transformer.layers import FeedForward
from model.transformer.norms import NORMS, AddNorm, End, Last
from model.transformer.positions import Positions, Relative, RelativeProduct
from model.transformer.scoring import SCORINGS, Additive, AdditiveBias

SCALED = {"dot": "dot", "scaled": "scaled-dot"}


def tensor(values: Matrix | Vector) -> Tensor:
    """Convert nested lists to float64."""
    return torch.tensor(values, dtype=torch.float64)


class Given(nn.Linear):
    """x W + b, with `w` (in, out) as in the row convention."""

    def __init__(self, w: Matrix, b: Vector | None) -> None:
        super().__init__(len(w), len(w[0]), bias=b is not None, dtype=torch.float64)
        self.weight = frozen(tensor(w).T)
        if b is not None:
            self.bias = frozen(tensor(b))

    def reset_parameters(self) -> None:
        """Do nothing: the parameters are given, and drawing them would double the time."""


def frozen(value: Tensor) -> nn.Parameter:
    """Return a parameter that is not trained."""
    return nn.Parameter(value, requires_grad=False)


def attention_of(asked: LabRequest) -> MultiHeadAttention:
    """Return the attention with the requested matrices."""
    made = MultiHeadAttention(asked.heads, asked.heads)  # its parameters are replaced
    name = SCALED.get(asked.scoring, "additive" if asked.b is None else "additive-bias")
    made.scoring = SCORINGS[name](asked.heads, len(asked.w_q[0]) // asked.heads)
    made.W_q = Given(asked.w_q, asked.b_q)
    made.W_k = Given(asked.w_k, asked.b_k)
    made.W_v = Given(asked.w_v, asked.b_v)
    made.W_o = nn.Identity() if asked.w_o is None else Given(asked.w_o, asked.b_o)  # type: ignore[assignment]
    if isinstance(made.scoring, Additive):
        made.scoring.w = frozen(each_head(asked.w or (), asked))
    if isinstance(made.scoring, AdditiveBias):
        made.scoring.b = frozen(each_head(asked.b or (), asked))
    return made.eval()


def each_head(vector: Vector, asked: LabRequest) -> Tensor:
    """Return a vector as (H, d_k), given one for all heads or one for each head."""
    d_k = len(asked.w_q[0]) // asked.heads
    return tensor(vector).view(-1, d_k).expand(asked.heads, d_k)


def positions_of(asked: LabRequest, length: int) -> Positions:
    """Return the requested relative positions, for this many positions."""
    if asked.relative is None:
        return Positions()
    kind = Relative if asked.relative.add is not None else RelativeProduct
    made = kind(length, 0, 1, asked.relative.clip).double()
    for offset, value in (asked.relative.add or asked.relative.multiply or {}).items():
        if abs(int(offset)) <= made.most:
            made.pi[0, int(offset) + made.most] = value
    return made


def norm_of(asked: LabRequest, width: int, gamma: Vector | None, beta: Vector | None) -> AddNorm:
    """Return the residual with the requested norm, or with none."""
    made = NORMS[asked.norm or "post"](width, 0.0).double().eval()
    made.norm.eps = asked.epsilon
    if gamma is not None:
        made.norm.weight = frozen(tensor(gamma))
    if beta is not None:
        made.norm.bias = frozen(tensor(beta))
    if asked.norm is None:
        made.norm = nn.Identity()  # type: ignore[assignment]
    return made


def end_of(asked: LabRequest, width: int) -> End:
    """Return the end of a stack with the requested norm: with "pre", one more layer norm."""
    made = NORMS[asked.norm or "post"].last(width)
    if isinstance(made, Last):
        made.eps = asked.epsilon
        return made.double().eval()
    return made


def ffn_of(asked: LabRequest) -> FeedForward:
    """Return the feed-forward network with the requested matrices."""
    assert asked.w_1 is not None
    assert asked.w_2 is not None
    made = FeedForward(1, 1)  # its parameters are replaced
    made.W_1 = Given(asked.w_1, asked.b_1)
    made.W_2 = Given(asked.w_2, asked.b_2)
    return made.eval()

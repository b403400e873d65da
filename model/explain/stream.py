"""Describes what a stack adds to its residual stream, and how logits are computed from it.

The logit lens and the contributions are computed from this description, for any
model. A sublayer's output o reaches the stream in one of these ways:

    pre-norm    x + o               nothing between
    sandwich    x + norm(o)         a norm of its own (Gemma 2 and 3)
    post-norm   norm(x + o)         a norm of the sum

Shapes: T rows, D features, H heads, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

PROJECTED = "projected"  # a sublayer's output before a norm of its own; "output" is what is added


@dataclass(frozen=True, eq=False)
class Norm:
    """gain ⊙ (x − mean(x)) / σ(x) + shift; without `centred`, x / rms(x) (RMSNorm)."""

    gain: Tensor  # (D,)
    shift: Tensor | None
    eps: float
    centred: bool = True

    def __call__(self, x: Tensor) -> Tensor:
        """Apply the norm (…, D)."""
        if self.centred:
            x = x - x.mean(dim=-1, keepdim=True)
        normed = x * (x.square().mean(dim=-1, keepdim=True) + self.eps).rsqrt() * self.gain
        return normed if self.shift is None else normed + self.shift

    def before(self, d: Tensor, read: Tensor) -> Tensor:
        """Return the direction (T, D) before the norm that corresponds to `d` after it.

        The mean and σ are those of what it `read` (T, D) in this run.
        """
        x, scaled = read.double(), d * self.gain.double()
        if self.centred:
            x = x - x.mean(dim=-1, keepdim=True)
            scaled = scaled - scaled.mean(dim=-1, keepdim=True)
        return scaled / (x.square().mean(dim=-1, keepdim=True) + self.eps).sqrt()


@dataclass(frozen=True, eq=False)
class Sublayer:
    """One sublayer: "self", "cross" or "ffn"."""

    name: str
    bias: Tensor | None  # (D,), the last term of its output
    W_o: Tensor | None = None  # (H · d_v, D), of an attention
    own: Norm | None = None  # of the output alone, before it is added
    post: Norm | None = None  # of the sum

    @property
    def read(self) -> str:
        """The name of its output before a norm of its own."""
        return "output" if self.own is None else PROJECTED


@dataclass(frozen=True, eq=False)
class Stream:
    """A stack whose last states give logits.

    logits(x) = (norm(x) Wᵀ) · scale + bias, if they are linear; `logits` computes them in any case.
    """

    stack: str  # "decoder"
    text: str  # the text that its rows read
    layers: tuple[tuple[Sublayer, ...], ...]  # each in the order in which it runs
    matrix: Tensor  # (V, D)
    logits: Callable[[Tensor], Tensor]  # of a layer's output (T, D): (T, V)
    last: Norm | None = None  # at the end of a pre-norm stack
    bias: Tensor | None = None  # (V,)
    scale: float = 1.0
    exact: bool = True  # whether logits are a sum of contributions

    @property
    def final(self) -> str:
        """The last part of the name of a layer's output."""
        *_, sublayer = self.layers[0]
        return f"{sublayer.name}.{'norm' if sublayer.post else 'residual'}"

    def output(self, layer: int) -> str:
        """Return the name of a layer's output, such as "decoder.0.ffn.residual"."""
        return f"{self.stack}.{layer}.{self.final}"

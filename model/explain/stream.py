"""Describes what a stack adds to its residual stream, and how logits are computed from it.

The logit lens, the contributions and the terms of scores are computed from this description, for
any model. A sublayer's output o reaches the stream in one of these ways:

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

        σ is that of what it `read` (T, D) in this run.
        """
        scaled = d * self.gain.double()
        if self.centred:
            scaled = scaled - scaled.mean(dim=-1, keepdim=True)
        return scaled / self._deviation(read)

    def after(self, term: Tensor, read: Tensor) -> Tensor:
        """Return what a term (…, T, D) of what it `read` (T, D) in this run is after the norm."""
        term = term.double()
        if self.centred:
            term = term - term.mean(dim=-1, keepdim=True)
        return term / self._deviation(read) * self.gain.double()

    def _deviation(self, read: Tensor) -> Tensor:
        """Return σ, or the root mean square, of each row (T, 1)."""
        x = read.double()
        if self.centred:
            x = x - x.mean(dim=-1, keepdim=True)
        return (x.square().mean(dim=-1, keepdim=True) + self.eps).sqrt()


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


@dataclass(frozen=True, eq=False, kw_only=True)
class Stack:
    """The layers that add to one residual stream, which begins with the input of a text."""

    stack: str  # "decoder"
    text: str  # the text that its rows read
    layers: tuple[tuple[Sublayer, ...], ...]  # each in the order in which it runs
    last: Norm | None = None  # at the end of a pre-norm stack

    def output(self, layer: int) -> str:
        """Return the name of a layer's output, such as "decoder.0.ffn.residual"."""
        return self._after(layer, len(self.layers[layer]) - 1)

    def state(self, layer: int, sublayer: int) -> str:
        """Return the name of the stream that a sublayer reads, before a norm of its own."""
        if sublayer:
            return self._after(layer, sublayer - 1)
        return self.output(layer - 1) if layer else f"{self.text}.input"

    def _after(self, layer: int, sublayer: int) -> str:
        one = self.layers[layer][sublayer]
        return f"{self.stack}.{layer}.{one.name}.{'norm' if one.post else 'residual'}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Stream(Stack):
    """A stack whose last states give logits.

    logits(x) = (norm(x) Wᵀ) · scale + bias, if they are linear; `logits` computes them in any case.
    """

    matrix: Tensor  # (V, D)
    logits: Callable[[Tensor], Tensor]  # of a layer's output (T, D): (T, V)
    bias: Tensor | None = None  # (V,)
    scale: float = 1.0
    exact: bool = True  # whether logits are a sum of contributions

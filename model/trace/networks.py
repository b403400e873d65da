"""The feed-forward networks of a model whose layers may differ in them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NetworkInfo:
    """One feed-forward network; its tensors are ``f"{place}.hidden"`` and the like.

    With the activation function f, and without the biases that it does not have:

        hidden = f(x W_1 + b_1)                      or, gated, f(x W_g + b_g) · (x W_1 + b_1)
        output = hidden W_2 + b_2
    """

    place: str
    """Such as "encoder.0.ffn"."""
    activation: str
    """Such as "relu", "gelu", "gelu-tanh" or "silu"."""
    hidden: int
    """The number of hidden units."""
    parallel: bool
    """Whether it reads the input of the layer, beside the attention, instead of the sum after
    it."""
    parameters: tuple[str, ...]
    """Short names of its parameters, such as "W_1"; "W_g" if it is gated."""

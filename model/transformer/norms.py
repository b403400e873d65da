"""Residual connections with layer norm before or after the sublayer (sections 3.1 and 5.4).

A variant is an `AddNorm` and one line in `NORMS`.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

from model.trace.tensor_tap import FEATURE, QUERY, Tap
from model.transformer.regularization import Dropout

Sublayer = Callable[[Tensor], Tensor]
End = Callable[[Tensor, Tap], Tensor]


class Last(nn.LayerNorm):
    """The norm at the end of a stack, recorded by the tap."""

    def forward(self, x: Tensor, tap: Tap) -> Tensor:  # type: ignore[override]
        """Apply the norm: (B, N, d_model) -> (B, N, d_model)."""
        return tap("norm", super().forward(x), (QUERY, FEATURE))


def unchanged(x: Tensor, tap: Tap) -> Tensor:
    """Return `x`: the end of a stack without a norm."""
    return x


class AddNorm(nn.Module):
    """A sublayer with its residual connection and layer norm."""

    def __init__(self, d_model: int, dropout: float) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, sublayer: Sublayer, tap: Tap) -> Tensor:
        """Apply the sublayer, residual and norm: `x` (B, N, d_model) -> (B, N, d_model)."""
        raise NotImplementedError

    @staticmethod
    def last(d_model: int) -> End:
        """Return the module at the end of a stack of these sublayers."""
        return unchanged


class PostNorm(AddNorm):
    """LayerNorm(x + Dropout(Sublayer(x))), as in sections 3.1 and 5.4."""

    def forward(self, x: Tensor, sublayer: Sublayer, tap: Tap) -> Tensor:
        """Apply the sublayer, residual and norm: `x` (B, N, d_model) -> (B, N, d_model)."""
        residual = tap("residual", x + self.dropout(sublayer(x)), (QUERY, FEATURE))
        return tap("norm", self.norm(residual), (QUERY, FEATURE))


class PreNorm(AddNorm):
    """x + Dropout(Sublayer(LayerNorm(x))) (Xiong et al. 2020, figure 1b).

    The sum is not normalised, so a stack of these ends with a norm.
    """

    def forward(self, x: Tensor, sublayer: Sublayer, tap: Tap) -> Tensor:
        """Apply the sublayer, residual and norm: `x` (B, N, d_model) -> (B, N, d_model)."""
        output = sublayer(tap("norm", self.norm(x), (QUERY, FEATURE)))
        return tap("residual", x + self.dropout(output), (QUERY, FEATURE))

    @staticmethod
    def last(d_model: int) -> End:
        """Return a layer norm."""
        return Last(d_model)


NORMS: dict[str, type[AddNorm]] = {
    "post": PostNorm,
    "pre": PreNorm,
}

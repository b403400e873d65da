"""Positional encodings (section 3.5): what tells the model the order of the words.

A variant is a function `(length, d_model) -> (length, d_model)` and one line in `POSITIONS`.
"""

from collections.abc import Callable

import torch
from torch import Tensor

Positions = Callable[[int, int], Tensor]


def sinusoidal(length: int, d_model: int) -> Tensor:
    """Sines and cosines whose wavelengths form a geometric progression from 2π to 10000·2π.

        PE(pos, 2i)   = sin(pos / 10000^(2i / d_model))
        PE(pos, 2i+1) = cos(pos / 10000^(2i / d_model))

    Returns (length, d_model) float32; the angles are computed in float64, since at position 1000
    a float32 angle is already off by 3e-5.

    Source: Vaswani et al. 2017, section 3.5.
    """
    position = torch.arange(length, dtype=torch.float64)[:, None]  # (length, 1)
    even = torch.arange(0, d_model, 2, dtype=torch.float64)  # 2i
    angle = position / 10000 ** (even / d_model)  # (length, ceil(d_model / 2))
    encoding = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)  # interleaved
    return encoding[:, :d_model].float()


POSITIONS: dict[str, Positions] = {
    "sinusoidal": sinusoidal,
}

"""Vectors as a pass keeps them: in float32, or as 16-bit integers times a step per channel."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

LARGEST = torch.iinfo(torch.int16).max


@dataclass(frozen=True, eq=False)
class Stored:
    """The vectors of each head (H, N, d), each number within half a step of the original.

    float16 takes the same memory, but keeps only 11 bits of each number; for the queries and keys
    of SmolLM2 its errors are eight times as large.
    """

    numbers: Tensor  # (H, N, d), int16 or float32
    steps: Tensor | None  # (H, 1, d); None for float32

    @classmethod
    def of(cls, x: Tensor, dtype: torch.dtype) -> Stored:
        """Store copies of vectors (H, N, d) as `torch.int16` or `torch.float32`."""
        if dtype != torch.int16:
            whole = torch.contiguous_format
            return cls(x.to(dtype, copy=True, memory_format=whole), None)
        largest = torch.maximum(x.amax(1, keepdim=True), -x.amin(1, keepdim=True)).float()
        steps = largest.clamp_min(torch.finfo(torch.float32).tiny * LARGEST) / LARGEST
        return cls((x / steps).round_().to(torch.int16).contiguous(), steps)

    def __getitem__(self, head: int) -> Tensor:
        """Return the vectors of a head (N, d) in float32."""
        numbers = self.numbers[head].float()
        return numbers if self.steps is None else numbers * self.steps[head]

    @property
    def shape(self) -> torch.Size:
        """Heads, tokens and channels."""
        return self.numbers.shape

    @property
    def bytes(self) -> int:
        """The memory that it takes."""
        return self.numbers.nbytes + (0 if self.steps is None else self.steps.nbytes)

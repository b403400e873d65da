"""Measures each head's mean output over training data, by which `mean` replaces the head's mix.

Source: mean ablation as in Wang et al. 2022, Interpretability in the Wild.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from model.bundle.measurements import MEANS
from model.bundle.weights import load_bundle
from model.measure.corpus import batches_of
from model.trace.tensor_tap import QUERY, SOURCE, TARGET, Tap
from model.train.data import TokenBatch
from model.train.pairs import read_pairs
from model.transformer.stacks import Transformer

MIX = "mix"


class Summing(Tap):
    """Sums every head's mix over the positions that are not padding.

    `real` marks these positions by side, (B, S) and (B, T); `sides` records the side of each sum.
    """

    def __init__(
        self,
        sums: dict[str, Tensor],
        real: Mapping[str, Tensor],
        sides: dict[str, str],
        place: str = "",
        side: str = "",
    ) -> None:
        self.sums = sums
        self.real = real
        self.sides = sides
        self.place = place
        self.side = side

    def at(self, place: str, **over: str) -> Tap:
        inner = f"{self.place}.{place}" if self.place else place
        return Summing(self.sums, self.real, self.sides, inner, over.get(QUERY, self.side))

    def __call__(self, name: str, value: Tensor, dims: tuple[str, ...]) -> Tensor:
        if name == MIX:
            real = self.real[self.side][:, None, :, None]  # (B, 1, N, 1)
            total = value.where(real, 0).double().sum(dim=(0, 2))  # (H, d_k)
            key = f"{self.place}.{name}"
            self.sides[key] = self.side
            self.sums[key] = self.sums[key] + total if key in self.sums else total
        return value


def means(model: Transformer, batches: Iterable[TokenBatch]) -> dict[str, Tensor]:
    """Return the mean mix (head, channel) of every attention by name, with teacher forcing.

    Encoder heads are averaged over source positions, decoder heads over target positions.
    """
    sums: dict[str, Tensor] = {}
    sides: dict[str, str] = {}
    counts = {SOURCE: 0, TARGET: 0}
    with torch.inference_mode():
        for batch in batches:
            real = {SOURCE: batch.source_real, TARGET: batch.target_real}
            tap = Summing(sums, real, sides)
            memory = model.encode(batch.source, batch.source_real, tap)
            model.decode(batch.read, batch.target_real, memory, batch.source_real, tap)
            for side, where in real.items():
                counts[side] += int(where.sum())
    return {name: (total / counts[sides[name]]).float().cpu() for name, total in sums.items()}


def write_means(folder: Path, train: Sequence[Path], count: int, seed: int = 0) -> Path:
    """Write `means.safetensors` into a bundle, over `count` seeded pairs; return its path."""
    bundle = load_bundle(folder)
    everything = [pair for path in train for pair in read_pairs(path)]
    drawn = random.Random(seed).sample(everything, min(count, len(everything)))
    found = means(bundle.model, batches_of(bundle, drawn, seed))
    tensors = {name: value.contiguous() for name, value in found.items()}
    save_file(tensors, folder / MEANS, metadata={"digest": bundle.digest})
    return folder / MEANS

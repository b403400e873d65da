"""Attention weights in 8 bits, for a file with more heads than anybody opens.

    code  = 0 if w = 0, else 1 + round((steps − 1) · w^0.8)        one byte
    level = the mean of a head's weights that have the same code   float32
    w'    = level[code] + (Σw − Σ level[code]) / n                  n: the row's codes above 0

so a row keeps its sum, and a weight of 0 stays 0. `static/js/core/wire/wire.js` reads
this. The power makes the steps of small weights finer; which one costs what is in
docs/exports.md. The head on which the figure opens is kept as it is.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import deflate
import numpy as np
from numpy.typing import NDArray

from app.http import file_formats

POWER = 0.8
STEPS = 255  # of a weight; fewer if the file would be too large
FEWEST_STEPS = 31
MAX_BYTES = 11_000_000  # of all codes and the exact head, compressed: a file of at most 15 MB
LEVEL = 6  # of compression: the highest takes ten times as long and saves 3 %
SUM = 1e-3  # by which a row's sum may differ from 1 without being kept

Weights = NDArray[np.float32]


@dataclass(frozen=True)
class RoundedLayer:
    """The weights (heads, queries, keys) of a layer with one byte for each."""

    codes: NDArray[np.uint8]
    levels: Weights
    """Of each head, the weight that a code stands for."""
    sums: Weights
    """Of each row; those of a softmax are 1."""

    def weights(self, head: int) -> Weights:
        """Return the weights of a head as a reader of the file sees them."""
        codes = self.codes[head]
        values = self.levels[head][codes].astype(np.float64)
        counts = np.maximum((codes > 0).sum(-1), 1)
        missing = (self.sums[head] - values.sum(-1)) / counts
        spread = np.where(codes > 0, values + missing[:, None], 0)
        return np.maximum(spread, 0).astype(np.float32)


def rounded(weights: Weights, steps: int = STEPS) -> RoundedLayer:
    """Return the weights of a layer in 8 bits."""
    share = np.clip(weights, 0, 1)
    codes = np.where(share > 0, 1 + np.rint((steps - 1) * share**POWER), 0).astype(np.uint8)
    levels = np.zeros((len(weights), 256), np.float32)
    for head, head_codes in enumerate(codes):
        flat = head_codes.ravel()
        counts = np.bincount(flat, minlength=256)
        totals = np.bincount(flat, share[head].ravel(), minlength=256)
        levels[head] = totals / np.maximum(counts, 1)
    sums = weights.sum(-1, dtype=np.float64)
    usual = np.abs(sums - 1) <= SUM
    return RoundedLayer(codes, levels, np.where(usual, 1, sums).astype(np.float32))


def largest_error(weights: Weights, layer: RoundedLayer) -> float:
    """Return by how much a weight of the layer differs at most."""
    return max(
        float(np.abs(matrix - layer.weights(head)).max(initial=0))
        for head, matrix in enumerate(weights)
    )


@dataclass(frozen=True)
class RoundedFile:
    """All layers of a trace, each compressed alone, so that a page reads only those it shows."""

    layers: dict[str, bytes]
    """A safetensors file for each, compressed, by the name of the weights."""
    error: float
    steps: int


def rounded_file(weights: Mapping[str, Weights], max_bytes: int | None = None) -> RoundedFile:
    """Return the layers in 8 bits, with as many steps as fit into `max_bytes`.

    By default, they leave room for one head that is not rounded.
    """
    if max_bytes is None:
        max_bytes = MAX_BYTES - max(array[0].nbytes for array in weights.values())
    count = max(1, sum(np.count_nonzero(array) for array in weights.values()))
    steps = STEPS
    while True:
        layers, error = dict[str, bytes](), 0.0
        for name, packed, layer_error in _packed(weights, steps):
            layers[name], error = packed, max(error, layer_error)
        excess = sum(map(len, layers.values())) - max_bytes
        if excess <= 0 or steps == FEWEST_STEPS:
            return RoundedFile(layers, error, steps)
        # A bit less of each weight takes half of the steps.
        steps = max(FEWEST_STEPS, int(steps * 2 ** (-8 * excess / count)) - 1)


def _packed(weights: Mapping[str, Weights], steps: int) -> Iterator[tuple[str, bytes, float]]:
    for name, array in weights.items():
        layer = rounded(array, steps)
        arrays: dict[str, NDArray[Any]] = {"codes": layer.codes, "levels": layer.levels}
        if (layer.sums != 1).any():
            arrays["sums"] = layer.sums
        file = b"".join(file_formats.pieces(arrays, {}))
        yield name, bytes(deflate.gzip_compress(file, LEVEL)), largest_error(array, layer)

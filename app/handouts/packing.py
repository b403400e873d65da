"""Embeds scripts, styles and data in a page, so that it opens from a file.

A served page loads its script, styles and data from addresses; a file on a disk has
none. They lie in it compressed, in Base64, and a small script that does not puts them into the
page. All have a hash for a Content-Security-Policy that allows nothing else.

The file is UTF-8, and what is packed is ASCII: it opens the same after whatever reads it as text
has saved it again. `static/js/lib/unpack-bytes.js` reads it. A model, which is large, is in
a denser text.

Attention weights in 8 bits, for a file with more heads than anybody opens.

    code  = 0 if w = 0, else 1 + round((steps − 1) · w^0.8)        one byte
    level = the mean of a head's weights that have the same code   float32
    w'    = level[code] + (Σw − Σ level[code]) / n                  n: the row's codes above 0

so a row keeps its sum, and a weight of 0 stays 0. `static/js/core/wire/safetensors.js` reads
this. The power makes the steps of small weights finer; which one costs what is in
docs/exports.md. The head on which the figure opens is kept as it is.
"""

from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import deflate
import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from app.http import file_formats

CHARSET = "utf-8"


def planes(numbers: bytes, width: int = 4) -> bytes:
    """Return numbers of `width` bytes with the first byte of each, then the second, and so on.

    Signs and exponents of numbers are similar, and compress better next to each other.
    A remainder at the end is not changed.
    """
    end = len(numbers) // width * width
    return np.frombuffer(numbers[:end], np.uint8).reshape(-1, width).T.tobytes() + numbers[end:]


# Five characters for four bytes: all printed ASCII but what HTML, quotes and templates need.
DIGITS_85 = bytes(byte for byte in range(33, 127) if chr(byte) not in "<>&\"'\\`${")

LINE = 1_000  # characters, so that an editor can show what it has opened


def base85(content: bytes) -> str:
    """Return bytes as text: 1.25 characters a byte, where Base64 has 1.33.

    `static/js/lib/unpack-bytes.js` reads it, and skips line breaks, wherever they are. The last
    group has as many characters less as it lacks bytes.
    """
    lacking = -len(content) % 4
    groups = np.frombuffer(content + bytes(lacking), ">u4").astype(np.uint64)
    powers = 85 ** np.arange(4, -1, -1, dtype=np.uint64)
    digits = np.frombuffer(DIGITS_85, np.uint8)[groups[:, None] // powers % 85].tobytes()
    text = digits[: len(digits) - lacking].decode()
    return "\n".join(text[start : start + LINE] for start in range(0, len(text), LINE))


LEVEL = 12  # the smallest files


@dataclass(frozen=True)
class Inlined:
    """An inline script or style, and its hash for a Content-Security-Policy."""

    element: Markup
    source: str


def script(text: str) -> Inlined:
    """Return a module script that runs once it is read, before what comes after it in the file."""
    if "</script" in text.lower():
        raise ValueError("text with </script in it is not possible in a script element")
    return Inlined(Markup(f'<script type="module" async>{text}</script>'), _hash(text))


def style(text: str) -> Inlined:
    """Return a stylesheet for what is seen before the others are unpacked."""
    return Inlined(Markup(f"<style>{text}</style>"), _hash(text))


def held(identity: str, text: str) -> Inlined:
    """Return a text that the running script may make a script or a stylesheet of."""
    return Inlined(block(identity, text.encode()), _hash(text))


def block(identity: str, content: bytes) -> Markup:
    """Return data, compressed, that a script reads by its id. It is never executed."""
    return compressed_block(identity, bytes(deflate.gzip_compress(content, LEVEL)))


def compressed_block(identity: str, packed: bytes) -> Markup:
    """Return data that is compressed already as `block` does."""
    text = b64encode(packed).decode()
    return Markup(f'<script type="application/gzip" id="{identity}">{text}</script>')


def dense_block(name: str, content: bytes, width: int = 1) -> Markup:
    """Return a file that the worker of the page reads by its name; of `planes` if it is wide."""
    text = base85(bytes(deflate.gzip_compress(planes(content, width), LEVEL)))
    return Markup(
        f'<script type="text/plain" data-file="{name}" data-width="{width}">{text}</script>\n'
    )


def numbers(identity: str, safetensors: bytes) -> Markup:
    """Return two blocks with a file of numbers: its header, and `planes` of the rest."""
    start = 8 + int.from_bytes(safetensors[:8], "little")
    values = block(f"{identity}-planes", planes(safetensors[start:]))
    return block(identity, safetensors[:start]) + values


def data_url(content: bytes, media_type: str) -> str:
    """Return the content as a data URL."""
    return f"data:{media_type};base64,{b64encode(content).decode()}"


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


POWER = 0.8

STEPS = 255  # of a weight; fewer if the file would be too large

FEWEST_STEPS = 31

MAX_BYTES = 11_000_000  # of all codes and the exact head, compressed: a file of at most 15 MB

FAST_LEVEL = 6  # of compression: the highest takes ten times as long and saves 3 %

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
        yield name, bytes(deflate.gzip_compress(file, FAST_LEVEL)), largest_error(array, layer)

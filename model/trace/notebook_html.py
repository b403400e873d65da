"""What a notebook shows of recorded tensors: names, axes and thumbnails, as HTML.

A thumbnail is a PNG of one colour whose opacity is the size of a number, so that it can be read on
a light and on a dark page; negative numbers have a second colour. Text takes the page's colour.
"""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

SIDE = 48  # cells of a thumbnail at most; of more, each shows the largest of its neighbours
PIXELS = 64  # the longer side of a thumbnail on the screen
MAX_PLANES = 12  # heads that one tensor shows
MAX_ROWS = 24  # tensors that a table lists
POSITIVE, NEGATIVE = (124, 92, 232), (214, 106, 40)  # legible on white and on near-black
CELL = "text-align:left;padding:2px 12px 2px 0;vertical-align:middle"


class Drawable(Protocol):
    """An array with named axes: a `NamedTensor`."""

    @property
    def dims(self) -> tuple[str, ...]: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    def __array__(
        self, dtype: DTypeLike | None = None, copy: bool | None = None
    ) -> NDArray[Any]: ...


def tensor_html(tensor: Drawable) -> str:
    """Return a line that names the axes, and a thumbnail of each head of the first text."""
    planes = _planes(tensor)
    figures = "".join(
        f'<span style="display:inline-block;margin:4px 8px 0 0">{_thumbnail(plane, str(index))}'
        "</span>"
        for index, plane in enumerate(planes[:MAX_PLANES])
    )
    omitted = len(planes) - MAX_PLANES
    more = f"<div>… {omitted} more</div>" if omitted > 0 else ""
    return f"<div><div><code>{escape(repr(tensor))}</code></div>{figures}{more}</div>"


def tensors_html(title: str, tensors: Mapping[str, Drawable], lines: Iterable[str] = ()) -> str:
    """Return a title, further lines, and a table of tensors with the first plane of each."""
    rows = [_row(name, tensor) for name, tensor in list(tensors.items())[:MAX_ROWS]]
    if len(tensors) > MAX_ROWS:
        rows.append(
            f'<tr><td colspan="3" style="{CELL}">… {len(tensors) - MAX_ROWS} more</td></tr>'
        )
    text = "".join(f"<div>{escape(line)}</div>" for line in lines)
    table = f'<table style="border:0">{"".join(rows)}</table>' if rows else ""
    return f"<div><div><b>{escape(title)}</b></div>{text}{table}</div>"


def _row(name: str, tensor: Drawable) -> str:
    planes = _planes(tensor)
    figure = _thumbnail(planes[0], f"{name}, the first plane") if len(planes) else ""
    axes = ", ".join(
        f"{dim} {length}" for dim, length in zip(tensor.dims, tensor.shape, strict=True)
    )
    cells = f"<code>{escape(name)}</code>", escape(axes), figure
    columns = "".join(f'<td style="{CELL}">{cell}</td>' for cell in cells)
    return f"<tr>{columns}</tr>"


def _planes(tensor: Drawable) -> NDArray[np.float32]:
    """Return the planes of the last two axes (plane, row, column), of the first text of a batch."""
    values = np.asarray(tensor)
    if tensor.dims and tensor.dims[0] == "batch":
        values = values[:1]
    if values.ndim < 2 or not values.size or values.dtype.kind not in "biuf":
        return np.zeros((0, 1, 1), np.float32)
    return values.reshape(-1, *values.shape[-2:]).astype(np.float32)


def _thumbnail(plane: NDArray[np.float32], name: str) -> str:
    numbers = _reduced(np.nan_to_num(plane))
    largest = float(np.abs(numbers).max()) or 1.0
    pixels = np.zeros((*numbers.shape, 4), np.uint8)
    pixels[..., :3] = np.where((numbers < 0)[..., None], NEGATIVE, POSITIVE)
    pixels[..., 3] = np.rint(np.abs(numbers) / largest * 255)
    height, width = numbers.shape
    scale = PIXELS / max(height, width)
    size = f'width="{max(4, round(width * scale))}" height="{max(4, round(height * scale))}"'
    data = b64encode(_png(pixels)).decode()
    return (
        f'<img alt="{escape(name, quote=True)}" title="{escape(name, quote=True)}" {size} '
        'style="image-rendering:pixelated;border:1px solid rgba(128,128,128,.5);margin:0" '
        f'src="data:image/png;base64,{data}">'
    )


def _reduced(plane: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return at most SIDE × SIDE numbers, each the one of its cell that is furthest from 0."""
    for axis in (0, 1):
        length = plane.shape[axis]
        if length > SIDE:
            starts = np.linspace(0, length, SIDE, endpoint=False).astype(int)
            high = np.maximum.reduceat(plane, starts, axis)
            low = np.minimum.reduceat(plane, starts, axis)
            plane = np.where(-low > high, low, high)
    return plane


def _png(pixels: NDArray[np.uint8]) -> bytes:
    """Return RGBA pixels (height, width, 4) as a PNG file."""
    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )

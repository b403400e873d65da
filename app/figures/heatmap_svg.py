"""A heatmap as an SVG drawing with real text, made without a browser.

┌──────────────────────────┐
│ title                    │   what is shown, and the texts: a line each
│            labels of keys│
│ labels of  ▓▓▓▓▓▓▓▓▓▓▓▓▓ │   a rectangle per cell, with its number if there is room
│ queries    ▓▓▓▓▓▓▓▓▓▓▓▓▓ │
│            legend        │
└──────────────────────────┘

Colours are those of `app.figures.heatmap`. The viewer's fonts draw the text, so its width is only
estimated, and labels are placed by the end that is next to the cells.
"""

import base64
import io
import unicodedata
from collections.abc import Iterator, Sequence

import numpy as np
from markupsafe import Markup, escape
from PIL import Image

from app.figures.heatmap import HATCH, INK, PAPER, RULE, Heatmap, colours, luminance

MARGIN = 24
SIDE = 760  # pixels that the cells take at most
CELL = (3, 44)  # smallest and largest side of a cell
NUMBERED = 30  # side of a cell that has room for its number
LABELLED = 11  # and for a label
MOST_CELLS = 20_000  # more are one embedded image, as in an export of the page
LABEL, SMALL, TITLE = 14, 12, 17  # letter sizes
LINE = 22  # height of a line of text
LONGEST = 16  # of a label, in letter sizes
AVERAGE = 0.58  # width of a letter that is not Chinese, in letter sizes
GUTTER = 10  # between a label and the cells
SLANT = 0.7071  # of 45°
MUTED = "#5b606d"
LEGEND = (160, 10)  # width and height
FONTS = "system-ui, 'Noto Sans', 'Noto Sans CJK SC', 'PingFang SC', 'Microsoft YaHei', sans-serif"


def heatmap_svg(heatmap: Heatmap, title: str, texts: Sequence[str] = ()) -> bytes:
    """Return the drawing as a UTF-8 file, with a title and further lines below it."""
    rows, columns = heatmap.weights.shape
    side = int(np.clip(SIDE // max(rows, columns), *CELL))
    names = [[_shortened(name) for name in labels] for labels in (heatmap.rows, heatmap.columns)]
    row_label, column_label = (max(_width(name, LABEL) for name in labels) for labels in names)
    left = MARGIN + SMALL + 2 * GUTTER + int(row_label)
    lines = MARGIN + TITLE + len(texts) * LINE
    above = lines + int(column_label * SLANT) + LABEL + 2 * GUTTER
    width = left + max(columns * side + int(column_label * SLANT), 210 + LEGEND[0]) + MARGIN
    width = max(width, int(_width(title, TITLE)) + 2 * MARGIN)
    height = above + rows * side + 22 + MARGIN
    fitting = (width - 2 * MARGIN) / LABEL
    head = [
        f'<text x="{MARGIN}" y="{MARGIN + TITLE + index * LINE}" font-size="{LABEL}" '
        f'fill="{MUTED}">{_text(_shortened(text, fitting))}</text>'
        for index, text in enumerate(texts, 1)
    ]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="{FONTS}" role="img">',
        f"<title>{_text(title)}</title><desc>{_text(' '.join(texts))}</desc>",
        f'<defs><pattern id="masked" width="6" height="6" patternUnits="userSpaceOnUse">'
        f'<path d="M-1 7 7 -1" stroke="{HATCH}"/></pattern>{_gradient()}</defs>',
        f'<rect width="{width}" height="{height}" fill="{PAPER}"/>',
        f'<text x="{MARGIN}" y="{MARGIN + TITLE}" font-size="{TITLE}" fill="{INK}">'
        f"{_text(title)}</text>",
        *head,
        f'<g transform="translate({left} {above})">',
        *_cells(heatmap, side),
        f'<rect x="-0.5" y="-0.5" width="{columns * side + 1}" height="{rows * side + 1}" '
        f'fill="none" stroke="{RULE}"/>',
        *_row_labels(names[0], side),
        *_column_labels(names[1], side),
        *_axes(heatmap, side, left),
        "</g></svg>\n",
    ]
    return "".join(parts).encode()


def _cells(heatmap: Heatmap, side: int) -> Iterator[str]:
    """Yield a rectangle for each cell, and its number; many cells are one image."""
    rows, columns = heatmap.weights.shape
    shades = colours(heatmap.weights)
    if heatmap.weights.size > MOST_CELLS:
        file = io.BytesIO()
        Image.fromarray(np.dstack([shades, heatmap.mask * np.uint8(255)])).save(file, "PNG")
        data = base64.b64encode(file.getvalue()).decode()
        size = f'width="{columns * side}" height="{rows * side}"'
        yield f'<rect {size} fill="url(#masked)"/>'
        yield f'<image {size} image-rendering="pixelated" href="data:image/png;base64,{data}"/>'
        return
    numbered = heatmap.numbered and side >= NUMBERED
    for row, column in np.ndindex(rows, columns):
        red, green, blue = (int(channel) for channel in shades[row, column])
        allowed = heatmap.mask[row, column]
        fill = f"#{red:02x}{green:02x}{blue:02x}" if allowed else "url(#masked)"
        x, y = column * side, row * side
        yield f'<rect x="{x}" y="{y}" width="{side}" height="{side}" fill="{fill}"/>'
        number = f"{heatmap.weights[row, column]:.2f}"
        if numbered and allowed and number != "0.00":
            ink = INK if luminance((red, green, blue)) > 0.179 else "#ffffff"
            yield (
                f'<text x="{x + side / 2:g}" y="{y + side / 2:g}" dy=".35em" fill="{ink}" '
                f'font-size="{side * 0.32:.4g}" text-anchor="middle">{number}</text>'
            )


def _row_labels(names: Sequence[str], side: int) -> Iterator[str]:
    yield f'<g font-size="{LABEL}" fill="{INK}" text-anchor="end">'
    for index, name in _labelled(names, side):
        y = (index + 0.5) * side
        yield f'<text x="{-GUTTER}" y="{y:g}" dy=".35em">{_text(name)}</text>'
    yield "</g>"


def _column_labels(names: Sequence[str], side: int) -> Iterator[str]:
    """Yield labels that rise to the right; a single character stays upright."""
    yield f'<g font-size="{LABEL}" fill="{INK}">'
    for index, name in _labelled(names, side):
        x = (index + 0.5) * side
        if len(name) == 1:
            yield f'<text x="{x:g}" y="-8" text-anchor="middle">{_text(name)}</text>'
        else:
            yield f'<text transform="translate({x + 4:g} -8) rotate(-45)">{_text(name)}</text>'
    yield "</g>"


def _labelled(names: Sequence[str], side: int) -> Iterator[tuple[int, str]]:
    """Yield (index, label); where there is no room for all, some positions, counted from 1."""
    step = -(-LABELLED // side)
    for index in range(0, len(names), step):
        yield index, names[index] if step == 1 else str(index + 1)


def _axes(heatmap: Heatmap, side: int, left: int) -> Iterator[str]:
    """Yield what the axes are, and the legend."""
    rows = len(heatmap.weights)
    middle, bottom = rows * side / 2, rows * side + 22
    width, height = LEGEND
    yield f'<g font-size="{SMALL}" fill="{MUTED}">'
    yield (
        f'<text transform="translate({MARGIN + SMALL - left} {middle:g}) rotate(-90)" '
        'text-anchor="middle">query (looks)</text>'
    )
    yield f'<text y="{bottom}">key (looked at) ↑</text>'
    x, y = 120, bottom - height
    yield f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="url(#scale)"/>'
    yield f'<text x="{x - 6}" y="{bottom}" text-anchor="end">0</text>'
    yield f'<text x="{x + width + 6}" y="{bottom}">1</text>'
    if not heatmap.mask.all():
        x += width + 34
        yield f'<rect x="{x}" y="{y}" width="{height}" height="{height}" fill="url(#masked)"/>'
        yield f'<text x="{x + height + 6}" y="{bottom}">masked</text>'
    yield "</g>"


def _gradient() -> str:
    """Return the scale from 0 to 1, in steps that its curve needs."""
    offsets = np.linspace(0, 1, 17)
    stops = (
        f'<stop offset="{offset:g}" stop-color="#{bytes(shade).hex()}"/>'
        for offset, shade in zip(offsets, colours(offsets), strict=True)
    )
    return f'<linearGradient id="scale">{"".join(stops)}</linearGradient>'


def _shortened(text: str, most: float = LONGEST) -> str:
    """Cut a text to at most a width, in letter sizes."""
    if _width(text, 1) <= most:
        return text
    while text and _width(text, 1) > most - 1:
        text = text[:-1]
    return f"{text.rstrip()}…"


def _width(text: str, size: float) -> float:
    """Return about how wide a text is in a sans-serif font."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return size * (wide + AVERAGE * (len(text) - wide))


def _text(text: str) -> Markup:
    """Return a text for XML, which allows no control characters."""
    return escape("".join(character if character.isprintable() else " " for character in text))

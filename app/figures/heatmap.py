"""Heatmaps drawn with Pillow like the page's: rows are queries, columns are keys.

The colour scale of attention is the page's (static/js/core/draw/colour-scales.js). A straight line
through OKLab (Björn Ottosson, "A perceptual color space for image processing", 2020) from the
background to violet, with more chroma half-way; a value lies on it at its power ``LIFT``, so that
small ones are seen. It is cut into stops that are interpolated in sRGB.

The font has Chinese characters if the system has one.
"""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

# Folders with fonts, and the names of faces with simplified Chinese, best first.
FOLDERS = (
    "/usr/share/fonts",
    "/usr/local/share/fonts",
    "~/.local/share/fonts",
    "/System/Library/Fonts",
    "/Library/Fonts",
    "C:/Windows/Fonts",
)

FILES = (
    "NotoSansCJK-Regular.ttc",
    "NotoSansCJKsc-Regular.otf",
    "NotoSansSC-Regular.otf",
    "SourceHanSansSC-Regular.otf",
    "wqy-microhei.ttc",
    "PingFang.ttc",
    "Hiragino Sans GB.ttc",
    "msyh.ttc",
)

SIMPLIFIED = ("SC", "GB")  # the end of a face's family name in a collection of several

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


@cache
def chinese_file(folders: tuple[str, ...] = FOLDERS) -> tuple[Path, int] | None:
    """Return a font file with Chinese, and the index of the face in it; None without one."""
    paths = {path.name: path for folder in folders for path in _files(Path(folder).expanduser())}
    for name in FILES:
        if name in paths:
            return paths[name], _face(paths[name])
    return None


class Typeface:
    """A font face in any size, which can tell the characters that it lacks."""

    def __init__(self, file: tuple[Path, int] | None) -> None:
        self.file = file
        self._fonts: dict[int, Font] = {}
        self._covered: dict[str, bool] = {}

    def at(self, size: int) -> Font:
        """Return the face in a size in pixels; without a file, Pillow's built-in Latin font."""
        if size not in self._fonts:
            self._fonts[size] = (
                ImageFont.truetype(self.file[0], size, index=self.file[1])
                if self.file
                else ImageFont.load_default(size)
            )
        return self._fonts[size]

    def covers(self, text: str) -> bool:
        """Return whether it can draw every character, rather than a placeholder box."""
        return all(self._has(character) for character in text)

    def covered(self, text: str) -> str:
        """Return the text without the characters that it cannot draw."""
        return "".join(character for character in text if self._has(character))

    def _has(self, character: str) -> bool:
        if character not in self._covered:
            self._covered[character] = character.isspace() or (
                character.isprintable() and _drawn(self, character) != _drawn(self, "\uffff")
            )
        return self._covered[character]


def _drawn(face: Typeface, character: str) -> bytes:
    mask = face.at(20).getmask(character)
    return bytes(mask) + repr(mask.size).encode()


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.suffix.lower() in (".ttc", ".otf", ".ttf"))


def _face(path: Path) -> int:
    """Return the first face of a collection for simplified Chinese, or the first face."""
    if path.suffix.lower() != ".ttc":
        return 0
    index = 0
    while True:
        try:
            family, _ = ImageFont.truetype(path, 10, index=index).getname()
        except OSError:
            return 0
        if str(family).endswith(SIMPLIFIED):
            return index
        index += 1


PAPER, VIOLET = "#fbfaf7", "#4c1d95"

STEPS = 16

LIFT = 0.65

BLOOM = 0.045  # chroma added half-way, in the hue of the violet, so that the middle is not grey

Floats = NDArray[np.float64]

TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)

TO_LAB = np.array(
    [
        [0.2104542553, 0.793617785, -0.0040720468],
        [1.9779984951, -2.428592205, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.808675766],
    ]
)


def rgb(hex_: str) -> tuple[int, int, int]:
    """Return the channels of ``#rrggbb``, 0–255."""
    red, green, blue = bytes.fromhex(hex_.removeprefix("#"))
    return red, green, blue


def colours(values: Floats) -> NDArray[np.uint8]:
    """Return the colours (…, 3) of values (…) from 0 to 1; values outside are clamped."""
    stops = _stops()
    place = np.clip(values, 0, 1) * STEPS
    low = np.minimum(place.astype(int), STEPS - 1)
    share = (place - low)[..., None]
    mixed = stops[low] + (stops[low + 1] - stops[low]) * share
    shades: NDArray[np.uint8] = np.floor(mixed + 0.5).astype(np.uint8)  # rounds like JavaScript
    return shades


def luminance(colour: tuple[int, int, int]) -> float:
    """Return the relative luminance, 0 to 1 (WCAG 2)."""
    return float(_linear(np.array(colour, dtype=float)) @ np.array([0.2126, 0.7152, 0.0722]))


@cache
def _stops() -> Floats:
    paper, violet = (
        TO_LAB @ np.cbrt(TO_CONES @ _linear(np.array(rgb(colour), dtype=float)))
        for colour in (PAPER, VIOLET)
    )
    positions = np.linspace(0, 1, STEPS + 1)[:, None] ** LIFT
    line = paper + (violet - paper) * positions
    hue = violet[1:] / np.hypot(*violet[1:])
    line[:, 1:] += hue * BLOOM * np.sin(np.pi * positions)
    light = (line @ np.linalg.inv(TO_LAB).T) ** 3 @ np.linalg.inv(TO_CONES).T
    return _coded(light)


def _linear(channels: Floats) -> Floats:
    """Convert sRGB 0–255 to linear light 0–1."""
    c = channels / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def _coded(light: Floats) -> Floats:
    """Convert linear light to sRGB, integers from 0 to 255."""
    light = np.clip(light, 0, 1)
    coded = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    return np.floor(np.clip(coded, 0, 1) * 255 + 0.5)


INK, HATCH, RULE = "#14171f", "#b9b7b0", "#e2dfd6"

CELL = 112  # maximum size of a cell in pixels

LABELLED = 15  # pixels that a row or a column needs for a label

POSITION = 36  # pixels that a column needs for its position, if there is no room for labels

NUMBERED = (44, 24)  # width and height that a cell needs for its number

GUTTER = 190  # maximum pixels for labels

Box = tuple[int, int, int, int]  # left, top, right, bottom


@dataclass(frozen=True)
class Heatmap:
    """Weights (query, key) from 0 to 1, the mask (true: may attend), and labels of both axes.

    Where there is no room for labels, some rows and columns have their position, counted from 1,
    unless the labels are `positions` themselves.
    """

    weights: NDArray[np.float64]
    mask: NDArray[np.bool_]
    rows: Sequence[str]
    columns: Sequence[str]
    numbered: bool = True
    positions: bool = False

    def hidden(self) -> "Heatmap":
        """Return the empty table, for a reader who is to predict what is in it."""
        return replace(self, weights=np.zeros_like(self.weights), numbered=False)


@dataclass(frozen=True)
class Grid:
    """Where the cells are: the corner and size of one, in whole pixels."""

    left: int
    top: int
    across: int
    down: int

    def middle(self, row: float, column: float) -> tuple[float, float]:
        """Return the middle of a cell, (x, y)."""
        return self.left + (column + 0.5) * self.across, self.top + (row + 0.5) * self.down


def draw_heatmap(picture: Image.Image, room: Box, heatmap: Heatmap, face: Typeface) -> Grid:
    """Draw a heatmap in the middle of a box on the picture; return the grid of its cells."""
    rows, columns = heatmap.weights.shape
    names = [_readable(list(texts), face) for texts in (heatmap.rows, heatmap.columns)]
    places = names if heatmap.positions else [_positions(texts) for texts in names]
    grid = _layout(room, rows, columns, names, face)
    picture.paste(_cells(heatmap, grid), (grid.left, grid.top))
    draw = ImageDraw.Draw(picture)
    draw.rectangle(
        (
            grid.left - 1,
            grid.top - 1,
            grid.left + columns * grid.across,
            grid.top + rows * grid.down,
        ),
        outline=RULE,
    )
    _numbers(draw, heatmap, grid, face)
    _row_labels(draw, names[0], places[0], grid, face)
    _column_labels(picture, names[1], places[1], grid, face)
    return grid


def _readable(texts: list[str], face: Typeface) -> list[str]:
    """Return labels that the face can draw; others become their position, from 1."""
    places = _positions(texts)
    return [text if face.covers(text) else place for text, place in zip(texts, places, strict=True)]


def _positions(texts: list[str]) -> list[str]:
    return [str(n + 1) for n in range(len(texts))]


def _size(pixels: int) -> int:
    """Return the letter size for cells of this size."""
    return max(13, min(22, int(pixels * 0.62)))


def _layout(room: Box, rows: int, columns: int, names: list[list[str]], face: Typeface) -> Grid:
    x0, top, right, bottom = room
    longest = [max(face.at(20).getlength(name) for name in texts) for texts in names]
    gutter = min(GUTTER, int(longest[0]) + 14)
    head = min(GUTTER, int(longest[1] * 0.72) + 30)
    across = max(1, min(CELL, (right - x0 - gutter) // columns))
    down = max(1, min(CELL, (bottom - top - head) // rows))
    down = min(down, across * 2)
    across = min(across, down * 2)
    spare_x = right - x0 - gutter - across * columns
    spare_y = bottom - top - head - down * rows
    return Grid(x0 + gutter + max(0, spare_x // 2), top + head + max(0, spare_y // 2), across, down)


def _cells(heatmap: Heatmap, grid: Grid) -> Image.Image:
    """Draw the cells without numbers: colour by weight, hatched where masked."""
    scale = np.ones((grid.down, grid.across, 1), dtype=np.uint8)
    cells = Image.fromarray(np.kron(colours(heatmap.weights), scale))
    forbidden = ~np.kron(heatmap.mask, np.ones((grid.down, grid.across), dtype=bool))
    hatch = Image.new("RGB", cells.size, rgb(PAPER))
    lines = ImageDraw.Draw(hatch)
    for x in range(-cells.height, cells.width, 6):
        lines.line((x, cells.height, x + cells.height, 0), fill=HATCH)
    cells.paste(hatch, (0, 0), Image.fromarray(forbidden))
    return cells


def _numbers(draw: ImageDraw.ImageDraw, heatmap: Heatmap, grid: Grid, face: Typeface) -> None:
    if not heatmap.numbered or grid.across < NUMBERED[0] or grid.down < NUMBERED[1]:
        return
    shades = colours(heatmap.weights)
    font = face.at(max(16, min(grid.across, 2 * grid.down) // 4))
    for row, column in np.argwhere(heatmap.mask):
        red, green, blue = (int(channel) for channel in shades[row, column])
        # Black or white, whichever has the better contrast (WCAG 2): they are equal at 0.179.
        ink = INK if luminance((red, green, blue)) > 0.179 else "#ffffff"
        text = f"{heatmap.weights[row, column]:.2f}"
        if text != "0.00":  # the empty cell says it
            draw.text(grid.middle(row, column), text, ink, font, anchor="mm")


def _row_labels(
    draw: ImageDraw.ImageDraw, names: list[str], places: list[str], grid: Grid, face: Typeface
) -> None:
    step = -(-LABELLED // grid.down)
    font = face.at(_size(grid.down * step))
    for row in range(0, len(names), step):
        name = (names if step == 1 else places)[row]
        x, y = grid.left - 8, grid.middle(row, 0)[1]
        draw.text((x, y), _cut(name, GUTTER - 10, font), INK, font, anchor="rm")


def _column_labels(
    picture: Image.Image, names: list[str], places: list[str], grid: Grid, face: Typeface
) -> None:
    step = 1 if grid.across >= LABELLED else -(-POSITION // grid.across)
    font = face.at(_size(grid.across * step))
    draw = ImageDraw.Draw(picture)
    indices = range(0, len(names), step)
    texts = [_cut(names[n], GUTTER, font) if step == 1 else places[n] for n in indices]
    lengths = [font.getlength(text) for text in texts]
    fits = all(length <= grid.across * step - 6 for length in lengths)
    for column, text, length in zip(indices, texts, lengths, strict=True):
        foot = grid.middle(0, column)[0], grid.top - 8
        # A single Chinese character stays upright among slanted words.
        if fits or (length <= grid.across - 4 and ord(text[0]) >= 0x2E80):
            draw.text(foot, text, INK, font, anchor="ms")
        else:
            _slanted(picture, foot, text, font)


def _slanted(picture: Image.Image, foot: tuple[float, float], name: str, font: Font) -> None:
    """Draw a label that rises to the right by 45° from its foot."""
    draw = ImageDraw.Draw(picture)
    x0, top, right, bottom = draw.textbbox((0, 0), name, font=font, anchor="ls")
    size = int(right - x0) + 4, int(bottom - top) + 4
    mask = Image.new("L", size)
    ImageDraw.Draw(mask).text((2 - x0, 2 - top), name, 255, font, anchor="ls")
    mask = mask.rotate(45, expand=True, resample=Image.Resampling.BICUBIC)
    # After rotation, the label's lower left corner is on the left edge, half a line up.
    rise = size[1] * 0.7071
    corner = int(foot[0] - rise * 0.5), int(foot[1] - mask.height + rise * 0.35)
    picture.paste(Image.new("RGB", mask.size, rgb(INK)), corner, mask)


def _cut(text: str, width: int, font: Font) -> str:
    while len(text) > 1 and font.getlength(text) > width:
        text = text[:-2] + "…"
    return text


WIDTH, HEIGHT, MARGIN = 960, 600, 16


def still(heatmap: Heatmap, face: Typeface | None = None) -> bytes:
    """Return the PNG, 960 × 600; `face` replaces the system's font."""
    picture = Image.new("RGB", (WIDTH, HEIGHT), PAPER)
    room = (MARGIN, MARGIN, WIDTH - MARGIN, HEIGHT - MARGIN)
    draw_heatmap(picture, room, heatmap, face or Typeface(chinese_file()))
    file = io.BytesIO()
    picture.save(file, "PNG", optimize=True)
    return file.getvalue()

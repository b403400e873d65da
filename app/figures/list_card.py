"""The picture of a collection for link previews: its title, its items, the first item's picture."""

import io
from collections.abc import Sequence

from PIL import Image, ImageDraw

from app.figures.card import HEIGHT, INK, MARGIN, MUTED, WIDTH, draw_mark, wrap
from app.figures.colours import PAPER, VIOLET
from app.figures.fonts import Typeface, chinese_file

LEFT = 520  # width of the text
SHOWN = 4  # items by name


def list_preview(
    title: str, items: Sequence[str], first: bytes | None, face: Typeface | None = None
) -> bytes:
    """Return the PNG, 1200 × 630; `first` is the PNG of the first item, if it has one.

    `face` replaces the system's font.
    """
    face = face or Typeface(chinese_file())
    picture = Image.new("RGB", (WIDTH, HEIGHT), PAPER)
    draw = ImageDraw.Draw(picture)
    width = LEFT - MARGIN if first else WIDTH - 2 * MARGIN
    draw_mark(draw, MARGIN, MARGIN)
    draw.text((MARGIN + 48, MARGIN + 18), "Headlight", INK, face.at(28), anchor="lm")
    y = MARGIN + 84
    for line in wrap(face.covered(" ".join(title.split())), width, 44, 4, face):
        draw.text((MARGIN, y), line, INK, face.at(44))
        y += 56
    y += 18
    for n, name in enumerate(items[:SHOWN], 1):
        (line, *_) = wrap(face.covered(f"{n}  {' '.join(name.split())}"), width, 24, 1, face) or [
            ""
        ]
        draw.text((MARGIN, y), line, MUTED, face.at(24))
        y += 36
    if len(items) > SHOWN:
        draw.text((MARGIN, y), f"+ {len(items) - SHOWN}", VIOLET, face.at(24))
    if first:
        _paste(picture, first)
    file = io.BytesIO()
    picture.save(file, "PNG", optimize=True)
    return file.getvalue()


def _paste(picture: Image.Image, first: bytes) -> None:
    """Paste the picture of an item at the right, in the middle of the height."""
    with Image.open(io.BytesIO(first)) as shown:
        width = WIDTH - LEFT - MARGIN - 20
        small = shown.convert("RGB").resize((width, width * shown.height // shown.width))
    picture.paste(small, (LEFT + 20, (HEIGHT - small.height) // 2))

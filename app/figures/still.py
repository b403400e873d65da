"""A heatmap as a picture, for figures on pages without scripts."""

import io

from PIL import Image

from app.figures.colours import PAPER
from app.figures.fonts import Typeface, chinese_file
from app.figures.heatmap import Heatmap, draw_heatmap

WIDTH, HEIGHT, MARGIN = 960, 600, 16


def still(shown: Heatmap, face: Typeface | None = None) -> bytes:
    """Return the PNG, 960 × 600; `face` replaces the system's font."""
    picture = Image.new("RGB", (WIDTH, HEIGHT), PAPER)
    room = (MARGIN, MARGIN, WIDTH - MARGIN, HEIGHT - MARGIN)
    draw_heatmap(picture, room, shown, face or Typeface(chinese_file()))
    file = io.BytesIO()
    picture.save(file, "PNG", optimize=True)
    return file.getvalue()

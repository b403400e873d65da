"""The picture of a share for link previews (Open Graph): its heatmap, from the frozen weights.

┌────────────────────────────────────────────┐
│ ░░ labels of keys     │ the sentence       │
│ q  ▓ heatmap          │ its translation    │
│ u  of one head        │ layer, head, model │
└────────────────────────────────────────────┘

The picture of a collection for link previews: its title, its items, the first item's picture.
"""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from app.engine.reply_formats import Reply
from app.figures.heatmap import PAPER, VIOLET, Heatmap, Typeface, chinese_file, draw_heatmap
from model.trace.attentions import SELF, AttentionInfo, read_whole, texts

WIDTH, HEIGHT = 1200, 630  # the usual size of link previews
MARGIN = 48
TEXT = 772  # left edge of the text
INK, MUTED, ALTERED = "#14171f", "#5b606d", "#b03a08"
CLOSING = "。，、；：？！）》」』”’…"  # characters that must not start a line
BY_HAND = "Attention by hand"
PICTURE = ".weights.max"  # after an attention: the pictures of its heads over a long text
HIDDEN = 255  # in these: the mask hides the whole cell; other numbers are weight · 254
TYPED = 400  # characters of a text that are shown, or are a title
SAYS = {"mean": "mean of the heads", "max": "maximum of the heads"}


@dataclass(frozen=True)
class Seen:
    """The weights that a share's state shows, at the nearest place that its trace has."""

    attention: AttentionInfo
    written: bool  # whether its rows predict tokens
    head: int
    pool: str  # "one", or how the heads of the layer are pooled
    weights: NDArray[np.float64]  # (query, key); of a long text, the largest of each cell
    mask: NDArray[np.bool_]  # true: may attend
    span: tuple[int, int] = (1, 1)  # tokens of a cell

    @property
    def place(self) -> str:
        """The layer and head, in words."""
        head = SAYS.get(self.pool, f"head {self.head + 1}")
        return f"Layer {self.attention.layer + 1}, {head}"

    @property
    def kind(self) -> str:
        """The kind of attention, in words."""
        attention = self.attention
        return (
            f"{attention.stack} self-attention"
            if attention.kind == SELF
            else f"{attention.kind}-attention"
        )


def look(state: Mapping[str, Any], model: Mapping[str, Any], reply: Reply) -> Seen:
    """Return the weights that the state shows, at the nearest existing layer and head."""
    table = [AttentionInfo(**entry) for entry in model["attentions"]]
    available = [attention for attention in table if _heads(reply, attention) is not None]
    block_name = str(state.get("block"))
    block = [attention for attention in available if attention.block == block_name] or [
        attention for attention in available if attention.block == available[-1].block
    ]
    layer = int(state.get("layer") or 0)
    chosen = max(
        (attention for attention in block if attention.layer <= layer), key=_layer, default=block[0]
    )
    weights = _heads(reply, chosen)
    assert weights is not None  # it is there
    heads, mask, span = weights
    head = min(int(state.get("head") or 0), len(heads) - 1)
    pool = str(state.get("pool"))
    pooled = {"mean": heads.mean(axis=0), "max": heads.max(axis=0)}
    grown = chosen.query not in read_whole(table) and chosen.query != texts(table)[0]
    written = grown and "output" in reply.document
    return Seen(chosen, written, head, pool, pooled.get(pool, heads[head]), mask, span)


def is_overview(reply: Reply) -> bool:
    """Return whether the trace is of a long text: pictures of all heads instead of all weights."""
    return any(name.endswith(PICTURE) for name in reply.arrays)


def _heads(
    reply: Reply, attention: AttentionInfo
) -> tuple[NDArray[np.float64], NDArray[np.bool_], tuple[int, int]] | None:
    """Return the weights of all heads of an attention, their mask, and the tokens of a cell."""
    name = attention.place + PICTURE
    if name not in reply.arrays:
        weights = reply.arrays.get(f"{attention.place}.weights")
        mask = reply.arrays.get(f"{attention.place}.mask")
        return None if weights is None or mask is None else (weights.astype(float), mask, (1, 1))
    steps, span = reply.arrays[name], reply.document["tensors"][name]["span"]
    mask = steps[0] != HIDDEN
    return np.where(mask, steps / (HIDDEN - 1), 0.0), mask, (span["query"], span["key"])


def _layer(attention: AttentionInfo) -> int:
    return attention.layer


def sentence(state: Mapping[str, Any]) -> str:
    """Return the typed text: the source, or a model's only text; for the lab, a title."""
    if "lab" in state:
        return BY_HAND
    return str(state["source"] if "source" in state else state["text"])


def in_short(text: str) -> str:
    """Return the beginning of a text in one line, for a title."""
    line = " ".join(text[: 2 * TYPED].split())
    return line if len(line) <= TYPED else f"{line[: TYPED - 1]}…"


def preview(
    state: Mapping[str, Any],
    model: Mapping[str, Any],
    reply: Reply,
    face: Typeface | None = None,
    *,
    hidden: bool = False,
) -> bytes:
    """Return the PNG, 1200 × 630, for a share's state, model and trace.

    `face` replaces the system's font; `hidden` leaves out weights and translation, which the reader
    is to predict.
    """
    face = face or Typeface(chinese_file())
    picture = Image.new("RGB", (WIDTH, HEIGHT), PAPER)
    room = (MARGIN, MARGIN, TEXT - 40, HEIGHT - MARGIN)
    if "lab" in state:
        draw_heatmap(picture, room, by_hand(state, reply), face)
        _words_by_hand(picture, reply, face)
    else:
        selection = look(state, model, reply)
        weights, document = heatmap(selection, reply.document), reply.document
        if hidden:
            weights, document = weights.hidden(), {**document, "output": {"text": ""}}
        draw_heatmap(picture, room, weights, face)
        _words(picture, state, str(model["name"]), document, selection, face)
    file = io.BytesIO()
    picture.save(file, "PNG", optimize=True)
    return file.getvalue()


def heatmap(selection: Seen, document: Mapping[str, Any]) -> Heatmap:
    """Return the weights with the tokens of their rows and columns."""
    if selection.span != (1, 1):
        firsts, remaining = (
            [str(n * side + 1) for n in range(cells)]
            for cells, side in zip(selection.weights.shape, selection.span, strict=True)
        )
        return Heatmap(selection.weights, selection.mask, firsts, remaining, positions=True)
    read = document["tokens"]
    rows = document["output"]["tokens"] if selection.written else read[selection.attention.query]
    columns = read[selection.attention.key]
    return Heatmap(
        selection.weights,
        selection.mask,
        [label(token) for token in rows],
        [label(token) for token in columns],
    )


def by_hand(state: Mapping[str, Any], reply: Reply) -> Heatmap:
    """Return the lab's first head, with rows as queries in either convention."""
    weights, mask = reply.arrays["weights"][0], reply.arrays["mask"]
    if state["lab"].get("convention") == "column":
        weights, mask = weights.T, mask.T
    tokens = reply.document["tokens"]
    return Heatmap(weights, mask, tokens["query"], tokens["key"])


def _words_by_hand(picture: Image.Image, reply: Reply, face: Typeface) -> None:
    draw = ImageDraw.Draw(picture)
    width = WIDTH - MARGIN - TEXT
    draw_mark(draw, TEXT, MARGIN)
    draw.text((TEXT + 48, MARGIN + 18), "Headlight", INK, face.at(28), anchor="lm")
    y = MARGIN + 84
    for text, size, colour in (
        (BY_HAND, 38, INK),
        (" ".join(reply.document["tokens"]["query"]), 28, MUTED),
    ):
        for line in wrap(face.covered(text), width, size, 3, face):
            draw.text((TEXT, y), line, colour, face.at(size))
            y += int(size * 1.35)
        y += 14
    heads = len(reply.arrays["weights"])
    place = "Weights" if heads == 1 else f"Weights of head 1 of {heads}"
    draw.text((TEXT, HEIGHT - MARGIN), place, VIOLET, face.at(28), anchor="ls")


def label(token: Mapping[str, Any]) -> str:
    """Return a token without its leading space, which would be drawn as a wide dot here."""
    text = str(token["text"])
    return text.strip() or text.replace(" ", "·").replace("\n", "⏎").replace("\t", "⇥")


def _words(
    picture: Image.Image,
    state: Mapping[str, Any],
    model: str,
    document: Mapping[str, Any],
    selection: Seen,
    face: Typeface,
) -> None:
    draw = ImageDraw.Draw(picture)
    width = WIDTH - MARGIN - TEXT
    draw_mark(draw, TEXT, MARGIN)
    draw.text((TEXT + 48, MARGIN + 18), "Headlight", INK, face.at(28), anchor="lm")
    y = MARGIN + 84
    changes = len(state.get("interventions") or [])
    max_lines = 3 if changes else 4
    written = str(document["output"]["text"]) if "output" in document else ""
    texts = (sentence(state), 38, INK, max_lines), (written, 28, MUTED, 3)
    for text, size, colour, max_lines in texts:
        for line in wrap(face.covered(in_short(text)), width, size, max_lines, face):
            draw.text((TEXT, y), line, colour, face.at(size))
            y += int(size * 1.35)
        y += 14
    bottom = HEIGHT - MARGIN
    if changes:
        words = "a modified model: " + ("1 change" if changes == 1 else f"{changes} changes")
        draw.text((TEXT, bottom - 98), words, ALTERED, face.at(22), anchor="ls")
    draw.text((TEXT, bottom - 60), selection.place, VIOLET, face.at(28), anchor="ls")
    draw.text((TEXT, bottom - 28), selection.kind, INK, face.at(22), anchor="ls")
    (line, *_) = wrap(face.covered(model), width, 20, 1, face) or [""]
    draw.text((TEXT, bottom), line, MUTED, face.at(20), anchor="ls")


def wrap(text: str, width: int, size: int, max_lines: int, face: Typeface) -> list[str]:
    """Break a text into `max_lines` lines of a width in pixels; the rest is an ellipsis."""
    font = face.at(size)
    lines = [""]
    for word in _pieces(text):
        if lines[-1] and font.getlength(lines[-1] + word.rstrip()) > width:
            lines.append("")
        lines[-1] += word if lines[-1] else word.lstrip()
        while font.getlength(lines[-1].rstrip()) > width and len(lines) <= max_lines:
            cut = next(
                n
                for n in range(len(lines[-1]), 0, -1)
                if n == 1 or font.getlength(lines[-1][:n]) <= width
            )
            lines[-1:] = [lines[-1][:cut], lines[-1][cut:]]
    lines = [line.rstrip() for line in lines if line.strip()]
    if len(lines) > max_lines:
        last = lines[max_lines - 1]
        while last and font.getlength(last + "…") > width:
            last = last[:-1]
        lines = [*lines[: max_lines - 1], last.rstrip() + "…"]
    return lines


def _pieces(text: str) -> list[str]:
    """Split where a line may break: after spaces, around Chinese characters, not before commas."""
    pieces = [""]
    for character in text:
        wide = ord(character) >= 0x2E80 and character not in CLOSING
        if (
            pieces[-1]
            and character not in CLOSING
            and (wide or pieces[-1].endswith(" ") or ord(pieces[-1][-1]) >= 0x2E80)
        ):
            pieces.append("")
        pieces[-1] += character
    return pieces


def draw_mark(draw: ImageDraw.ImageDraw, x: int, y: int) -> None:
    """Draw static/img/mark.svg at 1.5 times its size."""
    draw.rounded_rectangle((x, y, x + 36, y + 36), 7, VIOLET)
    cells = [(5, 6, "#c4b5fd"), (10, 6, "#7c5cc4"), (5, 11, "#7c5cc4"), (10, 11, PAPER)]
    cells += [(15, 11, "#7c5cc4"), (10, 16, "#7c5cc4"), (15, 16, "#c4b5fd")]
    for column, top, colour in cells:
        right, bottom = column + 4, min(top + 4, 19)
        draw.rectangle(
            (x + column * 1.5, y + top * 1.5, x + right * 1.5 - 1, y + bottom * 1.5 - 1), colour
        )


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
    with Image.open(io.BytesIO(first)) as image:
        width = WIDTH - LEFT - MARGIN - 20
        small = image.convert("RGB").resize((width, width * image.height // image.width))
    picture.paste(small, (LEFT + 20, (HEIGHT - small.height) // 2))

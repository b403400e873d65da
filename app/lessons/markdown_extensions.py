"""Blocks that extend Markdown: a figure, a question about one, and notes for the speaker.

    ```figure
    /?source=The+cat+sleeps.&view=attention&block=encoder&layer=0&head=2
    A caption, in one line.
    live: What to try, which can be done only where the figure is live.
    | a table | for readers |
    |---|---|
    | without | scripts |
    ```

    ```predict looks
    /?source=The+cat+sleeps.&block=cross&layer=2&head=3&query=1
    While it writes “cat”, which word does the head look at most?
    expects: cat
    why: What a reader may learn from the answer.
    ```

    ```notes
    Ask for a show of hands before you reveal.
    ```

Notes belong to the figure or the question before them, or to the beginning; each line is one note.
The first line of the others is a link to the workspace, the lab, the zoo or a training run's
options, as in the address bar.
Lines such as ``why: …`` are fields; a table is a figure's still; the others are text. ``expects``
is the answer that the text around the question relies on; tests compare it with the model's.

Converts formulas from TeX to MathML, and links known symbols to the glossary and to figures.

``data-term`` names an entry of the glossary. ``data-part`` has the quantity's names in figures: a
matrix or a step of the lab (``mix:1``: of its second head), a tensor of a trace, or a symbol of a
formula to try.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple
from xml.etree import ElementTree as ET

from latex2mathml.converter import convert

from app.figures.links import Link

FIELD = re.compile(r"(?P<name>[a-z]+): (?P<value>.+)")

KINDS = ("looks", "head", "next", "off", "change", "row", "number", "nearest", "unit")


@dataclass(frozen=True)
class FigureBlock:
    """A live figure, with its number on the page, from 1."""

    number: int
    link: Link
    caption: str  # Markdown
    live: str  # what to try where it is live, in Markdown
    still: str  # a table in Markdown; empty: its picture is a heatmap
    fields: dict[str, str]

    @property
    def pictured(self) -> Link:
        """The link that its picture is drawn from: `instead`, if a server cannot show its own."""
        return Link.parse(self.fields["instead"]) if "instead" in self.fields else self.link

    def shown(self, trains: bool) -> Link:
        """Return the link of the figure on a server that trains models, or not."""
        return self.link if trains else self.pictured

    @property
    def options(self) -> dict[str, str]:
        """How the figure of the link is shown: the fields but `instead`."""
        return {name: value for name, value in self.fields.items() if name != "instead"}


@dataclass(frozen=True)
class PredictBlock:
    """A question whose answer the model computes on request."""

    number: int
    kind: str
    link: Link
    question: str  # Markdown
    why: str  # Markdown
    expects: str  # not on the page, where the model answers; empty: the question states its value
    fields: dict[str, str]


Block = FigureBlock | PredictBlock

FIELDS = {
    "figure": {"about", "changes", "choices", "instead", "live", "options", "row", "rows"},
    "predict": {"why", "expects", "step", "row", "column", "value", "within"},
}


def is_notes(info: str) -> bool:
    """Return whether a fence with this info string has notes for the speaker."""
    return info.strip() == "notes"


def is_block(info: str) -> bool:
    """Return whether a fence with this info string is one of the two blocks."""
    return info.split(maxsplit=1)[:1] in (["figure"], ["predict"])


def parse_block(info: str, content: str, number: int) -> Block:
    """Parse a fenced block. Raises ValueError, which says what is wrong."""
    name, _, kind = info.strip().partition(" ")
    link, *lines = [line.strip() for line in content.strip().splitlines()] or [""]
    fields, text, table = {}, [], []
    for line in lines:
        field = FIELD.fullmatch(line)
        if line.startswith("|"):
            table.append(line)
        elif field and field["name"] in FIELDS[name]:
            fields[field["name"]] = field["value"]
        else:
            text.append(line)
    words = " ".join(text)
    if not words:
        raise ValueError(f"a {name} block needs text: {link}")
    if name == "figure":
        live = fields.pop("live", "")
        return FigureBlock(number, Link.parse(link), words, live, "\n".join(table), fields)
    if kind not in KINDS:
        raise ValueError(f"unknown kind of question: {kind} (one of {', '.join(KINDS)})")
    why, expects = fields.pop("why", ""), fields.pop("expects", "")
    return PredictBlock(number, kind, Link.parse(link), words, why, expects, fields)


MATHML = "http://www.w3.org/1998/Math/MathML"

BASED = ("msub", "msup", "msubsup")


class Symbol(NamedTuple):
    """The meaning of a symbol in a formula."""

    term: str  # entry of the glossary; empty if none
    part: str  # parts of figures, separated by spaces; empty if none


SYMBOLS = {
    "Q": Symbol("query", "q"),
    "q": Symbol("query", "q"),
    "K": Symbol("key", "k"),
    "k": Symbol("key", "k"),
    "V": Symbol("value", "v"),
    "v": Symbol("value", "v"),
    "x": Symbol("embedding", "x"),
    "X": Symbol("embedding", "x"),
    "s": Symbol("score", "scores"),
    "S": Symbol("score", "scores"),
    "a": Symbol("weight", "weights"),
    "A": Symbol("weight", "weights"),
    "z": Symbol("attention", "mix"),
    "Z": Symbol("attention", "mix"),
    "M": Symbol("mask", "mask"),
    "h": Symbol("head", ""),
    "head": Symbol("head", ""),
    "softmax": Symbol("softmax", "weights"),
    "W_Q": Symbol("projection", "w_q"),
    "W_K": Symbol("projection", "w_k"),
    "W_V": Symbol("projection", "w_v"),
    "W_O": Symbol("projection", "w_o"),
    "d_k": Symbol("d_k", ""),
    "Attention": Symbol("attention", "mix"),
    "MultiHead": Symbol("attention", "output"),
    "PE": Symbol("position", "encoding PE"),
    "FFN": Symbol("feed-forward", "ffn.output"),
    "LayerNorm": Symbol("norm", "norm"),
}


class Formula(NamedTuple):
    """A formula as MathML, and its symbols in the order in which they first occur."""

    mathml: str
    symbols: dict[str, Symbol]  # by name in TeX: d_k


def formula(tex: str, *, display: bool, symbols: Mapping[str, Symbol] = SYMBOLS) -> Formula:
    """Convert TeX to MathML, with the meanings of its symbols."""
    ET.register_namespace("", MATHML)
    math = ET.fromstring(convert(tex, display="block" if display else "inline"))
    math.set("lang", "en")
    for element in list(math.iter()):
        _join(element)
    for element in list(math.iter()):
        _space(element)
    symbols_marked = dict(_marked(math, symbols))
    return Formula(ET.tostring(math, encoding="unicode"), symbols_marked)


def _marked(element: ET.Element, symbols: Mapping[str, Symbol]) -> Iterator[tuple[str, Symbol]]:
    """Mark the symbols below an element; yield each with its name."""
    for child in element:
        tag = child.tag.removeprefix(f"{{{MATHML}}}")
        name = _name(child, tag, symbols)
        if name is None:
            yield from _marked(child, symbols)
            continue
        symbol = symbols[name]
        if symbol.term:
            child.set("data-term", symbol.term)
        if symbol.part:
            child.set("data-part", symbol.part)
        yield name, symbol
        if tag == "msup":  # a power may contain symbols; the base is marked with the whole
            yield from _marked(child[1], symbols)


def _join(element: ET.Element) -> None:
    """Join a word to one identifier, which otherwise is an operator or separate letters."""
    word = _text(element)
    upright = [child.get("mathvariant") == "normal" for child in element]
    if (
        len(word) > 1
        and word.isalpha()
        and (element.tag == f"{{{MATHML}}}mo" or (upright and all(upright)))
    ):
        element.clear()
        element.tag, element.text = f"{{{MATHML}}}mi", word


def _space(row: ET.Element) -> None:
    """Put a thin space between a function and an argument without parentheses: sin p."""
    for i, (element, following) in reversed(list(enumerate(pairwise(row)))):
        named = element.tag == f"{{{MATHML}}}mi" and len(_text(element)) > 1
        if named and following.tag != f"{{{MATHML}}}mo" and not _text(following).startswith("("):
            row.insert(i + 1, ET.Element(f"{{{MATHML}}}mspace", width="0.17em"))


def _name(element: ET.Element, tag: str, symbols: Mapping[str, Symbol]) -> str | None:
    """Return the symbol that an element shows: d_k with its index, q_i without."""
    if tag in BASED:
        base, index = _text(element[0]), _text(element[1])
        whole = f"{base}_{index}"
        if tag != "msup" and whole in symbols:
            return whole
        return base if base in symbols else None
    text = _text(element)
    return text if element.tag.endswith("}mi") and text in symbols else None


def _text(element: ET.Element) -> str:
    return "".join(element.itertext())

"""Converts formulas from TeX to MathML, and links known symbols to the glossary and to figures.

``data-term`` names an entry of the glossary. ``data-part`` has the quantity's names in figures: a
matrix or a step of the lab (``mix:1``: of its second head), a tensor of a trace, or a symbol of a
formula to try.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple
from xml.etree import ElementTree as ET

from latex2mathml.converter import convert

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

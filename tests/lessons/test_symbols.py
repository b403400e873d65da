"""Symbols of formulas: their terms, and the parts of figures that they name."""

from xml.etree import ElementTree as ET

from app.lessons.formulas import SYMBOLS, formula
from app.lessons.library import lessons
from app.lessons.markdown import meaning
from tests.lessons.reading import MATH, PAGES, html


def test_symbols_are_in_the_glossary() -> None:
    own = [symbol for lesson in lessons() for _, symbol in lesson.symbols if symbol.term]
    for symbol in (*SYMBOLS.values(), *own):
        assert meaning(symbol.term, "zh") != meaning(symbol.term, "en") or symbol.term == "softmax"


# Symbols that name nothing that a figure shows: indices, functions, a mean and a spread.
NOWHERE = {"i", "m", "e", "μ", "σ", "d", "k", "sin", "cos", "tanh", "ln"}


def test_symbols_without_a_place_are_known() -> None:
    """A letter that is not marked in a formula is one that no figure can show."""

    def unmarked(element: ET.Element) -> set[str]:
        if "data-part" in element.attrib:
            return set()
        own = {element.text or ""} if element.tag.endswith("}mi") else set()
        return own.union(*(unmarked(child) for child in element))

    for lesson, lang in PAGES:
        for math in MATH.findall(html(lesson.document(lang))):
            assert unmarked(ET.fromstring(math)) <= NOWHERE, (lesson.slug, math)


def test_symbols_are_marked_once() -> None:
    made = formula(r"\mathrm{softmax}(q_i K^\top / \sqrt{d_k}) W_O", display=False)
    assert list(made.symbols) == ["softmax", "q", "K", "d_k", "W_O"]
    assert made.mathml.count("data-term") == 5
    assert 'data-part="q"' in made.mathml


def test_words_in_formulas_are_words() -> None:
    made = formula(r"\mathrm{Additive}(x)", display=False)
    assert "<mi>Additive</mi>" in made.mathml
    assert "A" not in made.symbols

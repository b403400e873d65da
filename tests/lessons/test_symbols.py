"""Symbols of formulas: their terms, the parts of figures that they name, and how they are set."""

import json
import re
from collections.abc import Iterator
from html import unescape
from xml.etree import ElementTree as ET

from app.lessons.course import bringing, lessons, plan
from app.lessons.markdown import meaning, plain
from app.lessons.markdown_extensions import SYMBOLS, formula
from tests.lessons.reading import LANGS, MATH, PAGES, TAG, html
from tests.pages.test_catalog import messages, read, said
from tests.servers import ROOT


def test_symbols_are_in_the_glossary() -> None:
    own = [symbol for lesson in lessons() for _, symbol in lesson.symbols if symbol.term]
    for symbol in (*SYMBOLS.values(), *own):
        assert meaning(symbol.term, "zh") != meaning(symbol.term, "en") or symbol.term == "softmax"


# Symbols that name nothing that a figure shows: indices, functions, a mean and a spread.
NOWHERE = {"i", "m", "n", "p", "e", "μ", "σ", "d", "k", "sin", "cos", "tanh", "ln", "max"}


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


# A symbol with its index as one types it, such as d_k; the name attn_weights is none.
TYPED = re.compile(r"(?<![A-Za-z0-9_])[A-Za-zα-ωΠ]_\w")
# The same in a script, where a reader sees it: under a root, or as a label.
TYPED_IN_SCRIPT = re.compile(r'√[a-z]_|label: "\w_')


def seen_by_readers() -> Iterator[str]:
    """Yield the texts of lessons and plans, without their formulas, of the page and its terms."""
    documents = [lesson.document(lang) for lesson, lang in PAGES]
    for document in (*documents, *(plan(lang) for lang in LANGS)):
        yield unescape(TAG.sub("", MATH.sub(" ", html(document))))
    yield from said()
    yield from (str(message.string) for message in messages(read("zh/LC_MESSAGES/messages.po")))
    for entry in json.loads((ROOT / "static/glossary.json").read_text("utf-8")).values():
        yield from (text for meant in entry.values() for text in meant.values())


def test_no_symbol_is_left_as_it_is_typed() -> None:
    for text in seen_by_readers():
        assert not TYPED.search(text), TYPED.search(text)
    for path in (ROOT / "static/js").rglob("*.js"):
        assert not (found := TYPED_IN_SCRIPT.search(path.read_text("utf-8"))), (path, found)


def test_no_term_is_used_before_the_lesson_that_brings_it() -> None:
    """A lesson brings the terms that no earlier one links to; it needs the others that it links."""
    glossary = json.loads((ROOT / "static/glossary.json").read_text("utf-8"))
    for lang in LANGS:
        brought: set[str] = set()
        for lesson in lessons():
            brought |= set(lesson.document("en").terms)
            text = TAG.sub("", MATH.sub(" ", html(lesson.document(lang))))
            text = re.split("In the paper|在论文中的位置", text)[0]
            for term in glossary.keys() - brought:
                word = re.escape(glossary[term][lang]["term"])
                pattern = rf"\b{word}s?\b" if lang == "en" else word
                assert not re.search(pattern, text, re.IGNORECASE), (lesson.slug, lang, term)


def test_both_languages_link_to_the_same_terms() -> None:
    for lesson in lessons():
        assert {*lesson.document("zh").terms} == {*lesson.document("en").terms}, lesson.slug
        assert all(bringing()[term].number <= lesson.number for term in lesson.document("en").terms)


def test_a_function_stands_apart_from_its_argument_and_text_has_subscripts() -> None:
    """Only where no parenthesis divides them; an index exists as a character or is marked."""
    spaced = {r"\sin p": 1, r"(\sin p, \cos p)": 2, r"\tanh(q + k)": 0, r"\tanh\left(q\right)": 0}
    for tex, spaces in spaced.items():
        assert formula(tex, display=False).mathml.count("<mspace") == spaces, tex
    texts = {r"(\sin p, \cos p)": "(sin p, cos p)", r"\sqrt{d_k}": "√dₖ", r"W_Q": "W_Q"}
    for tex, text in texts.items():
        assert plain(formula(tex, display=False).mathml) == text

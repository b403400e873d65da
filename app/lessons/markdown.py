"""Parses a lesson's Markdown into a title, a claim and parts: text, figures and questions.

Its HTML can also be one line of plain text, with formulas as one would type them.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any
from unicodedata import normalize
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup
from mdit_py_plugins.dollarmath import dollarmath_plugin

from app.assets.static_files import STATIC
from app.lessons.markdown_extensions import (
    SYMBOLS,
    FigureBlock,
    PredictBlock,
    Symbol,
    formula,
    is_block,
    is_notes,
    parse_block,
)

ROOT = re.compile(r"<msqrt>(.*?)</msqrt>")
NAMED = re.compile(r"<mi[^>]*>([a-z]{2,})</mi>")  # a function, such as sin
LOWERED = re.compile(r"<msub[^>]*><m[in][^>]*>(.)</m[in]><m[in][^>]*>(.)</m[in]></msub>")
LINE = "0123456789aehijklmnoprstuvx"
SUBSCRIPTS = str.maketrans(LINE, "₀₁₂₃₄₅₆₇₈₉ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ")
COMMA = re.compile(r"<mo[^>]*>,</mo>")
LINK = re.compile(r"</?a\b[^>]*>")
LONG = 2  # characters under a root that need no parentheses


def plain(html: str) -> str:
    """Return the text: `(sin p, cos p)`, `q·k/√dₖ` and `W_Q` for the formulas of questions."""
    lowered = LOWERED.sub(lambda match: match[1] + _subscript(match[2]), html)
    return Markup(COMMA.sub(", ", NAMED.sub(r"\1 ", ROOT.sub(_root, lowered)))).striptags()


def unlinked(html: str) -> Markup:
    """Return the text with its emphasis and its formulas, but without links."""
    return Markup(LINK.sub("", html))


def _root(match: re.Match[str]) -> str:
    under = plain(match[1])
    return f"√{under}" if len(under) <= LONG else f"√({under})"


def _subscript(name: str) -> str:
    """Return a name as a subscript: ₖ, or _q, since not every letter exists as one."""
    return name.translate(SUBSCRIPTS) if set(name) <= set(LINE) else f"_{name}"


SPACE_BETWEEN = r"\qquad"  # two formulas in one block
TERM = "#"  # a link to "#query" refers to the glossary


@dataclass(frozen=True)
class Figure:
    """A figure block with its caption as HTML."""

    block: FigureBlock
    caption: Markup
    live: Markup  # what to try where it is live; empty: nothing
    still: Markup  # a table; empty: its picture is a heatmap
    after: Sequence[int] = ()  # the questions since the figure before it, by number
    notes: Sequence[str] = ()  # for the speaker, as text
    kind: str = "figure"


@dataclass(frozen=True)
class Predict:
    """A question block with its texts as HTML."""

    block: PredictBlock
    question: Markup
    why: Markup
    notes: Sequence[str] = ()  # for the speaker, as text
    kind: str = "predict"


@dataclass(frozen=True)
class Text:
    """Prose as HTML."""

    html: Markup
    kind: str = "text"


Part = Text | Figure | Predict


@dataclass(frozen=True)
class Document:
    """A lesson in one language."""

    title: str
    claim: Markup
    parts: Sequence[Part]
    terms: Sequence[str]  # of the glossary, in the order of their first use
    notes: Sequence[str] = ()  # for the speaker, at the beginning


PERCENT = re.compile(r"(?<=\d) (?=%)")  # a number is not separated from its sign
OPENING = [
    *("heading_open", "inline", "heading_close"),
    *("paragraph_open", "inline", "paragraph_close"),
]


@lru_cache(maxsize=64)
def read(text: str, lang: str, symbols: tuple[tuple[str, Symbol], ...] = ()) -> Document:
    """Parse a lesson; `symbols` are those that mean something else in it, or only in it.

    Raises ValueError if the title, the claim or a block is invalid.
    """
    md = _markdown(lang)
    env: dict[str, Any] = {"terms": {}, "lang": lang, "symbols": SYMBOLS | dict(symbols)}
    tokens = md.parse(PERCENT.sub("\N{NO-BREAK SPACE}", text), env)
    if [token.type for token in tokens[:6]] != OPENING:
        raise ValueError("a lesson must begin with its title and a paragraph with its claim")
    title, claim = (Markup(md.renderInline(tokens[index].content, env)) for index in (1, 4))
    body = tokens[6:]
    opening: Sequence[str] = ()
    if body and _has_notes(body[0]):
        opening = _notes(md, body.pop(0), env)
    parts = tuple(_with_notes(_parts(md, body, env)))
    return Document(title.striptags(), claim, parts, tuple(env["terms"]), opening)


def _has_notes(token: Token) -> bool:
    return token.type == "fence" and is_notes(token.info)


def _notes(md: MarkdownIt, token: Token, env: EnvType) -> tuple[str, ...]:
    lines = [line.strip() for line in token.content.splitlines()]
    return tuple(Markup(md.renderInline(line, env)).striptags() for line in lines if line)


def _with_notes(parts: Iterable[Part | tuple[str, ...]]) -> Iterator[Part]:
    """Put notes into the figure or the question before them. Raises ValueError if there is none."""
    last: Part | None = None
    for part in parts:
        if not isinstance(part, tuple):
            if last is not None:
                yield last
            last = part
        elif isinstance(last, Figure | Predict) and not last.notes:
            last = replace(last, notes=part)
        else:
            raise ValueError("notes must follow a figure, a question or the claim")
    if last is not None:
        yield last


def _parts(
    md: MarkdownIt, tokens: Sequence[Token], env: EnvType
) -> Iterator[Part | tuple[str, ...]]:
    """Split the tokens at the blocks; the text between two blocks is one part.

    Notes are tuples of lines.
    """
    text: list[Token] = []
    counts = {"figure": 0, "predict": 0}
    asked: list[int] = []  # since the last figure

    def inline(words: str) -> Markup:
        return Markup(md.renderInline(words, env))

    def written() -> Iterator[Text]:
        if text:
            yield Text(Markup(md.renderer.render(text, md.options, env)))
            text.clear()

    for token in tokens:
        if _has_notes(token):
            yield from written()
            yield _notes(md, token, env)
            continue
        if token.type != "fence" or not is_block(token.info):
            text.append(token)
            continue
        yield from written()
        name = token.info.split()[0]
        counts[name] += 1
        block = parse_block(token.info, token.content, counts[name])
        if isinstance(block, FigureBlock):
            words = (inline(block.caption), inline(block.live))
            yield Figure(block, *words, Markup(md.render(block.still, env)), tuple(asked))
            asked.clear()
        else:
            asked.append(block.number)
            yield Predict(block, inline(block.question), inline(block.why))
    yield from written()


@cache
def _markdown(lang: str) -> MarkdownIt:
    md = MarkdownIt("commonmark", {"html": False}).enable("table")
    md.use(dollarmath_plugin, allow_digits=False, allow_space=False, allow_labels=False)
    md.add_render_rule("math_inline", _math)
    md.add_render_rule("math_block", _math_block)
    md.add_render_rule("link_open", _link)
    md.add_render_rule("table_open", lambda *_: '<div class="scrolled" tabindex="0"><table>\n')
    md.add_render_rule("table_close", lambda *_: "</table></div>\n")
    if lang == "zh":  # Chinese has no spaces, so a line break must not become one
        md.add_render_rule("softbreak", lambda *_: "")
    return md


def _math(
    self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    formula_marked = formula(tokens[index].content, display=False, symbols=env["symbols"])
    _note(env, formula_marked.symbols)
    return formula_marked.mathml


def _math_block(
    self: RendererHTML,
    tokens: Sequence[Token],
    index: int,
    options: OptionsDict,
    env: EnvType,
) -> str:
    """Render formulas on their own line, with links from their symbols to the meanings.

    Those with a wide space between them are on two lines where one is too short.
    """
    parts = tokens[index].content.split(SPACE_BETWEEN)
    formulas = [formula(part.strip(), display=True, symbols=env["symbols"]) for part in parts]
    symbols = {
        name: symbol for part_formula in formulas for name, symbol in part_formula.symbols.items()
    }
    _note(env, symbols)
    links = [_meant(name, symbol, env["lang"]) for name, symbol in _distinct(symbols)]
    return Markup('<div class="formula" tabindex="0">{}</div><p class="symbols">{}</p>').format(
        Markup("").join(Markup(part_formula.mathml) for part_formula in formulas),
        Markup(" ").join(links),
    )


def _meant(name: str, symbol: Symbol, lang: str) -> Markup:
    """Return a link from a symbol to its meaning."""
    word, _ = meaning(symbol.term, lang)
    tex = rf"\mathrm{{{name}}}" if len(name) > 1 and name.isalpha() else name
    mathml = Markup(formula(tex, display=False, symbols={name: symbol}).mathml)
    # Browsers leave MathML out of a link's name, so that it is written again, as it is seen.
    shown_name = name.replace("_", "")
    suffix = "" if normalize("NFKC", word) == shown_name else f" {word}"
    return Markup('<a href="#term-{0}" data-term="{0}" aria-label="{3}">{1}{2}</a>').format(
        symbol.term, mathml, suffix, f"{shown_name}{suffix}"
    )


def _distinct(symbols: Mapping[str, Symbol]) -> list[tuple[str, Symbol]]:
    """Return the first symbol of each term."""
    distinct: dict[str, tuple[str, Symbol]] = {}
    for name, symbol in symbols.items():
        if symbol.term:
            distinct.setdefault(symbol.term, (name, symbol))
    return list(distinct.values())


def _note(env: EnvType, symbols: Mapping[str, Symbol]) -> None:
    for symbol in symbols.values():
        if symbol.term:
            env["terms"][symbol.term] = True


def _link(
    self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    """Render a link; `[queries](#query)` refers to a term."""
    token = tokens[index]
    target = str(token.attrGet("href"))
    if target.startswith(TERM):
        term = unquote(target.removeprefix(TERM))
        meaning(term, "en")
        env["terms"][term] = True
        token.attrSet("href", f"#term-{term}")
        token.attrSet("data-term", term)
    return self.renderToken(tokens, index, options, env)


def meaning(term: str, lang: str) -> tuple[str, str]:
    """Return a term and its explanation. Raises ValueError if it is not in the glossary."""
    entries = _glossary()
    if term not in entries:
        raise ValueError(f"not in the glossary: {term}")
    entry = entries[term].get(lang, entries[term]["en"])
    return entry["term"], entry["says"]


@cache
def _glossary() -> dict[str, dict[str, dict[str, str]]]:
    terms: dict[str, dict[str, dict[str, str]]] = json.loads(
        (STATIC / "glossary.json").read_text(encoding="utf-8")
    )
    return terms

"""A lesson's HTML as one line of plain text, with its formulas as one would type them."""

import re

from markupsafe import Markup

ROOT = re.compile(r"<msqrt>(.*?)</msqrt>")
NAMED = re.compile(r"<mi[^>]*>([a-z]{2,})</mi>")  # a function, such as sin
COMMA = re.compile(r"<mo[^>]*>,</mo>")
LINK = re.compile(r"</?a\b[^>]*>")
LONG = 2  # characters under a root that need no parentheses


def plain(html: str) -> str:
    """Return the text: `(sin p, cos p)` and `q·k/√3` for the formulas that questions have."""
    return Markup(COMMA.sub(", ", NAMED.sub(r"\1 ", ROOT.sub(_root, html)))).striptags()


def unlinked(html: str) -> Markup:
    """Return the text with its emphasis and its formulas, but without links."""
    return Markup(LINK.sub("", html))


def _root(match: re.Match[str]) -> str:
    under = plain(match[1])
    return f"√{under}" if len(under) <= LONG else f"√({under})"

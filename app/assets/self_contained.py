"""Putting what a page loads into the page itself, so that it opens from a file.

A page that is served loads its script, styles and data from addresses; one that lies on a disk has
none. Text in a script or a style carries its hash, for a Content-Security-Policy that lets in
nothing else.
"""

from base64 import b64encode
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import orjson
from markupsafe import Markup


@dataclass(frozen=True)
class Inlined:
    """An element with text of our own in it, and that text's source for a policy."""

    element: Markup
    source: str


def script(text: str) -> Inlined:
    """A module that is run."""
    return Inlined(Markup(f'<script type="module">{_closed(text, "script")}</script>'), _hash(text))


def style(text: str) -> Inlined:
    """A stylesheet."""
    return Inlined(Markup(f"<style>{_closed(text, 'style')}</style>"), _hash(text))


def block(identity: str, content: bytes) -> Markup:
    """Data that a script reads by its id: compressed with gzip, in base 64. Nothing runs it."""
    text = b64encode(content).decode()
    return Markup(f'<script type="application/gzip" id="{identity}">{text}</script>')


def document(identity: str, content: Any) -> Markup:
    """A JSON document that a script reads by its id."""
    return Markup(f'<script type="application/json" id="{identity}">{_json(content)}</script>')


def data_url(content: bytes, media_type: str) -> str:
    """The content as an address."""
    return f"data:{media_type};base64,{b64encode(content).decode()}"


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _json(content: Any) -> str:
    """JSON that no text in it can end or open a script with."""
    return orjson.dumps(content).decode().replace("<", "\\u003c")


def _closed(text: str, tag: str) -> str:
    if f"</{tag}" in text.lower():
        raise ValueError(f"text with </{tag} in it cannot stand in a {tag} element")
    return text

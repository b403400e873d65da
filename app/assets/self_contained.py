"""Embeds scripts, styles and data in a page, so that it opens from a file.

A served page loads its script, styles and data from addresses; a file on a disk has
none. Each inline script or style has a hash for a Content-Security-Policy that allows
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
    """An inline script or style, and its hash for a Content-Security-Policy."""

    element: Markup
    source: str


def script(text: str) -> Inlined:
    """Return a module script."""
    return Inlined(Markup(f'<script type="module">{_closed(text, "script")}</script>'), _hash(text))


def style(text: str) -> Inlined:
    """Return a stylesheet."""
    return Inlined(Markup(f"<style>{_closed(text, 'style')}</style>"), _hash(text))


def block(identity: str, content: bytes) -> Markup:
    """Return data that a script reads by its id: gzipped, in Base64. It is never executed."""
    text = b64encode(content).decode()
    return Markup(f'<script type="application/gzip" id="{identity}">{text}</script>')


def document(identity: str, content: Any) -> Markup:
    """Return a JSON document that a script reads by its id."""
    return Markup(f'<script type="application/json" id="{identity}">{_json(content)}</script>')


def data_url(content: bytes, media_type: str) -> str:
    """Return the content as a data URL."""
    return f"data:{media_type};base64,{b64encode(content).decode()}"


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _json(content: Any) -> str:
    """Return JSON in which no text can start or end a script."""
    return orjson.dumps(content).decode().replace("<", "\\u003c")


def _closed(text: str, tag: str) -> str:
    if f"</{tag}" in text.lower():
        raise ValueError(f"the text of a {tag} element must not contain </{tag}")
    return text

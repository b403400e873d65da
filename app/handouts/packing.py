"""Embeds scripts, styles and data in a page, so that it opens from a file.

A served page loads its script, styles and data from addresses; a file on a disk has
none. They lie in it compressed, in Base64, and a small script that does not puts them into the
page. All have a hash for a Content-Security-Policy that allows nothing else.

The file is UTF-8, and what is packed is ASCII: it opens the same after whatever reads it as text
has saved it again. `static/js/lib/unpack-bytes.js` reads it.
"""

from base64 import b64encode
from dataclasses import dataclass
from hashlib import sha256

import deflate
import numpy as np
from markupsafe import Markup

CHARSET = "utf-8"


def planes(numbers: bytes) -> bytes:
    """Return numbers of 4 bytes with the first byte of each, then the second, and so on.

    Signs and exponents of numbers are similar, and compress better next to each other.
    A remainder at the end is not changed.
    """
    end = len(numbers) // 4 * 4
    return np.frombuffer(numbers[:end], np.uint8).reshape(-1, 4).T.tobytes() + numbers[end:]


LEVEL = 12  # the smallest files


@dataclass(frozen=True)
class Inlined:
    """An inline script or style, and its hash for a Content-Security-Policy."""

    element: Markup
    source: str


def script(text: str) -> Inlined:
    """Return a module script that runs once it is read, before what comes after it in the file."""
    if "</script" in text.lower():
        raise ValueError("text with </script in it is not possible in a script element")
    return Inlined(Markup(f'<script type="module" async>{text}</script>'), _hash(text))


def style(text: str) -> Inlined:
    """Return a stylesheet for what is seen before the others are unpacked."""
    return Inlined(Markup(f"<style>{text}</style>"), _hash(text))


def held(identity: str, text: str) -> Inlined:
    """Return a text that the running script may make a script or a stylesheet of."""
    return Inlined(block(identity, text.encode()), _hash(text))


def block(identity: str, content: bytes) -> Markup:
    """Return data, compressed, that a script reads by its id. It is never executed."""
    return compressed_block(identity, bytes(deflate.gzip_compress(content, LEVEL)))


def compressed_block(identity: str, packed: bytes) -> Markup:
    """Return data that is compressed already as `block` does."""
    text = b64encode(packed).decode()
    return Markup(f'<script type="application/gzip" id="{identity}">{text}</script>')


def numbers(identity: str, safetensors: bytes) -> Markup:
    """Return two blocks with a file of numbers: its header, and `planes` of the rest."""
    start = 8 + int.from_bytes(safetensors[:8], "little")
    values = block(f"{identity}-planes", planes(safetensors[start:]))
    return block(identity, safetensors[:start]) + values


def data_url(content: bytes, media_type: str) -> str:
    """Return the content as a data URL."""
    return f"data:{media_type};base64,{b64encode(content).decode()}"


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"

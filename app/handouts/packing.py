"""Embeds scripts, styles and data in a page, so that it opens from a file.

A served page loads its script, styles and data from addresses; a file on a disk has
none. They lie in it compressed, in Base64, and a small script that does not puts them into the
page. All have a hash for a Content-Security-Policy that allows nothing else.

The file is UTF-8, and what is packed is ASCII: it opens the same after whatever reads it as text
has saved it again. `static/js/lib/unpack-bytes.js` reads it. A model, which is large, is in
a denser text.
"""

from base64 import b64encode
from dataclasses import dataclass
from hashlib import sha256

import deflate
import numpy as np
from markupsafe import Markup

CHARSET = "utf-8"


def planes(numbers: bytes, width: int = 4) -> bytes:
    """Return numbers of `width` bytes with the first byte of each, then the second, and so on.

    Signs and exponents of numbers are similar, and compress better next to each other.
    A remainder at the end is not changed.
    """
    end = len(numbers) // width * width
    return np.frombuffer(numbers[:end], np.uint8).reshape(-1, width).T.tobytes() + numbers[end:]


# Five characters for four bytes: all printed ASCII but what HTML, quotes and templates need.
DIGITS_85 = bytes(byte for byte in range(33, 127) if chr(byte) not in "<>&\"'\\`${")
LINE = 1_000  # characters, so that an editor can show what it has opened


def base85(content: bytes) -> str:
    """Return bytes as text: 1.25 characters a byte, where Base64 has 1.33.

    `static/js/lib/unpack-bytes.js` reads it, and skips line breaks, wherever they are. The last
    group has as many characters less as it lacks bytes.
    """
    lacking = -len(content) % 4
    groups = np.frombuffer(content + bytes(lacking), ">u4").astype(np.uint64)
    powers = 85 ** np.arange(4, -1, -1, dtype=np.uint64)
    digits = np.frombuffer(DIGITS_85, np.uint8)[groups[:, None] // powers % 85].tobytes()
    text = digits[: len(digits) - lacking].decode()
    return "\n".join(text[start : start + LINE] for start in range(0, len(text), LINE))


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


def dense_block(name: str, content: bytes, width: int = 1) -> Markup:
    """Return a file that the worker of the page reads by its name; of `planes` if it is wide."""
    text = base85(bytes(deflate.gzip_compress(planes(content, width), LEVEL)))
    return Markup(
        f'<script type="text/plain" data-file="{name}" data-width="{width}">{text}</script>\n'
    )


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

"""Encodes bytes as text in an HTML file in windows-1252, in which a character is a byte.

    23 bits → three of 209 characters (209³ ≥ 2²³): 4 % more than the bytes; base 64 is 33 % more

The characters are printable ones without a special meaning in HTML, JSON or quoted strings.
`static/js/lib/unpack-bytes.js` reads this, and Base64, which is smaller in UTF-8 text.

Embeds scripts, styles and data in a page, so that it opens from a file.

A served page loads its script, styles and data from addresses; a file on a disk has
none. They lie in it compressed, and a small script that does not puts them into the page.
All have a hash for a Content-Security-Policy that allows nothing else.
"""

import re
from base64 import b64encode
from dataclasses import dataclass
from hashlib import sha256

import deflate
import numpy as np
from markupsafe import Markup

CHARSET = "windows-1252"
LEFT_OUT = " \"&'<>\\\xa0\xad"
PRINTED = bytes((*range(0x20, 0x7F), *range(0x80, 0x100))).decode(CHARSET, "ignore")
LETTERS = np.array([ord(character) for character in PRINTED if character not in LEFT_OUT])
BITS, GROUP = 23, 3
BYTES = 4  # in which 23 bits lie, wherever they begin
BLOCK = re.compile(r' data-bytes="(\d+)">([^ <]+)</script>')


def coded(content: bytes) -> str:
    """Encode bytes as text; the end is padded with zeros."""
    groups = -(-8 * len(content) // BITS)
    padding = bytes(BITS * -(-groups // 8) + BYTES - len(content))
    source = np.frombuffer(content + padding, np.uint8)
    starts = BITS * np.arange(groups)
    numbers = np.zeros(groups, np.int64)
    for byte in range(BYTES):
        numbers = numbers << 8 | source[starts // 8 + byte]
    numbers = numbers >> 8 * BYTES - BITS - starts % 8 & (1 << BITS) - 1
    digits = [numbers // len(LETTERS) ** power % len(LETTERS) for power in (2, 1, 0)]
    return LETTERS[np.stack(digits, axis=1)].astype("<u4").tobytes().decode("utf-32-le")


def decoded(text: str, length: int) -> bytes:
    """Decode a text to bytes."""
    digits = np.zeros(LETTERS.max() + 1, np.int64)
    digits[LETTERS] = np.arange(len(LETTERS))
    groups = digits[np.frombuffer(text.encode("utf-32-le"), "<u4")].reshape(-1, GROUP)
    numbers = groups @ len(LETTERS) ** np.arange(GROUP - 1, -1, -1)
    bits = np.unpackbits(numbers.astype(">u4").view(np.uint8).reshape(-1, BYTES), axis=1)
    return np.packbits(bits[:, -BITS:].ravel()).tobytes()[:length]


def in_base64(page: str) -> str:
    """Return a page with its blocks in Base64, for text that is stored as UTF-8."""

    def recode(block: re.Match[str]) -> str:
        text = b64encode(decoded(block[2], int(block[1]))).decode()
        return f" data-base64>{text}</script>"

    return BLOCK.sub(recode, page)


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
    """Return a module script that runs when the file is opened."""
    if "</script" in text.lower():
        raise ValueError("text with </script in it is not possible in a script element")
    return Inlined(Markup(f'<script type="module">{text}</script>'), _hash(text))


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
    about = f'type="application/gzip" id="{identity}" data-bytes="{len(packed)}"'
    return Markup(f"<script {about}>{coded(packed)}</script>")


def numbers(identity: str, safetensors: bytes) -> Markup:
    """Return two blocks with a file of numbers: its header, and `planes` of the rest."""
    start = 8 + int.from_bytes(safetensors[:8], "little")
    values = block(f"{identity}-planes", planes(safetensors[start:]))
    return block(identity, safetensors[:start]) + values


def data_url(content: bytes, media_type: str) -> str:
    """Return the content as a data URL."""
    return f"data:{media_type};base64,{b64encode(content).decode()}"


def encoded(page: str) -> bytes:
    """Return a page in the character set that its blocks are written in."""
    return page.encode(CHARSET, "xmlcharrefreplace")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"

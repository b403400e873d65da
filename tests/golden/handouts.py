"""A handout made small to keep: its modules as text, and without plotly.js, which a package has."""

import gzip
import re
from base64 import b64decode, b64encode

import zstandard

from app.assets.files import vendored

OPEN, CLOSE = b"\x01", b"\x02"  # in no text of ours
PLOTLY = re.compile(rb'(id="plotly">)[^<]*')


def pack(file: bytes) -> bytes:
    """The file under zstd, with what is in base64 in ``data:`` addresses as it is."""
    file = PLOTLY.sub(rb"\1", file)
    plain = re.sub(
        rb"base64,([A-Za-z0-9+/=]+)", lambda found: OPEN + b64decode(found[1]) + CLOSE, file
    )
    return zstandard.compress(plain, 19)


def unpack(packed: bytes) -> bytes:
    """The file as it was, with the plotly.js that is installed."""
    plotly = b64encode(gzip.compress(vendored()["plotly.min.js"].read_bytes()))
    file = re.sub(
        OPEN + b"(.*?)" + CLOSE,
        lambda found: b"base64," + b64encode(found[1]),
        zstandard.decompress(packed),
        flags=re.DOTALL,
    )
    return PLOTLY.sub(lambda found: found[1] + plotly, file)

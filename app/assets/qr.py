"""QR codes (ISO/IEC 18004) of links, as SVG."""

import io
import re

import segno

from model.errors import Excess, InputError

MAX_LINK = 2_000  # bytes; a code holds 2331 at level M, with modules a camera still tells apart
LINK = re.compile(r"https?://[^\s\x00-\x20\x7f]+", re.IGNORECASE)
QUIET = 4  # modules of white around it, as the standard asks


def qr_code(text: str) -> bytes:
    """The code of an http or https link: dark on white, a quiet zone around it, no size of its own.

    Level M, of which 15 % may be hidden or misread; more where that costs no room. Raises
    InputError for what is no link, or longer than `MAX_LINK` bytes.
    """
    size = len(text.encode(errors="replace"))
    if size > MAX_LINK:
        excess = Excess(MAX_LINK, "bytes", size)
        raise InputError("too-long", "text", f"text takes at most {MAX_LINK} bytes", excess)
    if not LINK.fullmatch(text):
        raise InputError("unknown-value", "text", "text must be a link: http://… or https://…")
    # Bytes, since phones disagree on what else a code may hold.
    code = segno.make_qr(text, error="m", mode="byte", encoding="utf-8", boost_error=True)
    file = io.BytesIO()
    code.save(
        file, kind="svg", border=QUIET, dark="#000", light="#fff", omitsize=True, xmldecl=False
    )
    return file.getvalue()

"""QR codes (ISO/IEC 18004) of links, as SVG."""

import io
import re

import segno

from model.errors import Excess, InputError

MAX_QR_BYTES = (
    2_000  # bytes; a code holds 2331 at level M, with modules that a camera still resolves
)
LINK = re.compile(r"https?://[^\s\x00-\x20\x7f]+", re.IGNORECASE)
QUIET = 4  # modules of white around it, as the standard requires


def qr_code(text: str) -> bytes:
    """Return the code of an http or https link: dark on white, with a quiet zone, scalable.

    The error correction is level M, which tolerates 15 % of damage, or higher if the code stays the
    same size. Raises InputError if the text is not a link, or is longer than `MAX_QR_BYTES` bytes.
    """
    size = len(text.encode(errors="replace"))
    if size > MAX_QR_BYTES:
        excess = Excess(MAX_QR_BYTES, "bytes", size)
        raise InputError("too-long", "text", f"text may have at most {MAX_QR_BYTES} bytes", excess)
    if not LINK.fullmatch(text):
        raise InputError("unknown-value", "text", "text must be a link: http://… or https://…")
    # Byte mode, since phones differ in their support for other modes.
    code = segno.make_qr(text, error="m", mode="byte", encoding="utf-8", boost_error=True)
    file = io.BytesIO()
    code.save(
        file, kind="svg", border=QUIET, dark="#000", light="#fff", omitsize=True, xmldecl=False
    )
    return file.getvalue()

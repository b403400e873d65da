"""Formats of replies: which one a client accepts (RFC 9110, section 12), and safetensors files.

Safetensors files are written as pieces, so that the numbers need not be copied before they are
sent. The file is that of `safetensors.numpy.save`: its header, then the numbers of each tensor,
those of larger types first, then by name.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

JSON = "application/json"

SAFETENSORS = "application/octet-stream"

NPZ = "application/x-npz"

MAX_HEADER, MAX_ENTRIES = 4096, 64  # characters and entries that are read of an ``Accept…`` header

FORMS = (JSON, SAFETENSORS, NPZ)  # of replies with tensors


def preferences(header: str) -> list[str]:
    """Return the entries of an ``Accept…`` header, best first, without those of quality 0.

    Of a header that is longer than any program sends, the beginning is read.
    """
    weighed = []
    for entry in header[:MAX_HEADER].split(",")[:MAX_ENTRIES]:
        name, *parameters = (part.strip() for part in entry.split(";"))
        quality = 1.0
        for parameter in parameters:
            if parameter.lower().startswith("q="):
                quality = _quality(parameter[2:])
        if name and quality > 0:
            weighed.append((quality, name.lower()))
    return [name for _, name in sorted(weighed, key=lambda entry: -entry[0])]


def choose(header: str | None, offered: Sequence[str]) -> str | None:
    """Return the offered media type that the client prefers; None if it accepts none.

    Without a header, and for a wildcard, this is the first one offered.
    """
    for name in preferences(header) if header else ["*/*"]:
        family = name.removesuffix("*")
        for media_type in offered:
            if name in ("*/*", media_type) or (
                name.endswith("/*") and media_type.startswith(family)
            ):
                return media_type
    return None


def _quality(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


Piece = bytes | memoryview

Pieces = tuple[Piece, ...]

DTYPES = {
    **{"float64": "F64", "float32": "F32", "float16": "F16"},
    **{"int64": "I64", "int32": "I32", "uint16": "U16", "uint8": "U8", "bool": "BOOL"},
}

HEADER_LENGTH = 8  # bytes at the start of a file, with the length of its header


def pieces(arrays: Mapping[str, NDArray[Any]], texts: Mapping[str, str]) -> Pieces:
    """Return a file of arrays, with texts as its metadata; the pieces are views of the arrays."""
    header: dict[str, Any] = {"__metadata__": texts}
    data, end = list[memoryview](), 0
    for name, array in sorted(arrays.items(), key=lambda pair: (-pair[1].itemsize, pair[0])):
        begin, end = end, end + array.nbytes
        header[name] = {
            "dtype": DTYPES[array.dtype.name],
            "shape": array.shape,
            "data_offsets": [begin, end],
        }
        data.append(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return (_begin(header), *data)


def metadata(file: bytes) -> dict[str, str]:
    """Return the texts of a file."""
    header, _ = _split(file)
    texts: dict[str, str] = header["__metadata__"]
    return texts


def with_metadata(file: bytes, texts: Mapping[str, str]) -> bytes:
    """Return a file with the same arrays and other texts."""
    header, data = _split(file)
    return _begin({**header, "__metadata__": texts}) + data


def _split(file: bytes) -> tuple[dict[str, Any], bytes]:
    end = HEADER_LENGTH + int.from_bytes(file[:HEADER_LENGTH], "little")
    return orjson.loads(file[HEADER_LENGTH:end]), file[end:]


def _begin(header: Mapping[str, Any]) -> bytes:
    text = orjson.dumps(header)
    text += b" " * (-len(text) % HEADER_LENGTH)
    return len(text).to_bytes(HEADER_LENGTH, "little") + text

"""Writes safetensors files as pieces, so that the numbers need not be copied before they are sent.

The file is that of `safetensors.numpy.save`: its header, then the numbers of each tensor, those of
larger types first, then by name.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

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

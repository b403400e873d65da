"""Reads files that others wrote: bounded in size and depth, and with one error, `FileError`.

JSON is parsed and checked against a type; of safetensors only the header is read. Whatever a
library raises about the content of a file becomes a `FileError` inside `reading(path)`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any, NoReturn, TypeVar, cast

from pydantic import TypeAdapter, ValidationError
from safetensors import SafetensorError, safe_open

from model.errors import FileError
from model.progress import StoppedError

JSON_BYTES = 64 << 20  # the largest report of a shipped model has 1 MB
CONFIG_BYTES = 4 << 20
TOKENIZER_BYTES = 128 << 20  # of the largest vocabularies in use, of 256,000 pieces: 35 MB
TEXT_BYTES = 4 << 20
MESSAGE = 200  # characters of a library's message, which may repeat the file
T = TypeVar("T")
RAW = {Exception}  # as tokenizers raises it
PANIC = "pyo3_runtime"  # the module of panics in safetensors and tokenizers: no `Exception`s


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn whatever is raised about the content of a file into a `FileError` that names it."""
    try:
        yield
    except (FileError, StoppedError):
        raise
    except RecursionError as error:
        raise FileError(path, "its values are nested too deeply") from error
    except MemoryError as error:
        raise FileError(path, "it needs more memory than there is") from error
    except UnicodeDecodeError as error:
        raise FileError(path, "it is not text in UTF-8") from error
    except json.JSONDecodeError as error:
        raise FileError(path, f"it is not JSON: {error}") from error
    except OSError as error:
        raise FileError(path, error.strerror or _line(error)) from error
    except Exception as error:
        raise FileError(path, _line(error)) from error
    except BaseException as error:
        if type(error).__module__ != PANIC:
            raise
        raise FileError(path, _line(error)) from error


@contextmanager
def panics_of(model: str) -> Iterator[None]:
    """Turn a panic of a model's tokenizer, which is no `Exception`, into a `FileError` of it.

    A tokenizer's own pattern can take so long to read a text that its library gives up.
    """
    try:
        yield
    except BaseException as error:
        if type(error).__module__ != PANIC:
            raise
        raise FileError(model, f"its tokenizer failed: {_line(error)}") from error


def read_bytes(path: Path, limit: int) -> bytes:
    """Return the content of a file of at most so many bytes."""
    with reading(path):
        if not path.is_file():
            raise FileError(path, "it is not a file" if path.exists() else "it does not exist")
        check_size(path, limit)
        with path.open("rb") as file:
            return file.read(limit)


def check_size(path: Path, limit: int) -> None:
    """Raise `FileError` if a file has more bytes."""
    with reading(path):
        if (size := path.stat().st_size) > limit:
            raise FileError(path, f"it has {size:,} bytes; at most {limit:,} are read")


def read_text(path: Path, limit: int = TEXT_BYTES) -> str:
    """Return the content of a file in UTF-8."""
    with reading(path):
        return read_bytes(path, limit).decode()


def read_json(path: Path, limit: int = JSON_BYTES) -> dict[str, Any]:
    """Return the JSON object in a file; numbers that JSON does not have are refused."""
    text = read_text(path, limit)
    with reading(path):
        value = json.loads(text, parse_constant=_refuse, parse_float=_finite)
    if not isinstance(value, dict):
        raise FileError(path, "it is not a JSON object")
    return value


def as_type(path: Path, kind: type[T], value: Any, name: str = "") -> T:
    """Return a value of a file as a type, such as a dataclass whose fields are the value's keys.

    The type is checked and nothing is converted. `name` says where in the file the value is.
    """
    try:
        text = json.dumps(value)  # only from JSON does strict pydantic make dataclasses
        return cast(T, _adapter(cast(Any, kind)).validate_json(text, strict=True))
    except ValidationError as error:
        (first, *_) = error.errors(include_url=False, include_input=False)
        place = ".".join(str(step) for step in (name, *first["loc"]) if step != "")
        message = first["msg"].removeprefix("Value error, ")[:MESSAGE]
        raise FileError(path, f"{place}: {message}" if place else message) from error
    except RecursionError as error:
        raise FileError(path, "its values are nested too deeply") from error


def tensor_shapes(path: Path) -> Mapping[str, tuple[str, tuple[int, ...]]]:
    """Return the type (``"F16"``) and the shape of each tensor in a safetensors file, by name.

    Only the header is read. It is checked against the size of the file.
    """
    with reading(path), safe_open(path, "pt") as file:
        slices = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118
        return {
            name: (str(tensor.get_dtype()), tuple(tensor.get_shape()))
            for name, tensor in slices.items()
        }


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"it has {constant}, which is not JSON")


def _finite(text: str) -> float:
    if not isfinite(number := float(text)):
        raise ValueError(f"it has the number {text[:20]}, which is too large")
    return number


def _line(error: BaseException) -> str:
    """Return an error's message in one line, with its type if that is not one for messages."""
    line = " ".join(str(error).split())[:MESSAGE]
    spoken = isinstance(error, (ValueError, RuntimeError, SafetensorError)) or type(error) in RAW
    return line if line and spoken else f"{type(error).__name__}: {line}".removesuffix(": ")

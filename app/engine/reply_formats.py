"""Wire formats: the tensors that a request selects, as JSON or as one file: safetensors or NPZ.

An entry of a request's `select` names tensors, and may have a window and a dtype:

    encoder.2.self.weights                      the whole tensor, in the request's dtype
    encoder.*.self.weights:uint8                value · 255 as a byte
    encoder.2.self.weights@3,0:64,128:192       head 3, queries 0–63, keys 128–191

In the reply, the name of a tensor includes its window and dtype, so that one request can select a
tensor both whole and in low precision, and several windows of it.

A `Reply` has two parts: `document` describes each tensor (dims, over, shape, dtype), and
`arrays` has the numbers. JSON puts ``data`` into the document; safetensors stores the document,
without ``data``, as JSON text in its metadata.
"""

import io
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, Self, cast

import numpy as np
import orjson
import safetensors.numpy
import zstandard
from numpy.typing import NDArray

from app.http import file_formats
from app.http.file_formats import JSON, NPZ, SAFETENSORS, Pieces
from model.adapters.requests.trace import Decoding, LongPass, Output, Trace
from model.errors import Excess, InputError
from model.explain.patterns import Summary
from model.text.tokens import Token
from model.trace.tensor_names import matching
from model.trace.tensor_tap import NamedTensor

Dtype = Literal["float32", "float16", "uint8"]

PATTERN = r"[A-Za-z0-9_.*?\[\]!-]*"

RANGE = r"(?:\d{1,9}|\d{0,9}:\d{0,9})"

ENTRY = rf"^({PATTERN})(?:@({RANGE}(?:,{RANGE})*))?(?::(float32|float16|uint8))?$"

_ENTRY = re.compile(ENTRY)

Index = int | slice


@dataclass(frozen=True)
class Entry:
    """One entry of `select`."""

    field: str  # its path in the request, such as "select[2]"
    pattern: str
    window: str | None
    dtype: Dtype | None

    @classmethod
    def parse(cls, text: str, field: str) -> Self:
        """Parse an entry. Raises InputError if it is not `pattern[@window][:dtype]`."""
        match = _ENTRY.match(text)
        if not match:
            detail = f"{field} is not of the form pattern@window:dtype"
            raise InputError("bad-selection", field, detail)
        pattern, window, dtype = match.groups()
        return cls(field, pattern, window, cast(Dtype | None, dtype))

    @property
    def suffix(self) -> str:
        """The suffix of a tensor's name in the reply."""
        window = f"@{self.window}" if self.window else ""
        return window + (f":{self.dtype}" if self.dtype else "")

    def cut(self, name: str, tensor: NamedTensor) -> NamedTensor:
        """Return the window of a tensor: an index removes its axis, a range keeps it.

        Axes without an entry stay whole, and ranges may extend beyond the end.

        Raises InputError for a window with more axes than the tensor, and for an index or a
        start beyond the last position.
        """
        if self.window is None:
            return tensor
        indices = [_index(part) for part in self.window.split(",")]
        if len(indices) > len(tensor.dims):
            detail = f"{self.field} has {len(indices)} axes; {name} has {len(tensor.dims)}"
            excess = Excess(len(tensor.dims), "axes", len(indices))
            raise InputError("bad-selection", self.field, detail, excess)
        for index, dim, size in zip(indices, tensor.dims, tensor.value.shape, strict=False):
            self._check(index, dim, size)
        slices = [
            dim
            for place, dim in enumerate(tensor.dims)
            if place >= len(indices) or isinstance(indices[place], slice)
        ]
        over = {dim: text for dim, text in tensor.over.items() if dim in slices}
        return NamedTensor(tuple(slices), over, tensor.value[tuple(indices)])

    def _check(self, index: Index, dim: str, size: int) -> None:
        first = index if isinstance(index, int) else (index.start or 0)
        empty = isinstance(index, slice) and index.stop is not None and index.stop <= first
        if first < size and not empty:
            return
        detail = f"{self.field} starts at {dim} {first}, but there are only {size}"
        if empty:
            detail = f"{self.field} has an empty range of {dim}"
        raise InputError("bad-selection", self.field, detail, Excess(size - 1, "places", first))


def _index(part: str) -> Index:
    if ":" not in part:
        return int(part)
    start, stop = part.split(":")
    return slice(int(start) if start else None, int(stop) if stop else None)


@dataclass(frozen=True)
class Part:
    """A requested part of a tensor."""

    key: str  # its name in the reply
    name: str
    tensor: NamedTensor
    dtype: Dtype | None  # None: the request's


@dataclass(frozen=True)
class Selection:
    """The entries of a request's `select`, in order."""

    entries: tuple[Entry, ...]

    @classmethod
    def parse(cls, select: Sequence[str]) -> Self:
        """Parse the entries. Raises InputError if one is not `pattern[@window][:dtype]`."""
        return cls(tuple(Entry.parse(text, f"select[{i}]") for i, text in enumerate(select)))

    @property
    def patterns(self) -> tuple[str, ...]:
        """The patterns of tensors to record."""
        return tuple(entry.pattern for entry in self.entries)

    def parts(self, tensors: Mapping[str, NamedTensor]) -> Iterator[Part]:
        """Yield the requested parts in the order of the tensors, without duplicates."""
        entries: dict[str, dict[str, Entry]] = {name: {} for name in tensors}  # one per suffix
        for entry in self.entries:
            for name in matching(entry.pattern, tensors):
                entries[name][entry.suffix] = entry
        for name, tensor in tensors.items():
            for suffix, entry in entries[name].items():
                yield Part(name + suffix, name, entry.cut(name, tensor), entry.dtype)


Array = NDArray[Any]

ZSTD = "application/zstd"  # as stored: a compressed safetensors file

JSON_COST = 4  # a number in JSON takes about this many times the memory of one in safetensors

NUMBERS = 16_384  # numbers written at a time, which takes about 2 ms


@dataclass(frozen=True)
class Reply:
    """A document about tensors, and their numbers by the same names."""

    document: dict[str, Any]
    arrays: dict[str, Array]

    @property
    def values(self) -> int:
        """Number of numbers in all arrays."""
        return sum(array.size for array in self.arrays.values())

    def encode(self, form: str, max_values: int) -> Pieces:
        """Encode the reply in one of `WRITERS`, as pieces.

        Raises InputError for more than `max_values` numbers, in JSON more than a quarter of that.
        """
        self.check(max_values // (JSON_COST if form == JSON else 1))
        return WRITERS[form](self)

    def check(self, limit: int) -> None:
        """Raise InputError if there are more numbers than the limit."""
        if self.values > limit:
            detail = f"select has {self.values} numbers; this format allows at most {limit}"
            excess = Excess(limit, "numbers", self.values)
            raise InputError("reply-too-large", "select", detail, excess)

    def write(self, form: str, **more: Mapping[str, Any]) -> bytes:
        """Encode the reply in one of `FORMS`; a file can have more documents than its own."""
        if form == NPZ:
            return self.npz(**more)
        return self.safetensors(**more) if form == SAFETENSORS else self.json()

    def only(self, parts: Collection[str]) -> Self:
        """Return a reply with only the tensors whose last name is one of these."""
        arrays = {
            name: array for name, array in self.arrays.items() if name.rpartition(".")[2] in parts
        }
        tensors = {name: self.document["tensors"][name] for name in arrays}
        return replace(self, document={**self.document, "tensors": tensors}, arrays=arrays)

    def json(self) -> bytes:
        """Return the document with the numbers as nested lists; null if not finite."""
        tensors = {
            name: {**about, "data": numbers(self.arrays[name])}
            for name, about in self.document["tensors"].items()
        }
        return orjson.dumps({**self.document, "tensors": tensors})

    def pieces(self, **metadata: Mapping[str, Any]) -> Pieces:
        """Return one safetensors file; its metadata has the document under "trace", and others.

        The numbers are not copied.
        """
        documents = {"trace": self.document, **metadata}
        texts = {name: orjson.dumps(document).decode() for name, document in documents.items()}
        return file_formats.pieces(self.arrays, texts)

    def safetensors(self, **metadata: Mapping[str, Any]) -> bytes:
        """Return the file of `pieces` as bytes."""
        return b"".join(self.pieces(**metadata))

    def npz(self, **metadata: Mapping[str, Any]) -> bytes:
        """Return one NPZ file: one array per tensor, and each document as a text "trace.json"."""
        documents = {"trace": self.document, **metadata}
        texts = {
            f"{name}.json": np.array(orjson.dumps(document).decode())
            for name, document in documents.items()
        }
        file = io.BytesIO()
        np.savez_compressed(file, allow_pickle=False, **self.arrays, **texts)
        return file.getvalue()

    @classmethod
    def parse(cls, file: bytes) -> "Reply":
        """Parse a file written by `safetensors`."""
        return cls(cls.metadata(file)["trace"], safetensors.numpy.load(file))

    @staticmethod
    def metadata(file: bytes) -> dict[str, Any]:
        """Return the documents in a file written by `safetensors`, by name."""
        texts = file_formats.metadata(file)
        return {name: orjson.loads(text) for name, text in texts.items()}


WRITERS: dict[str, Callable[[Reply], Pieces]] = {
    JSON: lambda reply: (reply.json(),),
    SAFETENSORS: Reply.pieces,
    NPZ: lambda reply: (reply.npz(),),
    ZSTD: lambda reply: (zstandard.compress(reply.safetensors()),),
}


def numbers(array: Array) -> orjson.Fragment:
    """Return nested lists as JSON; null if a number is not finite.

    orjson holds the interpreter lock, so many numbers are written in parts, between which other
    threads can run.
    """
    return orjson.Fragment(b"".join(_parts(array)))


def _parts(array: Array) -> Iterator[bytes]:
    if array.size <= NUMBERS or array.ndim < 2:
        yield orjson.dumps(array, option=orjson.OPT_SERIALIZE_NUMPY)
        return
    for index, part in enumerate(array):
        yield b"," if index else b"["
        yield from _parts(np.ascontiguousarray(part))
    yield b"]"


def trace_reply(
    trace: Trace,
    identity: str,
    model: str,
    dtype: Dtype = "float32",
    selection: Selection | None = None,
) -> Reply:
    """Return the reply to a trace request; without a selection, with all recorded tensors.

    Raises InputError if uint8 is requested for tensors that are not weights, and for a window
    outside its tensor.
    """
    tensors, arrays = dict(trace.tensors), {}
    if selection is None:
        arrays = {name: _array(name, tensor, dtype) for name, tensor in tensors.items()}
    else:
        tensors = {}
        for part in selection.parts(trace.tensors):
            tensors[part.key] = part.tensor
            arrays[part.key] = _array(part.name, part.tensor, part.dtype or dtype)
    document = {
        "id": identity,
        "model": model,
        **told(trace),
        **({"output": _written(trace.written)} if trace.written else {}),
        "tensors": _about(tensors, arrays),
    }
    if trace.pieces:
        document["pieces"] = {
            str(id_): {"text": token.text, "special": token.special}
            for id_, token in trace.pieces.items()
        }
    if trace.scores:
        document["scores"] = {cell: asdict(split) for cell, split in trace.scores.items()}
    if trace.summaries:
        document["summaries"] = {
            place: _measured(summary) for place, summary in trace.summaries.items()
        }
    return Reply(document, arrays)


def line(document: Any) -> bytes:
    """Return a document as a line of JSON; null if a number is not finite."""
    return orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE)


def told(run: Trace | Decoding | LongPass) -> dict[str, Any]:
    """Return the `tokens` that were read, by text, and the `direction` of a translation model."""
    tokens = {name: as_documents(read) for name, read in run.texts.items()}
    direction = {"direction": run.direction} if run.direction else {}
    return {**direction, "tokens": tokens}


def as_documents(tokens: Iterable[Token]) -> list[dict[str, Any]]:
    """Return tokens as in a document; `asdict` would copy every value and take a hundred times."""
    return [vars(token).copy() for token in tokens]


def _written(output: Output) -> dict[str, Any]:
    return vars(output) | {"tokens": as_documents(output.tokens)}


def parameters_reply(model: str, tensors: Mapping[str, NamedTensor]) -> Reply:
    """Return the reply to a request for a model's parameters."""
    arrays = {name: _array(name, tensor, "float32") for name, tensor in tensors.items()}
    return Reply({"model": model, "tensors": _about(tensors, arrays)}, arrays)


def bytes_reply(document: Mapping[str, Any], tensors: Mapping[str, NamedTensor]) -> Reply:
    """Return a reply with tensors of bytes and booleans, which are sent unchanged."""
    arrays = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    return Reply({**document, "tensors": _about(tensors, arrays)}, arrays)


def _about(tensors: Mapping[str, NamedTensor], arrays: Mapping[str, Array]) -> dict[str, Any]:
    return {
        name: {
            "dims": tensor.dims,
            "over": dict(tensor.over),
            "shape": arrays[name].shape,
            "dtype": arrays[name].dtype.name,
        }
        for name, tensor in tensors.items()
    }


def _measured(summary: Summary) -> dict[str, list[float] | list[str]]:
    # The shortest text of a float32, which is half as long; NaN becomes null in the document.
    measures = {
        name: [float(str(number)) for number in value.float().numpy()]
        for name, value in summary.measures.items()
    }
    return {**measures, "pattern": list(summary.patterns)}


def _narrowed(name: str, numbers: Array, dtype: Dtype) -> Array:
    with np.errstate(over="ignore"):  # it is refused below
        narrow: Array = numbers.astype(dtype)
    too_large = np.isinf(narrow) & np.isfinite(numbers)
    if too_large.any():
        largest, limit = np.abs(numbers[too_large]).max(), np.finfo(dtype).max
        detail = (
            f"dtype {dtype} holds numbers up to {limit:.0f}, and {name} has {largest:.6g}; "
            "select it as float32"
        )
        raise InputError("out-of-range", "dtype", detail)
    return narrow


def _array(name: str, tensor: NamedTensor, dtype: Dtype) -> Array:
    """Return the numbers as sent: `dtype` applies to real numbers, not to booleans and ids.

    Raises InputError for a number that the type cannot hold, which would be sent as an infinity.
    """
    array = tensor.value.detach().float() if tensor.value.is_floating_point() else tensor.value
    numbers: Array = array.cpu().contiguous().numpy()
    if numbers.dtype == np.bool_:
        return numbers
    if not np.issubdtype(numbers.dtype, np.floating):
        return numbers.astype(np.int32)  # JavaScript has no plain 64-bit integers
    if dtype != "uint8":
        return numbers if numbers.dtype == dtype else _narrowed(name, numbers, dtype)
    if not name.endswith(".weights"):
        raise InputError(
            "not-weights", "dtype", "dtype uint8 is for weights only; select *.weights"
        )
    steps: Array = np.rint(numbers * 255).astype(np.uint8)
    return steps

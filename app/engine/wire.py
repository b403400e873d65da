"""The wire: a reply as JSON, or as one file that carries the document: safetensors or NPZ.

A `Reply` holds both halves apart: `document` says what each tensor is (dims, over, shape, dtype),
`arrays` holds the numbers. JSON puts ``data`` into the document; safetensors keeps the document,
without ``data``, as JSON text in its metadata.
"""

import io
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

import numpy as np
import orjson
import safetensors.numpy
import zstandard
from numpy.typing import NDArray

from app.engine.tensor_selection import Dtype, Selection
from model.adapters.request import Decoding, Trace
from model.errors import Excess, InputError
from model.explain.patterns import Summary
from model.trace.tensor_tap import NamedTensor

Array = NDArray[Any]

JSON = "application/json"
SAFETENSORS = "application/octet-stream"
NPZ = "application/x-npz"
ZSTD = "application/zstd"  # what the store keeps: a compressed safetensors file
FORMS = (JSON, SAFETENSORS, NPZ)
JSON_COST = 4  # a number in JSON takes about this many times the memory of one in safetensors
NUMBERS = 16_384  # written at once: about 2 ms
HEADER_LENGTH = 8  # bytes that open a safetensors file and say how long its header is


@dataclass(frozen=True)
class Reply:
    """A document about tensors, and their numbers by the same names."""

    document: dict[str, Any]
    arrays: dict[str, Array]

    @property
    def values(self) -> int:
        """How many numbers it holds."""
        return sum(array.size for array in self.arrays.values())

    def encode(self, form: str, max_values: int) -> bytes:
        """The reply in one of `WRITERS`.

        Raises InputError for more numbers than `max_values`; in JSON, than a quarter of that.
        """
        self.check(max_values // (JSON_COST if form == JSON else 1))
        return WRITERS[form](self)

    def check(self, limit: int) -> None:
        """Raises InputError for more numbers than the limit."""
        if self.values > limit:
            detail = f"select holds {self.values} numbers; in this form a reply has at most {limit}"
            excess = Excess(limit, "numbers", self.values)
            raise InputError("reply-too-large", "select", detail, excess)

    def write(self, form: str, **more: Mapping[str, Any]) -> bytes:
        """The reply in one of `FORMS`; in a file, with more documents beside its own."""
        if form == NPZ:
            return self.npz(**more)
        return self.safetensors(**more) if form == SAFETENSORS else self.json()

    def only(self, parts: Collection[str]) -> Self:
        """What is left of it when only tensors of these last names are kept."""
        arrays = {
            name: array for name, array in self.arrays.items() if name.rpartition(".")[2] in parts
        }
        tensors = {name: self.document["tensors"][name] for name in arrays}
        return replace(self, document={**self.document, "tensors": tensors}, arrays=arrays)

    def json(self) -> bytes:
        """The document with the numbers as nested lists; null where one is not finite."""
        tensors = {
            name: {**about, "data": numbers(self.arrays[name])}
            for name, about in self.document["tensors"].items()
        }
        return orjson.dumps({**self.document, "tensors": tensors})

    def safetensors(self, **metadata: Mapping[str, Any]) -> bytes:
        """One safetensors file; the document under "trace", more documents beside it."""
        documents = {"trace": self.document, **metadata}
        texts = {name: orjson.dumps(document).decode() for name, document in documents.items()}
        return safetensors.numpy.save(self.arrays, metadata=texts)

    def npz(self, **metadata: Mapping[str, Any]) -> bytes:
        """One NPZ file: an array a tensor, and each document as a text named "trace.json"."""
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
        """The reply that `safetensors` wrote."""
        return cls(cls.metadata(file)["trace"], safetensors.numpy.load(file))

    @staticmethod
    def metadata(file: bytes) -> dict[str, Any]:
        """The documents that `safetensors` wrote, by their names."""
        length = int.from_bytes(file[:HEADER_LENGTH], "little")
        header = orjson.loads(file[HEADER_LENGTH : HEADER_LENGTH + length])
        return {name: orjson.loads(text) for name, text in header["__metadata__"].items()}


WRITERS: dict[str, Callable[[Reply], bytes]] = {
    JSON: Reply.json,
    SAFETENSORS: Reply.safetensors,
    NPZ: Reply.npz,
    ZSTD: lambda reply: zstandard.compress(reply.safetensors()),
}


def numbers(array: Array) -> orjson.Fragment:
    """Nested lists in JSON; null where a number is not finite.

    orjson holds the interpreter's lock, so many numbers are written in parts: between two of them
    other threads have their turn.
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
    """The reply to a trace request; without a selection, all that was recorded.

    Raises InputError where uint8 is asked for tensors that are not weights, and for a window that
    lies outside of its tensor.
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
        **({"output": asdict(trace.written)} if trace.written else {}),
        "tensors": _about(tensors, arrays),
    }
    if trace.pieces:
        document["pieces"] = {
            str(id_): {"text": token.text, "special": token.special}
            for id_, token in trace.pieces.items()
        }
    if trace.summaries:
        document["summaries"] = {place: _measured(said) for place, said in trace.summaries.items()}
    return Reply(document, arrays)


def line(document: Any) -> bytes:
    """A document as a line of JSON; null where a number is not finite."""
    return orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE)


def told(run: Trace | Decoding) -> dict[str, Any]:
    """What was read: `tokens` by text, and the `direction` of a model that translates."""
    tokens = {name: [asdict(token) for token in read] for name, read in run.texts.items()}
    direction = {"direction": run.direction} if run.direction else {}
    return {**direction, "tokens": tokens}


def parameters_reply(model: str, tensors: Mapping[str, NamedTensor]) -> Reply:
    """The reply to a request for a model's parameters."""
    arrays = {name: _array(name, tensor, "float32") for name, tensor in tensors.items()}
    return Reply({"model": model, "tensors": _about(tensors, arrays)}, arrays)


def bytes_reply(document: Mapping[str, Any], tensors: Mapping[str, NamedTensor]) -> Reply:
    """A reply about tensors of bytes and truths, which travel as they are."""
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
    # What is not a number becomes null in the document.
    measures = {name: value.tolist() for name, value in summary.measures.items()}
    return {**measures, "pattern": list(summary.patterns)}


def _array(name: str, tensor: NamedTensor, dtype: Dtype) -> Array:
    """The numbers as they travel: `dtype` is for real numbers; truth and ids have their own."""
    array = tensor.value.detach().float() if tensor.value.is_floating_point() else tensor.value
    numbers: Array = array.cpu().contiguous().numpy()
    if numbers.dtype == np.bool_:
        return numbers
    if not np.issubdtype(numbers.dtype, np.floating):
        return numbers.astype(np.int32)  # a browser has no plain 64-bit integers
    if dtype != "uint8":
        return numbers.astype(dtype)
    if not name.endswith(".weights"):
        raise InputError(
            "not-weights", "dtype", "dtype uint8 is for weights only; select *.weights"
        )
    steps: Array = np.rint(numbers * 255).astype(np.uint8)
    return steps

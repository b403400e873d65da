"""Requests to the engine as plain data, which can be sent to another process."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pickle import PickleBuffer
from typing import Any, SupportsIndex

from app.engine.reply_formats import JSON_COST, Reply, trace_reply
from app.engine.tensor_selection import Dtype, Selection
from app.http.file_formats import JSON, Pieces
from model.adapters.requests.adapter_interface import Adapter
from model.adapters.requests.model_info import ModelInfo
from model.adapters.requests.request import Request
from model.adapters.requests.trace import Trace

PLAIN = 100.0  # the cost of a reply without a run
BUFFERS = 5  # the first protocol of pickle with buffers


@dataclass(frozen=True)
class Encoded:
    """A reply in pieces, and the number of numbers in it."""

    pieces: Pieces
    values: int
    passes: frozenset[str] | None = None  # keys of passes that its runner keeps, if it tells

    @property
    def content(self) -> bytes:
        """The reply as bytes. Those of one piece are not copied."""
        return b"".join(self.pieces)

    def __len__(self) -> int:
        return sum(map(len, self.pieces))

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        """Pickle each piece as a buffer, if the protocol can; restore all of them as one piece."""
        buffers = protocol.__index__() >= BUFFERS
        pieces = tuple(map(PickleBuffer, self.pieces)) if buffers else (self.content,)
        return _joined, (pieces, self.values, self.passes)


def _joined(pieces: Pieces, values: int, passes: frozenset[str] | None) -> Encoded:
    return Encoded((b"".join(pieces),), values, passes)


@dataclass(frozen=True)
class Encoding:
    """The format and the limit of a reply."""

    form: str  # a key of `app.engine.reply_formats.WRITERS`
    max_values: int  # numbers; in JSON, a quarter

    @property
    def limit(self) -> int:
        """The maximum number of numbers in this form."""
        return self.max_values // (JSON_COST if self.form == JSON else 1)

    def __call__(self, reply: Reply) -> Encoded:
        """Encode the reply. Raises `InputError` if it has too many numbers."""
        return Encoded(reply.encode(self.form, self.max_values), reply.values)


@dataclass(frozen=True)
class TraceJob:
    """A sentence to run through a model, and the format of the reply."""

    model: str  # an id of the catalog
    request: Request
    identity: str  # digest of the request and the model
    dtype: Dtype
    encoding: Encoding
    selection: Selection | None = None  # None: everything that the request records

    def reply(self, trace: Trace) -> Encoded:
        """Return the reply. Raises `InputError` if it is too large, or for an unsuitable dtype."""
        reply = trace_reply(trace, self.identity, self.model, self.dtype, self.selection)
        return self.encoding(reply)


@dataclass(frozen=True)
class ReplyJob(ABC):
    """A request that needs no run of the model; equal requests have equal replies."""

    model: str  # an id of the catalog

    @abstractmethod
    def alone(self, adapter: Adapter) -> Encoded:
        """Return the reply. Raises `InputError` if there is none."""

    def price(self, info: ModelInfo) -> float:
        """Return its cost, as in `app.engine.cost_estimates`."""
        return PLAIN


@dataclass(frozen=True)
class StreamJob(ABC):
    """A reply that is streamed line by line; the same lines whenever it runs."""

    model: str  # an id of the catalog

    def price(self, info: ModelInfo) -> float:
        """Return the cost of the whole stream, as in `app.engine.cost_estimates`."""
        return PLAIN

    def line_price(self, info: ModelInfo) -> float:
        """Return the approximate cost of one line."""
        return PLAIN

    @abstractmethod
    def lines(self, adapter: Adapter) -> Iterator[bytes]:
        """Yield the lines, computed on demand. Raises `InputError` before the first line."""

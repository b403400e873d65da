"""What the engine is asked for, as plain data: a job can be sent to another process."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

from app.engine.tensor_selection import Dtype, Selection
from app.engine.wire import Reply, trace_reply
from model.adapters.model_info import ModelInfo
from model.adapters.request import Adapter, Request, Trace

PLAIN = 100.0  # what it costs to answer without a run


@dataclass(frozen=True)
class Encoded:
    """A reply as bytes, and how many numbers it holds."""

    content: bytes
    values: int

    def __len__(self) -> int:
        return len(self.content)


@dataclass(frozen=True)
class Encoding:
    """How a reply becomes bytes."""

    form: str  # a key of `app.engine.wire.WRITERS`
    max_values: int  # numbers; in JSON, a quarter

    def __call__(self, reply: Reply) -> Encoded:
        """The reply in this form; raises `InputError` where it holds more numbers."""
        return Encoded(reply.encode(self.form, self.max_values), reply.values)


@dataclass(frozen=True)
class TraceJob:
    """A sentence to run through a model, and the form that its trace is answered in."""

    model: str  # an id of the catalog
    request: Request
    identity: str  # digest of the request and the model
    dtype: Dtype
    encoding: Encoding
    selection: Selection | None = None  # None: all that the request records

    def answer(self, trace: Trace) -> Encoded:
        """The reply; raises `InputError` for one that is too large or of the wrong dtype."""
        reply = trace_reply(trace, self.identity, self.model, self.dtype, self.selection)
        return self.encoding(reply)


@dataclass(frozen=True)
class AnswerJob(ABC):
    """A question that is answered without a run; equal ones have equal answers."""

    model: str  # an id of the catalog

    @abstractmethod
    def alone(self, adapter: Adapter) -> Encoded:
        """The answer; raises `InputError` for what cannot be answered."""

    def price(self, info: ModelInfo) -> float:
        """What it costs, as in `app.engine.price`."""
        return PLAIN


@dataclass(frozen=True)
class StreamJob(ABC):
    """A reply that comes line by line; the same lines whenever it runs."""

    model: str  # an id of the catalog

    def price(self, info: ModelInfo) -> float:
        """What all of it costs, as in `app.engine.price`."""
        return PLAIN

    def line_price(self, info: ModelInfo) -> float:
        """What a line costs, about."""
        return PLAIN

    @abstractmethod
    def lines(self, adapter: Adapter) -> Iterator[bytes]:
        """The lines, each made when it is asked for; raises `InputError` before the first one."""

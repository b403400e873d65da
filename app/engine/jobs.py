"""Requests to the engine as plain data, which can be sent to another process; and their cost.

The cost is estimated before a request runs: layers × rows × tokens that the model will read. It is
computed without the model, so the number of tokens of a text is an estimate, and a translation that
has yet to be written counts with its maximum length. Fairness only needs that a request that takes
a hundred times as long costs about a hundred times as much.
"""

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pickle import PickleBuffer
from typing import Any, SupportsIndex

from app.engine.reply_formats import JSON_COST, Dtype, Reply, Selection, trace_reply
from app.http.file_formats import JSON, Pieces
from model.adapters.requests.adapter_interface import Adapter
from model.adapters.requests.model_info import ModelInfo
from model.adapters.requests.request import BEYOND_SOURCE, Request, path_of, runs_of
from model.adapters.requests.trace import Trace
from model.adapters.sweep import at_once
from model.explain.attribution import STEPS
from model.explain.logit_lens import contrasts
from model.explain.relevance import names as relevance_names
from model.explain.score_terms import cells
from model.trace.tensor_names import GRADIENT_INPUT, INTEGRATIONS, OCCLUSION, present

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
        """Return its cost, as in `app.engine.jobs`."""
        return PLAIN


@dataclass(frozen=True)
class StreamJob(ABC):
    """A reply that is streamed line by line; the same lines whenever it runs."""

    model: str  # an id of the catalog

    def price(self, info: ModelInfo) -> float:
        """Return the cost of the whole stream, as in `app.engine.jobs`."""
        return PLAIN

    def line_price(self, info: ModelInfo) -> float:
        """Return the approximate cost of one line."""
        return PLAIN

    @abstractmethod
    def lines(self, adapter: Adapter) -> Iterator[bytes]:
        """Yield the lines, computed on demand. Raises `InputError` before the first line."""


NARROW = 0.4  # tokens per character of an alphabet

WIDE = re.compile("[\u2e80-\U0010ffff]+")  # characters of about one token each

CONTROL = 2  # tokens around a text

CHANGE = 0.05  # cost of an intervention, as a share of a pass

LIKELY = 1.5  # tokens of a translation, relative to its source

GRADIENT = 3  # passes that take as long as the gradient of a number: a run, and back

LONELY = 3  # times a plain pass, from which on a request is run without company

UNREAD = 0.05  # cost of tokenizing what a model does not read, for each of its tokens

FEW, PATTERN = 4, 0.5  # patterns of names that are part of a pass; the cost of each further one

CELL = 20  # tokens that take as long as the terms of one score


def tokens(text: str) -> float:
    """Return the approximate number of tokens of a text."""
    wide = 0 if text.isascii() else sum(map(len, WIDE.findall(text)))
    return CONTROL + wide + NARROW * (len(text) - wide)


def unread(request: Request, max_tokens: int) -> float:
    """Return the cost of tokenizing the texts of a request beyond the tokens that are read."""
    texts = (request.source, request.target or "", request.pair or "")
    return UNREAD * sum(max(0.0, tokens(text) - max_tokens) for text in texts)


def lengths(request: Request, info: ModelInfo) -> tuple[float, float]:
    """Return the approximate tokens read and (at most) written, with padding."""
    max_tokens = info.max_tokens
    second = 0.0 if request.pair is None else tokens(request.pair)
    read = min(max_tokens, tokens(request.source) + second)
    if len(info.texts) == 1:
        continued = request.decode.max_tokens or len(request.decode.prefix)
        return max(min(max_tokens, read + continued), request.pad_to or 0), 0.0
    if request.target is not None:
        written = min(max_tokens, tokens(request.target))
    else:
        written = min(max_tokens, read + BEYOND_SOURCE, request.decode.max_tokens or max_tokens)
    padded = min(max_tokens, request.pad_to or 0)
    return max(read, padded), max(written, padded)


def passing(request: Request, info: ModelInfo) -> float:
    """Return the cost of one pass over the texts of a request."""
    layers = tuple(info.layers.values())
    read, written = lengths(request, info)
    once = layers[0] * read + layers[-1] * written
    factor = 1 + CHANGE * len(request.interventions)
    gradients = sum(contrast.row is not None for contrast in contrasts(request.select))
    gradients += bool(present(request.select, relevance_names(info.places)))
    factor += GRADIENT * gradients
    return (
        once * factor + attributing(request, info) + CELL * sum(layers) * len(cells(request.select))
    )


def attributing(request: Request, info: ModelInfo) -> float:
    """Return the cost of attributions to source tokens; an unknown target has a likely length."""
    layers = tuple(info.layers.values())
    read, written = lengths(request, info)
    if request.target is None:
        written = min(written, LIKELY * read)
    passes = {OCCLUSION: read, GRADIENT_INPUT: written}
    passes_needed = sum(passes.get(pattern, 0.0) for pattern in set(request.select))
    if not INTEGRATIONS.isdisjoint(request.select):
        passes_needed += STEPS * written  # at most
    return passes_needed * (layers[0] * read + layers[-1] * written)


def naming(request: Request) -> float:
    """Return the cost of reading the patterns of a request."""
    return PATTERN * max(0, len(request.select) + len(request.summarise) - FEW)


def writing(request: Request, info: ModelInfo) -> float:
    """Return the cost of writing the target, if none is given."""
    if request.target is not None or len(info.texts) == 1:
        return 0.0  # with a cache, a continuation costs about as much as the pass that follows
    layers = tuple(info.layers.values())
    read, written = lengths(request, info)
    rows = request.decode.beam if request.decode.method == "beam" else 1
    changes = 1 + CHANGE * len(request.interventions)
    return (layers[0] * read + layers[-1] * written * rows) * changes


def others(request: Request) -> set[Request]:
    """Return the distinct sentences that interventions take values from; they are run first."""
    return {
        sentence for intervention in request.interventions for _, sentence in runs_of(intervention)
    }


def running(request: Request, info: ModelInfo) -> float:
    """Return the cost of a trace, including decoding and other sentences."""
    before = sum(running(earlier, info) for earlier in others(request))
    along = paths(request)
    once = passing(request, info)  # along paths, the run without them, and one for each sender
    text = unread(request, info.max_tokens) + naming(request)
    return before + text + writing(request, info) + once + (along + bool(along)) * once


def paths(request: Request) -> int:
    """Return the number of patches that act along one path only."""
    return sum(path_of(intervention) is not None for intervention in request.interventions)


def sweeping(request: Request, info: ModelInfo, changes: int) -> float:
    """Return the cost of making each change once; other sentences are run for each batch."""
    batches = changes / at_once(info, sum(lengths(request, info)))
    again = sum(passing(earlier, info) for earlier in others(request))
    along = paths(request)  # the same for each change: with its sender's run, and for each batch
    once = passing(request, info)
    price_of_run = changes * (1 + along) * once + batches * bool(along) * once
    return running(request, info) + price_of_run + batches * again


def price(job: TraceJob | ReplyJob | StreamJob, info: ModelInfo) -> float:
    """Return the total cost of a job."""
    if isinstance(job, TraceJob):
        return running(job.request, info)
    return job.price(info)


def size(job: TraceJob | ReplyJob, info: ModelInfo) -> float:
    """Return the length of the row that a job adds to a batch.

    It is infinite if most passes are made for this request alone, such as those of gradients:
    nothing would be saved, and the others in the batch would wait for all of them.
    """
    if not isinstance(job, TraceJob):
        return 0.0
    shared = passing(replace(job.request, select=()), info)
    if passing(job.request, info) > LONELY * shared:
        return math.inf
    return sum(lengths(job.request, info))

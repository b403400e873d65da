"""The cost of a request, estimated before it runs: layers × rows × tokens that the model will read.

It is computed without the model, so the number of tokens of a text is an estimate, and a
translation that has yet to be written counts with its maximum length. Fairness only needs that a
request that takes a hundred times as long costs about a hundred times as much.
"""

from collections.abc import Iterator
from dataclasses import replace

from app.engine.jobs import AnswerJob, StreamJob, TraceJob
from model.adapters.decode_requests import BEYOND_SOURCE
from model.adapters.model_info import ModelInfo
from model.adapters.request import Request
from model.adapters.sweep import TOKENS

NARROW = 0.4  # tokens per character of an alphabet
WIDE = "\u2e80"  # from this character on, a character is about one token
CONTROL = 2  # tokens around a text
CHANGE = 0.05  # cost of an intervention, as a share of a pass
RELEVANCE = "inside.relevance."


def length(text: str, most: int) -> float:
    """Return the approximate number of tokens of a text."""
    wide = sum(character >= WIDE for character in text)
    return min(most, CONTROL + wide + NARROW * (len(text) - wide))


def lengths(request: Request, info: ModelInfo) -> tuple[float, float]:
    """Return the approximate tokens read and (at most) written, with padding."""
    most = info.max_tokens
    read = length(request.source, most)
    if len(info.texts) == 1:
        return max(read, request.pad_to or 0), 0.0
    if request.target is not None:
        written = length(request.target, most)
    else:
        written = min(most, read + BEYOND_SOURCE, request.decode.max_tokens or most)
    padded = min(most, request.pad_to or 0)
    return max(read, padded), max(written, padded)


def passing(request: Request, info: ModelInfo) -> float:
    """Return the cost of one pass over the texts of a request."""
    layers = tuple(info.layers.values())
    read, written = lengths(request, info)
    once = layers[0] * read + layers[-1] * written
    more = 1 + CHANGE * len(request.interventions)
    if any(pattern.startswith(RELEVANCE) for pattern in request.select):
        more += written or read  # a backward pass for each row
    return once * more


def writing(request: Request, info: ModelInfo) -> float:
    """Return the cost of writing the target, if none is given."""
    if request.target is not None or len(info.texts) == 1:
        return 0.0
    layers = tuple(info.layers.values())
    read, written = lengths(request, info)
    rows = request.decode.beam if request.decode.method == "beam" else 1
    changes = 1 + CHANGE * len(request.interventions)
    return (layers[0] * read + layers[-1] * written * rows) * changes


def frozen(request: Request) -> Iterator[Request]:
    """Yield the distinct frozen sentences, which have to be run first."""
    values = (one.value for one in request.interventions if one.do == "freeze")
    return iter({value for value in values if isinstance(value, Request)})


def running(request: Request, info: ModelInfo) -> float:
    """Return the cost of a trace, including decoding and frozen sentences."""
    before = sum(running(replace(one, interventions=()), info) for one in frozen(request))
    return before + writing(request, info) + passing(request, info)


def sweeping(request: Request, info: ModelInfo) -> float:
    """Return the cost of ablating every head once; frozen sentences are run for each batch."""
    heads = sum(one.heads for one in info.attentions)
    batches = heads / max(1.0, TOKENS // max(1.0, sum(lengths(request, info))))
    again = sum(passing(replace(one, interventions=()), info) for one in frozen(request))
    return running(request, info) + heads * passing(request, info) + batches * again


def price(job: TraceJob | AnswerJob | StreamJob, info: ModelInfo) -> float:
    """Return the total cost of a job."""
    if isinstance(job, TraceJob):
        return running(job.request, info)
    return job.price(info)


def size(job: TraceJob | AnswerJob, info: ModelInfo) -> float:
    """Return the length of the row that a job adds to a batch."""
    return sum(lengths(job.request, info)) if isinstance(job, TraceJob) else 0.0

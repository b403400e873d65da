"""Requests to a model: one sentence, and other sentences that interventions take values from.

`patch`, and `freeze`, a case of it, take rows of another sentence's run; `add` can take the
difference of two.

What all adapters share to decode is here too: the search that a request selects, its prefix, and a
cache.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import (
    Annotated,
    Any,
    Literal,
    TypedDict,
    Unpack,
    cast,
    get_args,
)

from annotated_types import Interval
from cachetools import LRUCache

from model.decode.beam_search import beam
from model.decode.decoding_steps import SearchStep
from model.decode.greedy_and_sampling import Draw, Ends, Predictor, sample
from model.errors import Excess, InputError
from model.request_limits import Factor, Probability, Seed, Temperature
from model.trace.interventions import Intervention, OtherRun
from model.trace.tensor_names import ATTRIBUTIONS

Method = Literal["greedy", "beam", "sample"]

METHODS = get_args(Method)


@dataclass(frozen=True)
class Decode:
    """How to write the target if none is given (section 6.1)."""

    method: Method = "greedy"
    beam: Annotated[int, Interval(ge=1, le=16)] = 4
    """Number of hypotheses kept (for `beam`)."""
    length_penalty: Annotated[float, Interval(ge=0, le=5)] = 0.6
    """α of the length penalty (for `beam`)."""
    max_tokens: int | None = None
    """Maximum number of tokens; absent: 50 more than the source, as in the paper."""
    temperature: Temperature = 1.0
    """Divides the logits: below 1 the text is more predictable, above 1 more varied (for
    `sample`)."""
    top_k: Annotated[int, Interval(ge=1, le=1_000_000)] | None = None
    """Sample from the k most probable tokens; absent: from all (for `sample`)."""
    top_p: Probability = 1.0
    """Sample from the fewest tokens that together have this probability (for `sample`)."""
    seed: Seed = 0
    """Seed of the random numbers; the same seed gives the same text (for `sample`)."""
    prefix: tuple[int, ...] = ()
    """Ids of the tokens that the text must begin with (for all methods)."""


@dataclass(frozen=True)
class Request:
    """One sentence to run through a model."""

    source: str
    direction: str | None = None  # "en-zh"; None: detected from the script
    target: str | None = None  # None: decode one; otherwise score this one
    decode: Decode = field(default_factory=Decode)
    interventions: tuple[Intervention, ...] = ()
    select: tuple[str, ...] = ("*.weights",)  # patterns of tensor names
    summarise: tuple[str, ...] = ()  # patterns of attentions, such as "encoder.*.self"
    pad_to: int | None = None
    chat: bool = False  # the sentence is a user's turn of a chat
    pair: str | None = None  # a second text, which an encoder reads after the sentence


# Prefixes of patterns that select more than a run records, and what they need.
INSIDE_NEEDS = {
    "inside.lens.": "lens",
    "inside.logit.": "contributions",
    "inside.contrast.": "lens",
    "inside.relevance.": "relevance",
    **dict.fromkeys(sorted(ATTRIBUTIONS), "attribution"),
    "inside.score.": "scores",
}


def needs(request: Request) -> Iterator[tuple[str, str]]:
    """Yield the capabilities that a request needs, with the field that needs them."""
    if request.target is not None:
        yield "score", "target"
    if request.chat:
        yield "chat", "chat"
    if request.pair is not None:
        yield "pair", "pair"
    if request.pad_to is not None:
        yield "padding", "pad_to"
    for index, pattern in enumerate(request.select):
        for beginning, capability in INSIDE_NEEDS.items():
            if pattern.startswith(beginning):
                yield capability, f"select[{index}]"
    for index, intervention in enumerate(request.interventions):
        if intervention.do == "mean":
            yield "mean", f"interventions[{index}].do"


class RequestOptions(TypedDict, total=False):
    """The fields of a `Request` other than the sentence, in looser types."""

    direction: str | None
    target: str | None
    decode: Decode | str  # a `Decode`, or the name of a method
    interventions: Iterable[Intervention]
    select: Iterable[str] | str  # one pattern or several
    summarise: Iterable[str] | str
    pad_to: int | None
    chat: bool
    pair: str | None


def ask(sentence: str | Request, **options: Unpack[RequestOptions]) -> Request:
    """Return a request for a sentence, or a copy of a request with the given options changed.

    Raises `TypeError` for an unknown option.
    """
    fields: dict[str, Any] = {
        name: TIGHTEN[name](value) if name in TIGHTEN else value for name, value in options.items()
    }
    request = sentence if isinstance(sentence, Request) else Request(sentence)
    return replace(request, **fields)


def _several(patterns: Iterable[str] | str) -> tuple[str, ...]:
    return (patterns,) if isinstance(patterns, str) else tuple(patterns)


TIGHTEN: dict[str, Callable[[Any], Any]] = {
    "decode": lambda given: Decode(cast(Method, given)) if isinstance(given, str) else given,
    "select": _several,
    "summarise": _several,
    "interventions": tuple,
}

MAX_SENTENCES = 8  # other sentences per request: each is a run of the model


@dataclass(frozen=True)
class Receiver:
    """The end of a path: a tensor, or one head of it."""

    at: str
    head: int | None = None


@dataclass(frozen=True)
class Patch:
    """The value of "patch": a run to take a tensor from, and which of its rows to put where.

    `rows` are pairs of a row of that run and a row of this one; None: row i replaces row i. With
    `to`, only what reaches this tensor directly has an effect: `along_paths`.
    """

    request: Request
    rows: tuple[tuple[int, int], ...] | None = None
    to: Receiver | None = None


@dataclass(frozen=True)
class TokenOf:
    """A row of a run: the token `row` of the text that a tensor's rows are."""

    request: Request
    row: int


@dataclass(frozen=True)
class Step:
    """A vector that "add" adds: `times` (the row of one run − the row of another)."""

    to: TokenOf
    minus: TokenOf | None = None
    times: Factor = 1.0

    @property
    def ends(self) -> tuple[TokenOf, ...]:
        """The rows that it is computed from."""
        return (self.to,) if self.minus is None else (self.to, self.minus)


def runs_of(intervention: Intervention) -> tuple[tuple[str, Request], ...]:
    """Return the tensors that an intervention takes from other runs: names and sentences."""
    if (patch := patch_of(intervention)) is not None:
        return ((patch[0], patch[1].request),)
    if intervention.do == "add" and isinstance(intervention.value, Step):
        return tuple((intervention.at, alone(end.request)) for end in intervention.value.ends)
    return ()


def alone(request: Request) -> Request:
    """Return another run's request, which selects, changes and pads nothing."""
    return replace(request, select=(), summarise=(), interventions=(), pad_to=None)


def patch_of(intervention: Intervention) -> tuple[str, Patch] | None:
    """Return the name of the tensor that an intervention takes from another run, and its patch."""
    match intervention.do:
        case "patch" | "freeze" if isinstance(intervention.value, OtherRun):
            return None  # its values are known
        case "patch":
            name, patch = intervention.at, cast(Patch, intervention.value)
        case "freeze":
            name, patch = f"{intervention.at}.weights", Patch(cast(Request, intervention.value))
        case _:
            return None
    return name, replace(patch, request=alone(patch.request))


def path_of(intervention: Intervention) -> Receiver | None:
    """Return where the path of a patch ends; None for one that acts on all that comes after it."""
    return intervention.value.to if isinstance(intervention.value, Patch) else None


def read_alike(value: Any, chat: bool, pair: str | None) -> Any:
    """Return the value of an effect whose other sentence, if any, is read as the first one is.

    It is a user's turn of a chat too, or has the same second text.
    """
    match value:
        case Request():
            return replace(value, chat=chat, pair=pair)
        case Patch(request=request) | TokenOf(request=request):
            return replace(value, request=replace(request, chat=chat, pair=pair))
        case Step(to=to, minus=minus):
            to, minus = (read_alike(end, chat, pair) for end in (to, minus))
            return replace(value, to=to, minus=minus)
    return value


def other_runs(interventions: Sequence[Intervention]) -> dict[Request, int]:
    """Return the distinct other sentences, each with the index of its first intervention.

    Raises `InputError` for more than `MAX_SENTENCES`.
    """
    first_uses: dict[Request, int] = {}
    for index, intervention in enumerate(interventions):
        for _, sentence in runs_of(intervention):
            first_uses.setdefault(sentence, index)
    if len(first_uses) > MAX_SENTENCES:
        detail = (
            f"interventions name {len(first_uses)} different sentences; "
            f"at most {MAX_SENTENCES} are allowed"
        )
        excess = Excess(MAX_SENTENCES, "entries", len(first_uses))
        raise InputError("too-long", "interventions", detail, excess)
    return first_uses


CACHED = 512  # recent decodings

BEYOND_SOURCE = 50  # tokens by which a translation may exceed its source (section 6.1)

Ids = tuple[int, ...]


class DecodedIds:
    """The ids of recent decodings, by everything that a decoding depends on. Thread-safe."""

    def __init__(self) -> None:
        self._ids: LRUCache[Hashable, Ids] = LRUCache(CACHED)
        self._lock = Lock()

    def get(self, read: Iterable[int], request: Request) -> Ids | None:
        """Return what a request wrote after the model had read these ids, if it is cached."""
        with self._lock:
            return self._ids.get(_key(read, request))

    def put(self, read: Iterable[int], request: Request, ids: Ids) -> None:
        """Cache what a request wrote."""
        with self._lock:
            self._ids[_key(read, request)] = ids


def _key(read: Iterable[int], request: Request) -> Hashable:
    return tuple(read), request.decode, request.interventions


def draw_of(decode: Decode) -> Draw | None:
    """Return the sampling options; None if nothing is sampled."""
    if decode.method != "sample":
        return None
    return Draw(decode.temperature, decode.top_k, decode.top_p, decode.seed)


def search_steps(reader: Predictor, ends: Ends, decode: Decode, limit: int) -> Iterator[SearchStep]:
    """Yield the steps of the search that `decode` selects."""
    if decode.method == "beam":
        return beam(reader, ends, limit, decode.beam, decode.length_penalty, decode.prefix)
    return sample(reader, ends, [limit], [draw_of(decode)], [decode.prefix])


def check_prefix(prefix: Ids, limit: int, writable: Callable[[int, int], bool]) -> None:
    """Raise `InputError` for too long a prefix, or for an id that cannot be written at its index.

    `writable` is called with the index and the id.
    """
    if len(prefix) > max(limit, 0):
        detail = f"decode.prefix has {len(prefix)} tokens; this output has at most {limit}"
        excess = Excess(limit, "tokens", len(prefix))
        raise InputError("too-long", "decode.prefix", detail, excess)
    for index, id_ in enumerate(prefix):
        if not writable(index, id_):
            field = f"decode.prefix[{index}]"
            detail = f"{field} must be the id of a token that can be written there"
            raise InputError("unknown-token", field, detail)

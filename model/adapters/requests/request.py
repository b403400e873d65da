"""Requests to a model and their results, for any model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import (
    Annotated,
    Any,
    Literal,
    Protocol,
    TypedDict,
    Unpack,
    cast,
    get_args,
)

import torch
from annotated_types import Interval

from model.adapters.long_pass import LongPass
from model.adapters.output import Output
from model.adapters.requests.adapter import with_slices
from model.adapters.requests.model_info import ModelInfo
from model.bundle.history import Learning
from model.decode.steps import SearchStep
from model.errors import InputError
from model.explain.patterns import Summary
from model.explain.score_terms import ScoreSplit
from model.explain.stream import Stream
from model.number_ranges import Probability, Seed, Temperature
from model.text.tokens import Token
from model.trace.interventions import Intervention
from model.trace.name_patterns import ATTRIBUTIONS
from model.trace.tensor_tap import NamedTensor

Method = Literal["greedy", "beam", "sample"]
METHODS = get_args(Method)
CANDIDATES = ".candidates"  # suffix of tensors of ids
SHOWN = 4  # names that a message lists


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


def ask(sentence: str | Request, **options: Unpack[RequestOptions]) -> Request:
    """Return a request for a sentence, or a copy of a request with the given options changed.

    Raises `TypeError` for an unknown option.
    """
    fields: dict[str, Any] = {
        name: TIGHTEN[name](given) if name in TIGHTEN else given for name, given in options.items()
    }
    known = sentence if isinstance(sentence, Request) else Request(sentence)
    return replace(known, **fields)


def _several(given: Iterable[str] | str) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


TIGHTEN: dict[str, Callable[[Any], Any]] = {
    "decode": lambda given: Decode(cast(Method, given)) if isinstance(given, str) else given,
    "select": _several,
    "summarise": _several,
    "interventions": tuple,
}


@dataclass(frozen=True, repr=False)
class Trace:
    """The result of one request; `trace["encoder.0.self.weights"]` is one of its tensors.

    `texts` are the tokens that the model read: `trace.texts[tensor.over["key"]]` are the tokens of
    an axis. Row i of a decoder tensor has read token i of the last text and predicts
    `output.tokens[i]`. A trace is plain data: it can be pickled, and the copy compares equal.
    """

    model: ModelInfo
    request: Request
    texts: Mapping[str, tuple[Token, ...]]  # "source" and "target", or "text"
    tensors: Mapping[str, NamedTensor]
    written: Output | None = None  # None: nothing was written or scored
    direction: str | None = None  # "en-zh", for a translation model
    summaries: Mapping[str, Summary] = field(default_factory=dict)  # by attention
    pieces: Mapping[int, Token] = field(default_factory=dict)  # tokens for ids in `….candidates`
    scores: Mapping[str, ScoreSplit] = field(default_factory=dict)  # by cell of `inside.score.…`

    @property
    def output(self) -> Output:
        """The text that was decoded or scored. Raises `LookupError` if the model only read."""
        if self.written is None:
            raise LookupError(f"this trace has no output: {self.model.id} only read the text")
        return self.written

    def __getitem__(self, name: str) -> NamedTensor:
        """Return a tensor by name. Raises a `KeyError` that lists the recorded names."""
        if name not in self.tensors:
            raise KeyError(f"{name} is not in this trace, which has {_list(self.tensors)}")
        return self.tensors[name]

    def __contains__(self, name: object) -> bool:
        return name in self.tensors

    def __iter__(self) -> Iterator[str]:
        return iter(self.tensors)

    def __repr__(self) -> str:
        about = self.model.id, self.direction
        said = self.request.source, self.written.text if self.written else None
        lines = [
            f"Trace of {', '.join(filter(None, about))}",
            f"  {' → '.join(text for text in said if text is not None)}",
            *(
                f"  {name}: {' '.join(token.text.strip() for token in tokens)}"
                for name, tokens in self.texts.items()
            ),
            f"  {len(self.tensors)} tensors: {_list(self.tensors)}",
        ]
        return "\n".join(lines)


def candidates(tensors: Mapping[str, NamedTensor]) -> list[int]:
    """Return the ids in candidate tensors, in order: those whose `pieces` a trace needs."""
    found = [tensor.value for name, tensor in tensors.items() if name.endswith(CANDIDATES)]
    return sorted({id_ for value in found for id_ in value.flatten().tolist()})


def _list(names: Iterable[str]) -> str:
    listed = list(names)
    shown = listed if len(listed) <= SHOWN else [*listed[: SHOWN - 1], "…", listed[-1]]
    return ", ".join(shown) or "none"


@dataclass(frozen=True, repr=False)
class Decoding:
    """A decoding in progress; the model computes each step on demand.

    All steps must be taken on one thread. `written[0]` of the last step is the output of a trace.
    All fields except `steps` are plain data.
    """

    model: ModelInfo
    request: Request  # with the effective `decode.max_tokens`
    texts: Mapping[str, tuple[Token, ...]]  # the texts read before the first step
    steps: Iterator[SearchStep]
    direction: str | None = None


class Adapter(Protocol):
    """The interface that makes any model answer with a Trace; its methods are thread-safe."""

    info: ModelInfo
    names: Collection[str]  # names of the tensors that a run records
    learning: Learning | None = None  # its training history, if recorded
    stream: Stream | None = None  # what its logits are a sum of; None: they are no sum

    def trace(self, sentence: str | Request, **options: Unpack[RequestOptions]) -> Trace:
        """Run one sentence and return its trace; `options` are the other fields of a `Request`.

        Raises `InputError` for a request that this model cannot answer.
        """
        request = ask(sentence, **options)
        self.check(request)
        [trace] = self.run([request])
        return trace

    def check(self, request: Request) -> None:
        """Raise `InputError` for a request that this model cannot answer. Runs no model."""
        for capability, where in needs(request):
            self.info.require(capability, where)
        self.validate(request)

    def validate(self, request: Request) -> None:
        """Raise `InputError` if a field does not fit this model: its tokens, places or names."""

    def takes(self, request: Request) -> bool:
        """Return whether this model can answer the request."""
        try:
            self.check(request)
        except InputError:
            return False
        return True

    def run(self, requests: Sequence[Request]) -> list[Trace]:
        """Answer several checked requests as one batch; their interventions do not interfere."""

    def decode(self, sentence: str | Request, **options: Unpack[RequestOptions]) -> Decoding:
        """Return a decoding, step by step. The target and the selection are ignored.

        Raises `InputError` for a request that this model cannot answer.
        """
        request = ask(sentence, **options)
        self.info.require("decode", "model")
        self.check(request)
        return self.write(request)

    def write(self, request: Request) -> Decoding:
        """Return the decoding of a checked request, for a model that can `decode`."""
        raise LookupError(f"{self.info.id} writes nothing")

    def texts_of(self, request: Request) -> Mapping[str, tuple[Token, ...]]:
        """Return the tokens of what a checked request gives to read, if possible without a run."""
        [trace] = self.run([replace(request, select=(), summarise=())])
        return trace.texts

    def long(self, request: Request, dtype: torch.dtype) -> LongPass:
        """Run one text of any length, keeping q and k of every attention in this precision.

        Raises `InputError` for what this model cannot answer; the selection is ignored.
        """
        self.info.require("long", "model")
        self.check(request)
        return self.read_long(request, dtype)

    def read_long(self, request: Request, dtype: torch.dtype) -> LongPass:
        """Return the pass of a checked request, for a model that can read `long` texts."""
        raise LookupError(f"{self.info.id} reads no long texts")

    def written(self, ids: Sequence[int]) -> tuple[str, tuple[Token, ...]]:
        """Return the text of some ids, and each id as a token with its span of that text."""

    def token(self, id_: int, *, first: bool = False) -> Token:
        """Return an id as a token without offsets; the `first` of a text has no leading space."""

    def parameters(self, select: Sequence[str]) -> dict[str, NamedTensor]:
        """Return matrices and vectors by name; raises `InputError` if a pattern matches none.

        A number after a matrix names the columns of one head (`model.adapters.requests.adapter`).
        """
        self.info.require("parameters", "select")
        return with_slices(select, self.info.attentions, self.matrices)

    def matrices(self, select: Sequence[str]) -> dict[str, NamedTensor]:
        """Return the parameters that match patterns, for a model with `parameters`."""
        raise LookupError(f"{self.info.id} shows nothing")

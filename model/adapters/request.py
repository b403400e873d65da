"""What is asked of a model and what it answers, whatever model it is."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, Protocol, TypedDict, Unpack, cast, get_args

from annotated_types import Interval

from model.adapters.model_info import ModelInfo
from model.bundle.history import Learning
from model.decode.steps import SearchStep
from model.errors import InputError
from model.explain.patterns import Summary
from model.number_ranges import Probability, Seed, Temperature
from model.text.tokens import Token
from model.trace.interventions import Intervention
from model.trace.tensor_tap import NamedTensor

Method = Literal["greedy", "beam", "sample"]
METHODS = get_args(Method)
CANDIDATES = ".candidates"  # tensors of ids
SHOWN = 4  # names that a long list says in full


@dataclass(frozen=True)
class Decode:
    """How to write the target when none is given (section 6.1)."""

    method: Method = "greedy"
    beam: Annotated[int, Interval(ge=1, le=16)] = 4
    """Hypotheses kept (for `beam`)."""
    length_penalty: Annotated[float, Interval(ge=0, le=5)] = 0.6
    """α of the length penalty (for `beam`)."""
    max_tokens: int | None = None
    """Tokens written at most; absent: 50 more than the source has, as in the paper."""
    temperature: Temperature = 1.0
    """Below 1 safer, above 1 bolder (for `sample`)."""
    top_k: Annotated[int, Interval(ge=1, le=1_000_000)] | None = None
    """Draw from the k most probable tokens; absent: from all (for `sample`)."""
    top_p: Probability = 1.0
    """Draw from the fewest tokens with this probability together (for `sample`)."""
    seed: Seed = 0
    """The same seed draws the same (for `sample`)."""
    prefix: tuple[int, ...] = ()
    """Ids of the vocabulary that it begins with, whatever the method."""


@dataclass(frozen=True)
class Request:
    """One sentence to run through a model."""

    source: str
    direction: str | None = None  # "en-zh"; None: by script
    target: str | None = None  # None: decode one; else score this one
    decode: Decode = field(default_factory=Decode)
    interventions: tuple[Intervention, ...] = ()
    select: tuple[str, ...] = ("*.weights",)  # patterns of tensor names
    summarise: tuple[str, ...] = ()  # patterns of attentions, such as "encoder.*.self"
    pad_to: int | None = None


# What patterns that name more than a run records begin with, and what they take.
INSIDE_NEEDS = {
    "inside.lens.": "lens",
    "inside.logit.": "contributions",
    "inside.relevance.": "relevance",
}


def needs(request: Request) -> Iterator[tuple[str, str]]:
    """What a model must be able to do for a request, and the field that asks for it."""
    if request.target is not None:
        yield "score", "target"
    for index, pattern in enumerate(request.select):
        for beginning, capability in INSIDE_NEEDS.items():
            if pattern.startswith(beginning):
                yield capability, f"select[{index}]"
    for index, intervention in enumerate(request.interventions):
        if intervention.do == "mean":
            yield "mean", f"interventions[{index}].do"


class RequestOptions(TypedDict, total=False):
    """What may be said beside a sentence: the other fields of a `Request`, in looser types."""

    direction: str | None
    target: str | None
    decode: Decode | str  # a method by itself, or with its numbers
    interventions: Iterable[Intervention]
    select: Iterable[str] | str  # one pattern or several
    summarise: Iterable[str] | str
    pad_to: int | None


def ask(sentence: str | Request, **options: Unpack[RequestOptions]) -> Request:
    """The request for a sentence; with options, a given request is changed in these.

    Raises `TypeError` for an option that there is not.
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


@dataclass(frozen=True)
class Output:
    """What was written, or scored: one log-probability (nats) a token."""

    text: str
    tokens: tuple[Token, ...]
    logprobs: tuple[float, ...]
    ranks: tuple[int, ...]
    """The place of each token among all of the vocabulary, from 1."""
    score: float
    """Sum of `logprobs` over the length penalty."""
    finished: bool
    """Whether it ends in `<eos>`."""


@dataclass(frozen=True, repr=False)
class Trace:
    """One request's answer; `trace["encoder.0.self.weights"]` is one of its tensors.

    `texts` are what was read: `trace.texts[tensor.over["key"]]` are the tokens of an axis. Row i of
    what writes has read the last text's token i and writes `output.tokens[i]`. It is plain data:
    it can be sent to another process, and is equal there.
    """

    model: ModelInfo
    request: Request
    texts: Mapping[str, tuple[Token, ...]]  # "source" and "target", or one "text"
    tensors: Mapping[str, NamedTensor]
    written: Output | None = None  # None: nothing was written or scored
    direction: str | None = None  # "en-zh", of a model that translates
    summaries: Mapping[str, Summary] = field(default_factory=dict)  # by attention
    pieces: Mapping[int, Token] = field(default_factory=dict)  # what ids in `….candidates` mean

    @property
    def output(self) -> Output:
        """What was written or scored; a `LookupError` where the model only read."""
        if self.written is None:
            raise LookupError(f"{self.model.id} wrote nothing here")
        return self.written

    def __getitem__(self, name: str) -> NamedTensor:
        """The tensor of a name; a `KeyError` that says what was selected if it is not there."""
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
    """The ids, in order, that tensors of candidates hold: those whose `pieces` a trace needs."""
    found = [tensor.value for name, tensor in tensors.items() if name.endswith(CANDIDATES)]
    return sorted({id_ for value in found for id_ in value.flatten().tolist()})


def _list(names: Iterable[str]) -> str:
    listed = list(names)
    shown = listed if len(listed) <= SHOWN else [*listed[: SHOWN - 1], "…", listed[-1]]
    return ", ".join(shown) or "none"


@dataclass(frozen=True, repr=False)
class Decoding:
    """A text that is being written; the model takes a step whenever one is asked for.

    All its steps must be taken on one thread. The last one's `written[0]` is what a trace finds.
    All but `steps` is plain data.
    """

    model: ModelInfo
    request: Request  # `decode.max_tokens` as it applies here
    texts: Mapping[str, tuple[Token, ...]]  # what was read before the first step
    steps: Iterator[SearchStep]
    direction: str | None = None


class Adapter(Protocol):
    """What makes any model answer with a Trace. Its methods may be called from any thread."""

    info: ModelInfo
    names: Collection[str]  # of the tensors that a run records
    learning: Learning | None = None  # how it was learned, where that was watched

    def trace(self, sentence: str | Request, **options: Unpack[RequestOptions]) -> Trace:
        """One sentence, seen inside; `options` are the other fields of a `Request`.

        Raises `InputError` for what this model cannot answer.
        """
        request = ask(sentence, **options)
        self.check(request)
        [trace] = self.run([request])
        return trace

    def check(self, request: Request) -> None:
        """Raises `InputError` for a request that this model cannot answer; cheap."""
        for capability, where in needs(request):
            self.info.require(capability, where)
        self.validate(request)

    def validate(self, request: Request) -> None:
        """Raises `InputError` for what only this model can judge: its tokens, places, names."""

    def takes(self, request: Request) -> bool:
        """Whether this model can answer the request."""
        try:
            self.check(request)
        except InputError:
            return False
        return True

    def run(self, requests: Sequence[Request]) -> list[Trace]:
        """Answers several checked requests as one batch; none sees another's interventions."""

    def decode(self, sentence: str | Request, **options: Unpack[RequestOptions]) -> Decoding:
        """Writing a text, step by step; a target and what is selected are not looked at.

        Raises `InputError` for what this model cannot answer.
        """
        request = ask(sentence, **options)
        self.info.require("decode", "model")
        self.check(request)
        return self.write(request)

    def write(self, request: Request) -> Decoding:
        """The decoding of a checked request, by a model that can `decode`."""
        raise LookupError(f"{self.info.id} writes nothing")

    def written(self, ids: Sequence[int]) -> tuple[str, tuple[Token, ...]]:
        """The text that ids spell, and each of them as a token with its span of that text."""

    def token(self, id_: int, *, first: bool = False) -> Token:
        """An id as a token without a place; as the `first` one of a text it needs no space."""

    def parameters(self, select: Sequence[str]) -> dict[str, NamedTensor]:
        """Matrices and vectors by name; raises `InputError` for a pattern that matches none."""
        self.info.require("parameters", "select")
        return self.matrices(select)

    def matrices(self, select: Sequence[str]) -> dict[str, NamedTensor]:
        """The parameters that patterns name, of a model that shows its `parameters`."""
        raise LookupError(f"{self.info.id} shows nothing")

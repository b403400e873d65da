"""What is asked of a model and what it answers, whatever model it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from model.intervene import Intervention
from model.tokens import Token
from model.trace import NamedTensor

METHODS = ("greedy", "beam")
MAX_BEAM = 16


@dataclass(frozen=True)
class Decode:
    """How to write the target when none is given (section 6.1)."""

    method: str = "greedy"  # one of METHODS
    beam: int = 4
    length_penalty: float = 0.6  # α
    max_tokens: int | None = None  # None: source length + 50, as in the paper


@dataclass(frozen=True)
class Request:
    """One sentence to run through a model."""

    source: str
    direction: str | None = None  # "en-zh"; None: by script
    target: str | None = None  # None: decode one; else score this one
    decode: Decode = field(default_factory=Decode)
    interventions: tuple[Intervention, ...] = ()
    select: tuple[str, ...] = ("*.weights",)  # patterns of tensor names
    pad_to: int | None = None


@dataclass(frozen=True)
class Output:
    """What was written, or scored: one log-probability (nats) a token."""

    text: str
    tokens: tuple[Token, ...]
    logprobs: tuple[float, ...]
    score: float  # the sum of `logprobs` over the length penalty
    finished: bool  # ends in <eos>


@dataclass(frozen=True)
class Trace:
    """One request's answer.

    Row i of a decoder tensor has read `target[i]` and writes `output.tokens[i]`.
    """

    direction: str
    source: tuple[Token, ...]
    target: tuple[Token, ...]
    output: Output
    tensors: Mapping[str, NamedTensor]


@dataclass(frozen=True)
class ModelInfo:
    """What a page must know of a model before it asks anything of it."""

    id: str
    name: str
    kind: str  # "encoder-decoder", "encoder" or "decoder"
    layers: Mapping[str, int]  # {"encoder": 6, "decoder": 6}
    heads: Mapping[str, int]
    d_model: int
    parameters: int
    vocabulary: int
    languages: tuple[str, ...]
    max_tokens: int
    digest: str
    card: str


class Adapter(Protocol):
    """What makes any model answer with a Trace. Its methods may be called from any thread."""

    @property
    def info(self) -> ModelInfo:
        """The model's description."""

    def check(self, request: Request) -> None:
        """Raises `InputError` for a request that this model cannot answer; cheap."""

    def trace(self, requests: Sequence[Request]) -> list[Trace]:
        """Answers several requests as one batch; none sees another's interventions."""

    def parameters(self, select: Sequence[str]) -> dict[str, NamedTensor]:
        """Matrices and vectors by name; raises `InputError` for a pattern that matches none."""

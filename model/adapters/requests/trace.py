"""Results of a request: the output with its probabilities, the trace, a decoding, a long pass."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from model.adapters.requests.model_info import ModelInfo
from model.adapters.requests.request import Request
from model.decode.decoding_steps import Hypothesis, SearchStep
from model.errors import InputError
from model.explain.patterns import Summary
from model.explain.score_terms import ScoreSplit
from model.long.long_attention import LongAttention
from model.text.tokens import Token
from model.trace.notebook_html import tensors_html
from model.trace.tensor_names import TensorsByPlace
from model.trace.tensor_tap import NamedTensor


@dataclass(frozen=True)
class Output:
    """The text that was decoded or scored, with one log-probability (nats) per token."""

    text: str
    tokens: tuple[Token, ...]
    logprobs: tuple[float, ...]
    ranks: tuple[int, ...]
    """Rank of each token in the whole vocabulary, from 1."""
    score: float
    """Sum of `logprobs` divided by the length penalty."""
    finished: bool
    """Whether the output ends in `<eos>`."""
    continues: int = 0
    """Index of the first token that continues the text, for a model that reads one text; the
    tokens before it are those of the text."""
    rows: tuple[int, ...] = ()
    """The row that predicts each token; if empty, row i predicts token i."""

    def row(self, index: int) -> int:
        """Return the row that predicts a token."""
        return self.rows[index] if self.rows else index


ROWS = 16  # of logits at a time: few enough for the processor's cache


def scored(
    text: str,
    tokens: Sequence[Token],
    logits: Tensor,
    ends: Collection[int],
    length_penalty: float,
) -> Output:
    """Return the output of a row that wrote `tokens`, given all logits (T, V).

    It is finished if its last token is one of `ends`. Log-probabilities will do as well as logits.
    No second tensor of that size is made.
    """
    ids = [token.id for token in tokens]
    parts = [
        _of(rows, torch.tensor(part_ids, device=rows.device))
        for rows, part_ids in zip(torch.split(logits[: len(ids)], ROWS), _parts(ids), strict=True)
    ]
    chosen = tuple(logprob for logprobs, _ in parts for logprob in logprobs.tolist())
    ranks = tuple(rank for _, ranks in parts for rank in ranks.tolist())
    hypothesis = Hypothesis(tuple(ids), chosen, bool(ids) and ids[-1] in ends)
    score = hypothesis.score(length_penalty)
    return Output(text, tuple(tokens), chosen, ranks, score, hypothesis.finished)


def _parts(ids: Sequence[int]) -> list[Sequence[int]]:
    return [ids[start : start + ROWS] for start in range(0, len(ids), ROWS)]


def _of(logits: Tensor, ids: Tensor) -> tuple[Tensor, Tensor]:
    """Return the log-probability and the rank (T,) of each row's id, given logits (T, V)."""
    precise = torch.promote_types(logits.dtype, torch.float32)
    logprobs = logits.log_softmax(-1, dtype=precise)
    chosen = logprobs.gather(1, ids[:, None])
    return chosen[:, 0], 1 + (logprobs > chosen).sum(-1)


CANDIDATES = ".candidates"  # suffix of tensors of ids


SHOWN = 4  # names that a message lists


@dataclass(frozen=True, repr=False)
class Trace(TensorsByPlace):
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

    def tokens(self, tensor: NamedTensor, dim: str = "key") -> list[str]:
        """Return the texts of the tokens of a tensor's axis. Raises `KeyError` for another axis."""
        if dim not in tensor.over:
            raise KeyError(f"{dim} of {tensor!r} has no tokens; {_list(tensor.over)} have")
        return [token.text for token in self.texts[tensor.over[dim]]]

    def __repr__(self) -> str:
        return f"Trace({self._subject()}: {self._sentence()!r}, {len(self.tensors)} tensors)"

    def __str__(self) -> str:
        tensors = f"{len(self.tensors)} tensors: {_list(self.tensors)}"
        lines = [self._sentence(), *self._tokens_by_text(), tensors]
        return "\n  ".join([f"Trace of {self._subject()}", *lines])

    def _repr_html_(self) -> str:
        title = f"Trace of {self._subject()}, {len(self.tensors)} tensors"
        return tensors_html(title, self.tensors, [self._sentence(), *self._tokens_by_text()])

    def _subject(self) -> str:
        return ", ".join(filter(None, (self.model.id, self.direction)))

    def _sentence(self) -> str:
        texts = self.request.source, self.written.text if self.written else None
        return " → ".join(text for text in texts if text is not None)

    def _tokens_by_text(self) -> list[str]:
        return [
            f"{name}: {' '.join(token.text.strip() for token in tokens)}"
            for name, tokens in self.texts.items()
        ]


def candidates(tensors: Mapping[str, NamedTensor]) -> list[int]:
    """Return the ids in candidate tensors, in order: those whose `pieces` a trace needs."""
    ids = [tensor.value for name, tensor in tensors.items() if name.endswith(CANDIDATES)]
    return sorted({id_ for value in ids for id_ in value.flatten().tolist()})


def _list(names: Iterable[str]) -> str:
    listed = list(names)
    some = listed if len(listed) <= SHOWN else [*listed[: SHOWN - 1], "…", listed[-1]]
    return ", ".join(some) or "none"


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


@dataclass(frozen=True, eq=False)
class LongPass:
    """The result of a run that keeps q, k and the log-sum-exp of every attention.

    Its memory is proportional to the number of tokens; weights are computed slice by slice. It
    stays in the process that made it.
    """

    texts: Mapping[str, tuple[Token, ...]]
    attentions: Mapping[str, LongAttention]  # by place
    written: Output | None = None
    direction: str | None = None

    @property
    def bytes(self) -> int:
        """Memory of its tensors."""
        return sum(attention.bytes for attention in self.attentions.values())

    def at(self, place: str, field: str = "at") -> LongAttention:
        """Return an attention. Raises `InputError` for an unknown place."""
        if place not in self.attentions:
            places = list(self.attentions)
            detail = f"{field} must be one of {places[0]} … {places[-1]}"
            raise InputError("out-of-range", field, detail)
        return self.attentions[place]

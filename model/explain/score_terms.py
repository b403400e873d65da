"""Attention scores, exactly: split into what came from where, and computed slice by slice.

A query and a key are linear in what they read, with every norm on the way held fixed, and what
they read is a sum (`model.explain.residual_stream`). So q = Σ_a q_a, k = Σ_b k_b, and

    score = scale · q · k + offset = Σ_a Σ_b scale · q_a · k_b + offset

is a matrix with a row for each term of the query and a column for each term of the key. It is the
score before the mask, with its scale (1/√d_k). `offset` is what relative positions add.

Selected by name: `inside.score.decoder.1.cross.3.4.1.parts` is the matrix of head 3, query 4 and
key 1, `….query` its sums over keys, `….key` its sums over queries.

Scores and weights can also be derived slice by slice from recorded q and k, instead of being
recorded. q and k grow with the length of a text, weights with its square: for a long text, only
slices of the weights can be stored or shown.

    scores(i, j)  = Scoring(q_i, k_j), with relative positions
    weights(i, j) = exp(scores(i, j) − log Σ_m exp scores(i, m)) where the mask allows j, else 0

Shapes: D features, d or d_k channels of a head, A and B terms of the query and of the key; H heads,
N queries, M keys.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from model.errors import Excess, InputError
from model.explain.residual_stream import (
    BETA,
    MIX,
    POSITION,
    Norm,
    Origin,
    Reader,
    Recorded,
    Stack,
    needed_for_terms,
    stream_terms,
)
from model.trace.attentions import AttentionInfo, by_place
from model.trace.interventions import Intervention
from model.trace.tensor_names import INSIDE
from model.trace.tensor_tap import HEAD, KEY, QUERY, NamedTensor, Recorder
from model.transformer.attention import masked_softmax
from model.transformer.masks import Mask, allowed, named
from model.transformer.positions import Positions
from model.transformer.scoring import Scoring
from model.transformer.stacks import Transformer

SCORE = f"{INSIDE}score."

QUERY_TERM, KEY_TERM = "query_term", "key_term"

DIMS = {"parts": (QUERY_TERM, KEY_TERM), "query": (QUERY_TERM,), "key": (KEY_TERM,)}

MOST = 16  # cells in a request

PATCH = "patch"

PUT_IN = (PATCH, "zero", "scale", "fill", "add")  # effects whose result has no other origin

ROUNDING = 1e-4  # of q or k: float32 tensors of many layers

NUMBERED = re.compile(
    rf"{re.escape(SCORE)}(?P<place>[a-z]+\.\d+\.[a-z]+)"
    r"\.(?P<head>\d{1,9})\.(?P<query>\d{1,9})\.(?P<key>\d{1,9})\..+"
)


@dataclass(frozen=True)
class ScoreCell:
    """A cell of a matrix of scores."""

    place: str
    head: int
    query: int
    key: int

    def __str__(self) -> str:
        return f"{self.place}.{self.head}.{self.query}.{self.key}"

    @property
    def names(self) -> dict[str, str]:
        """The names of its tensors, by their last part."""
        return {part: f"{SCORE}{self}.{part}" for part in DIMS}


@dataclass(frozen=True, eq=False, kw_only=True)
class Side:
    """How an attention computes q or k: turn(norm(before(x + …) W + b)), for each head.

    `x` is the stream that its `reader` reads; without one, the output of the stack.
    """

    stack: Stack
    reader: Reader | None
    letter: str  # "q", "k"
    matrix: Callable[[int], Tensor]  # of a head, (D, d)
    bias: Callable[[int], Tensor | None]  # of a head, (d,)
    share: int = 1  # heads that share one of these
    before: Norm | None = None
    position: str | None = None  # the tensor that is added before W
    norm: Norm | None = None  # of a head's channels
    turn: Callable[[Tensor, int], Tensor] | None = None  # (A, d) to that position

    @property
    def needed(self) -> set[str]:
        """The tensors to record."""
        read = {self.stack.state(*self.reader)} if self.reader and self.before else set[str]()
        placed = {self.position} if self.position else set[str]()
        return needed_for_terms(self.stack, self.reader) | read | placed

    def split(
        self, run: Recorded, place: str, head: int, row: int
    ) -> tuple[tuple[Origin, ...], Tensor]:
        """Return the terms of a row's q or k, from the input on, and their vectors (A, d)."""
        rows, kv_head = slice(row, row + 1), head // self.share
        terms: list[tuple[Origin, Tensor]] = []
        d = self.matrix(kv_head).T.double()  # a direction for each channel
        if (bias := self.bias(kv_head)) is not None:
            terms.append((Origin(place, f"b_{self.letter}"), bias.double()))
        if self.position:
            terms.append((Origin(place, POSITION), d @ run[self.position][row].double()))
        if self.before is not None and self.reader is not None:
            if self.before.shift is not None:
                terms.append((Origin(place, BETA), d @ self.before.shift.double()))
            d = self.before.before(d, run[self.stack.state(*self.reader)][rows])
        for origin, value in stream_terms(self.stack, run, d, rows, self.reader):
            if origin.part == MIX:
                heads = (
                    (Origin(origin.at, MIX, index), value[index]) for index in range(len(value))
                )
                terms.extend(reversed(list(heads)))
            else:
                terms.append((origin, value))
        terms.reverse()
        vectors = torch.stack([vector for _, vector in terms])
        return tuple(origin for origin, _ in terms), self._ready(vectors, row)

    def _ready(self, vectors: Tensor, row: int) -> Tensor:
        """Return terms (A, d) through the norm of their sum, and rotated."""
        if self.norm is not None:
            size = (vectors.sum(dim=0).square().mean() + self.norm.eps).sqrt()
            vectors = vectors * self.norm.gain.double() / size
        return vectors if self.turn is None else self.turn(vectors, row)


@dataclass(frozen=True, eq=False, kw_only=True)
class Scores:
    """How the scores of an attention are computed: scale · q · k + offset(head, query, key)."""

    query: Side
    key: Side
    scale: float
    offset: Callable[[int, int, int], float] | None = None


@dataclass(frozen=True, eq=False)
class ScoreSplit:
    """The terms of one score; those of `queries` and `keys` name the axes of its tensors."""

    score: float  # scale · q · k + offset, of the recorded q and k
    offset: float
    queries: tuple[Origin, ...]
    keys: tuple[Origin, ...]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ScoreSplit):
            return NotImplemented
        return repr(self) == repr(other)  # NaN is equal to NaN

    __hash__ = None  # type: ignore[assignment]


def cells(patterns: Sequence[str]) -> Mapping[ScoreCell, int]:
    """Return the cells that patterns name, with the index of the first such pattern."""
    return _cells(tuple(patterns))


@lru_cache(maxsize=64)  # called several times per trace
def _cells(patterns: tuple[str, ...]) -> Mapping[ScoreCell, int]:
    fields: dict[ScoreCell, int] = {}
    for index, pattern in enumerate(patterns):
        if match := NUMBERED.fullmatch(pattern):
            place, *numbers = match.groups()
            head, query, key = map(int, numbers)
            fields.setdefault(ScoreCell(place, head, query, key), index)
    return fields


def names(scores: Mapping[str, Scores], patterns: Sequence[str]) -> list[str]:
    """Return the names of the tensors of all cells that patterns name."""
    return [
        name for cell in cells(patterns) if cell.place in scores for name in cell.names.values()
    ]


def check_count(patterns: Sequence[str]) -> None:
    """Raise `InputError` for too many cells."""
    if (count := len(cells(patterns))) > MOST:
        detail = f"select names {count} cells of {SCORE}*; at most {MOST} are allowed"
        raise InputError("too-many-patterns", "select", detail, Excess(MOST, "entries", count))


def check(
    attentions: Sequence[AttentionInfo], patterns: Sequence[str], lengths: Mapping[str, int]
) -> None:
    """Raise `InputError` for too many cells, or a head, query or key that does not exist."""
    check_count(patterns)
    table = by_place(attentions)
    for cell, index in cells(patterns).items():
        if (one := table.get(cell.place)) is None:
            continue
        sizes = {"head": one.heads, "query": lengths[one.query], "key": lengths[one.key]}
        for name, size in sizes.items():
            if getattr(cell, name) >= size:
                field = f"select[{index}]"
                detail = f"{field}: {name} of {cell.place} must be from 0 to {size - 1}"
                raise InputError("out-of-range", field, detail)


def needed(scores: Mapping[str, Scores], selected: Sequence[str]) -> set[str]:
    """Return the tensors to record for the selected ones."""
    names_: set[str] = set()
    for place in {cell.place for cell in cells(selected)} & scores.keys():
        names_ |= scores[place].query.needed | scores[place].key.needed
        names_ |= {f"{place}.q", f"{place}.k"}
    return names_


def look(
    scores: Mapping[str, Scores], recorder: Recorder, device: torch.device
) -> dict[str, ScoreSplit]:
    """Add the selected tensors to a recorder, which has what is `needed`; return their terms.

    Of a row that a text does not reach, the numbers are NaN.
    """
    run = Recorded(recorder=recorder, device=device)
    splits: dict[str, ScoreSplit] = {}
    for cell in cells(sorted(name for name in recorder.select if name.startswith(SCORE))):
        if cell.place in scores:
            split, parts = _split(scores[cell.place], run, cell)
            sums = {"parts": parts, "query": parts.sum(dim=1), "key": parts.sum(dim=0)}
            for part, name in cell.names.items():
                if name in recorder.select:
                    recorder.record(name, sums[part].float(), DIMS[part], {})
            splits[str(cell)] = split
    return splits


def _split(scores: Scores, run: Recorded, cell: ScoreCell) -> tuple[ScoreSplit, Tensor]:
    """Return the terms of a cell, and its matrix (A, B) in float64."""
    q, k = run[f"{cell.place}.q"], run[f"{cell.place}.k"]
    missing = cell.query >= q.shape[1] or cell.key >= k.shape[1]
    query, key = (0, 0) if missing else (cell.query, cell.key)
    q_row, k_row = q[cell.head, query].double(), k[cell.head // scores.key.share, key].double()
    queries, query_vectors = scores.query.split(run, cell.place, cell.head, query)
    keys, right = scores.key.split(run, cell.place, cell.head, key)
    if any(intervention.do in PUT_IN for intervention in run.recorder.interventions):
        queries, query_vectors = _whole((queries, query_vectors), q_row, cell)
        keys, right = _whole((keys, right), k_row, cell)
    parts = query_vectors @ right.T * scores.scale
    if missing:
        return ScoreSplit(torch.nan, torch.nan, queries, keys), torch.full_like(parts, torch.nan)
    offset = scores.offset(cell.head, query, key) if scores.offset else 0.0
    return ScoreSplit(float(q_row @ k_row) * scores.scale + offset, offset, queries, keys), parts


def _whole(
    split: tuple[tuple[Origin, ...], Tensor], recorded: Tensor, cell: ScoreCell
) -> tuple[tuple[Origin, ...], Tensor]:
    """Return terms with one more for what a patch put in, of which no origin is known."""
    origins, vectors = split
    unexplained = recorded - vectors.sum(dim=0)
    if unexplained.norm() <= ROUNDING * max(recorded.norm(), vectors.norm(dim=1).max()):
        return split
    return (*origins, Origin(cell.place, PATCH)), torch.cat([vectors, unexplained[None]])


CHANGED = ("scores", "mask", "weights")  # interventions on these do not change q and k

ALL = slice(None)


@dataclass(frozen=True, eq=False)
class Derived:
    """One attention of one request: `derived.weights(head, queries, keys)` returns a slice of it.

    With the `logsumexp` (H, N) of the unmasked scores, only the slice is computed; without it,
    whole rows are. Tensors are on the model's device.
    """

    q: Tensor  # (H, N, d_k), as scored
    k: Tensor  # (H, M, d_k), as scored
    over: Mapping[str, str]  # the texts of the query and the key axis
    real: Tensor  # (M,) true where a key is not padding
    rule: Mask
    scoring: Scoring
    positions: Positions
    logsumexp: Tensor | None = None

    dims = (HEAD, QUERY, KEY)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of heads, queries and keys."""
        return self.q.shape[0], self.q.shape[1], self.k.shape[1]

    def mask(self, queries: slice = ALL, keys: slice = ALL) -> Tensor:
        """Return a mask (queries, keys), true where a query may attend."""
        positions = self._at(queries, keys)
        return allowed(self.rule, self.real[None], *positions)[0]

    @torch.inference_mode()
    def scores(self, head: int, queries: slice = ALL, keys: slice = ALL) -> Tensor:
        """Return the scores before the mask, (queries, keys)."""
        # Such a part may differ between heads, so all heads are needed.
        plain = self.scoring.fusible and self.positions.fusible
        heads = slice(head, head + 1) if plain else ALL
        scores = self.scoring(self.q[None, heads, queries], self.k[None, heads, keys])
        placed = self.positions.on_scores(scores, *self._at(queries, keys))
        return placed[0, 0 if plain else head]

    @torch.inference_mode()
    def weights(self, head: int, queries: slice = ALL, keys: slice = ALL) -> Tensor:
        """Return the weights of each query over the keys, (queries, keys)."""
        if self.logsumexp is None:
            rows = masked_softmax(self.scores(head, queries), self.mask(queries))
            return rows[:, keys]
        scores, mask = self.scores(head, queries, keys), self.mask(queries, keys)
        return (scores - self.logsumexp[head, queries, None]).exp().where(mask, 0.0)

    def _at(self, queries: slice, keys: slice) -> tuple[Tensor, Tensor]:
        _, n, m = self.shape
        device = self.q.device
        return torch.arange(n, device=device)[queries], torch.arange(m, device=device)[keys]


def derive(
    model: Transformer,
    place: str,
    tensors: Mapping[str, NamedTensor],
    real: Tensor,
    interventions: Iterable[Intervention] = (),
    logsumexp: Tensor | None = None,
) -> Derived:
    """Return the attention at `place`, such as "encoder.0.self", from recorded q and k.

    `real` (M,) is true where a key is not padding; `interventions` are those of the run. Raises
    `ValueError` if one of them acts between q and k and the weights: then record the weights.
    """
    q, k = tensors[f"{place}.q"], tensors[f"{place}.k"]
    for intervention in interventions:
        if any(intervention.concerns(f"{place}.{name}", k.over[KEY]) for name in CHANGED):
            change = f"{intervention.do} at {intervention.at}"
            raise ValueError(f"{place}.weights do not follow from q and k: {change} changes them")
    stack, layer, kind = place.split(".")
    attention = getattr(getattr(model, stack)[int(layer)], f"{kind}_attention")
    positions = getattr(model, f"{stack}_positions")
    device = model.embedding.weight.device
    return Derived(
        q=q.value.to(device),
        k=k.value.to(device),
        over={QUERY: q.over[QUERY], KEY: k.over[KEY]},
        real=real.to(device),
        rule=named(model.config.masks[f"{stack}.{kind}"]),
        scoring=attention.scoring,
        positions=positions if kind == "self" else Positions(),
        logsumexp=None if logsumexp is None else logsumexp.to(device),
    )

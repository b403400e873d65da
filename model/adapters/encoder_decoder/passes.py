"""Requests as rows of tokens, decoded all at once or step by step, and one pass of a batch.

The pass has two halves, with every row recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor, nn

from model.adapters.requests.request import (
    BEYOND_SOURCE,
    DecodedIds,
    Ids,
    Request,
    draw_of,
    search_steps,
)
from model.adapters.requests.validate import check_text
from model.decode.beam_search import Beam, write_beams
from model.decode.decoding_steps import Hypothesis, SearchStep
from model.decode.greedy_and_sampling import Reader, write
from model.errors import InputError
from model.explain.attribution import SourceRun, attribute
from model.explain.logit_lens import look
from model.explain.relevance import TokenBatch, relevance
from model.explain.residual_stream import Stream
from model.text.tokens import EOS, PAD, Token, Tokenizer
from model.text.writing_systems import Detector
from model.trace.interventions import Intervention
from model.trace.record import hooked
from model.trace.tensor_names import ATTRIBUTIONS
from model.trace.tensor_tap import NULL, SOURCE, BatchTap, Recorder, Tap
from model.transformer.stacks import Transformer

BEAMS = 256  # hypotheses in a batch at most, to limit the memory of their keys and values


@dataclass(frozen=True)
class Row:
    """A request, its tokens, and its interventions with their values."""

    request: Request
    source: list[Token]
    made: tuple[Intervention, ...]
    target: list[Token] | None = None  # None: to be decoded


class Writer:
    """Decodes for an adapter, which provides the batching."""

    def __init__(
        self,
        model: Transformer,
        tokenizer: Tokenizer,
        batch: Callable[[Sequence[list[Token]]], tuple[Tensor, Tensor]],
    ) -> None:
        self.model = model
        self.tokenizer = tokenizer
        self.batch = batch
        self._decoded = DecodedIds()
        # Ids that are never written.
        self.never = torch.tensor(sorted(tokenizer.specials - {tokenizer.eos}))

    def limit(self, request: Request, source: Sequence[Token]) -> int:
        """Return the maximum number of tokens to write."""
        longest = min(self.model.config.max_tokens, len(source) + BEYOND_SOURCE)
        return min(longest, request.decode.max_tokens or longest)

    def writable(
        self, request: Request, source: Sequence[Token]
    ) -> tuple[int, Callable[[int, int], bool]]:
        """Return how many tokens can be written, and which: <eos> only at the end of a prefix."""
        last = len(request.decode.prefix) - 1

        def can_be_written(index: int, id_: int) -> bool:
            never = self.tokenizer.specials - ({self.tokenizer.eos} if index == last else set())
            return 0 <= id_ < len(self.tokenizer) and id_ not in never

        return self.limit(request, source), can_be_written

    def known(self, rows: Sequence[Row]) -> dict[int, Ids]:
        """Return the ids of rows whose target is given or cached.

        The page requests the same decoding again when it shows another layer of a sentence.
        """
        known: dict[int, Ids] = {}
        for index, row in enumerate(rows):
            prefix = row.request.decode.prefix
            if row.target is not None:
                known[index] = tuple(token.id for token in row.target)
            elif self.is_complete(row, prefix):
                known[index] = prefix  # nothing left to write
            elif not hooked() and (ids := self._decoded.get(_ids(row), row.request)) is not None:
                known[index] = ids
        return known

    def is_complete(self, row: Row, ids: Ids) -> bool:
        """Return whether nothing is written after these ids."""
        return ids[-1:] == (self.tokenizer.eos,) or len(ids) >= self.limit(row.request, row.source)

    def is_greedy(self, row: Row) -> bool:
        """Return whether every token is the most probable one and nothing is intervened on."""
        return row.request.decode.method == "greedy" and not row.made

    def within(self, ids: Sequence[int], row: Row) -> Ids:
        """Return ids up to the end of the row, or up to one outside the vocabulary."""
        limit, inside = self.limit(row.request, row.source), list[int]()
        for id_ in ids[:limit]:
            if not 0 <= id_ < len(self.tokenizer):
                break
            inside.append(id_)
            if id_ == self.tokenizer.eos:
                break
        return tuple(inside)

    def remember(self, row: Row, ids: Ids) -> None:
        """Cache the result of decoding a row."""
        if not hooked():
            self._decoded.put(_ids(row), row.request, ids)

    @torch.inference_mode()
    def steps(self, row: Row) -> Iterator[SearchStep]:
        """Yield the steps of one row, each computed on demand."""
        for step in self._search(row):
            yield step
        self.remember(row, step.written[0].ids)  # a trace usually follows

    def search(self, rows: Sequence[Row]) -> list[Ids]:
        """Return the decoded ids: greedy and sampled rows in one batch, beams in others."""
        beams = [index for index, row in enumerate(rows) if row.request.decode.method == "beam"]
        not_beams = [index for index in range(len(rows)) if index not in beams]
        ids_by_row = dict(
            zip(not_beams, self._written([rows[index] for index in not_beams]), strict=True)
        )
        for index, best in zip(beams, self.beams([rows[index] for index in beams]), strict=True):
            ids_by_row[index] = best[0].ids
        for index, ids in ids_by_row.items():
            self.remember(rows[index], ids)
        return [ids_by_row[index] for index in range(len(rows))]

    def beams(self, rows: Sequence[Row]) -> list[tuple[Hypothesis, ...]]:
        """Return the hypotheses that beam search finds for each row, best first."""
        best, group, width = list[tuple[Hypothesis, ...]](), list[Row](), 0
        for row in rows:
            if group and width + row.request.decode.beam > BEAMS:
                best += self._beams(group)
                group, width = [], 0
            group.append(row)
            width += row.request.decode.beam
        return best + self._beams(group)

    def _beams(self, rows: Sequence[Row]) -> list[tuple[Hypothesis, ...]]:
        """Run beam search on all rows in one batch."""
        if not rows:
            return []
        return write_beams(self._reader(rows), self.tokenizer, [self._beam(row) for row in rows])

    def _written(self, rows: Sequence[Row]) -> list[Ids]:
        """Return the ids that greedy decoding or sampling writes for each row, in one batch."""
        if not rows:
            return []
        limits = [self.limit(row.request, row.source) for row in rows]
        prefixes = [row.request.decode.prefix for row in rows]
        reader = self._reader(rows)
        return write(
            reader, self.tokenizer, limits, [draw_of(row.request.decode) for row in rows], prefixes
        )

    def _search(self, row: Row) -> Iterator[SearchStep]:
        """Yield the steps of one row."""
        limit = self.limit(row.request, row.source)
        return search_steps(self._reader([row]), self.tokenizer, row.request.decode, limit)

    def _beam(self, row: Row) -> Beam:
        decode = row.request.decode
        limit = self.limit(row.request, row.source)
        return Beam(limit, decode.beam, decode.length_penalty, decode.prefix)

    def _reader(self, rows: Sequence[Row]) -> Reader:
        """Return a reader that has read the sources of some rows."""
        recorders = [
            Recorder(own={SOURCE: len(row.source)}, interventions=row.made) for row in rows
        ]
        tap: Tap = BatchTap(recorders) if any(row.made for row in rows) else NULL
        return Reader(self.model, self.tokenizer, *self.batch([row.source for row in rows]), tap)


def _ids(row: Row) -> list[int]:
    return [token.id for token in row.source]


KEPT = 64  # recently tokenized texts that are cached


class Rows:
    """Tokenizes requests for a model, with at most `most` tokens per row."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        detector: Detector,
        directions: Sequence[str],
        most: int,
        device: torch.device,
    ) -> None:
        self.tokenizer = tokenizer
        self.detector = detector
        self.directions = directions
        self.most = most
        self.device = device
        # A request is tokenized both when it is checked and when it is run.
        self._encoded = lru_cache(KEPT)(tokenizer.encode)

    def direction(self, request: Request) -> str:
        """Return the requested direction, or the one suggested by the source's script.

        If no direction starts with the script's language, this is the first one. Raises
        `InputError` for a direction that the model was not trained in.
        """
        if request.direction is None:
            source = self.detector.language(request.source)
            fitting = (
                direction for direction in self.directions if direction.startswith(f"{source}-")
            )
            return next(fitting, self.directions[0])
        if request.direction not in self.directions:
            expected = f"must be one of {', '.join(self.directions)}"
            if len(self.directions) == 1:
                expected = f"must be {self.directions[0]}, the only direction of this model"
            raise InputError("unknown-direction", "direction", f"direction {expected}")
        return request.direction

    def source(self, request: Request) -> list[Token]:
        """Return what the encoder reads: the target language's tag, the pieces and <eos>.

        Raises `InputError` for an empty text, or one with more tokens than the model can read.
        """
        tag = self.tokenizer.tag(self.direction(request).split("-")[1])
        return self._fitting("source", request.source, [tag])

    def target(self, request: Request) -> list[Token] | None:
        """Return the tokens of a given target: its pieces and <eos>. Raises as `source` does."""
        if request.target is None:
            return None
        return self._fitting("target", request.target, [])

    def padded(self, tokens: list[Token], pad_to: int | None) -> list[Token]:
        """Return the tokens padded with <pad> up to `pad_to`."""
        return tokens + [self.tokenizer.control(PAD)] * ((pad_to or 0) - len(tokens))

    def batch(self, rows: Sequence[Sequence[Token]]) -> tuple[Tensor, Tensor]:
        """Return ids (B, longest), and a mask that is true where they are not padding."""
        ids = nn.utils.rnn.pad_sequence(
            [torch.tensor([token.id for token in row]) for row in rows],
            batch_first=True,
            padding_value=self.tokenizer.pad,
        ).to(self.device)
        return ids, ids != self.tokenizer.pad

    def _fitting(self, field: str, text: str, before: list[Token]) -> list[Token]:
        """Return the tokens before a text, its own and <eos>."""

        def encode(part: str) -> list[Token]:
            return [*before, *self._encoded(part), self.tokenizer.control(EOS)]

        return check_text(field, text, self.most, encode)


ENCODING = ("source", "encoder.")  # prefixes of names up to the encoder's end


@dataclass(frozen=True)
class Read:
    """The encoder's result for a batch: ids and mask (B, S), memory (B, S, d_model)."""

    ids: Tensor
    real: Tensor
    memory: Tensor

    def rows(self, indices: Sequence[int]) -> Read:
        """Return some of its rows."""
        picked = list(indices)
        if picked == list(range(len(self.ids))):
            return self
        return Read(self.ids[picked], self.real[picked], self.memory[picked])


def encode(
    model: Transformer,
    rows: Rows,
    recorders: Sequence[Recorder],
    sources: Sequence[Sequence[Token]],
) -> Read:
    """Run the encoder, and record the tensors that each request selects.

    Rows with the same input that record and change the same encoder tensors are run
    only once; this applies to most of a sweep over heads.
    """
    ids, real = rows.batch(sources)
    first: dict[Hashable, int] = {}
    shared = [
        first.setdefault((tuple(row), _encoding(recorder, index)), index)
        for index, (row, recorder) in enumerate(zip(ids.tolist(), recorders, strict=True))
    ]
    run = list(first.values())
    memory = model.encode(ids[run], real[run], BatchTap([recorders[row] for row in run]))
    return Read(ids, real, memory[[run.index(row) for row in shared]])


def decode(
    model: Transformer,
    stream: Stream,
    rows: Rows,
    recorders: Sequence[Recorder],
    read: Read,
    targets: Sequence[Sequence[Token]],
    written: Sequence[Sequence[Token]],
) -> Tensor:
    """Run the decoder, and record the tensors that each row selects.

    `written` are the tokens that each row predicts, without padding. Returns log-probabilities
    (B, T, V) on the CPU, where T is the length of the longest target.
    """
    ids, real = rows.batch(targets)
    tap = BatchTap(recorders)
    x = model.decode(ids, real, read.memory, read.real, tap)
    logits = model.logits(x, tap)
    batch = TokenBatch(read.ids, read.real, ids, real)
    predicted = [[token.id for token in tokens] for tokens in written]
    look(stream, recorders, predicted)
    for row, (recorder, ids_) in enumerate(zip(recorders, predicted, strict=True)):
        _relevance(model, batch.row(row, recorder.lengths), recorder, ids_)
        if not ATTRIBUTIONS.isdisjoint(recorder.select):
            row_batch = batch.row(row, recorder.lengths)
            attribute(
                _source_run(model, row_batch, recorder, ids_, _words(rows, row_batch.source[0]))
            )
    return logits.log_softmax(dim=-1).cpu()


def _relevance(
    model: Transformer, batch: TokenBatch, recorder: Recorder, predicted: Sequence[int]
) -> None:
    def run(tap: Tap) -> Tensor:
        copied = batch.copy()
        return model(copied.source, copied.target, copied.source_real, copied.target_real, tap)  # type: ignore[no-any-return]

    relevance(run, recorder, predicted)


def _source_run(
    model: Transformer,
    batch: TokenBatch,
    recorder: Recorder,
    predicted: Sequence[int],
    words: Tensor,
) -> SourceRun:
    def run(count: int, tap: Tap) -> Tensor:
        own = batch.copy()
        ids, real = (part.expand(count, -1) for part in (own.source, own.source_real))
        target, target_real = (part.expand(count, -1) for part in (own.target, own.target_real))
        return model.decode(target, target_real, model.encode(ids, real, tap), real, tap)

    return SourceRun(run, model.logits, model.config.d_model, recorder, predicted, words)


def _words(rows: Rows, ids: Tensor) -> Tensor:
    """Return (S,), true where a token is not special."""
    special = [rows.tokenizer.token(id_).special for id_ in ids.tolist()]
    return ~torch.tensor(special, device=ids.device)


def _encoding(recorder: Recorder, index: int) -> Hashable:
    """Return a key that is equal for rows with the same effect on the encoder."""
    if any(name.startswith(ENCODING) for name in recorder.select):
        return index
    changes = tuple(change for change in recorder.interventions if change.at.startswith(ENCODING))
    return recorder.lengths[SOURCE], changes

"""Requests as rows of tokens, and one pass of a batch in two halves, with every row recorded."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor, nn

from model.adapters.requests.request import Request
from model.adapters.requests.validate import check_text
from model.errors import InputError
from model.explain.attribution import SourceRun, attribute
from model.explain.logit_lens import look
from model.explain.relevance import TokenBatch, relevance
from model.explain.residual_stream import Stream
from model.text.tokens import EOS, PAD, Token, Tokenizer
from model.text.writing_systems import Detector
from model.trace.tensor_names import ATTRIBUTIONS
from model.trace.tensor_tap import SOURCE, BatchTap, Recorder, Tap
from model.transformer.stacks import Transformer

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

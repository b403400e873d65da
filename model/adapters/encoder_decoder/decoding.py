"""Decodes the targets of a batch of requests, all at once or step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from model.adapters.requests.decoding import BEYOND_SOURCE, DecodedIds, Ids, draw_of, search_steps
from model.adapters.requests.request import Request
from model.decode.beam_search import Beam, write_beams
from model.decode.decoding_steps import Hypothesis, SearchStep
from model.decode.greedy_and_sampling import Reader, write
from model.text.tokens import Token, Tokenizer
from model.trace.interventions import Intervention
from model.trace.record import hooked
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

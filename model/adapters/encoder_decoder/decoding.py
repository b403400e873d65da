"""Decodes the targets of a batch of requests, all at once or step by step."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from threading import Lock

import torch
from cachetools import LRUCache
from torch import Tensor

from model.adapters.requests.request import Request
from model.decode.beam_search import Beam, beam, write_beams
from model.decode.hypotheses import Hypothesis, SearchStep
from model.decode.search import Draw, Reader, sample, write
from model.errors import Excess, InputError
from model.text.tokens import Token, Tokenizer
from model.trace.interventions import Intervention
from model.trace.record import hooked
from model.trace.tensor_tap import NULL, SOURCE, BatchTap, Recorder, Tap
from model.transformer.stacks import Transformer

KNOWN = 512  # recent decodings that are cached
BEAMS = 256  # hypotheses in a batch at most, to limit the memory of their keys and values
Ids = tuple[int, ...]
BEYOND_SOURCE = 50  # tokens by which a translation may exceed its source (section 6.1)


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
        self._known: LRUCache[Hashable, Ids] = LRUCache(KNOWN)
        self._lock = Lock()
        # Ids that are never written.
        self.never = torch.tensor(sorted(tokenizer.specials - {tokenizer.eos}))

    def limit(self, request: Request, source: Sequence[Token]) -> int:
        """Return the maximum number of tokens to write."""
        most = min(self.model.config.max_tokens, len(source) + BEYOND_SOURCE)
        return min(most, request.decode.max_tokens or most)

    def check(self, request: Request, source: Sequence[Token]) -> None:
        """Raise `InputError` for an impossible prefix: <eos> ends a sentence."""
        prefix, limit = request.decode.prefix, self.limit(request, source)
        if len(prefix) > limit:
            detail = f"decode.prefix has {len(prefix)} tokens; this output has at most {limit}"
            raise InputError(
                "too-long", "decode.prefix", detail, Excess(limit, "tokens", len(prefix))
            )
        for index, id_ in enumerate(prefix):
            last = index == len(prefix) - 1
            never = self.tokenizer.specials - ({self.tokenizer.eos} if last else set())
            if not 0 <= id_ < len(self.tokenizer) or id_ in never:
                field = f"decode.prefix[{index}]"
                detail = f"{field} must be the id of a token that can be written there"
                raise InputError("unknown-token", field, detail)

    def known(self, rows: Sequence[Row]) -> dict[int, Ids]:
        """Return the ids of rows whose target is given or cached.

        The page requests the same decoding again when it shows another layer of a sentence.
        """
        found: dict[int, Ids] = {}
        for index, row in enumerate(rows):
            prefix = row.request.decode.prefix
            if row.target is not None:
                found[index] = tuple(token.id for token in row.target)
            elif self.is_complete(row, prefix):
                found[index] = prefix  # nothing left to write
        if hooked():
            return found
        with self._lock:
            for index, row in enumerate(rows):
                if index not in found and (key := self._key(row)) in self._known:
                    found[index] = self._known[key]
        return found

    def is_complete(self, row: Row, ids: Ids) -> bool:
        """Return whether nothing is written after these ids."""
        return ids[-1:] == (self.tokenizer.eos,) or len(ids) >= self.limit(row.request, row.source)

    def is_greedy(self, row: Row) -> bool:
        """Return whether every token is the most probable one and nothing is intervened on."""
        return row.request.decode.method == "greedy" and not row.made

    def within(self, ids: Sequence[int], row: Row) -> Ids:
        """Return ids up to the end of the row, or up to one outside the vocabulary."""
        limit, kept = self.limit(row.request, row.source), list[int]()
        for id_ in ids[:limit]:
            if not 0 <= id_ < len(self.tokenizer):
                break
            kept.append(id_)
            if id_ == self.tokenizer.eos:
                break
        return tuple(kept)

    def remember(self, row: Row, ids: Ids) -> None:
        """Cache the result of decoding a row."""
        if hooked():
            return
        with self._lock:
            self._known[self._key(row)] = ids

    @torch.inference_mode()
    def steps(self, row: Row) -> Iterator[SearchStep]:
        """Yield the steps of one row, each computed on demand."""
        for step in self._search(row):
            yield step
        self.remember(row, step.written[0].ids)  # a trace usually follows

    def search(self, rows: Sequence[Row]) -> list[Ids]:
        """Return the decoded ids: greedy and sampled rows in one batch, beams in others."""
        beams = [index for index, row in enumerate(rows) if row.request.decode.method == "beam"]
        others = [index for index in range(len(rows)) if index not in beams]
        found = dict(zip(others, self._written([rows[index] for index in others]), strict=True))
        for index, best in zip(beams, self.beams([rows[index] for index in beams]), strict=True):
            found[index] = best[0].ids
        for index, ids in found.items():
            self.remember(rows[index], ids)
        return [found[index] for index in range(len(rows))]

    def beams(self, rows: Sequence[Row]) -> list[tuple[Hypothesis, ...]]:
        """Return the hypotheses that beam search finds for each row, best first."""
        found, some, width = list[tuple[Hypothesis, ...]](), list[Row](), 0
        for row in rows:
            if some and width + row.request.decode.beam > BEAMS:
                found += self._beams(some)
                some, width = [], 0
            some.append(row)
            width += row.request.decode.beam
        return found + self._beams(some)

    def _beams(self, rows: Sequence[Row]) -> list[tuple[Hypothesis, ...]]:
        """Run beam search on all rows in one batch."""
        if not rows:
            return []
        return write_beams(self._reader(rows), self.tokenizer, [self._beam(row) for row in rows])

    def _key(self, row: Row) -> Hashable:
        """Return everything that a decoding depends on."""
        ids = tuple(token.id for token in row.source)
        return ids, row.request.decode, row.request.interventions

    def _written(self, rows: Sequence[Row]) -> list[Ids]:
        """Return the ids that greedy decoding or sampling writes for each row, in one batch."""
        if not rows:
            return []
        limits = [self.limit(row.request, row.source) for row in rows]
        prefixes = [row.request.decode.prefix for row in rows]
        reader = self._reader(rows)
        return write(reader, self.tokenizer, limits, [_draw(row) for row in rows], prefixes)

    def _search(self, row: Row) -> Iterator[SearchStep]:
        """Yield the steps of one row."""
        reader = self._reader([row])
        if row.request.decode.method == "beam":
            asked = self._beam(row)
            width = asked.width, asked.length_penalty
            return beam(reader, self.tokenizer, asked.limit, *width, asked.prefix)
        prefix = row.request.decode.prefix
        limit = self.limit(row.request, row.source)
        return sample(reader, self.tokenizer, [limit], [_draw(row)], [prefix])

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


def _draw(row: Row) -> Draw | None:
    """Return the sampling options of a row; None for greedy decoding."""
    decode = row.request.decode
    if decode.method != "sample":
        return None
    return Draw(decode.temperature, decode.top_k, decode.top_p, decode.seed)

"""Decoding with a model of `transformers`: a target, or the continuation of a text."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace
from threading import Lock
from typing import Any

import torch
from cachetools import LRUCache
from torch import Tensor

from model.adapters.huggingface.forward import Forward
from model.adapters.huggingface.rows import Row, Rows
from model.adapters.huggingface.writing import Next, Writer, new_cache, search
from model.decode.steps import SearchStep
from model.trace.tensor_tap import NULL, BatchTap, Recorder, Tap

CLOSE = 1e-4
TRIED = 6  # tokens with which the cache is tested
KNOWN = 256  # recent decodings that are cached


class Steps:
    """Decodes with one model."""

    def __init__(self, model: Any, forward: Forward, rows: Rows, recorded: bool) -> None:
        self.model = model
        self.forward = forward
        self.rows = rows
        self.never = rows.text.never.to(rows.device)
        self.two_texts = rows.info.kind == "encoder-decoder"
        able = recorded and "decode" in rows.info.capabilities
        self.cached = able and self._same_with_cache()
        self._known: LRUCache[Hashable, tuple[int, ...]] = LRUCache(KNOWN)
        self._lock = Lock()

    def ids(self, row: Row) -> tuple[int, ...]:
        """Return the ids that a row writes, which are cached."""
        with self._lock:
            known = self._known.get(self._key(row))
        if known is None:
            *_, last = self.of(row)
            known = last.written[0].ids
        return known

    def _key(self, row: Row) -> Hashable:
        """Return everything that a decoding depends on."""
        ids = tuple(row.real(self.rows.read))
        return ids, row.request.decode, row.request.interventions

    @torch.inference_mode()  # as a decorator, so that it is off between the steps
    def of(self, row: Row) -> Iterator[SearchStep]:
        """Yield the steps of decoding a row, without padding, which changes nothing."""
        own = row.own[self.rows.read]
        recorder = Recorder(interventions=row.made, own={self.rows.read: own})
        read = torch.tensor([row.real(self.rows.read)], device=self.rows.device)
        if self.two_texts:
            following, begun = self._after(read, recorder), [self.rows.start.id]
        else:
            recorder, begun = replace(recorder, own={}), read[0].tolist()
            following = self._continuing()
        cache = new_cache(self.two_texts) if self.cached else None
        writer = Writer(following, begun, recorder, self.never, cache, self.rows.first)
        limit = self.rows.limit(row.request, row.texts[self.rows.read][:own])
        decode = row.request.decode
        if not decode.prefix and (first := self.rows.first) is not None:
            decode = replace(decode, prefix=(first,))
        for step in search(writer, self.rows.text, decode, limit):
            yield step
        with self._lock:  # a trace usually follows
            self._known[self._key(row)] = step.written[0].ids

    def _continuing(self) -> Next:
        """Return the next step of a model of one text."""

        def following(ids: Tensor, length: int, tap: Tap, cache: Any) -> Tensor:
            real = torch.ones(len(ids), length, dtype=torch.bool, device=ids.device)
            return self.forward.read(ids, real, tap, cache)[:, -1]

        return following

    def _after(self, read: Tensor, recorder: Recorder) -> Next:
        """Return the next step of a decoder after an encoder has read ids (1, S)."""
        with torch.inference_mode():
            real = torch.ones_like(read, dtype=torch.bool)
            encoded = self.forward.encode(read, real, BatchTap([recorder]))

        def following(ids: Tensor, length: int, tap: Tap, cache: Any) -> Tensor:
            mine = torch.ones(len(ids), length, dtype=torch.bool, device=ids.device)
            return self.forward.decode(encoded.repeated(len(ids)), ids, mine, tap, cache)[:, -1]

        return following

    @torch.inference_mode()
    def _same_with_cache(self) -> bool:
        """Return whether decoding with a cache gives the same results, tested on a few ids."""
        ids = torch.arange(5, 5 + TRIED, device=self.rows.device)[None] % self.rows.info.vocabulary
        following = self._after(ids, Recorder()) if self.two_texts else self._continuing()
        try:
            cache = new_cache(self.two_texts)
            begun = TRIED // 2
            found = following(ids[:, :begun], begun, NULL, cache)
            for at in range(begun, TRIED):
                found = following(ids[:, at : at + 1], at + 1, NULL, cache)
        except Exception:  # a model whose passes take no cache
            return False
        whole = following(ids, TRIED, NULL, None)
        return torch.allclose(found, whole, atol=CLOSE, rtol=CLOSE)

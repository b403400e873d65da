"""Greedy decoding of a batch by speculative decoding: a faster decoder drafts, this model verifies.

A trace runs its target through the model in one pass (teacher forcing), which gives the most
probable next token at every position. The same pass over a draft therefore verifies it:

    draft      A  B  C  D ⟨eos⟩
    the model  A  B  E  …             greedy decoding writes A, B and E
    draft      A  B  E  F ⟨eos⟩       again, after the accepted part
    the model  A  B  E  F ⟨eos⟩       the same everywhere: this pass is the result

By induction this equals greedy decoding, if a pass and a decoding step agree on the most probable
token. Their sums have a different order, so the last digits differ: if the best two tokens are
closer than `MARGIN`, the draft is not accepted and the row is decoded step by step.

Source: Leviathan et al. 2023, "Fast Inference from Transformers via Speculative Decoding", with
every draft token checked against the largest probability instead of sampled.
"""

from __future__ import annotations

import logging
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakSet

import torch
from torch import Tensor

from model.adapters.encoder_decoder.passes import Row, Writer
from model.adapters.requests.request import Ids
from model.bundle.ctranslate2_export import UnknownToEngineError, exported
from model.bundle.weights import Bundle

if TYPE_CHECKING:
    from ctranslate2 import Translator


IdSequence = Sequence[int]

log = logging.getLogger(__name__)

LATELY = 16  # translations, the mean age of what is counted
WORTHWHILE = 0.1
AGAIN = 16


Drafts = Callable[[], Sequence[IdSequence]]  # waits until they are ready


class Drafter(ABC):
    """Drafts translations. Drafts affect the speed, never the result.

    If fewer than `WORTHWHILE` of the translations come from drafts, only one batch in `AGAIN` is
    drafted: a wrong draft costs a pass.
    """

    right: float = 1.0  # share of the translations that came from drafts, the latest weighing most
    passed: int = 0  # batches since that fell below `WORTHWHILE`

    def is_worthwhile(self) -> bool:
        """Return whether to draft the next batch."""
        self.passed = 0 if self.right >= WORTHWHILE else self.passed + 1
        return self.passed % AGAIN == 0

    def judge(self, right: bool) -> None:
        """Note whether a translation came from drafts."""
        self.right += (right - self.right) / LATELY

    @abstractmethod
    def draft(
        self, sources: Sequence[IdSequence], begun: Sequence[IdSequence], most: int
    ) -> Drafts:
        """Start drafting a target for each source that begins with `begun`, at most `most` ids."""


class FastDrafter(Drafter):
    """Greedy decoding with CTranslate2 on the CPU, with 8-bit matrices and activations."""

    def __init__(self, open_translator: Callable[[], Translator], never: IdSequence) -> None:
        """Open the translator. Raises RuntimeError if CTranslate2 cannot read it."""
        self._open, self._lock = open_translator, threading.Lock()
        self._opened: Translator | None = open_translator()
        self.never = [[str(id_)] for id_ in never]
        _DRAFTERS.add(self)

    @property
    def translator(self) -> Translator:
        """The translator, opened again (in 15 ms) if it was closed."""
        with self._lock:
            if self._opened is None:
                self._opened = self._open()
            return self._opened

    def close(self) -> None:
        """End the threads of the translator, until it is used again."""
        with self._lock:
            self._opened = None

    def draft(
        self, sources: Sequence[IdSequence], begun: Sequence[IdSequence], most: int
    ) -> Drafts:
        """Draft as in `Drafter`, on a thread of CTranslate2; return empty drafts if it fails."""
        try:
            coming = self.translator.translate_batch(
                [_names(ids) for ids in sources],
                [_names(ids) or None for ids in begun],
                beam_size=1,
                suppress_sequences=self.never,
                max_decoding_length=most,
                max_input_length=0,  # no limit
                return_end_token=True,
                asynchronous=True,
            )
        except (RuntimeError, ValueError) as error:
            return partial(_nothing, sources, error)

        def drafts() -> Sequence[IdSequence]:
            try:
                return [[int(name) for name in draft.result().hypotheses[0]] for draft in coming]
            except (RuntimeError, ValueError) as error:
                return _nothing(sources, error)

        return drafts


def _close_all() -> None:
    for drafter in list(_DRAFTERS):
        drafter.close()


# Threads are missing in the copy of a process, where a translator that it uses would wait for ever.
_DRAFTERS = WeakSet[FastDrafter]()
os.register_at_fork(before=_close_all)


def _nothing(sources: Sequence[IdSequence], error: Exception) -> Sequence[IdSequence]:
    log.warning("no drafts: %s", error)
    return [()] * len(sources)


def open_drafter(bundle: Bundle, cache: Path) -> Drafter | None:
    """Return a drafter for a bundle, converted into the folder `cache`; None if there is none.

    There is none without CTranslate2, or for a model that it does not support. A cache that cannot
    be written or read is logged as a warning.
    """
    try:
        return _opened(bundle, exported(bundle, cache))
    except (ImportError, UnknownToEngineError) as error:
        log.info("no drafts: %s", error)
    except RuntimeError as error:
        log.warning("converting again, since CTranslate2 cannot read it: %s", error)
        return _opened_anew(bundle, cache)
    except OSError as error:
        log.warning("no drafts: %s", error)
    return None


def _opened_anew(bundle: Bundle, cache: Path) -> Drafter | None:
    try:
        return _opened(bundle, exported(bundle, cache, anew=True))
    except (RuntimeError, OSError) as error:
        log.warning("no drafts: %s", error)
        return None


def _opened(bundle: Bundle, folder: Path) -> FastDrafter:
    from ctranslate2 import Translator

    # One thread: a step of a few rows is too little work for two, and threads of CTranslate2 and
    # torch would wait for each other (59 ms per sentence with two, 8 ms with one).
    opening = partial(Translator, str(folder), device="cpu", inter_threads=1, intra_threads=1)
    return FastDrafter(opening, sorted(bundle.tokenizer.specials - {bundle.tokenizer.eos}))


def _names(ids: IdSequence) -> list[str]:
    return [str(id_) for id_ in ids]


MARGIN = 1e-4  # nats between the best two tokens; a pass and a step differ by some 1e-5
TRIES = 3  # drafts of a row before it is decoded


class Targets:
    """The target of each row, as far as it is known, while a batch is being answered.

    The first drafts are started at once, so that the encoder can run at the same time.
    """

    def __init__(self, writer: Writer, drafter: Drafter | None, rows: Sequence[Row]) -> None:
        self.writer = writer
        self.drafter = drafter
        self.rows = rows
        self._known = writer.known(rows)
        self._drafts: dict[int, Ids] = {}
        self._begun = {index: row.request.decode.prefix for index, row in enumerate(rows)}
        self._tries = {index: TRIES for index, row in enumerate(rows) if writer.is_greedy(row)}
        self._undrafted = [index for index in self._tries if index not in self._known]
        if drafter and self._undrafted and not drafter.is_worthwhile():
            self.drafter = None
        self._coming: Callable[[], dict[int, Ids]] = dict
        self._begin()

    def of(self, indices: Sequence[int]) -> list[Ids]:
        """Return the targets of some rows: the known ids, otherwise a draft, otherwise decoded ids.

        Call `agrees` to find out whether a draft was right.
        """
        self._begin()
        coming, self._coming = self._coming, dict
        self._drafts.update(coming())
        open_ = [i for i in indices if i not in self._known and i not in self._drafts]
        decoded = self.writer.search([self.rows[index] for index in open_])
        self._known.update(zip(open_, decoded, strict=True))
        return [self._drafts.get(index) or self._known[index] for index in indices]

    def agrees(self, index: int, logprobs: Tensor) -> bool:
        """Return whether the pass over a row, `logprobs` (T, V) on the CPU, agrees with `of`.

        If not, the accepted part is kept and `of` must be called again.
        """
        draft = self._drafts.pop(index, None)
        if draft is None:
            return True
        certain = verified(draft, logprobs, self.writer.never, len(self._begun[index]))
        self._tries[index] -= 1
        complete = certain is not None and self.writer.is_complete(self.rows[index], certain)
        if self.drafter and (complete or certain is None or not self._tries[index]):
            self.drafter.judge(complete)
        if certain is None:
            return False
        self._begun[index] = certain
        if complete:
            self._known[index] = certain
            self.writer.remember(self.rows[index], certain)
            return certain == draft
        if self._tries[index]:
            self._undrafted.append(index)
        return False

    def _begin(self) -> None:
        """Start drafts for the rows without one; `of` waits for them."""
        drafted, self._undrafted = self._undrafted, []
        if not drafted or not self.drafter:
            return
        rows = [self.rows[index] for index in drafted]
        longest = max(self.writer.limit(row.request, row.source) for row in rows)
        sources = [[token.id for token in row.source] for row in rows]
        begun = [self._begun[index] for index in drafted]
        guesses = self.drafter.draft(sources, begun, longest)

        def drafts() -> dict[int, Ids]:
            columns = zip(drafted, rows, begun, guesses(), strict=True)
            drafts_by_row = {
                index: self.writer.within((*start, *guess[len(start) :]), row)
                for index, row, start, guess in columns
            }
            return {
                index: ids
                for index, ids in drafts_by_row.items()
                if len(ids) > len(self._begun[index])
            }

        self._coming = drafts


def verified(draft: Ids, logprobs: Tensor, never: Tensor, begun: int) -> Ids | None:
    """Return the ids of greedy decoding, as far as a pass over a draft shows them.

    This is the draft up to the first token that differs from the model's choice, and that choice;
    None if two tokens are too close to decide. The first `begun` ids are given. `logprobs` (T, V)
    are those of the draft's T tokens, `never` the ids that are never written.
    """
    ids = torch.tensor(draft)[begun:]
    allowed = logprobs[begun : len(draft)].index_fill(1, never.cpu(), -torch.inf)
    best, tokens = allowed.topk(2, dim=-1)
    clear = best[:, 0] - best[:, 1] > MARGIN
    agreeing = tokens[:, 0] == ids
    until = (
        len(ids) if agreeing.all() else int(agreeing.int().argmin()) + 1
    )  # the model's token is last
    if not clear[:until].all():
        return None
    return (*draft[: begun + until - 1], int(tokens[until - 1, 0]))

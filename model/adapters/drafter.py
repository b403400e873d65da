"""Draft translations by a faster decoder, which this model verifies (speculative decoding)."""

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

from model.bundle.ctranslate2_export import UnknownToEngineError, exported
from model.bundle.weights import Bundle

if TYPE_CHECKING:
    from ctranslate2 import Translator

Ids = Sequence[int]

log = logging.getLogger(__name__)

LATELY = 16  # translations, the mean age of what is counted
WORTHWHILE = 0.1
AGAIN = 16


Drafts = Callable[[], Sequence[Ids]]  # waits until they are ready


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
    def draft(self, sources: Sequence[Ids], begun: Sequence[Ids], most: int) -> Drafts:
        """Start drafting a target for each source that begins with `begun`, at most `most` ids."""


class FastDrafter(Drafter):
    """Greedy decoding with CTranslate2 on the CPU, with 8-bit matrices and activations."""

    def __init__(self, open_translator: Callable[[], Translator], never: Ids) -> None:
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

    def draft(self, sources: Sequence[Ids], begun: Sequence[Ids], most: int) -> Drafts:
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

        def drafts() -> Sequence[Ids]:
            try:
                return [[int(name) for name in one.result().hypotheses[0]] for one in coming]
            except (RuntimeError, ValueError) as error:
                return _nothing(sources, error)

        return drafts


def _close_all() -> None:
    for drafter in list(_DRAFTERS):
        drafter.close()


# Threads are missing in the copy of a process, where a translator that it uses would wait for ever.
_DRAFTERS = WeakSet[FastDrafter]()
os.register_at_fork(before=_close_all)


def _nothing(sources: Sequence[Ids], error: Exception) -> Sequence[Ids]:
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


def _names(ids: Ids) -> list[str]:
    return [str(id_) for id_ in ids]

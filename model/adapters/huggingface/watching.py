"""Selects the recording attention function, only on threads that record.

`transformers` reads `config._attn_implementation` for every mask and every attention. Setting it
would affect all threads, even during their passes. Therefore, while a record is open, the config's
class has a property whose value depends on the records of the current thread.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from model.adapters.huggingface.attention import IMPLEMENTATION
from model.trace.record import Record, recorded

_lock = Lock()
_watching: dict[int, list[Record]] = {}  # by the identity of the config


@contextmanager
def watched(configs: Sequence[Any], record: Record) -> Iterator[None]:
    """Make configs name `IMPLEMENTATION` on threads with an open record."""
    with _lock:
        for config in configs:
            _watching.setdefault(id(config), []).append(record)
            if not hasattr(config, "unwatched"):
                config.__class__ = _watched(type(config))  # type: ignore[arg-type]
    try:
        yield
    finally:
        with _lock:
            for config in configs:
                left = [one for one in _watching.pop(id(config)) if one is not record]
                if left:
                    _watching[id(config)] = left
                else:
                    named_as_it_is(config)


def named_as_it_is(config: Any) -> None:
    """Restore the original class of a config."""
    config.__class__ = getattr(config, "unwatched", type(config))


@cache
def _watched(class_: Hashable) -> type:
    """Return a subclass whose attention depends on the thread's records."""
    base: Any = class_
    own = base._attn_implementation

    def implementation(config: Any) -> str | None:
        here = any(recorded(one) for one in _watching.get(id(config), ()))
        return IMPLEMENTATION if here else own.fget(config)

    made = type(
        base.__name__, (base,), {"_attn_implementation": property(implementation, own.fset)}
    )
    # Set afterwards: in its body it would be a field of the config.
    made.unwatched = base  # type: ignore[attr-defined]
    made.__module__, made.__qualname__ = base.__module__, base.__qualname__
    return made

"""Configs that name our attention function on the threads that record, and nowhere else.

`transformers` reads `config._attn_implementation` for every mask and every attention. Setting it
would change it for all threads, in the middle of their passes too. So, as long as a record is open,
a config belongs to a class whose property looks at what this thread records.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from model.adapters.huggingface.recording import IMPLEMENTATION
from model.trace.record import Record, recorded

_lock = Lock()
_watching: dict[int, list[Record]] = {}  # by the identity of the config


@contextmanager
def watched(configs: Sequence[Any], record: Record) -> Iterator[None]:
    """Let configs name `IMPLEMENTATION` where a record is open."""
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
    """Give a config its own class back."""
    config.__class__ = getattr(config, "unwatched", type(config))


@cache
def _watched(class_: Hashable) -> type:
    """Return a class like this one whose attention follows the thread's records."""
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

"""Whether a state can be looked at, given what its run has shown.

A link that asks for a layer which is not there opens on the nearest one. A share is kept for good
and is made by programs too, so a state that cannot be is refused before it is kept. What was kept
before this was checked still opens. The values of views' options only the page knows.
"""

from collections.abc import Collection

from app.assets.languages import languages
from app.engine.wire import Reply
from app.preview.card import PLACES
from app.schemas.shares import ShareState
from model.errors import InputError

VIEWS = (
    "decoding",
    "heads",
    "attention",
    "lines",
    "worksheet",
    "alignment",
    "compare",
    "inside",
    "qkv",
    "space",
    "positions",
    "flow",
    "training",
    "whatif",
)


def check(state: ShareState, reply: Reply) -> None:
    """Raises InputError for a view, a language or a place that there is not.

    `reply` is that of the state's own run, with all weights in it.
    """
    _one_of("view", state.view, VIEWS)
    _one_of("lang", state.lang, languages())
    layers = {block: _layers(place, reply) for block, place in PLACES.items()}
    blocks = [block for block, shapes in layers.items() if shapes]
    _one_of("block", state.block, blocks)
    if not blocks:
        return
    shapes = layers[state.block or blocks[-1]]  # where a link that says none opens
    _below("layer", state.layer, len(shapes))
    for name, count in zip(("head", "query", "key"), shapes[state.layer or 0], strict=True):
        _below(name, getattr(state, name), count)


def _layers(place: str, reply: Reply) -> list[tuple[int, ...]]:
    """(heads, queries, keys) of each layer of a block, such as ``"encoder.{}.self"``."""
    names = (f"{place.format(layer)}.weights" for layer in range(len(reply.arrays)))
    return [reply.arrays[name].shape for name in names if name in reply.arrays]


def _one_of(field: str, value: str | None, known: Collection[str]) -> None:
    if value is not None and value not in known:
        raise InputError("unknown-value", field, f"{field} must be one of: {', '.join(known)}")


def _below(field: str, value: int | None, count: int) -> None:
    if value is not None and value >= count:
        raise InputError("out-of-range", field, f"{field} must be from 0 to {count - 1}")

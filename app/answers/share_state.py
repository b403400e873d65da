"""Whether a state can be looked at, given what its run has shown.

A link that asks for a layer which is not there opens on the nearest one. A share is kept for good
and is made by programs too, so a state that cannot be is refused before it is kept. What was kept
before this was checked still opens. The values of views' options only the page knows.
"""

from collections.abc import Collection

from app.assets.languages import languages
from app.engine.wire import Reply
from app.schemas.shares import Looking
from app.settings import Settings
from model.errors import Excess, InputError
from model.trace.attentions import AttentionInfo, Attentions

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


def check(state: Looking, attentions: Attentions, reply: Reply) -> None:
    """Raises InputError for a view, a language or a place that there is not.

    `reply` is that of the state's own run, with all weights of the model's attentions in it.
    """
    _one_of("view", state.view, VIEWS)
    _one_of("lang", state.lang, languages())
    blocks: dict[str, list[AttentionInfo]] = {}
    for one in attentions:
        blocks.setdefault(one.block, []).append(one)
    _one_of("block", state.block, blocks)
    layers = blocks[state.block or [*blocks][-1]]  # where a link that says none opens
    _below("layer", state.layer, len(layers))
    shape = reply.arrays[f"{layers[state.layer or 0].place}.weights"].shape
    for name, count in zip(("head", "query", "key"), shape, strict=True):
        _below(name, getattr(state, name), count)


def check_options(settings: Settings, state: Looking) -> None:
    """Raises InputError for a longer option of a view than the settings allow."""
    limit = settings.max_text_characters
    for name, text in state.options.items():
        if len(text) > limit:
            detail = f"state.{name} takes at most {limit} characters"
            excess = Excess(limit, "characters", len(text))
            raise InputError("too-long", f"state.{name}", detail, excess)


def _one_of(field: str, value: str | None, known: Collection[str]) -> None:
    if value is not None and value not in known:
        raise InputError("unknown-value", field, f"{field} must be one of: {', '.join(known)}")


def _below(field: str, value: int | None, count: int) -> None:
    if value is not None and value >= count:
        raise InputError("out-of-range", field, f"{field} must be from 0 to {count - 1}")

"""Validates the state of a share, given the results of its run.

A link to a layer that does not exist opens on the nearest one. A share is permanent and may be
created by a program, so it is rejected if its state does not exist. Shares created before these
checks still open. The values of views' options are not checked, since only the page knows them.
"""

from collections.abc import Collection

from app.assets.languages import languages
from app.engine.wire import Reply
from app.figures.states import Looking
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
    """Raise InputError for a view, a language or a place that does not exist.

    `reply` is the state's own run, with all weights of the model's attentions or, of a long text,
    their overview.
    """
    _one_of("view", state.view, VIEWS)
    _one_of("lang", state.lang, languages())
    blocks: dict[str, list[AttentionInfo]] = {}
    for one in attentions:
        blocks.setdefault(one.block, []).append(one)
    _one_of("block", state.block, blocks)
    layers = blocks[state.block or [*blocks][-1]]  # the default block of a link
    _below("layer", state.layer, len(layers))
    shape = _shape(reply, layers[state.layer or 0])
    for name, count in zip(("head", "query", "key"), shape, strict=True):
        _below(name, getattr(state, name), count)


def _shape(reply: Reply, one: AttentionInfo) -> tuple[int, ...]:
    """Return the numbers of heads, queries and keys; a long text has no weights, only pictures."""
    weights = reply.arrays.get(f"{one.place}.weights")
    if weights is not None:
        return weights.shape
    tokens = reply.document["tokens"]
    return one.heads, len(tokens[one.query]), len(tokens[one.key])


def check_options(settings: Settings, state: Looking) -> None:
    """Raise InputError if an option of a view is longer than the settings allow."""
    limit = settings.max_text_characters
    for name, text in state.options.items():
        if len(text) > limit:
            detail = f"state.{name} may have at most {limit} characters"
            excess = Excess(limit, "characters", len(text))
            raise InputError("too-long", f"state.{name}", detail, excess)


def _one_of(field: str, value: str | None, known: Collection[str]) -> None:
    if value is not None and value not in known:
        raise InputError("unknown-value", field, f"{field} must be one of: {', '.join(known)}")


def _below(field: str, value: int | None, count: int) -> None:
    if value is not None and value >= count:
        raise InputError("out-of-range", field, f"{field} must be from 0 to {count - 1}")

"""The state of a long text: an overview of all heads, and windows of some, in one reply."""

from collections.abc import Sequence

from app.engine.jobs import Encoded, Encoding
from app.engine.model_listing import Listing
from app.engine.wire import Reply
from app.figures.states import OneTextShareState, SentenceState
from app.http.content_negotiation import SAFETENSORS
from app.http.field_names import within
from app.http.services import Services
from app.http.worker_threads import LARGE, off_loop
from app.long_texts.schemas import (
    AnyOverviewRequest,
    AnyTileRequest,
    OneTextOverviewRequest,
    OneTextTileRequest,
    OverviewRequest,
    TileRequest,
    Window,
)
from app.long_texts.service import see_overview, see_tile, see_tokens
from app.settings import Settings
from model.errors import Excess, InputError

MAX_TOKENS = 256  # of a text of which all weights are shown (docs/long.md)
CELLS = 64  # rows and columns of the overview, as for the page's thumbnails
RUN = {"model", "source", "text", "target", "direction", "decode", "chat"}


async def is_long(services: Services, state: SentenceState) -> bool:
    """Return whether a text of the state has more than `MAX_TOKENS` tokens.

    Raises InputError for a text that is too long for its model, and for a long one whose model
    does not show long texts.
    """
    given = {field: text for field, text in state.texts.items() if text}
    if max(map(len, given.values()), default=0) <= MAX_TOKENS // 4:  # four bytes a character
        return False
    encoded = await see_tokens(
        services, state, Encoding(SAFETENSORS, services[Settings].max_values)
    )
    read = Reply.metadata(encoded.content)["trace"]["tokens"]
    for text, tokens in read.items():
        if len(tokens) <= MAX_TOKENS:
            continue
        info = services[Listing].describe(services[Listing].pick(state.model))
        if "long" not in info.capabilities:
            detail = f"{text} has {len(tokens)} tokens; this model shows at most {MAX_TOKENS}"
            raise InputError("unsupported", text, detail, Excess(MAX_TOKENS, "tokens", len(tokens)))
        for field in ("interventions", "pad_to"):
            if getattr(state, field):
                raise InputError("unsupported", field, f"{field} is not for a long text")
        return True
    return False


async def run_long(
    services: Services, state: SentenceState, tiles: Sequence[Window], encoding: Encoding
) -> Encoded:
    """Return the overview of all heads, with the windows as tensors `tile.0`, `tile.1` and so on.

    A window's description has its attention (`at`) besides what `POST /api/tile` returns. Raises
    InputError, with fields as in a request for a share; also for more numbers than `encoding`
    allows.
    """
    with within("state"):
        asked = _overview(state)
        seen = await see_overview(services, asked, Encoding(SAFETENSORS, encoding.max_values))
    whole = await off_loop(Reply.parse, seen.content, size=len(seen.content))
    tensors, arrays = dict(whole.document["tensors"]), dict(whole.arrays)
    left = encoding.max_values - whole.values
    for n, window in enumerate(tiles):
        with within(f"tiles[{n}]"):
            one = await see_tile(services, _tile(state, window), Encoding(SAFETENSORS, left))
        left -= one.values
        tile = Reply.parse(one.content)
        ((name, about),) = tile.document["tensors"].items()
        tensors[f"tile.{n}"] = {**about, "at": window.at}
        arrays[f"tile.{n}"] = tile.arrays[name]
    reply = Reply({**whole.document, "tensors": tensors}, arrays)
    return await off_loop(encoding, reply, size=LARGE)


def _overview(state: SentenceState) -> AnyOverviewRequest:
    kind = OneTextOverviewRequest if isinstance(state, OneTextShareState) else OverviewRequest
    return kind.model_validate(_run(state) | {"cells": CELLS, "dtype": "uint8"})


def _tile(state: SentenceState, window: Window) -> AnyTileRequest:
    kind = OneTextTileRequest if isinstance(state, OneTextShareState) else TileRequest
    return kind.model_validate(_run(state) | window.model_dump(exclude_unset=True))


def _run(state: SentenceState) -> dict[str, object]:
    return state.model_dump(include=RUN, exclude_unset=True)

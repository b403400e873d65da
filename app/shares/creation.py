"""Validates the state of a share, given the results of its run.

A link to a layer that does not exist opens on the nearest one. A share is permanent and may be
created by a program, so it is rejected if its state does not exist. Shares created before these
checks still open. The values of views' options are not checked, since only the page knows them.

Creates a share: freezes the trace of the state and the replies to additional requests.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import orjson

from app.assets.languages import languages
from app.engine.engine import BusyError
from app.engine.jobs import Encoding
from app.engine.model_listing import Listing
from app.engine.wire import ZSTD, Reply
from app.figures.states import Looking, SentenceState
from app.http.field_errors import within
from app.http.services import Services
from app.http.worker_threads import LARGE, off_loop
from app.lab.schemas import LabShareState
from app.lab.service import freeze
from app.long_texts.service import MAX_TOKENS, is_long, run_long
from app.settings import Settings
from app.shares import formats
from app.shares.asks import Freezer, check_asks, freeze_answers, other_models
from app.shares.schemas import ShareRequest
from app.shares.service import thaw
from app.shares.share import Answer
from app.shares.store import Shares
from app.store.ids import new_edit_key
from app.traces.replies import ModelReply
from app.traces.service import run
from model.errors import Excess, InputError
from model.trace.attentions import AttentionInfo, Attentions
from model.trace.tensor_names import present

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


# The tensors that the page draws, so that a share needs no model: attention, its inputs, and the
# next-token probabilities.
FROZEN = ["*.weights", "*.mask", "*.q", "*.k", "*.v", "*.probabilities", "*.candidates"]


@dataclass(frozen=True)
class Created:
    """A stored share, with data that only its author gets."""

    id: str
    edit_key: str | None  # None: the share existed, and its maker already has the key
    expires: datetime | None


@dataclass(frozen=True)
class Maker:
    """The client that makes a share: an address and a page's random token, if it sends one."""

    address: str
    token: str


async def create(services: Services, wanted: ShareRequest, maker: Maker) -> Created:
    """Run the state and the additional requests and store the results; durable on return.

    The same request by the same maker for the same weights returns the existing share. Another
    maker gets another one; otherwise anyone could find out whether a sentence has been shared.

    Raises what `run` and `check` raise, with fields named as in a request for a share, and
    StorageError.
    """
    request = _identity(services, wanted, maker)
    if known := await services[Shares].find_request(request):
        share_id, created = known
        return Created(share_id, None, _expires(services, created))
    keep = partial(_keep, services, wanted, maker, request)
    if isinstance(wanted.state, LabShareState):
        return await _create_by_hand(services, wanted, wanted.state, maker, keep)
    settings = services[Settings]
    check_options(settings, wanted.state)
    check_asks(services, wanted.asks)
    await services[Shares].check_room(maker.address)
    freezer = Freezer(settings.max_values)
    with within("state"):
        long = await is_long(services, wanted.state)
    slow = long or any(question.sweep for question in wanted.asks)
    seconds = settings.max_long_seconds if slow else settings.max_wait_seconds
    freeze_state = _freeze_long if long else _freeze_state
    try:
        async with asyncio.timeout(seconds):
            trace = await freeze_state(services, wanted, wanted.state, freezer)
            more = await freeze_answers(services, wanted.state, wanted.asks, freezer)
    except TimeoutError as error:
        raise BusyError(f"the model took more than {seconds:g} seconds") from error
    name = services[Listing].pick(wanted.state.model)
    model = ModelReply.model_validate(services[Listing].describe(name)).model_dump(mode="json")
    return await keep(model, trace, more)


def _identity(services: Services, wanted: ShareRequest, maker: Maker) -> str:
    """Return a digest of the request, the weights and the maker."""
    asked = wanted.model_dump(mode="json", exclude_unset=True)
    digest, others = "", list[str]()
    if not isinstance(wanted.state, LabShareState):
        with within("state"):
            name = services[Listing].pick(wanted.state.model)
        digest = services[Listing].describe(name).digest
        others = [one.digest for one in other_models(services, wanted.state, wanted.asks)]
    document = [maker.address, maker.token, formats.FORMAT, digest, asked, *others]
    return orjson.dumps(document, option=orjson.OPT_SORT_KEYS).decode()


async def _create_by_hand(
    services: Services,
    wanted: ShareRequest,
    state: LabShareState,
    maker: Maker,
    keep: Callable[[dict[str, Any], bytes, Sequence[Answer]], Awaitable[Created]],
) -> Created:
    """Create a share of the lab, which has no model and no additional requests."""
    for field in ("select", "asks", "tiles"):
        if getattr(wanted, field):
            raise InputError("unsupported", field, f"{field} is not for a state of the lab")
    if wanted.about and wanted.about.predict:
        detail = "about.predict is not for a state of the lab"
        raise InputError("unsupported", "about.predict", detail)
    await services[Shares].check_room(maker.address)
    reply = await freeze(services, state)
    encoding = Encoding(ZSTD, services[Settings].max_values)
    return await keep({}, (await off_loop(encoding, reply, size=LARGE)).content, [])


async def _keep(
    services: Services,
    wanted: ShareRequest,
    maker: Maker,
    request: str,
    model: dict[str, Any],
    trace: bytes,
    more: Sequence[Answer],
) -> Created:
    state = wanted.state.model_dump(mode="json", exclude_unset=True)
    edit_key = new_edit_key()
    about = wanted.about.model_dump(mode="json", exclude_none=True) if wanted.about else {}
    kept = await services[Shares].add(
        formats.FORMAT,
        state,
        model,
        trace,
        more,
        about=about or None,
        address=maker.address,
        edit_key=edit_key,
        request=request,
    )
    return Created(kept.id, edit_key, _expires(services, kept.created))


def _expires(services: Services, created: datetime) -> datetime | None:
    days = services[Settings].keep_shares_days
    return None if days is None else created + timedelta(days=days)


async def _freeze_state(
    services: Services, wanted: ShareRequest, state: SentenceState, freezer: Freezer
) -> bytes:
    if wanted.tiles:
        detail = f"tiles are for texts of more than {MAX_TOKENS} tokens"
        raise InputError("unsupported", "tiles", detail)
    # The client's own patterns come first, so that an error has the client's index.
    with within("state", but="select" if wanted.select else None):
        model = services[Listing].pick(state.model)
        select = [*wanted.select, *present(FROZEN, services[Listing].names(model))]
        frozen = await freezer.keep(
            lambda encoding: run(services, state, select, encoding, summarise=["*"])
        )
        seen = await off_loop(thaw, frozen, size=len(frozen))
        check(state, services[Listing].describe(model).attentions, seen)
        return frozen


async def _freeze_long(
    services: Services, wanted: ShareRequest, state: SentenceState, freezer: Freezer
) -> bytes:
    """Freeze the overview of a long text, and the windows that its picture shows."""
    for field, given in (
        ("select", wanted.select),
        ("about.predict", wanted.about and wanted.about.predict),
    ):
        if given:
            raise InputError("unsupported", field, f"{field} is not for a long text")
    frozen = await freezer.keep(lambda encoding: run_long(services, state, wanted.tiles, encoding))
    seen = await off_loop(thaw, frozen, size=len(frozen))
    with within("state"):
        check(
            state, services[Listing].describe(services[Listing].pick(state.model)).attentions, seen
        )
    return frozen

"""Creates a share: freezes the trace of the state and the replies to additional requests."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import orjson

from app.answers.field_names import within
from app.answers.lab import freeze
from app.answers.long_texts import see_tokens
from app.answers.share_state import check, check_options
from app.answers.shares import thaw
from app.answers.traces import chosen, example, parameters, run, run_trace
from app.dependencies import Services
from app.engine.engine import BusyError
from app.engine.jobs import Encoded, Encoding
from app.engine.wire import JSON, ZSTD
from app.off_loop import LARGE, off_loop
from app.schemas.replies import ModelReply
from app.schemas.shares import (
    LabShareState,
    ParametersRequest,
    Question,
    SentenceState,
    ShareRequest,
)
from app.schemas.traces import Asking
from app.store import share_formats as formats
from app.store.ids import new_edit_key
from app.store.store import Answer
from model.errors import Excess, InputError
from model.trace.name_patterns import present
from model.transformer.positions import POSITIONS
from model.transformer.scoring import SCORINGS

# The tensors that the page draws, so that a share needs no model: attention, its inputs, and the
# next-token probabilities.
FROZEN = ["*.weights", "*.mask", "*.q", "*.k", "*.v", "*.probabilities", "*.candidates"]


MAX_TOKENS = 256  # of a text: above, the page shows pictures of it (docs/long.md)


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
    if known := await services.store.find_request(request):
        share_id, created = known
        return Created(share_id, None, _expires(services, created))
    keep = partial(_keep, services, wanted, maker, request)
    if isinstance(wanted.state, LabShareState):
        return await _create_by_hand(services, wanted, wanted.state, maker, keep)
    settings = services.settings
    check_options(settings, wanted.state)
    _check_asks(services, wanted.asks)
    await services.store.check_room(maker.address)
    freezer = Freezer(settings.max_values)
    try:
        async with asyncio.timeout(settings.max_wait_seconds):
            trace = await _freeze_state(services, wanted, wanted.state, freezer)
            more = [
                await _freeze_answer(services, question, f"asks[{n}]", freezer)
                for n, question in enumerate([*wanted.asks, *_mechanism(services, wanted)])
            ]
    except TimeoutError as error:
        detail = f"the model took more than {settings.max_wait_seconds:g} seconds"
        raise BusyError(detail) from error
    name = services.catalog.pick(wanted.state.model)
    model = ModelReply.model_validate(services.catalog.describe(name)).model_dump()
    return await keep(model, trace, more)


def _identity(services: Services, wanted: ShareRequest, maker: Maker) -> str:
    """Return a digest of the request, the weights and the maker."""
    asked = wanted.model_dump(mode="json", exclude_unset=True)
    digest = ""
    if not isinstance(wanted.state, LabShareState):
        with within("state"):
            name = services.catalog.pick(wanted.state.model)
        digest = services.catalog.describe(name).digest
    document = [maker.address, maker.token, formats.FORMAT, digest, asked]
    return orjson.dumps(document, option=orjson.OPT_SORT_KEYS).decode()


async def _create_by_hand(
    services: Services,
    wanted: ShareRequest,
    state: LabShareState,
    maker: Maker,
    keep: Callable[[dict[str, Any], bytes, Sequence[Answer]], Awaitable[Created]],
) -> Created:
    """Create a share of the lab, which has no model and no additional requests."""
    for field in ("select", "asks"):
        if getattr(wanted, field):
            raise InputError("unsupported", field, f"{field} is not for a state of the lab")
    await services.store.check_room(maker.address)
    reply = await freeze(services, state)
    trace = await off_loop(reply.encode, ZSTD, services.settings.max_values, size=LARGE)
    return await keep({}, trace, [])


async def _keep(
    services: Services,
    wanted: ShareRequest,
    maker: Maker,
    request: str,
    model: dict[str, Any],
    trace: bytes,
    more: Sequence[Answer],
) -> Created:
    state = wanted.state.model_dump(exclude_unset=True)
    edit_key = new_edit_key()
    about = wanted.about.model_dump(exclude_none=True) if wanted.about else {}
    kept = await services.store.add(
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
    days = services.settings.keep_shares_days
    return None if days is None else created + timedelta(days=days)


class Freezer:
    """Counts the numbers of the replies in a share, up to a limit."""

    def __init__(self, max_values: int) -> None:
        self.max_values = max_values
        self.left = max_values

    async def keep(self, work: Callable[[Encoding], Awaitable[Encoded]]) -> bytes:
        """Return the stored form of a reply. Raises InputError if there are too many numbers."""
        try:
            encoded = await work(Encoding(ZSTD, self.left))
        except InputError as error:
            if error.kind != "reply-too-large":
                raise
            detail = f"a share may have at most {self.max_values} numbers"
            excess = Excess(self.max_values, "numbers")
            raise InputError("reply-too-large", "", detail, excess) from error
        self.left -= encoded.values
        return encoded.content


def _check_asks(services: Services, asks: Sequence[Question]) -> None:
    """Raise InputError for requests that the settings or the catalog do not allow."""
    for n, question in enumerate(asks):
        for kind, asked in question:
            with within(f"asks[{n}].{kind}"):
                if isinstance(asked, Asking):
                    chosen(services, asked)
                elif asked is not None:
                    services.catalog.pick(asked.model)


async def _freeze_state(
    services: Services, wanted: ShareRequest, state: SentenceState, freezer: Freezer
) -> bytes:
    # The client's own patterns come first, so that an error has the client's index.
    with within("state", but="select" if wanted.select else None):
        await _check_length(services, state)
        model = services.catalog.pick(state.model)
        select = [*wanted.select, *present(FROZEN, services.catalog.names(model))]
        frozen = await freezer.keep(
            lambda encoding: run(services, state, select, encoding, summarise=["*"])
        )
        seen = await off_loop(thaw, frozen, size=len(frozen))
        check(state, services.catalog.describe(model).attentions, seen)
        return frozen


async def _check_length(services: Services, state: SentenceState) -> None:
    """Raise InputError for a text of which the page shows pictures instead of all weights."""
    given = {field: text for field, text in state.texts.items() if text}
    if max(map(len, given.values()), default=0) <= MAX_TOKENS // 4:  # four bytes a character
        return
    found = await see_tokens(services, state, Encoding(JSON, services.settings.max_values))
    for text, tokens in orjson.loads(found.content)["tokens"].items():
        if len(tokens) > MAX_TOKENS:
            detail = f"{text} has {len(tokens)} tokens; a share stores at most {MAX_TOKENS}"
            raise InputError("unsupported", text, detail, Excess(MAX_TOKENS, "tokens", len(tokens)))


def _mechanism(services: Services, wanted: ShareRequest) -> list[Question]:
    """Return the request for the parameters of the model's scores.

    These are a few numbers per head: w and b of additive scoring, π of relative positions. With
    them and q and k, every weight of the share can be computed after the model is gone.
    """
    assert not isinstance(wanted.state, LabShareState)
    name = services.catalog.pick(wanted.state.model)
    table = services.catalog.describe(name).attentions
    parts = {part for one in table for part in one.scoring.split(" & ")}
    select = []
    if any(SCORINGS[part].learns for part in parts & SCORINGS.keys()):
        select.append("*.scoring.*")
    if any(POSITIONS[part].learns for part in parts & POSITIONS.keys()):
        select.append("*.positions.*")
    asked = ParametersRequest(model=name, select=select)
    return [Question(parameters=asked)] if select else []


async def _freeze_answer(
    services: Services, question: Question, place: str, freezer: Freezer
) -> Answer:
    kind, answer = _answering(services, question)
    with within(f"{place}.{kind}"):
        frozen = await freezer.keep(answer)
    return Answer(question.model_dump(exclude_unset=True), frozen)


def _answering(
    services: Services, question: Question
) -> tuple[str, Callable[[Encoding], Awaitable[Encoded]]]:
    """Return a request's name in the share, and a function that computes its reply in a format."""
    if (traced := question.trace) is not None:
        return "trace", lambda encoding: run_trace(services, traced, encoding)
    if (asked := question.parameters) is not None:
        return "parameters", partial(parameters, services, asked.model, asked.select)
    watched = question.learning
    assert watched is not None  # the schema requires one of the three
    return "learning", partial(example, services, watched.model, watched.example)

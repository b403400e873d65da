"""Creates a share: checks its state, and freezes its trace and the replies to further requests.

A link to a layer that does not exist opens on the nearest one. A share is permanent and may be
created by a program, so it is rejected if its state does not exist. Shares created before these
checks still open. The values of views' options are not checked, since only the page knows them.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import orjson

from app.assets.languages import languages
from app.engine.engine import BusyError
from app.engine.jobs import Encoded, Encoding
from app.engine.model_listing import Listing
from app.engine.reply_formats import WRITERS, ZSTD, Reply
from app.figures.sentence_figures import Looking, SentenceState
from app.http.request_fields import within
from app.http.route_dependencies import Services
from app.http.tasks_and_caches import LARGE, off_loop
from app.lab import LabShareState, freeze
from app.long_texts.routes import MAX_TOKENS, is_long, run_long
from app.settings import Settings
from app.shares import formats
from app.shares.formats import Answer
from app.shares.schemas import ParametersRequest, Question, ShareRequest
from app.shares.service import thaw
from app.shares.store import Shares
from app.store.documents import new_edit_key
from app.traces.replies import ModelReply
from app.traces.schemas import Asking
from app.traces.service import chosen, example, parameters, run, run_trace, whole_sweep
from model.adapters.requests.model_info import ModelInfo
from model.errors import Excess, InputError
from model.trace.attentions import AttentionInfo, Attentions
from model.trace.tensor_names import present
from model.transformer.positions import POSITIONS
from model.transformer.scoring import SCORINGS


class Freezer:
    """Counts the numbers of the replies in a share or a handout, up to a limit."""

    def __init__(self, max_values: int, whole: str = "a share") -> None:
        self.max_values = max_values
        self.left = max_values
        self.whole = whole

    async def keep(self, work: Callable[[Encoding], Awaitable[Encoded]]) -> bytes:
        """Return the stored form of a reply. Raises InputError if there are too many numbers."""
        try:
            encoded = await work(Encoding(ZSTD, self.left))
        except InputError as error:
            if error.kind != "reply-too-large":
                raise
            detail = f"{self.whole} may have at most {self.max_values} numbers"
            excess = Excess(self.max_values, "numbers")
            raise InputError("reply-too-large", "", detail, excess) from error
        self.left -= encoded.values
        return encoded.content


def check_asks(services: Services, asks: Sequence[Question]) -> None:
    """Raise InputError for requests that the settings or the catalog do not allow."""
    for n, question in enumerate(asks):
        for kind, request in question:
            with within(f"asks[{n}].{kind}"):
                if isinstance(request, Asking):
                    chosen(services, request)
                elif request is not None:
                    services[Listing].pick(request.model)


async def freeze_answers(
    services: Services, state: SentenceState, asks: Sequence[Question], freezer: Freezer
) -> list[Answer]:
    """Answer requests besides a state's run, and those for the parameters of its scores.

    Raises what their runs raise, and InputError if there are too many numbers.
    """
    return [
        await _freeze_answer(services, state, question, f"asks[{n}]", freezer)
        for n, question in enumerate([*asks, *_mechanism(services, state)])
    ]


def _mechanism(services: Services, state: SentenceState) -> list[Question]:
    """Return the request for the parameters of the model's scores.

    These are a few numbers per head: w and b of additive scoring, π of relative positions. With
    them and q and k, every weight of the share can be computed after the model is gone.
    """
    name = services[Listing].pick(state.model)
    table = services[Listing].describe(name).attentions
    parts = {part for attention in table for part in attention.scoring.split(" & ")}
    select = []
    if any(SCORINGS[part].learns for part in parts & SCORINGS.keys()):
        select.append("*.scoring.*")
    if any(POSITIONS[part].learns for part in parts & POSITIONS.keys()):
        select.append("*.positions.*")
    request = ParametersRequest(model=name, select=select)
    return [Question(parameters=request)] if select else []


async def _freeze_answer(
    services: Services, state: SentenceState, question: Question, place: str, freezer: Freezer
) -> Answer:
    kind, answer = _answering(services, question)
    with within(f"{place}.{kind}"):
        frozen = await freezer.keep(answer)
    if (other_model := _other_model(services, state, question)) is not None:
        frozen = await off_loop(_described, frozen, other_model, size=len(frozen))
    return Answer(question.model_dump(mode="json", exclude_unset=True), frozen)


def other_models(
    services: Services, state: SentenceState, asks: Sequence[Question]
) -> list[ModelInfo]:
    """Return the models, other than the state's, that requests run."""
    models = list[ModelInfo | None]()
    for n, question in enumerate(asks):
        with within(f"asks[{n}].trace"):
            models.append(_other_model(services, state, question))
    return [model for model in models if model is not None]


def _other_model(services: Services, state: SentenceState, question: Question) -> ModelInfo | None:
    """Return the model that a question runs, if that is not the state's."""
    if question.trace is None:
        return None
    own_model, name = (services[Listing].pick(source.model) for source in (state, question.trace))
    return None if name == own_model else services[Listing].describe(name)


def _described(frozen: bytes, model: ModelInfo) -> bytes:
    """Return a stored reply with the description of the model that made it.

    The reply can then be drawn when that model is gone: its table of attentions says what the rows
    and columns of its tensors are.
    """
    reply = thaw(frozen)
    described = ModelReply.model_validate(model).model_dump()
    whole = replace(reply, document={**reply.document, "described": described})
    return b"".join(WRITERS[ZSTD](whole))


def _answering(
    services: Services, question: Question
) -> tuple[str, Callable[[Encoding], Awaitable[Encoded]]]:
    """Return a request's name in the share, and a function that computes its reply in a format."""
    if (traced := question.trace) is not None:
        return "trace", lambda encoding: run_trace(services, traced, encoding)
    if (request := question.parameters) is not None:
        return "parameters", partial(parameters, services, request.model, request.select)
    if (swept := question.sweep) is not None:
        return "sweep", partial(whole_sweep, services, swept)
    watched = question.learning
    assert watched is not None  # the schema requires one of the four
    return "learning", partial(example, services, watched.model, watched.example)


VIEWS = (
    "decoding",
    "heads",
    "feed-forward",
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
    for attention in attentions:
        blocks.setdefault(attention.block, []).append(attention)
    _one_of("block", state.block, blocks)
    layers = blocks[state.block or [*blocks][-1]]  # the default block of a link
    _below("layer", state.layer, len(layers))
    shape = _shape(reply, layers[state.layer or 0])
    for name, count in zip(("head", "query", "key"), shape, strict=True):
        _below(name, getattr(state, name), count)


def _shape(reply: Reply, attention: AttentionInfo) -> tuple[int, ...]:
    """Return the numbers of heads, queries and keys; a long text has no weights, only pictures."""
    weights = reply.arrays.get(f"{attention.place}.weights")
    if weights is not None:
        return weights.shape
    tokens = reply.document["tokens"]
    return attention.heads, len(tokens[attention.query]), len(tokens[attention.key])


def check_options(settings: Settings, state: Looking) -> None:
    """Raise InputError if an option of a view is longer than the settings allow."""
    limit = settings.max_text_characters
    for name, text in state.options.items():
        if len(text) > limit:
            detail = f"state.{name} may have at most {limit} characters"
            excess = Excess(limit, "characters", len(text))
            raise InputError("too-long", f"state.{name}", detail, excess)


def _one_of(field: str, value: str | None, allowed: Collection[str]) -> None:
    if value is not None and value not in allowed:
        raise InputError("unknown-value", field, f"{field} must be one of: {', '.join(allowed)}")


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


async def create(services: Services, body: ShareRequest, maker: Maker) -> Created:
    """Run the state and the additional requests and store the results; durable on return.

    The same request by the same maker for the same weights returns the existing share. Another
    maker gets another one; otherwise anyone could find out whether a sentence has been shared.

    Raises what `run` and `check` raise, with fields named as in a request for a share, and
    StorageError.
    """
    request = _identity(services, body, maker)
    if existing := await services[Shares].find_request(request):
        share_id, created = existing
        return Created(share_id, None, _expires(services, created))
    keep = partial(_keep, services, body, maker, request)
    if isinstance(body.state, LabShareState):
        return await _create_by_hand(services, body, body.state, maker, keep)
    settings = services[Settings]
    check_options(settings, body.state)
    check_asks(services, body.asks)
    await services[Shares].check_room(maker.address)
    freezer = Freezer(settings.max_values)
    with within("state"):
        long = await is_long(services, body.state)
    slow = long or any(question.sweep for question in body.asks)
    seconds = settings.max_long_seconds if slow else settings.max_wait_seconds
    freeze_state = _freeze_long if long else _freeze_state
    try:
        async with asyncio.timeout(seconds):
            trace = await freeze_state(services, body, body.state, freezer)
            answers = await freeze_answers(services, body.state, body.asks, freezer)
    except TimeoutError as error:
        raise BusyError(f"the model took more than {seconds:g} seconds") from error
    name = services[Listing].pick(body.state.model)
    model = ModelReply.model_validate(services[Listing].describe(name)).model_dump(mode="json")
    return await keep(model, trace, answers)


def _identity(services: Services, body: ShareRequest, maker: Maker) -> str:
    """Return a digest of the request, the weights and the maker."""
    fields = body.model_dump(mode="json", exclude_unset=True)
    digest, other_digests = "", list[str]()
    if not isinstance(body.state, LabShareState):
        with within("state"):
            name = services[Listing].pick(body.state.model)
        digest = services[Listing].describe(name).digest
        other_digests = [info.digest for info in other_models(services, body.state, body.asks)]
    document = [maker.address, maker.token, formats.FORMAT, digest, fields, *other_digests]
    return orjson.dumps(document, option=orjson.OPT_SORT_KEYS).decode()


async def _create_by_hand(
    services: Services,
    body: ShareRequest,
    state: LabShareState,
    maker: Maker,
    keep: Callable[[dict[str, Any], bytes, Sequence[Answer]], Awaitable[Created]],
) -> Created:
    """Create a share of the lab, which has no model and no additional requests."""
    for field in ("select", "asks", "tiles"):
        if getattr(body, field):
            raise InputError("unsupported", field, f"{field} is not for a state of the lab")
    if body.about and body.about.predict:
        detail = "about.predict is not for a state of the lab"
        raise InputError("unsupported", "about.predict", detail)
    await services[Shares].check_room(maker.address)
    reply = await freeze(services, state)
    encoding = Encoding(ZSTD, services[Settings].max_values)
    return await keep({}, (await off_loop(encoding, reply, size=LARGE)).content, [])


async def _keep(
    services: Services,
    body: ShareRequest,
    maker: Maker,
    request: str,
    model: dict[str, Any],
    trace: bytes,
    answers: Sequence[Answer],
) -> Created:
    state = body.state.model_dump(mode="json", exclude_unset=True)
    edit_key = new_edit_key()
    about = body.about.model_dump(mode="json", exclude_none=True) if body.about else {}
    share_added = await services[Shares].add(
        formats.FORMAT,
        state,
        model,
        trace,
        answers,
        about=about or None,
        address=maker.address,
        edit_key=edit_key,
        request=request,
    )
    return Created(share_added.id, edit_key, _expires(services, share_added.created))


def _expires(services: Services, created: datetime) -> datetime | None:
    days = services[Settings].keep_shares_days
    return None if days is None else created + timedelta(days=days)


async def _freeze_state(
    services: Services, body: ShareRequest, state: SentenceState, freezer: Freezer
) -> bytes:
    if body.tiles:
        detail = f"tiles are for texts of more than {MAX_TOKENS} tokens"
        raise InputError("unsupported", "tiles", detail)
    # The client's own patterns come first, so that an error has the client's index.
    with within("state", but="select" if body.select else None):
        model = services[Listing].pick(state.model)
        select = [*body.select, *present(FROZEN, services[Listing].names(model))]
        frozen = await freezer.keep(
            lambda encoding: run(services, state, select, encoding, summarise=["*"])
        )
        reply = await off_loop(thaw, frozen, size=len(frozen))
        check(state, services[Listing].describe(model).attentions, reply)
        return frozen


async def _freeze_long(
    services: Services, body: ShareRequest, state: SentenceState, freezer: Freezer
) -> bytes:
    """Freeze the overview of a long text, and the windows that its picture shows."""
    for field, value in (
        ("select", body.select),
        ("about.predict", body.about and body.about.predict),
    ):
        if value:
            raise InputError("unsupported", field, f"{field} is not for a long text")
    frozen = await freezer.keep(lambda encoding: run_long(services, state, body.tiles, encoding))
    reply = await off_loop(thaw, frozen, size=len(frozen))
    with within("state"):
        check(
            state, services[Listing].describe(services[Listing].pick(state.model)).attentions, reply
        )
    return frozen

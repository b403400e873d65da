"""Shares: freezing what was seen, and showing it again without the model."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial

import orjson
import zstandard
from anyio import to_thread

from app.answers.history import example
from app.answers.share_state import check
from app.answers.traces import parameters, run, run_trace
from app.engine.engine import BusyError
from app.engine.jobs import Encoded, Encoding
from app.engine.wire import JSON, SAFETENSORS, ZSTD, Reply
from app.http.problems import ProblemError
from app.preview.card import preview, sentence
from app.schemas.replies import ModelReply
from app.schemas.shares import Looking, Question, ShareRequest
from app.services import Services
from app.settings import Settings
from app.store import share_formats as formats
from app.store.store import Answer, Share
from model.errors import Excess, InputError
from model.trace.select import present

# What the page draws, so that a share needs no model: attention, what it is made of, and the
# next-token probabilities.
FROZEN = ["*.weights", "*.mask", "*.q", "*.k", "*.v", "*.probabilities", "*.candidates"]
SPACE = re.compile(r"\s+")


async def create(services: Services, wanted: ShareRequest) -> Share:
    """Runs the state and the questions and keeps them with what was seen; durable on return.

    Raises what `run` and `check` raise, with fields named as they stand in a request for a share.
    """
    settings = services.settings
    _check_options(settings, wanted.state)
    freezer = Freezer(settings.max_values)
    try:
        async with asyncio.timeout(settings.max_wait_seconds):
            trace = await _freeze_state(services, wanted, freezer)
            more = [
                await _freeze_answer(services, question, f"asks[{n}]", freezer)
                for n, question in enumerate(wanted.asks)
            ]
    except TimeoutError as error:
        detail = f"the model took more than {settings.max_wait_seconds:g} seconds"
        raise BusyError(detail) from error
    name = services.catalog.pick(wanted.state.model)
    model = ModelReply.model_validate(services.catalog.describe(name)).model_dump()
    state = wanted.state.model_dump(exclude_unset=True)
    return await services.store.add(formats.FORMAT, state, model, trace, more)


class Freezer:
    """Counts the numbers of the replies that a share keeps, as long as there is room for them."""

    def __init__(self, max_values: int) -> None:
        self.max_values = max_values
        self.left = max_values

    async def keep(self, work: Callable[[Encoding], Awaitable[Encoded]]) -> bytes:
        """What the store keeps of a reply; InputError where all of them hold too many numbers."""
        try:
            encoded = await work(Encoding(ZSTD, self.left))
        except InputError as error:
            if error.kind != "reply-too-large":
                raise
            detail = f"a share has at most {self.max_values} numbers"
            excess = Excess(self.max_values, "numbers")
            raise InputError("reply-too-large", "", detail, excess) from error
        self.left -= encoded.values
        return encoded.content


async def find(services: Services, share_id: str) -> Share:
    """The share of an id in today's format.

    Raises a 404 ProblemError if there is none, and what `formats.upgrade` raises.
    """
    share = await services.store.find(share_id)
    if share is None:
        raise ProblemError(404, "unknown-share", "there is no share with this id", field="id")
    return formats.upgrade(share)


async def find_answer(services: Services, share_id: str, n: int) -> bytes:
    """The answer to the n-th question of a share; raises what `find` raises."""
    found = await services.store.find_answer(share_id, n)
    if found is None:
        await find(services, share_id)
        raise ProblemError(404, "not-found", "n counts the questions of the share", field="n")
    written, answer = found
    return formats.upgrade_answer(answer, written)


def card(share: Share) -> dict[str, str]:
    """What a link preview says: the sentence and what the model made of it, each on one line."""
    document = Reply.metadata(zstandard.decompress(share.trace))["trace"]
    written = str(document.get("output", {}).get("text", ""))
    return {
        "id": share.id,
        "title": SPACE.sub(" ", sentence(share.state)).strip(),
        "translation": SPACE.sub(" ", written).strip(),
        "changed": "yes" if share.state.get("interventions") else "",
    }


async def picture(services: Services, share_id: str) -> bytes:
    """The PNG for link previews, drawn off the event loop; a 404 ProblemError without a share."""
    share_id = share_id.lower()
    known = services.previews.get(share_id)
    if known is None:
        share = await find(services, share_id)
        known = services.previews[share_id] = await to_thread.run_sync(_draw, share)
    return known


def _draw(share: Share) -> bytes:
    return preview(share.state, share.model, thaw(share.trace))


def thaw(frozen: bytes) -> Reply:
    """What was seen when the share was made."""
    return Reply.parse(zstandard.decompress(frozen))


def encode(share: Share, media_type: str) -> bytes:
    """The share as JSON, or as a file with all but the trace beside it under "share"."""
    about = {
        "id": share.id,
        "format": share.format,
        "state": share.state,
        "created": share.created.isoformat(timespec="seconds"),
        "model": share.model,
        "asks": share.asks,
    }
    reply = thaw(share.trace)
    if media_type == JSON:
        return orjson.dumps({**about, "trace": orjson.Fragment(reply.json())})
    return reply.write(media_type, share=about)


def encode_answer(answer: bytes, media_type: str) -> bytes:
    """An answer in one of the forms that its question is answered in elsewhere."""
    if media_type == SAFETENSORS:
        return zstandard.decompress(answer)
    return thaw(answer).write(media_type)


def _check_options(settings: Settings, state: Looking) -> None:
    limit = settings.max_text_characters
    for name, text in state.options.items():
        if len(text) > limit:
            detail = f"state.{name} takes at most {limit} characters"
            excess = Excess(limit, "characters", len(text))
            raise InputError("too-long", f"state.{name}", detail, excess)


async def _freeze_state(services: Services, wanted: ShareRequest, freezer: Freezer) -> bytes:
    # The client's own patterns come first, so that an error counts them as the client does.
    with within("state", but="select" if wanted.select else None):
        model = services.catalog.pick(wanted.state.model)
        select = [*wanted.select, *present(FROZEN, services.catalog.names(model))]
        frozen = await freezer.keep(
            lambda encoding: run(services, wanted.state, select, encoding, summarise=["*"])
        )
        seen = await to_thread.run_sync(thaw, frozen)
        check(wanted.state, services.catalog.describe(model).attentions, seen)
        return frozen


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
    """What a question is called in a request, and how it is answered in a form."""
    if (traced := question.trace) is not None:
        return "trace", lambda encoding: run_trace(services, traced, encoding)
    if (asked := question.parameters) is not None:
        answer = partial(parameters, services, asked.model, asked.select)
        return "parameters", partial(to_thread.run_sync, answer)
    watched = question.learning
    assert watched is not None  # the schema takes one of the three
    learned = partial(example, services, watched.model, watched.example)
    return "learning", partial(to_thread.run_sync, learned)


@contextmanager
def within(place: str, but: str | None = None) -> Iterator[None]:
    """Names the field of an InputError as it stands in the request, under `place`.

    A field that begins with `but` stands at the top.
    """
    try:
        yield
    except InputError as error:
        if but and error.field.startswith(but):
            raise
        field = f"{place}.{error.field}".removesuffix(".")
        detail = str(error)
        named = detail.replace(error.field, field, 1) if error.field else f"{field}: {detail}"
        raise InputError(error.kind, field, named, error.excess) from error

"""Pictures of the weights at a link to the workspace or the lab, and the state that it names."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from pydantic import ValidationError

from app.answers.lab import names
from app.answers.shares import thaw
from app.answers.traces import run
from app.engine.jobs import Encoding
from app.engine.model_listing import Listing
from app.engine.wire import ZSTD, Reply
from app.http.byte_cache import ByteCache
from app.http.services import Services
from app.lessons.blocks import Link
from app.lessons.links import JSON_KEYS, NUMBERS, by_hand
from app.off_loop import LARGE, off_loop
from app.preview import card
from app.preview.heatmap import Heatmap
from app.preview.still import still
from app.schemas.replies import ModelReply
from app.schemas.shares import (
    OPTION,
    LabShareState,
    OneTextShareState,
    SentenceState,
    ShareState,
)
from app.schemas.traces import OneTextRunRequest, RunRequest
from app.settings import Settings
from model.errors import InputError
from model.lab.compute import compute
from model.lab.request import LabRequest
from model.trace.tensor_tap import KEY, QUERY

SELECT = ["*.weights", "*.mask"]


async def of_link(services: Services, link: Link) -> bytes:
    """Return the PNG of the weights at a link's place.

    Raises InputError for a link that cannot be read, and what `run` raises.
    """

    async def make() -> bytes:
        return await off_loop(still, await _seen(services, link), size=LARGE)

    model = "" if link.page == "lab" else _digest(services, link)
    made: bytes = await services[ByteCache].find(("still", link, model), make)
    return made


def state_of(services: Services, link: Link) -> SentenceState:
    """Return the state of a link to the workspace; like the page, ignores what cannot be read.

    Raises InputError for an unknown model, and for texts or changes that the API does not accept.
    """
    name = services[Listing].pick(link.state.get("model") or None)
    texts = services[Listing].describe(name).texts
    said = dict(_readable(link.state))
    if len(texts) == 1:
        said = {"text": said.get("source", "")} | {
            name: value
            for name, value in said.items()
            if name not in ("source", "target", "direction")
        }
    try:
        return (OneTextShareState if len(texts) == 1 else ShareState).model_validate(said)
    except ValidationError as error:
        raise _unreadable() from error


def request_of(link: Link) -> LabRequest:
    """Return the request of a link to the lab. Raises InputError if it cannot be read."""
    try:
        return by_hand(link)
    except (ValueError, KeyError, TypeError, ZeroDivisionError) as error:
        raise _unreadable() from error


def lab_state(link: Link, lang: str) -> LabShareState:
    """Return the state of a link to the lab. Raises InputError if it cannot be read."""
    asked = {name: value for name, value in asdict(request_of(link)).items() if value is not None}
    try:
        return LabShareState.model_validate({"lab": asked, "link": link.query, "lang": lang})
    except ValidationError as error:
        raise _unreadable() from error


def weights(state: Mapping[str, Any], model: Mapping[str, Any], reply: Reply) -> Heatmap:
    """Return the weights that a state shows of its trace."""
    if "lab" in state:
        return card.by_hand(state, reply)
    return card.heatmap(card.look(state, model, reply), reply.document)


def _readable(said: Mapping[str, str]) -> Mapping[str, Any]:
    found: dict[str, Any] = {}
    for name, text in said.items():
        if name in NUMBERS:
            if text.isdecimal() and len(text) <= 4:
                found[name] = int(text)
        elif name in JSON_KEYS:
            try:
                found[name] = json.loads(text)
            except ValueError:
                continue
        elif OPTION.fullmatch(name) and (text or name == "source"):
            found[name] = text
    return found


def _unreadable() -> InputError:
    return InputError("not-a-link", "link", "link has values that cannot be read")


def _digest(services: Services, link: Link) -> str:
    name = services[Listing].pick(link.state.get("model") or None)
    return services[Listing].describe(name).digest


async def _seen(services: Services, link: Link) -> Heatmap:
    if link.page == "lab":
        return await off_loop(_by_hand, link, size=LARGE)
    state = state_of(services, link)
    one = isinstance(state, OneTextShareState)
    running = OneTextRunRequest if one else RunRequest
    asked = running.model_validate(
        state.model_dump(exclude_unset=True, include=set(running.model_fields))
    )
    encoding = Encoding(ZSTD, services[Settings].max_values)
    reply = thaw((await run(services, asked, SELECT, encoding)).content)
    info = services[Listing].describe(services[Listing].pick(state.model))
    return weights(state.model_dump(), ModelReply.model_validate(info).model_dump(), reply)


def _by_hand(link: Link) -> Heatmap:
    steps = compute(request_of(link)).steps
    shown, mask = steps["weights"].value[0], steps["mask"].value
    if link.state.get("convention") == "column":
        shown, mask = shown.T, mask.T
    rows, columns = (
        names(link.query, side, count)
        for side, count in zip((QUERY, KEY), shown.shape, strict=True)
    )
    return Heatmap(shown, mask, rows, columns)

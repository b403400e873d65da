"""Handouts of a state or a share; see `app.handouts.handout_html` for the file."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from app.engine.jobs import Encoding
from app.engine.model_listing import Listing
from app.engine.reply_formats import Reply
from app.figures.figure_kinds import HandoutContent
from app.handouts.handout_html import SELECT, handout, lab_handout
from app.handouts.handout_with_model import living_handout
from app.http.file_formats import SAFETENSORS
from app.http.request_fields import within
from app.http.route_dependencies import Services
from app.http.tasks_and_caches import LARGE, off_loop
from app.lab.schemas import LabShareState
from app.lab.service import freeze
from app.local_models.exported_models import ExportedModels
from app.long_texts.schemas import Window
from app.long_texts.service import is_long, run_long
from app.settings import Settings
from app.shares.creation import check, check_options
from app.shares.formats import Answer, Share
from app.shares.frozen_replies import Freezer, check_asks, freeze_answers
from app.shares.schemas import AnyShareState, Question, ShareRequest
from app.shares.service import find_answer, thaw
from app.traces.replies import ModelReply
from app.traces.service import run
from model.trace.tensor_names import present

PLAIN = re.compile(r"[A-Za-z0-9-]+")
UNDRAWN = {"learning", "sweep"}  # requests whose replies no view of a handout draws


async def create(
    services: Services, body: ShareRequest, home: str, theme: str | None, runs: bool = False
) -> bytes:
    """Run a state and the requests besides, and return the handout. Raises as `run_state`.

    With `runs` the model is in it; raises what `ExportedModels.export` raises.
    """
    content = await run_state(services, body.state, body.asks, body.tiles)
    if isinstance(body.state, LabShareState):
        return await off_loop(lab_handout, content.trace, content.about, home, theme)
    if runs:
        return await _living(services, content, home, theme)
    return await off_loop(handout, content, home, theme)


async def _living(
    services: Services, content: HandoutContent, home: str, theme: str | None
) -> bytes:
    """Return the handout with the model in it, which is exported first if it is not yet."""
    model = content.about["model"]
    folder = await services[ExportedModels].export(model["digest"])
    return await off_loop(living_handout, content, model, folder, home, theme)


async def run_state(
    services: Services,
    state: AnyShareState,
    asks: Sequence[Question] = (),
    tiles: Sequence[Window] = (),
) -> HandoutContent:
    """Run a state and the requests besides; `tiles` are the windows of a long text.

    Raises what `run`, `check` and `freeze_answers` do.
    """
    if isinstance(state, LabShareState):
        reply = await freeze(services, state)
        return HandoutContent(
            reply, {"state": state.model_dump(exclude_unset=True), "created": _now()}
        )
    encoding = Encoding(SAFETENSORS, services[Settings].max_values)
    check_options(services[Settings], state)
    check_asks(services, asks)
    with within("state"):
        name = services[Listing].pick(state.model)
        model = services[Listing].describe(name)
        long = await is_long(services, state)
    if long:
        traced = await run_long(services, state, tiles, encoding)
    else:
        with within("state"):
            select = present(SELECT, services[Listing].names(name))
            traced = await run(services, state, select, encoding, summarise=["*"])
    reply = await off_loop(Reply.parse, traced.content, size=len(traced.content))
    with within("state"):
        check(state, model.attentions, reply)
    freezer = Freezer(services[Settings].max_values - reply.values, "a handout")
    drawn = [question for question in asks if not question.model_fields_set & UNDRAWN]
    frozen = await freeze_answers(services, state, drawn, freezer)
    about = {
        "state": state.model_dump(exclude_unset=True),
        "created": _now(),
        "model": ModelReply.model_validate(model).model_dump(),
    }
    return await off_loop(_told, reply, about, frozen, size=LARGE)


async def of_share(
    services: Services,
    share: Share,
    home: str,
    lang: str,
    theme: str | None,
    runs: bool = False,
) -> bytes:
    """Return the handout of a share, in a reader's language; with `runs`, as `create` does."""
    content = await of_kept(services, share, lang)
    if "lab" in share.state:
        return await off_loop(lab_handout, content.trace, content.about, home, theme)
    if runs:
        return await _living(services, content, home, theme)
    return await off_loop(handout, content, home, theme)


async def of_kept(services: Services, share: Share, lang: str) -> HandoutContent:
    """Return what a share holds, in a reader's language. Raises what `find_answer` raises."""
    frozen = [
        Answer(question, await find_answer(services, share.id, n))
        for n, question in enumerate(share.asks)
    ]
    about = {
        "id": share.id,
        "state": {**share.state, "lang": lang},
        "created": share.created.isoformat(timespec="seconds"),
        "model": share.model,
    }
    return await off_loop(lambda: _told(thaw(share.trace), about, frozen), size=LARGE)


def _told(reply: Reply, about: Mapping[str, Any], frozen: Sequence[Answer]) -> HandoutContent:
    drawn = [answer for answer in frozen if not answer.question.keys() & UNDRAWN]
    return HandoutContent(
        reply, about, [(answer.question, thaw(answer.answer)) for answer in drawn]
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def name(state: Mapping[str, Any], runs: bool = False) -> str:
    """Return the file name: the model, and the place at which the handout opens."""
    if "lab" in state:
        return "headlight-by-hand.html"
    place = (f"{key}-{state[key] + 1}" for key in ("layer", "head") if state.get(key) is not None)
    parts = ["headlight", *(state.get(key) for key in ("model", "view", "block")), *place]
    named = [part for part in parts if part and PLAIN.fullmatch(part)]
    return "-".join([*named, "runs"] if runs else named) + ".html"

"""Handouts of a state or a share; see `app.handout_file` for the file."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from app.answers.field_names import within
from app.answers.lab import freeze
from app.answers.share_state import check, check_options
from app.answers.shares import thaw
from app.answers.traces import run
from app.dependencies import Services
from app.engine.jobs import Encoding
from app.engine.wire import SAFETENSORS, Reply
from app.handout_file import SELECT, handout, lab_handout
from app.off_loop import off_loop
from app.schemas.replies import ModelReply
from app.schemas.shares import AnyShareState, LabShareState
from app.store.store import Share
from model.trace.name_patterns import present

PLAIN = re.compile(r"[A-Za-z0-9-]+")


async def create(services: Services, state: AnyShareState, home: str, theme: str | None) -> bytes:
    """Run a state and return its handout. Raises what `run` and `check` raise."""
    if isinstance(state, LabShareState):
        reply = await freeze(services, state)
        about = {"state": state.model_dump(exclude_unset=True), "created": _now()}
        return await off_loop(lab_handout, reply, about, home, theme)
    encoding = Encoding(SAFETENSORS, services.settings.max_values)
    check_options(services.settings, state)
    with within("state"):
        name = services.catalog.pick(state.model)
        model = services.catalog.describe(name)
        select = present(SELECT, services.catalog.names(name))
        seen = await run(services, state, select, encoding, summarise=["*"])
        reply = await off_loop(Reply.parse, seen.content, size=len(seen.content))
        check(state, model.attentions, reply)
    about = {
        "state": state.model_dump(exclude_unset=True),
        "asks": [],
        "created": _now(),
        "model": ModelReply.model_validate(model).model_dump(),
    }
    return await off_loop(handout, reply, about, home, theme)


def of_share(share: Share, home: str, lang: str, theme: str | None) -> bytes:
    """Return the handout of a share, in a reader's language."""
    about = {
        "id": share.id,
        "state": {**share.state, "lang": lang},
        "asks": [],
        "created": share.created.isoformat(timespec="seconds"),
        "model": share.model,
    }
    make = lab_handout if "lab" in share.state else handout
    return make(thaw(share.trace), about, home, theme)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def name(state: Mapping[str, Any]) -> str:
    """Return the file name: the model, and the place at which the handout opens."""
    if "lab" in state:
        return "headlight-by-hand.html"
    place = (f"{key}-{state[key] + 1}" for key in ("layer", "head") if state.get(key) is not None)
    parts = ["headlight", *(state.get(key) for key in ("model", "view", "block")), *place]
    return "-".join(part for part in parts if part and PLAIN.fullmatch(part)) + ".html"

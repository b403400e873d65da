"""The figures of the workspace: a sentence in a view, and the opening's pairing of two words."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from app.engine.jobs import Encoding
from app.engine.model_listing import Listing
from app.engine.reply_formats import Reply
from app.figures import preview_picture
from app.figures.figure_kinds import KINDS, FigureKind
from app.figures.heatmap import Heatmap
from app.figures.links import Link
from app.figures.sentence_states import OneTextShareState, SentenceState, state_of
from app.http.file_formats import SAFETENSORS
from app.http.route_dependencies import Services
from app.settings import Settings
from app.traces.replies import ModelReply
from app.traces.schemas import OneTextRunRequest, RunRequest
from app.traces.service import run

SELECT = ["*.weights", "*.mask"]
WORD_INDEX = re.compile(r"\d{0,3}")


def heatmap_of(state: Mapping[str, Any], model: Mapping[str, Any], reply: Reply) -> Heatmap:
    """Return the weights that a state shows of its trace."""
    if "lab" in state:
        return preview_picture.by_hand(state, reply)
    return preview_picture.heatmap(preview_picture.look(state, model, reply), reply.document)


def over(figure: Link, state: Mapping[str, str]) -> Link:
    """Return a figure's link with the values of a state in place of its own."""
    return Link(figure.page, urlencode({**figure.state, **state}))


async def _weights(services: Services, link: Link) -> Heatmap:
    state = state_of(services, link)
    request = OneTextRunRequest if isinstance(state, OneTextShareState) else RunRequest
    fields = state.model_dump(exclude_unset=True, include=set(request.model_fields))
    encoding = Encoding(SAFETENSORS, services[Settings].max_values)
    encoded = await run(services, request.model_validate(fields), SELECT, encoding)
    info = services[Listing].describe(services[Listing].pick(state.model))
    model = ModelReply.model_validate(info).model_dump()
    return heatmap_of(state.model_dump(), model, Reply.parse(encoded.content))


def _digest(services: Services, link: Link) -> str:
    name = services[Listing].pick(link.state.get("model") or None)
    return services[Listing].describe(name).digest


def _state(services: Services, link: Link, lang: str) -> SentenceState:
    return state_of(services, link).model_copy(update={"lang": lang})


def _fitting(services: Services, figure: Link, stated: Link) -> Link | None:
    if not stated.state.get("source", "").strip():
        return None
    state_of(services, stated)
    return stated


def _fitting_pairing(services: Services, figure: Link, stated: Link) -> Link | None:
    word = stated.state.get("word", "")
    if stated.state["opening"] != "1" or not WORD_INDEX.fullmatch(word):
        return None
    # Where the lesson opens the workspace, and what its picture is drawn of.
    return _fitting(services, figure, over(figure, stated.state))


KINDS["workspace"] = FigureKind(_fitting, _weights, _digest, state=_state)
KINDS["pairing"] = FigureKind(_fitting_pairing, _weights, _digest, state=_state)

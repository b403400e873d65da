"""What a work is, and whether it reaches its goal.

A work is a link of the workspace. What its author may choose is taken from it: the sentence, the
head, or the changes of the model; all else that determines the run is that of the question. Its run
is priced and queued like any trace of the author's, and refused with the same words.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import parse_qsl, urlencode

from pydantic import Field

from app.engine.jobs import Encoding
from app.engine.model_listing import Listing
from app.engine.reply_formats import Reply
from app.figures.challenge_goals import (
    Goal,
    Verdict,
    broken_rule,
    check_goal,
    is_about_weights,
    judge,
)
from app.figures.links import Link
from app.figures.sentence_figures import OneTextShareState, SentenceState, state_of
from app.http.file_formats import SAFETENSORS
from app.http.request_fields import Text
from app.http.route_dependencies import Services
from app.settings import Settings
from app.traces.schemas import OneTextRunRequest, RunRequest
from app.traces.service import run
from model.errors import Excess, InputError
from model.trace.attentions import AttentionInfo

MAX_WORK = 2_000  # characters of a work's link
MAX_FITTED = 2 * MAX_WORK  # of a work's link with what is the question's
CHOSEN = {
    "sentence": ("source",),
    "head": ("block", "layer", "head"),
    "change": ("interventions",),
}
# Keys of a link that determine a run and its head; of others, what a member has pinned is shown.
RUN = {name for names in CHOSEN.values() for name in names}
RUN |= {"model", "direction", "target", "decode", "pad_to", "chat", "pair"}

WorkLink = Annotated[
    Text, Field(max_length=MAX_WORK, pattern=r"^/\?[^\s#\\]*$", description="Of the workspace.")
]


def check_ask(services: Services, about: Mapping[str, Any]) -> None:
    """Raise InputError for a goal that no run of the question's link could be checked for."""
    if "goal" not in about:
        return  # what asking says
    goal = Goal.model_validate(about["goal"])
    check_goal(goal)
    if len(about["link"]) > MAX_WORK:
        detail = f"ask.link may have at most {MAX_WORK} characters"
        raise InputError("too-long", "ask.link", detail, Excess(MAX_WORK, "characters"))
    state = state_of(services, Link("workspace", about["link"].removeprefix("?")))
    info = services[Listing].describe(services[Listing].pick(state.model))
    if is_about_weights(goal):
        _attention(info.attentions, state)
    elif goal.kind != "any" and "decode" not in info.capabilities:
        detail = "ask.goal is about what the model writes, and it writes nothing"
        raise InputError("does-not-fit", "ask.goal", detail)


def fitted(about: Mapping[str, Any], link: str) -> str:
    """Return a work's link with what its member may choose, and all else from the question's."""
    goal = Goal.model_validate(about["goal"])
    asked_state = dict(parse_qsl(about["link"].removeprefix("?"), keep_blank_values=True))
    chosen = {name for kind in goal.free for name in CHOSEN[kind]}
    fixed = RUN - chosen
    if "sentence" in goal.free or goal.kind in ("contains", "lacks"):
        fixed.discard("target")  # the model writes its own
    state = {
        name: text
        for name, text in Link.parse(link).state.items()
        if name in chosen or name not in RUN
    }
    state |= {name: text for name, text in asked_state.items() if name in fixed}
    fitted_link = f"/?{urlencode(state)}"
    if len(fitted_link) > MAX_FITTED:
        detail = f"link may have at most {MAX_FITTED} characters once it is encoded"
        raise InputError("too-long", "link", detail, Excess(MAX_FITTED, "characters"))
    return fitted_link


async def checked(services: Services, about: Mapping[str, Any], link: str) -> Verdict:
    """Return whether a work reaches the goal. Raises InputError and what a run raises."""
    goal = Goal.model_validate(about["goal"])
    state = state_of(services, Link.parse(link))
    source = next(iter(state.texts.values())) or ""
    if not source.strip():
        raise InputError("missing", "link", "link has no sentence")
    original = dict(parse_qsl(about["link"].removeprefix("?"))).get("source", "")
    if broken := broken_rule(goal, source, original):
        return broken
    if goal.kind == "any":
        return Verdict(does=True if goal.uses or goal.one_word else None)
    info = services[Listing].describe(services[Listing].pick(state.model))
    select = []
    if is_about_weights(goal):
        attention, head = _attention(info.attentions, state)
        select = [f"{attention.place}.weights@{head}"]
    reply = await _run(services, state, select)
    return judge(goal, reply, info.attentions, source)


async def _run(services: Services, state: SentenceState, select: list[str]) -> Reply:
    request = OneTextRunRequest if isinstance(state, OneTextShareState) else RunRequest
    fields = state.model_dump(exclude_unset=True, include=set(request.model_fields))
    encoding = Encoding(SAFETENSORS, services[Settings].max_values)
    encoded = await run(services, request.model_validate(fields), select, encoding)
    return Reply.parse(encoded.content)


def _attention(table: Sequence[AttentionInfo], state: SentenceState) -> tuple[AttentionInfo, int]:
    """Return the attention and the head that a link names. Raises InputError if it has none."""
    block, layer, head = state.block or table[-1].block, state.layer or 0, state.head or 0
    for attention in table:
        if attention.block == block and attention.layer == layer and head < attention.heads:
            return attention, head
    raise InputError("does-not-fit", "link", "link names a head that the model does not have")


def work_words(link: str, about: Mapping[str, Any]) -> str:
    """Return a work in words: its sentence, and of what else could be chosen, what was."""
    free = about["goal"]["free"]
    state = Link.parse(link).state
    layer, head = (_number(state.get(name, "")) for name in ("layer", "head"))
    place = f"layer {layer}, head {head}"
    block = f"{state['block']}, " if state.get("block") else ""
    changes = state.get("interventions", "") if "change" in free else ""
    parts = [state.get("source", ""), block + place if "head" in free else "", changes]
    return " · ".join(part for part in parts if part)


def _number(text: str) -> int:
    """Return a number of a link, counted from 1, as the page reads it."""
    return int(text) + 1 if re.fullmatch(r"[0-9]{1,4}", text) else 1

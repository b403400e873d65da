"""The figures of the workspace: a sentence in a view, and the opening's pairing of two words.

Their states, which are read from links, say how to run a sentence, and what to show of it. A state
that names no head opens on one that the figure's numbers name.
"""

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from app.engine.jobs import Encoding
from app.engine.model_listing import Listing
from app.engine.reply_formats import Reply
from app.figures import preview_picture
from app.figures.figure_kinds import KINDS, FigureKind, HandoutContent
from app.figures.heatmap import Heatmap
from app.figures.links import Link
from app.figures.preview_picture import Seen, look
from app.http.file_formats import SAFETENSORS
from app.http.request_fields import Count, Name, Strict, Text
from app.http.route_dependencies import Services
from app.settings import Settings
from app.traces.replies import ModelReply
from app.traces.schemas import OneTextRunRequest, RunRequest
from app.traces.service import run
from model.errors import InputError
from model.trace.attentions import AttentionInfo

MAX_OPTIONS = 32

OPTION = re.compile(r"[a-z_]{1,20}")

JSON_KEYS = ("decode", "interventions")

NUMBERS = ("pad_to", "layer", "head", "query", "key")


class Looking(Strict):
    """The place and view to show, and the options of the view.

    As in the address bar, the options of views are on the same level as the other keys, and texts.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Text]

    view: Name | None = None
    block: Name | None = None
    layer: Count | None = None
    head: Count | None = None
    query: Count | None = None
    key: Count | None = None
    lang: Name | None = None

    @property
    def options(self) -> dict[str, str]:
        """Return the options of views, by name."""
        return self.__pydantic_extra__

    @model_validator(mode="before")
    @classmethod
    def _options(cls, state: Any) -> Any:
        """Check names first: errors in values name their field, so it must be a valid name."""
        if isinstance(state, dict):
            names = [name for name in state if name not in cls.model_fields]
            if not all(OPTION.fullmatch(name) for name in names):
                raise PydanticCustomError("option_name", "bad name")
            if len(names) > MAX_OPTIONS:
                raise PydanticCustomError("options_many", "too many", {"limit": MAX_OPTIONS})
        return state


class ShareState(RunRequest, Looking):
    """The state in the address bar: how to run a sentence, and what to show."""


class OneTextShareState(OneTextRunRequest, Looking):
    """The state in the address bar for a model that reads one text."""


SentenceState = ShareState | OneTextShareState


def running(state: ShareState) -> RunRequest:
    """Return the part of a state that determines the run."""
    fields = state.model_dump(exclude_unset=True, include=set(RunRequest.model_fields))
    return RunRequest.model_validate(fields)


def state_of(services: Services, link: Link) -> SentenceState:
    """Return the state of a link to the workspace; like the page, ignores what cannot be read.

    Raises InputError for an unknown model, and for texts or changes that the API does not accept.
    """
    name = services[Listing].pick(link.state.get("model") or None)
    info = services[Listing].describe(name)
    texts = info.texts
    fields = dict(_readable(link.state))
    if len(texts) == 1:
        if "pair" not in info.capabilities:
            fields.pop("pair", None)
        fields = {"text": fields.get("source", "")} | {
            name: value
            for name, value in fields.items()
            if name not in ("source", "target", "direction")
        }
    try:
        return (OneTextShareState if len(texts) == 1 else ShareState).model_validate(fields)
    except ValidationError as error:
        raise unreadable() from error


def _readable(parameters: Mapping[str, str]) -> Mapping[str, Any]:
    fields: dict[str, Any] = {}
    for name, text in parameters.items():
        if name in NUMBERS:
            if text.isdecimal() and len(text) <= 4:
                fields[name] = int(text)
        elif name in JSON_KEYS:
            try:
                fields[name] = json.loads(text)
            except (ValueError, RecursionError):  # the latter for thousands of brackets
                continue
        elif OPTION.fullmatch(name) and (text or name == "source"):
            fields[name] = text
    return fields


def unreadable() -> InputError:
    """Return the error for a link with values that cannot be read."""
    return InputError("not-a-link", "link", "link has values that cannot be read")


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

FIXED = 0.1  # what a head still tells that looks at a fixed distance


def opened(content: HandoutContent) -> Seen:
    """Return the weights on which the page opens: those that are named, or the best of a block.

    That is the head which aligns best if the model says so, otherwise the most informative one.
    """
    state, model, trace = content.about["state"], content.about["model"], content.trace
    selection = look(state, model, trace)
    if state.get("layer") is not None or state.get("head") is not None:
        return selection
    block = selection.attention.block
    aligners = model.get("aligners") or []
    best = next((entry for entry in aligners if entry["rows"] == "writes"), None)
    if best and selection.attention.query != selection.attention.key:
        return look({**state, "layer": best["layer"], "head": best["head"]}, model, trace)
    layer, head, most = 0, 0, -1.0
    for attention in (AttentionInfo(**fields) for fields in model["attentions"]):
        weights = trace.arrays.get(f"{attention.place}.weights")
        if attention.block != block or weights is None:
            continue
        for index, matrix in enumerate(weights):
            score = _informativeness(matrix, attention, selection, trace)
            if score > most:
                layer, head, most = attention.layer, index, score
    return look({**state, "block": block, "layer": layer, "head": head}, model, trace)


def _informativeness(
    weights: NDArray[np.float32], attention: AttentionInfo, selection: Seen, trace: Reply
) -> float:
    """Return what the page ranks heads by (static/js/core/compute/attention-row.js)."""
    document = trace.document
    read = document["tokens"]
    rows = document["output"]["tokens"] if selection.written else read[attention.query]
    same = attention.query == attention.key
    special = [token["special"] for token in read[attention.key]]
    if same and not any(special):
        special[0] = True  # a head that has nothing to look at looks there
    mask = trace.arrays[f"{attention.place}.mask"]
    looks: list[tuple[int, int, float]] = []  # query, key, weight
    keys = _keys_looked_at_most(weights, mask)
    for query, (key, token) in enumerate(zip(keys, rows, strict=False)):
        if key is None or token["special"] or special[key] or (same and key == query):
            continue
        looks.append((query, key, float(weights[query, key])))
    if not looks:
        return 0.0
    looked, distances = {key for _, key, _ in looks}, {key - query for query, key, _ in looks}
    varied = (len(distances) - 1) / (len(looks) - 1) if same and len(looks) > 1 else 1.0
    mean = sum(weight for *_, weight in looks) / len(rows)
    return mean * len(looked) / len(rows) * (FIXED + (1 - FIXED) * varied)


def _keys_looked_at_most(weights: NDArray[np.float32], mask: NDArray[np.bool_]) -> list[int | None]:
    """Return the key with the largest weight of several in each row; None if two print the same."""
    keys = weights.argmax(-1)
    largest = weights.max(-1)
    others = weights.copy()
    np.put_along_axis(others, keys[:, None], -1, axis=-1)
    second = others.max(-1)
    several = mask.sum(-1) > 1
    return [
        int(key) if weight > 0 and many and f"{weight:.2f}" != f"{next_weight:.2f}" else None
        for key, weight, next_weight, many in zip(keys, largest, second, several, strict=True)
    ]

"""States of the workspace: how to run a sentence, and what to show of it; read from links."""

import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic import ConfigDict, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from app.engine.model_listing import Listing
from app.figures.links import Link
from app.http.request_fields import Count, Name, Strict, Text
from app.http.route_dependencies import Services
from app.traces.schemas import OneTextRunRequest, RunRequest
from model.errors import InputError

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

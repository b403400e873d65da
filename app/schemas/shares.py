"""What the API takes and answers about shares, as pydantic models."""

import re
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from app.schemas.fields import (
    BY_HAND,
    ONE_TEXT,
    TWO_TEXTS,
    ByWhatIsShared,
    Count,
    Name,
    NamePattern,
    Selected,
    Strict,
    Text,
)
from app.schemas.history import ExampleRequest
from app.schemas.lab import LabBody
from app.schemas.replies import LabTraceReply, ModelReply, TraceReply
from app.schemas.traces import AnyTraceRequest, OneTextRunRequest, RunRequest

MAX_ASKS = 4
MAX_OPTIONS = 32
MAX_LINK = 8_000  # of the lab: its largest matrices, with 12 characters a number
OPTION = re.compile(r"[a-z_]{1,20}")


class Looking(Strict):
    """What is looked at, and what a view was set to.

    Options of views stand beside the rest as they do in the address bar: flat, all of them texts.
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
        """Options of views, by name."""
        return self.__pydantic_extra__

    @model_validator(mode="before")
    @classmethod
    def _options(cls, state: Any) -> Any:
        """Names first: what is said of a value names its field, which must not be anything."""
        if isinstance(state, dict):
            names = [name for name in state if name not in cls.model_fields]
            if not all(OPTION.fullmatch(name) for name in names):
                raise PydanticCustomError("option_name", "bad name")
            if len(names) > MAX_OPTIONS:
                raise PydanticCustomError("options_many", "too many", {"limit": MAX_OPTIONS})
        return state


class ShareState(RunRequest, Looking):
    """What the address bar holds: how to run a sentence, and what is looked at."""


class OneTextShareState(OneTextRunRequest, Looking):
    """The same for a model that reads one text."""


SentenceState = ShareState | OneTextShareState


class LabShareState(Strict):
    """Attention by hand: what is computed, and the link that the page opens with."""

    lab: LabBody
    before: LabBody | None = Field(
        default=None,
        description="Where the link says that the words are shuffled: the same in their order as "
        "written. Its steps are kept beside the others, as `before.…`.",
    )
    link: Annotated[Text, Field(max_length=MAX_LINK)] = Field(
        description="The query string of the lab's address. What it says is not checked."
    )
    lang: Name | None = None


AnyShareState = Annotated[
    Annotated[ShareState, Tag(TWO_TEXTS)]
    | Annotated[OneTextShareState, Tag(ONE_TEXT)]
    | Annotated[LabShareState, Tag(BY_HAND)],
    Field(discriminator=ByWhatIsShared),
]


class ParametersRequest(Strict):
    """Matrices of a model, as in `GET /api/models/{id}/parameters`."""

    model: Name | None = Field(default=None, description="A model's id; absent: the first model.")
    select: list[NamePattern]


class Question(Strict):
    """What a view asked beside the trace of its state: one of these."""

    trace: AnyTraceRequest | None = None
    parameters: ParametersRequest | None = None
    learning: ExampleRequest | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(one is not None for one in (self.trace, self.parameters, self.learning)) != 1:
            raise PydanticCustomError("one_question", "one of three")
        return self


class ShareRequest(Strict):
    """A state to keep, with what the server sees in it now."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"state": {"source": "The cat sat on the mat.", "block": "cross", "layer": 1}},
                {
                    "state": {"source": "The cat sat on the mat.", "view": "worksheet"},
                    "select": ["encoder.0.*"],
                    "asks": [{"parameters": {"select": ["encoder.0.self.W_q"]}}],
                },
            ]
        }
    )

    state: AnyShareState
    select: list[Selected] = Field(
        default=[], description="What to freeze beside what every share holds, as in a trace."
    )
    asks: list[Question] = Field(
        default=[], max_length=MAX_ASKS, description="Further questions, frozen with their answers."
    )


class ShareCreated(BaseModel):
    """The share is kept and will open."""

    id: str
    url: str
    edit_key: str = Field(description="Deletes the share. It is told here and nowhere else.")
    expires: str | None = Field(description="ISO 8601, UTC; null: it is kept for good.")


class ShareReply(BaseModel):
    """A share: its state, and what the server saw when it was made."""

    id: str
    format: int = Field(description="Of the reply: what it means, whatever server wrote the share.")
    state: AnyShareState
    created: str = Field(description="ISO 8601, UTC.")
    model: ModelReply | None = Field(
        description="The model as it was then; null of attention by hand, which asks none."
    )
    asks: list[Question] = Field(
        description="The questions as asked; `GET /api/shares/{id}/asks/{n}` has the answers."
    )
    trace: TraceReply | LabTraceReply

"""Requests and replies about shares."""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from app.figures.sentence_figures import OneTextShareState, ShareState
from app.http.request_fields import Name, NamePattern, Strict, Text, union_tag
from app.lab import LabShareState
from app.long_texts.schemas import OverviewReply, Window
from app.models import ExampleRequest
from app.traces.replies import LabTraceReply, ModelReply, TraceReply
from app.traces.schemas import ONE_TEXT, TWO_TEXTS, AnyTraceRequest, Selected, by_texts
from app.traces.service import AnySweepRequest

MAX_ASKS = 20  # of eight runs side by side, two each
MAX_TILES = 64
MAX_TITLE, MAX_NOTE = 200, 2_000  # characters of the author's title and texts
MAX_SENDER = 80  # characters of the author's name


BY_HAND = union_tag("by hand")


def _by_what_is_shared(state: Any) -> str:
    keys = state if isinstance(state, dict) else getattr(type(state), "model_fields", ())
    return BY_HAND if "lab" in keys else by_texts(state)


AnyShareState = Annotated[
    Annotated[ShareState, Tag(TWO_TEXTS)]
    | Annotated[OneTextShareState, Tag(ONE_TEXT)]
    | Annotated[LabShareState, Tag(BY_HAND)],
    Field(discriminator=Discriminator(_by_what_is_shared)),
]


class ParametersRequest(Strict):
    """Parameters of a model, as in `GET /api/models/{id}/parameters`."""

    model: Name | None = Field(default=None, description="A model's id; absent: the first model.")
    select: list[NamePattern]


class Question(Strict):
    """An additional request of a view, besides the trace of its state: exactly one of these."""

    trace: AnyTraceRequest | None = None
    parameters: ParametersRequest | None = None
    learning: ExampleRequest | None = None
    sweep: AnySweepRequest | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        requests = (self.trace, self.parameters, self.learning, self.sweep)
        if sum(request is not None for request in requests) != 1:
            raise PydanticCustomError("one_question", "one of four")
        return self


class About(Strict):
    """The author's texts for the readers of a share: plain text."""

    title: Annotated[Text, Field(min_length=1, max_length=MAX_TITLE)] | None = None
    note: Annotated[Text, Field(min_length=1, max_length=MAX_NOTE)] | None = None
    question: Annotated[Text, Field(min_length=1, max_length=MAX_TITLE)] | None = None
    answer: Annotated[Text, Field(min_length=1, max_length=MAX_NOTE)] | None = Field(
        default=None, description="Answer to the question; the page shows it on request."
    )
    sender: Annotated[Text, Field(min_length=1, max_length=MAX_SENDER)] | None = Field(
        default=None, description="Who sends it, as its readers know them; never checked."
    )
    predict: Literal["looks", "head", "next", "off", "row"] | None = Field(
        default=None,
        description="A kind of prediction that the page asks for, about the state's place, before "
        "it shows the figure.",
    )

    @model_validator(mode="after")
    def _answers_something(self) -> Self:
        if self.answer is not None and self.question is None:
            raise PydanticCustomError("answer_alone", "an answer needs a question")
        return self


class ShareRequest(Strict):
    """A state to store, together with the server's results for it."""

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
        default=[], description="Tensors to freeze besides those in every share, as in a trace."
    )
    asks: list[Question] = Field(
        default=[], max_length=MAX_ASKS, description="More requests, frozen with their replies."
    )
    tiles: list[Window] = Field(
        default=[],
        max_length=MAX_TILES,
        description="Windows of a long text to freeze, as in `POST /api/tile`.",
    )
    about: About | None = None


class ShareCreated(BaseModel):
    """The share is stored and will open."""

    id: str
    url: str
    edit_key: str | None = Field(
        description="Deletes the share. Returned only once: null if this client has already made "
        "this share."
    )
    expires: str | None = Field(description="ISO 8601, UTC; null: kept permanently.")


class ShareReply(BaseModel):
    """A share: its state, and the results from when it was created."""

    id: str
    format: int = Field(description="Format of this reply, whichever server wrote the share.")
    state: AnyShareState
    created: str = Field(description="ISO 8601, UTC.")
    model: ModelReply | None = Field(
        description="The model as it was then; null for attention by hand, which has none."
    )
    asks: list[Question] = Field(
        description="The requests as sent; `GET /api/shares/{id}/asks/{n}` has the replies."
    )
    about: About | None = Field(description="The author's texts; null: none.")
    trace: TraceReply | LabTraceReply | OverviewReply = Field(
        description="Of a long text an overview, with the frozen windows as `tile.0` and so on."
    )

"""Requests that run a model: the source of the OpenAPI reference.

The model checks the values that depend on it: a tensor's name, a head, a length in tokens.
"""

from dataclasses import replace
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Discriminator, Field, Tag

from app.engine.tensor_selection import ENTRY, Dtype
from app.http.fields import Name, NamePattern, Strict, Text, Whole, unicode_text, union_tag
from app.schemas.decoding import DecodeOptions, decode_of
from app.traces.interventions import InterventionRequest
from model.adapters.requests.request import Request, in_chat

# A pattern of tensor names, with an optional window and dtype.
Selected = Annotated[str, Field(max_length=128, pattern=ENTRY), AfterValidator(unicode_text)]

TWO_TEXTS, ONE_TEXT = union_tag("two texts"), union_tag("one text")


def by_texts(request: Any) -> str:
    """Choose the kind of request by its texts, so that an error is about the intended kind."""
    keys = request if isinstance(request, dict) else getattr(type(request), "model_fields", ())
    return ONE_TEXT if "text" in keys and "source" not in keys else TWO_TEXTS


ByTexts = Discriminator(by_texts)


class Asking(Strict):
    """Fields of every request for a run, for any model."""

    model: Name | None = Field(default=None, description="A model's id; absent: the first model.")
    decode: DecodeOptions = DecodeOptions()
    interventions: list[InterventionRequest] = Field(default=[], description="Applied in order.")

    @property
    def texts(self) -> dict[str, str | None]:
        """Return the texts as sent, by name; the first is the one that is read."""
        raise NotImplementedError

    def asked(self) -> Request:
        """Convert the request to a `Request` that selects nothing."""
        read, *_ = self.texts.values()
        return Request(
            source=read or "",
            decode=decode_of(self.decode),
            interventions=tuple(one.intervention() for one in self.interventions),
            select=(),
        )


class Sentence(Asking):
    """A sentence for an encoder–decoder, and how to translate it."""

    source: Text = Field(description="The sentence, as typed.")
    direction: Name | None = Field(
        default=None, description="Such as `en-zh`; absent: detected from the script."
    )

    @property
    def texts(self) -> dict[str, str | None]:
        return {"source": self.source, "target": getattr(self, "target", None)}

    def asked(self) -> Request:
        return replace(super().asked(), direction=self.direction)


class OneText(Asking):
    """A text for a model that reads one."""

    text: Text = Field(description="The text, as typed.")
    chat: bool = Field(
        default=False,
        description="Read the text as a user's turn of a chat, with the model's chat template.",
    )

    @property
    def texts(self) -> dict[str, str | None]:
        return {"text": self.text}

    def asked(self) -> Request:
        asked = super().asked()
        if not self.chat:
            return asked
        # Another sentence is another turn.
        made = tuple(replace(one, value=in_chat(one.value)) for one in asked.interventions)
        return replace(asked, chat=True, interventions=made)


class Running(Asking):
    """How to run the text."""

    pad_to: Whole | None = Field(default=None, description="Pad each text to this many tokens.")

    def request(self, select: list[str], summarise: list[str]) -> Request:
        """Convert the request to a `Request`."""
        return replace(
            self.asked(),
            target=self.texts.get("target"),
            select=tuple(select),
            summarise=tuple(summarise),
            pad_to=self.pad_to,
        )


class RunRequest(Sentence, Running):
    """A sentence and how to run it."""

    target: Text | None = Field(
        default=None, description="The text to score; absent: the model writes one."
    )


class OneTextRunRequest(OneText, Running):
    """A text and how to run it."""


class Recording(Strict):
    """The tensors to record in a run."""

    select: list[Selected] = Field(
        default=["*.weights"],
        description='Patterns (`*`, `?`, `[…]`) of tensor names. `[]` selects none, `["*"]` all '
        "but `….logits` and the derived tensors `inside.*`. A pattern can be followed by "
        "a window (an index or a range for each axis) and a dtype: "
        "`encoder.0.self.weights@3,0:64,0:64:float16`. The tensor's name in the reply "
        "includes both.",
    )
    summarise: list[NamePattern] = Field(
        default=[],
        description="Patterns of attentions, such as `encoder.*.self`, whose heads to summarise. "
        "Summaries are computed from the exact weights, whatever `dtype` is.",
        examples=[["encoder.*.self"]],
    )
    dtype: Dtype = Field(
        default="float32",
        description="Type of the numbers sent, unless `select` gives another. `uint8` is "
        "value · 255, for weights only.",
    )


class TraceRequest(RunRequest, Recording):
    """A sentence, how to run it, and what to record."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"source": "The cat sat on the mat."},
                {
                    "source": "The cat sat on the mat.",
                    "target": "猫坐在垫子上。",
                    "select": ["encoder.0.self.*"],
                    "interventions": [{"at": "encoder.1.self", "head": 3, "do": "zero"}],
                },
            ]
        }
    )


class OneTextTraceRequest(OneTextRunRequest, Recording):
    """A text, how to run it, and what to record."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"text": "The cat sat"}]})


AnyTraceRequest = Annotated[
    Annotated[TraceRequest, Tag(TWO_TEXTS)] | Annotated[OneTextTraceRequest, Tag(ONE_TEXT)],
    Field(discriminator=ByTexts),
]

"""What the API takes and answers, as pydantic models: the source of the OpenAPI reference.

Requests are strict: no field that is not known, no number in quotes, no NaN, no lone surrogate,
no NUL. What only a model can judge (a tensor's name, a head, a length in tokens) it judges itself.
"""

from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Discriminator, Field, Tag
from pydantic import Strict as Strictly
from pydantic_core import PydanticCustomError

from model.intervene import Cell, Intervention
from model.request import Decode, Request

# Far beyond any model, and within what JSON and the database hold.
Whole = Annotated[int, Field(ge=-1_000_000_000, le=1_000_000_000)]
Count = Annotated[Whole, Field(ge=0)]


def _unicode(text: str) -> str:
    if "\0" in text:
        raise PydanticCustomError("nul", "must not contain NUL")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise PydanticCustomError("surrogate", "must not contain lone surrogates")
    return text


Text = Annotated[str, AfterValidator(_unicode)]
Name = Annotated[str, Field(max_length=64), AfterValidator(_unicode)]
Pattern = Annotated[Name, Field(pattern=r"^[A-Za-z0-9_.*?\[\]!-]*$")]


class Strict(BaseModel):
    """A request, or a part of one."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False, frozen=True)


class DecodeOptions(Strict):
    """How a target is written when none is given."""

    method: Literal["greedy", "beam", "sample"] = "greedy"
    beam: Whole = Field(default=4, description="Hypotheses kept (for `beam`).")
    length_penalty: float = Field(default=0.6, description="α of the length penalty (for `beam`).")
    max_tokens: Whole | None = Field(default=None, description="Tokens written at most.")
    temperature: float = Field(default=1.0, description="Under 1 safer, over 1 bolder (`sample`).")
    top_k: Whole | None = Field(default=None, description="Of the k most probable (`sample`).")
    top_p: float = Field(default=1.0, description="Of the fewest with this probability (`sample`).")
    seed: Whole = Field(default=0, description="The same seed draws the same (for `sample`).")
    prefix: Annotated[tuple[Whole, ...], Strictly(False)] = Field(
        default=(), description="Ids of the vocabulary that it begins with, whatever the method."
    )


Index = Annotated[Whole, Field(ge=0)]
Edge = Annotated[tuple[Index, Index], Strictly(False)]


class SetWeight(Strict):
    """A weight, instead of the one that the softmax gave."""

    set: Annotated[tuple[Index, Index, float], Strictly(False)] = Field(
        description="Query, key, weight."
    )
    renormalise: bool = Field(default=False, description="The others share what is left.")


class Cut(Strict):
    """An edge that is not there: the query does not see the key."""

    cut: Edge = Field(description="Query, key.")


class Temperature(Strict):
    """Scores are divided by it before the softmax: under 1 sharper, over 1 flatter."""

    temperature: float


class FrozenSentence(Strict):
    """The sentence whose weights are put in the place of this one's."""

    source: Text
    direction: Name | None = None
    target: Text | None = None


class Freeze(Strict):
    """The weights of another sentence at the same place."""

    freeze: FrozenSentence


class MaskToken(Strict):
    """A token of the source that nobody may look at; `at` is `source`."""

    mask: Index


class Shuffle(Strict):
    """Positions in another order; `at` is `source.position`."""

    shuffle: Index = Field(description="A seed: the same one, the same order.")


Deed = SetWeight | Cut | Temperature | Freeze | MaskToken | Shuffle
DEEDS: dict[str, type[Deed]] = {
    "set": SetWeight,
    "cut": Cut,
    "temperature": Temperature,
    "freeze": Freeze,
    "mask": MaskToken,
    "shuffle": Shuffle,
}


def _kind_of_deed(value: Any) -> str | None:
    """By the key that is there, so that an error speaks of what was meant and of nothing else."""
    if isinstance(value, str):
        return "word"
    keys = value if isinstance(value, dict) else getattr(type(value), "model_fields", ())
    return next((name for name in DEEDS if name in keys), None)


class InterventionRequest(Strict):
    """A replacement of what the model computes, in decoding and trace alike."""

    at: Name = Field(
        description="The attention, such as `encoder.1.self`; for `drop` and `shuffle` the whole "
        "name of a tensor, such as `source.position` or `encoder.1.ffn.residual`; for `mask`, "
        "`source`."
    )
    head: Whole | None = Field(default=None, description="The head, from 0; all heads if absent.")
    do: Annotated[
        Annotated[Literal["zero", "uniform", "mean", "drop"], Tag("word")]
        | Annotated[SetWeight, Tag("set")]
        | Annotated[Cut, Tag("cut")]
        | Annotated[Temperature, Tag("temperature")]
        | Annotated[Freeze, Tag("freeze")]
        | Annotated[MaskToken, Tag("mask")]
        | Annotated[Shuffle, Tag("shuffle")],
        Discriminator(_kind_of_deed),
    ] = Field(
        description="`zero`: the head adds nothing. `uniform`: it looks everywhere alike. "
        "`mean`: it adds what it adds on average over training data. `drop`: no positions are "
        "added, or a residual goes without what it adds to. Or one of "
        "the others, with what it takes."
    )

    def intervention(self) -> Intervention:
        """The same as the model takes it."""
        return Intervention(self.at, *_deed(self.do, self.head))


def _deed(do: str | Deed, head: int | None) -> tuple[str, int | None, Any]:
    """The effect's name, the head, and the effect's value."""
    match do:
        case SetWeight(set=(query, key, weight), renormalise=renormalise):
            return "set", head, Cell(query, key, weight, renormalise)
        case Cut(cut=edge):
            return "cut", head, edge
        case Temperature(temperature=temperature):
            return "temperature", head, temperature
        case Freeze(freeze=other):
            return "freeze", head, Request(**other.model_dump())
        case MaskToken(mask=token):
            return "mask", head, token
        case Shuffle(shuffle=seed):
            return "shuffle", head, seed
    return do, head, None


class Sentence(Strict):
    """A sentence, and how a translation of it is written."""

    source: Text = Field(description="The sentence, as typed.")
    model: Name | None = Field(default=None, description="A model's id; absent: the first model.")
    direction: Name | None = Field(default=None, description="Such as `en-zh`; absent: by script.")
    decode: DecodeOptions = DecodeOptions()
    interventions: list[InterventionRequest] = Field(default=[], description="Applied in order.")

    def asked(self) -> Request:
        """The same as the model takes it, with nothing selected."""
        return Request(
            source=self.source,
            direction=self.direction,
            decode=Decode(**self.decode.model_dump()),
            interventions=tuple(one.intervention() for one in self.interventions),
            select=(),
        )


class Run(Sentence):
    """A sentence and how to run it."""

    target: Text | None = Field(
        default=None, description="Score this text; absent: the model writes one."
    )
    pad_to: Whole | None = Field(default=None, description="Pad both sides to this many tokens.")

    def request(self, select: list[str], summarise: list[str]) -> Request:
        """The same as the model takes it."""
        return replace(
            self.asked(),
            target=self.target,
            select=tuple(select),
            summarise=tuple(summarise),
            pad_to=self.pad_to,
        )


class TraceRequest(Run):
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

    select: list[Pattern] = Field(
        default=["*.weights"],
        description='Patterns (`*`, `?`, `[…]`) of tensor names. `[]` selects none, `["*"]` all '
        "but `decoder.logits` and what is computed from the others, which `inside.*` names.",
    )
    summarise: list[Pattern] = Field(
        default=[],
        description="Patterns of attentions, such as `encoder.*.self`, to say of each head in a "
        "few numbers what it does. They come from the exact weights, whatever `dtype` is.",
        examples=[["encoder.*.self"]],
    )
    dtype: Literal["float32", "float16", "uint8"] = Field(
        default="float32",
        description="Of the numbers sent. `uint8` is value · 255, for weights only.",
    )


class Health(BaseModel):
    """The server is up and its models are loaded."""

    status: Literal["ok"]
    version: str
    models: list[str]
    waiting: int = Field(description="Requests that wait for a model.")


class ModelReply(BaseModel):
    """A model that is served."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    name: str
    kind: Literal["encoder-decoder", "encoder", "decoder"]
    layers: dict[str, int] = Field(examples=[{"encoder": 3, "decoder": 3}])
    heads: dict[str, int] = Field(examples=[{"encoder": 8, "decoder": 8}])
    d_model: int
    parameters: int
    vocabulary: int
    languages: list[str]
    max_tokens: int
    digest: str = Field(description="Of config, tokenizer and weights.")
    card: str = Field(description="The model card, in Markdown.")


class TokenReply(BaseModel):
    """A piece of text; `start` and `end` count Unicode code points of the text as sent."""

    text: str
    id: int
    start: int
    end: int
    special: bool


class TokensReply(BaseModel):
    """What the encoder and the decoder read."""

    source: list[TokenReply]
    target: list[TokenReply]


class OutputReply(BaseModel):
    """What was written, or scored."""

    text: str
    tokens: list[TokenReply]
    logprobs: list[float | None] = Field(description="Of each token, in nats.")
    ranks: list[int] = Field(
        default=[],
        description="The place of each token among all of the vocabulary, from 1. Shares made "
        "before there were any have none.",
    )
    score: float | None = Field(description="Sum of `logprobs` over the length penalty.")
    finished: bool = Field(description="Whether it ends in `<eos>`.")


class TensorReply(BaseModel):
    """A tensor whose axes have names; `over` says which tokens an axis follows."""

    dims: list[str] = Field(examples=[["head", "query", "key"]])
    over: dict[str, str] = Field(examples=[{"query": "target", "key": "source"}])
    shape: list[int]
    dtype: Literal["float32", "float16", "uint8", "int32", "bool"]
    data: list[Any] = Field(description="Nested lists; null where a number is not finite.")


class PieceReply(BaseModel):
    """A token of the vocabulary, without a place."""

    text: str
    special: bool


Measure = list[float | None]


class SummaryReply(BaseModel):
    """What the heads of one attention do: means over the rows that have a choice, a head each.

    Null where no row counts; without the fields that this kind of attention has not.
    """

    entropy: Measure = Field(description="Of a row, in nats.")
    spread: Measure = Field(description="Entropy over its largest: 1 is looking everywhere alike.")
    first: Measure = Field(description="Share of the weight on the first token.")
    last: Measure = Field(description="Share on the last token.")
    special: Measure = Field(description="Share on special tokens.")
    same: Measure = Field(description="Share on the same word elsewhere.")
    distance: Measure = Field(default=[], description="|query - key| (self attention).")
    previous: Measure = Field(default=[], description="Share on the token before (self).")
    itself: Measure = Field(default=[], description="Share on the token itself (self).")
    next: Measure = Field(default=[], description="Share on the token after (self).")
    alignment: Measure = Field(default=[], description="How nearly one to one (cross).")
    pattern: list[str] = Field(description="One of the patterns that the docs define.")


class TraceReply(BaseModel):
    """Everything that happened inside, as far as it was selected."""

    id: str = Field(description="Digest of the request and the model: equal for equal runs.")
    model: str
    direction: str
    tokens: TokensReply
    output: OutputReply
    tensors: dict[str, TensorReply]
    pieces: dict[str, PieceReply] = Field(
        default={}, description="What the ids in tensors named `…candidates` mean, by id."
    )
    summaries: dict[str, SummaryReply] = Field(
        default={}, description="By attention, such as `encoder.0.self`; where asked for."
    )


class ParametersReply(BaseModel):
    """Matrices and vectors of a model, as in `x @ W + b`."""

    model: str
    tensors: dict[str, TensorReply]


class PositionsReply(BaseModel):
    """A table of positional encodings, and the cosine similarity of every two rows."""

    variant: str
    positions: list[list[float]] = Field(description="[length][d_model]")
    similarity: list[list[float]] = Field(description="[length][length]")


class ProblemReply(BaseModel):
    """A problem document (RFC 9457)."""

    type: str = Field(examples=["urn:headlight:text-too-long"])
    title: str
    status: int
    detail: str
    field: str | None = None
    limit: int | None = Field(default=None, description="What is taken at most.")
    unit: str | None = Field(
        default=None,
        description="What `limit` counts: tokens, characters, bytes, entries or numbers.",
    )
    value: int | None = Field(default=None, description="How many there were.")

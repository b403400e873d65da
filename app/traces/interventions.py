"""How a request wants its text written; `model.adapters.requests.request.Decode` defines it.

Interventions in requests; `model.trace.interventions` defines their effects.
"""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union

from pydantic import BeforeValidator, Discriminator, Field, Tag
from pydantic import Strict as Strictly
from pydantic_core import PydanticCustomError

from app.http.request_fields import Count, Name, Strict, Text, Whole, Within, fields_of, union_tag
from model.adapters.requests.request import Decode, Patch, Receiver, Request, Step, TokenOf
from model.request_limits import Factor, Probability, Seed, Temperature, Value
from model.trace.interventions import Cell, Intervention


@fields_of(Decode)
class DecodeOptions(Strict):
    """How to write a target if none is given."""


def decode_of(options: DecodeOptions) -> Decode:
    """Convert the options to a `Decode`."""
    return Decode(**options.model_dump())


Edge = Annotated[tuple[Count, Count], Strictly(False)]
Weight = Annotated[float, Within(Probability)]
Indices = list[Count]
ONE_EDGE, EDGES = union_tag("one edge"), union_tag("several edges")
NUMBERS, ROWS = union_tag("a vector"), union_tag("two rows")


class EffectValue(Strict):
    """An effect with its arguments; the first field has its name."""

    @property
    def effect(self) -> str:
        """Its key in `EFFECTS`."""
        return next(iter(type(self).model_fields))

    def value(self) -> Any:
        """Convert it to the value of an `Intervention`."""
        return getattr(self, self.effect)


class SetWeight(EffectValue):
    """A weight, instead of the one from the softmax."""

    set: Annotated[tuple[Count, Count, Weight], Strictly(False)] = Field(
        description="Query, key, weight."
    )
    renormalise: bool = Field(
        default=False, description="Scale the other weights of the row so that it sums to 1."
    )

    def value(self) -> Any:
        return Cell(*self.set, self.renormalise)


def _how_many(value: Any) -> str:
    first = value[0] if isinstance(value, list | tuple) and value else None
    return EDGES if isinstance(first, list | tuple) else ONE_EDGE


class Cut(EffectValue):
    """Edges to remove: the query does not see the key."""

    cut: Annotated[
        Annotated[Edge, Tag(ONE_EDGE)] | Annotated[list[Edge], Tag(EDGES)],
        Discriminator(_how_many),
    ] = Field(description="Query, key; or several such pairs.")

    def value(self) -> Any:
        return tuple(self.cut)


class Cool(EffectValue):
    """A divisor of the scores before the softmax: below 1 sharper, above 1 flatter."""

    temperature: Annotated[float, Within(Temperature)]


class OtherSentence(Strict):
    """A sentence whose values replace this one's."""

    source: Text
    direction: Name | None = None
    target: Text | None = None
    decode: DecodeOptions = DecodeOptions()

    def request(self) -> Request:
        """Convert the sentence to a `Request`."""
        return Request(self.source, self.direction, self.target, decode_of(self.decode))


class Freeze(EffectValue):
    """The weights of another sentence at the same place."""

    freeze: OtherSentence

    def value(self) -> Any:
        return self.freeze.request()


class ReceiverRequest(Strict):
    """Where the path of a patch ends."""

    at: Name = Field(
        description="The full name of a tensor, such as `decoder.2.cross.q`.",
        examples=["decoder.2.cross.q"],
    )
    head: Whole | None = Field(default=None, description="A head of it; all of it if absent.")


class PatchSentence(OtherSentence):
    """The sentence, and which of its rows replace which."""

    rows: list[Edge] | None = Field(
        default=None,
        description="Pairs of a row of that run and the row here that it replaces; absent: each "
        "row by the one with its number, which needs texts of equal lengths.",
    )
    to: ReceiverRequest | None = Field(
        default=None,
        description="Only what reaches this tensor directly has an effect: all sublayers between "
        "are frozen. Absent: everything after the patch is computed from it.",
    )


class PatchFrom(EffectValue):
    """The rows of a tensor in the run of another sentence."""

    patch: PatchSentence

    def value(self) -> Patch:
        rows = None if self.patch.rows is None else tuple(self.patch.rows)
        to = self.patch.to
        receiver = None if to is None else Receiver(to.at, to.head)
        return Patch(self.patch.request(), rows, receiver)


def _what_is_added(value: Any) -> str:
    return NUMBERS if isinstance(value, list) else ROWS


class Scale(EffectValue):
    """A factor of every number: 0.5 halves what a part adds."""

    scale: Annotated[float, Within(Factor)]


class Fill(EffectValue):
    """One value for every number, such as of a hidden unit."""

    fill: Annotated[float, Within(Value)]


class TokenOfSentence(OtherSentence):
    """A row of the tensor in the run of another sentence."""

    row: Count = Field(description="A token of the text that the tensor's rows are.")

    def value(self) -> TokenOf:
        """Convert it to an end of a `Step`."""
        return TokenOf(self.request(), self.row)


class Difference(Strict):
    """A vector: the row of one run minus the row of another."""

    to: TokenOfSentence
    minus: TokenOfSentence | None = Field(default=None, description="Absent: nothing.")
    times: Annotated[float, Within(Factor)] = 1.0


class Add(EffectValue):
    """A vector to add to every row: its numbers, or the difference of two rows of other runs."""

    add: Annotated[
        Annotated[list[Annotated[float, Within(Value)]], Tag(NUMBERS)]
        | Annotated[Difference, Tag(ROWS)],
        Discriminator(_what_is_added),
    ]

    def value(self) -> Any:
        if isinstance(self.add, list):
            return tuple(self.add)
        minus = self.add.minus
        return Step(self.add.to.value(), minus.value() if minus else None, self.add.times)


class MaskToken(EffectValue):
    """A token of the source to hide from all heads; `at` is `source`."""

    mask: Count


class Shuffle(EffectValue):
    """Positions in another order; `at` is `source.position`."""

    shuffle: Annotated[int, Within(Seed)] = Field(
        description="A seed; the same seed gives the same order."
    )


EFFECT_VALUES: dict[str, type[EffectValue]] = {
    next(iter(kind.model_fields)): kind
    for kind in (
        *(SetWeight, Cut, Cool, Freeze, PatchFrom),
        *(MaskToken, Shuffle, Scale, Fill, Add),
    )
}
Word = Literal["zero", "uniform", "mean", "drop"]
if TYPE_CHECKING:
    EffectRequest = Word | EffectValue
else:
    tagged = (Annotated[kind, Tag(name)] for name, kind in EFFECT_VALUES.items())
    EffectRequest = Union[Annotated[Word, Tag("word")], *tagged]


def _name_of_effect(value: Any) -> str | None:
    """Choose the effect by its key, so that an error is about the intended effect only."""
    if isinstance(value, str):
        return "word"
    keys = value if isinstance(value, dict) else getattr(type(value), "model_fields", ())
    return next((name for name in EFFECT_VALUES if name in keys), None)


class InterventionRequest(Strict):
    """A change of a value that the model computes, in both decoding and trace."""

    at: Name = Field(
        description="The attention, such as `encoder.1.self`; for `patch`, `scale`, `fill`, `add`, "
        "`drop`, `shuffle` and the `zero` of a tensor its full name, such as "
        "`decoder.2.cross.mix`, `source.position` or `encoder.1.ffn.output`; for `mask`, `source`."
    )
    head: Whole | None = Field(default=None, description="The head, from 0; all heads if absent.")
    heads: Indices | None = Field(default=None, description="Several heads, instead of `head`.")
    rows: Indices | None = Field(
        default=None, description="The rows that are changed; all of them if absent."
    )
    units: Indices | None = Field(
        default=None,
        description="The hidden units or features of the last axis that are changed; all if "
        "absent.",
    )
    do: Annotated[EffectRequest, Discriminator(_name_of_effect)] = Field(
        description="`zero`: the head adds nothing, or the tensor is zero. `uniform`: equal "
        "weights for all visible keys. `mean`: the head adds its mean output over training data. "
        "`drop`: no positions are added, or a residual is only the sublayer's output. Otherwise an "
        "effect with its arguments."
    )

    def intervention(self) -> Intervention:
        """Convert the request to an `Intervention`."""
        parts = (
            None if indices is None else tuple(indices)
            for indices in (self.heads, self.rows, self.units)
        )
        if isinstance(self.do, str):
            return Intervention(self.at, self.do, self.head, None, *parts)
        return Intervention(self.at, self.do.effect, self.head, self.do.value(), *parts)


MAX_PAIRS = 4_096  # in a request: an edge for each row of a long text, or all of a short one


MAX_LISTED = 1_000  # interventions, whatever the settings allow


def few_pairs(value: Any) -> Any:
    """Return the interventions as sent, unless they have too many edges and rows to replace.

    They are counted before any is checked, which takes longer. Raises an error of pydantic.
    """
    if isinstance(value, list) and len(value) > MAX_LISTED:
        raise PydanticCustomError("too_long", "too many entries", {"max_length": MAX_LISTED})
    pairs = sum(map(_pairs, value)) if isinstance(value, list) else 0
    if pairs > MAX_PAIRS:
        bounds = {"limit": MAX_PAIRS, "value": pairs}
        raise PydanticCustomError("pairs_many", "too many pairs", bounds)
    return value


def _pairs(change: Any) -> int:
    effect = change.get("do") if isinstance(change, dict) else None
    if not isinstance(effect, dict):
        return 0
    patch = effect.get("patch")
    lists = (effect.get("cut"), patch.get("rows") if isinstance(patch, dict) else None)
    return sum(len(pairs) for pairs in lists if isinstance(pairs, list))


InterventionRequests = Annotated[list[InterventionRequest], BeforeValidator(few_pairs)]


def stated(intervention: Intervention) -> dict[str, Any]:
    """Return an intervention as a request states it: the inverse of `intervention()`."""
    parts = {"head": intervention.head, "heads": intervention.heads}
    parts |= {"rows": intervention.rows, "units": intervention.units}
    given = {
        name: list(part) if isinstance(part, tuple) else part
        for name, part in parts.items()
        if part is not None
    }
    return {"at": intervention.at, **given, "do": _stated_effect(intervention)}


def _stated_effect(intervention: Intervention) -> str | dict[str, Any]:
    do, value = intervention.do, intervention.value
    match value:
        case None:
            return do
        case Cell():
            weight = [value.query, value.key, value.value]
            return {do: weight, **({"renormalise": True} if value.renormalise else {})}
        case Request():
            return {do: _stated_sentence(value)}
        case Patch():
            rows = {} if value.rows is None else {"rows": [list(pair) for pair in value.rows]}
            end = value.to
            to = {} if end is None else {"to": {"at": end.at, "head": end.head}}
            return {do: {**_stated_sentence(value.request), **rows, **to}}
        case Step():
            minus = {} if value.minus is None else {"minus": _stated_token(value.minus)}
            return {do: {"to": _stated_token(value.to), **minus, "times": value.times}}
        case tuple():
            return {do: [list(part) if isinstance(part, tuple) else part for part in value]}
    return {do: value}


def _stated_sentence(request: Request) -> dict[str, Any]:
    stated = {"source": request.source, "direction": request.direction, "target": request.target}
    decode = {} if request.decode == Decode() else {"decode": asdict(request.decode)}
    return {name: text for name, text in stated.items() if text is not None} | decode


def _stated_token(token: TokenOf) -> dict[str, Any]:
    return {**_stated_sentence(token.request), "row": token.row}

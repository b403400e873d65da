"""Interventions in requests; `model.trace.interventions` defines their effects."""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag
from pydantic import Strict as Strictly

from app.schemas.fields import Count, Name, Strict, Text, Whole
from app.schemas.from_dataclass import Within
from model.adapters.request import Request
from model.number_ranges import Probability, Seed, Temperature
from model.trace.interventions import Cell, Intervention

Edge = Annotated[tuple[Count, Count], Strictly(False)]
Weight = Annotated[float, Within(Probability)]


class SetWeight(Strict):
    """A weight, instead of the one from the softmax."""

    set: Annotated[tuple[Count, Count, Weight], Strictly(False)] = Field(
        description="Query, key, weight."
    )
    renormalise: bool = Field(
        default=False, description="Scale the other weights of the row so that it sums to 1."
    )


class Cut(Strict):
    """An edge to remove: the query does not see the key."""

    cut: Edge = Field(description="Query, key.")


class Cool(Strict):
    """A divisor of the scores before the softmax: below 1 sharper, above 1 flatter."""

    temperature: Annotated[float, Within(Temperature)]


class FrozenSentence(Strict):
    """The sentence whose weights replace this one's."""

    source: Text
    direction: Name | None = None
    target: Text | None = None


class Freeze(Strict):
    """The weights of another sentence at the same place."""

    freeze: FrozenSentence


class MaskToken(Strict):
    """A token of the source to hide from all heads; `at` is `source`."""

    mask: Count


class Shuffle(Strict):
    """Positions in another order; `at` is `source.position`."""

    shuffle: Annotated[int, Within(Seed)] = Field(
        description="A seed; the same seed gives the same order."
    )


Deed = SetWeight | Cut | Cool | Freeze | MaskToken | Shuffle
DEEDS: dict[str, type[Deed]] = {
    "set": SetWeight,
    "cut": Cut,
    "temperature": Cool,
    "freeze": Freeze,
    "mask": MaskToken,
    "shuffle": Shuffle,
}


def _kind_of_deed(value: Any) -> str | None:
    """Choose the effect by its key, so that an error is about the intended effect only."""
    if isinstance(value, str):
        return "word"
    keys = value if isinstance(value, dict) else getattr(type(value), "model_fields", ())
    return next((name for name in DEEDS if name in keys), None)


class InterventionRequest(Strict):
    """A change of a value that the model computes, in both decoding and trace."""

    at: Name = Field(
        description="The attention, such as `encoder.1.self`; for `drop` and `shuffle` the full "
        "name of a tensor, such as `source.position` or `encoder.1.ffn.residual`; for `mask`, "
        "`source`."
    )
    head: Whole | None = Field(default=None, description="The head, from 0; all heads if absent.")
    do: Annotated[
        Annotated[Literal["zero", "uniform", "mean", "drop"], Tag("word")]
        | Annotated[SetWeight, Tag("set")]
        | Annotated[Cut, Tag("cut")]
        | Annotated[Cool, Tag("temperature")]
        | Annotated[Freeze, Tag("freeze")]
        | Annotated[MaskToken, Tag("mask")]
        | Annotated[Shuffle, Tag("shuffle")],
        Discriminator(_kind_of_deed),
    ] = Field(
        description="`zero`: the head adds nothing. `uniform`: equal weights for all visible keys. "
        "`mean`: the head adds its mean output over training data. `drop`: no positions are "
        "added, or a residual is only the sublayer's output. Otherwise an effect with its "
        "arguments."
    )

    def intervention(self) -> Intervention:
        """Convert the request to an `Intervention`."""
        return Intervention(self.at, *_deed(self.do, self.head))


def _deed(do: str | Deed, head: int | None) -> tuple[str, int | None, Any]:
    """Return the effect's name, the head, and the effect's value."""
    match do:
        case SetWeight(set=(query, key, weight), renormalise=renormalise):
            return "set", head, Cell(query, key, weight, renormalise)
        case Cut(cut=edge):
            return "cut", head, edge
        case Cool(temperature=temperature):
            return "temperature", head, temperature
        case Freeze(freeze=other):
            return "freeze", head, Request(**other.model_dump())
        case MaskToken(mask=token):
            return "mask", head, token
        case Shuffle(shuffle=seed):
            return "shuffle", head, seed
    return do, head, None

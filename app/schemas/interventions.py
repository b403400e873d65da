"""Interventions as the API takes them: `model.trace.interventions` says what each does."""

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
    """A weight, instead of the one that the softmax gave."""

    set: Annotated[tuple[Count, Count, Weight], Strictly(False)] = Field(
        description="Query, key, weight."
    )
    renormalise: bool = Field(default=False, description="The others share what is left.")


class Cut(Strict):
    """An edge that is not there: the query does not see the key."""

    cut: Edge = Field(description="Query, key.")


class Cool(Strict):
    """Scores are divided by it before the softmax: under 1 sharper, over 1 flatter."""

    temperature: Annotated[float, Within(Temperature)]


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

    mask: Count


class Shuffle(Strict):
    """Positions in another order; `at` is `source.position`."""

    shuffle: Annotated[int, Within(Seed)] = Field(
        description="A seed: the same one, the same order."
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
        | Annotated[Cool, Tag("temperature")]
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
        case Cool(temperature=temperature):
            return "temperature", head, temperature
        case Freeze(freeze=other):
            return "freeze", head, Request(**other.model_dump())
        case MaskToken(mask=token):
            return "mask", head, token
        case Shuffle(shuffle=seed):
            return "shuffle", head, seed
    return do, head, None

"""Other sentences that interventions take values from.

`patch`, and `freeze`, a case of it, take rows; `add` can take the difference of two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from model.adapters.requests.request import Request
from model.errors import Excess, InputError
from model.number_ranges import Factor
from model.trace.interventions import Intervention, OtherRun

MAX_SENTENCES = 8  # other sentences per request: each is a run of the model


@dataclass(frozen=True)
class Receiver:
    """The end of a path: a tensor, or one head of it."""

    at: str
    head: int | None = None


@dataclass(frozen=True)
class Patch:
    """The value of "patch": a run to take a tensor from, and which of its rows to put where.

    `rows` are pairs of a row of that run and a row of this one; None: row i replaces row i. With
    `to`, only what reaches this tensor directly has an effect (`model.adapters.requests.bind_interventions`).
    """

    request: Request
    rows: tuple[tuple[int, int], ...] | None = None
    to: Receiver | None = None


@dataclass(frozen=True)
class TokenOf:
    """A row of a run: the token `row` of the text that a tensor's rows are."""

    request: Request
    row: int


@dataclass(frozen=True)
class Step:
    """A vector that "add" adds: `times` (the row of one run − the row of another)."""

    to: TokenOf
    minus: TokenOf | None = None
    times: Factor = 1.0

    @property
    def ends(self) -> tuple[TokenOf, ...]:
        """The rows that it is computed from."""
        return (self.to,) if self.minus is None else (self.to, self.minus)


def runs_of(one: Intervention) -> tuple[tuple[str, Request], ...]:
    """Return the tensors that an intervention takes from other runs: names and sentences."""
    if (patch := patch_of(one)) is not None:
        return ((patch[0], patch[1].request),)
    if one.do == "add" and isinstance(one.value, Step):
        return tuple((one.at, alone(end.request)) for end in one.value.ends)
    return ()


def alone(request: Request) -> Request:
    """Return another run's request, which selects, changes and pads nothing."""
    return replace(request, select=(), summarise=(), interventions=(), pad_to=None)


def patch_of(one: Intervention) -> tuple[str, Patch] | None:
    """Return the name of the tensor that an intervention takes from another run, and its patch."""
    match one.do:
        case "patch" | "freeze" if isinstance(one.value, OtherRun):
            return None  # its values are known
        case "patch":
            name, patch = one.at, cast(Patch, one.value)
        case "freeze":
            name, patch = f"{one.at}.weights", Patch(cast(Request, one.value))
        case _:
            return None
    return name, replace(patch, request=alone(patch.request))


def path_of(one: Intervention) -> Receiver | None:
    """Return where the path of a patch ends; None for one that acts on all that comes after it."""
    return one.value.to if isinstance(one.value, Patch) else None


def in_chat(value: Any) -> Any:
    """Return the value of an effect whose other sentence, if any, is a user's turn of a chat."""
    match value:
        case Request():
            return replace(value, chat=True)
        case Patch(request=request) | TokenOf(request=request):
            return replace(value, request=replace(request, chat=True))
        case Step(to=to, minus=minus):
            return replace(value, to=in_chat(to), minus=in_chat(minus))
    return value


def other_runs(interventions: Sequence[Intervention]) -> dict[Request, int]:
    """Return the distinct other sentences, each with the index of its first intervention.

    Raises `InputError` for more than `MAX_SENTENCES`.
    """
    found: dict[Request, int] = {}
    for index, one in enumerate(interventions):
        for _, sentence in runs_of(one):
            found.setdefault(sentence, index)
    if len(found) > MAX_SENTENCES:
        detail = (
            f"interventions name {len(found)} different sentences; "
            f"at most {MAX_SENTENCES} are allowed"
        )
        excess = Excess(MAX_SENTENCES, "entries", len(found))
        raise InputError("too-long", "interventions", detail, excess)
    return found

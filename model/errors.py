"""The one exception of `model/` that is the user's to mend.

ValueError
└── InputError      a value that the caller sent is outside what the model accepts
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Excess:
    """More of something than is taken, in numbers, so that it can be said in any language."""

    limit: int  # what is taken at most
    unit: str  # in which it is counted: "tokens", "characters", "bytes", "entries", "numbers"
    value: int | None = None  # how many there were; None where nobody counted


class InputError(ValueError):
    """Bad input. `str(error)` names the field and the limit and never echoes what was sent.

    `kind` is a stable slug such as ``"text-too-long"``; `field` is the path of the value in the
    request, such as ``"interventions[0].head"``; `excess` says by how much something is too long.
    """

    def __init__(self, kind: str, field: str, detail: str, excess: Excess | None = None) -> None:
        super().__init__(kind, field, detail, excess)  # all, so that it can cross processes
        self.kind = kind
        self.field = field
        self.detail = detail
        self.excess = excess

    def __str__(self) -> str:
        return self.detail

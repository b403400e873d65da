"""The exceptions of `model/` that are not its own faults.

ValueError
├── InputError      a value that the caller sent is outside what the model accepts
└── FileError       a file of others is damaged, too large or not of its kind
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Excess:
    """A limit that was exceeded, in numbers, so that the message can be in any language."""

    limit: int  # the maximum allowed
    unit: str  # what is counted: "tokens", "characters", "bytes", "entries", "numbers"
    value: int | None = None  # the actual number; None if not counted
    fits: int | None = None  # code points of the text that would fit


class InputError(ValueError):
    """Bad input. `str(error)` names the field and the limit and never repeats what was sent.

    `kind` is a stable slug such as ``"text-too-long"``; `field` is the path of the value in the
    request, such as ``"interventions[0].head"``; `excess` gives the limit if something is too long.
    """

    def __init__(self, kind: str, field: str, detail: str, excess: Excess | None = None) -> None:
        super().__init__(kind, field, detail, excess)  # all arguments, so that it can be pickled
        self.kind = kind
        self.field = field
        self.detail = detail
        self.excess = excess

    def at(self, field: str) -> InputError:
        """Return the same error of another field, of which this one's is a part."""
        detail = self.detail.replace(self.field, field, 1)
        return InputError(self.kind, field, detail, self.excess)

    def __str__(self) -> str:
        return self.detail


class FileError(ValueError):
    """A file or folder that cannot be read as what it should be; `what` says why in one line.

    `str(error)` begins with the whole path, for whoever runs the program; `brief` with the name
    alone, for whoever uses a server.
    """

    def __init__(self, path: Path | str, what: str) -> None:
        super().__init__(str(path), what)  # all arguments, so that it can be pickled
        self.path = Path(path)
        self.what = what

    @property
    def brief(self) -> str:
        """The message without the folders of the path."""
        return f"{self.path.name}: {self.what}"

    def __str__(self) -> str:
        return f"{self.path}: {self.what}"

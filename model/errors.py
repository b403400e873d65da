"""The one exception of `model/` that is the user's to mend.

ValueError
└── InputError      a value that the caller sent is outside what the model accepts
"""


class InputError(ValueError):
    """Bad input. `str(error)` names the field and the limit and never echoes what was sent.

    `kind` is a stable slug such as ``"text-too-long"``; `field` is the path of the value in the
    request, such as ``"interventions[0].head"``.
    """

    def __init__(self, kind: str, field: str, detail: str) -> None:
        super().__init__(kind, field, detail)  # all three, so that it can cross processes
        self.kind = kind
        self.field = field
        self.detail = detail

    def __str__(self) -> str:
        return self.detail

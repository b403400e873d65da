"""A run over a long text: its texts, its output, and every attention as q, k and log-sum-exp."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from model.adapters.output import Output
from model.errors import InputError
from model.long.attention import LongAttention
from model.text.tokens import Token


@dataclass(frozen=True, eq=False)
class LongPass:
    """The result of a run that keeps q, k and the log-sum-exp of every attention.

    Its memory is proportional to the number of tokens; weights are computed slice by slice. It
    stays in the process that made it.
    """

    texts: Mapping[str, tuple[Token, ...]]
    attentions: Mapping[str, LongAttention]  # by place
    written: Output | None = None
    direction: str | None = None

    @property
    def bytes(self) -> int:
        """Memory of its tensors."""
        return sum(one.bytes for one in self.attentions.values())

    def at(self, place: str, field: str = "at") -> LongAttention:
        """Return an attention. Raises `InputError` for an unknown place."""
        if place not in self.attentions:
            known = list(self.attentions)
            detail = f"{field} must be one of {known[0]} … {known[-1]}"
            raise InputError("out-of-range", field, detail)
        return self.attentions[place]

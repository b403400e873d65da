"""A run over a long text: what was read and written, and every attention as q, k and sums."""

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

    It takes memory in proportion to the tokens; weights follow from it slice by slice. It stays in
    the process that made it.
    """

    texts: Mapping[str, tuple[Token, ...]]
    attentions: Mapping[str, LongAttention]  # by place
    written: Output | None = None
    direction: str | None = None

    @property
    def bytes(self) -> int:
        """The memory that it takes."""
        return sum(one.bytes for one in self.attentions.values())

    def at(self, place: str, field: str = "at") -> LongAttention:
        """Return an attention; raises `InputError` for a place that is not kept."""
        if place not in self.attentions:
            known = list(self.attentions)
            detail = f"{field} must be one of {known[0]} … {known[-1]}"
            raise InputError("out-of-range", field, detail)
        return self.attentions[place]

"""Validates requests for attributions to source tokens."""

from __future__ import annotations

from collections.abc import Sequence

from model.errors import Excess, InputError
from model.explain.attribution import LONGEST
from model.trace.name_patterns import INTEGRATIONS
from model.trace.tensor_tap import SOURCE, TARGET


def check_attribution(select: Sequence[str], source: int, target: int) -> None:
    """Raise `InputError` for integrated gradients of texts with too many tokens."""
    index = next((at for at, name in enumerate(select) if name in INTEGRATIONS), None)
    if index is None:
        return
    field = f"select[{index}]"
    for text, tokens in ((SOURCE, source), (TARGET, target)):
        if tokens > LONGEST:
            detail = (
                f"{field}: {text} has {tokens} tokens; integrated gradients are computed for "
                f"at most {LONGEST}"
            )
            raise InputError("text-too-long", field, detail, Excess(LONGEST, "tokens", tokens))

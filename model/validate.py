"""What a request must satisfy, whatever its sentence is."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from model.errors import InputError
from model.intervene import EFFECTS, Intervention
from model.request import MAX_BEAM, METHODS, Decode


def check_decode(decode: Decode, max_tokens: int) -> None:
    """Raises `InputError` for an unknown method or a number out of range."""
    if decode.method not in METHODS:
        raise InputError(
            "unknown-method", "decode.method", f"decode.method must be one of {', '.join(METHODS)}"
        )
    check_range("decode.beam", decode.beam, 1, MAX_BEAM)
    check_range("decode.length_penalty", decode.length_penalty, 0, 5)
    if decode.max_tokens is not None:
        check_range("decode.max_tokens", decode.max_tokens, 1, max_tokens)


def check_interventions(
    interventions: Sequence[Intervention], names: Collection[str], heads: int
) -> None:
    """Raises `InputError` for an effect, a place or a head that a model with `names` lacks."""
    for index, intervention in enumerate(interventions):
        field = f"interventions[{index}]"
        if intervention.do not in EFFECTS:
            raise InputError(
                "unknown-effect", f"{field}.do", f"{field}.do must be one of {', '.join(EFFECTS)}"
            )
        effect = EFFECTS[intervention.do]
        if intervention.at not in effect.places(names):
            kind = "an attention" if effect.heads else f"a {effect.tensor} term"
            example = "encoder.0.self" if effect.heads else f"source.{effect.tensor}"
            raise InputError(
                "unknown-place",
                f"{field}.at",
                f'{field}.at must be {kind} of the model, such as "{example}"',
            )
        if intervention.head is not None and not effect.heads:
            detail = f"{field}.head must be left out: a {effect.tensor} term has no heads"
            raise InputError("unknown-field", f"{field}.head", detail)
        if intervention.head is not None:
            check_range(f"{field}.head", intervention.head, 0, heads - 1)


def check_range(field: str, value: float, low: float, high: float) -> None:
    """Raises `InputError` unless `low` ≤ `value` ≤ `high`; NaN is out of every range."""
    if not low <= value <= high:
        raise InputError("out-of-range", field, f"{field} must be from {low} to {high}")

"""Validates the parts of a request that do not depend on its sentence."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from annotated_types import Interval

from model.adapters.request import METHODS, Decode
from model.errors import InputError
from model.number_ranges import Seed, Temperature, interval, intervals
from model.trace.attentions import AttentionInfo, Attentions
from model.trace.interventions import EFFECTS, Cell, Intervention


def check_decode(decode: Decode, max_tokens: int) -> None:
    """Raise `InputError` for an unknown method or a number out of range."""
    if decode.method not in METHODS:
        raise InputError(
            "unknown-method", "decode.method", f"decode.method must be one of {', '.join(METHODS)}"
        )
    for name, limits in intervals(Decode).items():
        _check_limits(f"decode.{name}", getattr(decode, name), limits)
    if decode.max_tokens is not None:
        check_range("decode.max_tokens", decode.max_tokens, 1, max_tokens)


def check_interventions(
    interventions: Sequence[Intervention],
    names: Collection[str],
    attentions: Attentions,
    lengths: Mapping[str, int],
) -> None:
    """Raise `InputError` for an invalid effect, place, head or value.

    `names` are the tensors that the model records, `lengths` the maximum number of tokens of each
    text without padding, since decoding has no padding to change.
    """
    table = {one.place: one for one in attentions}
    for index, intervention in enumerate(interventions):
        field = f"interventions[{index}]"
        if intervention.do not in EFFECTS:
            raise InputError(
                "unknown-effect", f"{field}.do", f"{field}.do must be one of {', '.join(EFFECTS)}"
            )
        effect = EFFECTS[intervention.do]
        places = effect.places(names, attentions)
        if intervention.at not in places:
            known = f', such as "{min(places)}"' if places else "; this effect has none here"
            detail = f"{field}.at must be a place of the model{known}"
            raise InputError("unknown-place", f"{field}.at", detail)
        if intervention.head is not None and not effect.heads:
            detail = f"{field}.head must be left out: {intervention.do} does not apply to a head"
            raise InputError("unknown-field", f"{field}.head", detail)
        if intervention.head is not None:
            heads = table[intervention.at].heads
            check_range(f"{field}.head", intervention.head, 0, heads - 1)
        _check_value(intervention, f"{field}.do", table.get(intervention.at), lengths)


def _check_value(
    intervention: Intervention,
    field: str,
    attention: AttentionInfo | None,
    lengths: Mapping[str, int],
) -> None:
    """Check the effect's value: an existing token, a number in its range."""
    value: Any = intervention.value
    queries, keys = (lengths[attention.query], lengths[attention.key]) if attention else (0, 0)
    causal = attention is not None and attention.causal
    match intervention.do:
        case "set":
            check_range(f"{field}.set[0]", value.query, 0, queries - 1)
            # While a row of the decoder is being written, there is no later token.
            check_range(f"{field}.set[1]", value.key, 0, value.query if causal else keys - 1)
            _check_limits(f"{field}.set[2]", value.value, intervals(Cell)["value"])
        case "cut":
            check_range(f"{field}.cut[0]", value[0], 0, queries - 1)
            check_range(f"{field}.cut[1]", value[1], 0, keys - 1)
        case "temperature":
            _check_limits(f"{field}.temperature", value, interval(Temperature))
        case "mask":
            check_range(f"{field}.mask", value, 0, lengths[intervention.at] - 1)
        case "shuffle":
            _check_limits(f"{field}.shuffle", value, interval(Seed))


def _check_limits(field: str, value: float | None, limits: Interval | None) -> None:
    """Raise `InputError` for a number outside its type's range, naming both ends."""
    if limits is not None and value is not None:
        low: Any = limits.ge
        high: Any = limits.le
        check_range(field, value, low, high)


def check_range(field: str, value: float, low: float, high: float) -> None:
    """Raise `InputError` unless `low` ≤ `value` ≤ `high`; NaN is always out of range."""
    if not low <= value <= high:
        raise InputError("out-of-range", field, f"{field} must be from {low} to {high}")

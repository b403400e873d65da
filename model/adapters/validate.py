"""What a request must satisfy, whatever its sentence is."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from model.adapters.request import MAX_BEAM, METHODS, Decode
from model.errors import InputError
from model.trace.attentions import AttentionInfo, Attentions
from model.trace.interventions import EFFECTS, Intervention

TEMPERATURES = (0.01, 100.0)
MAX_SEED = 2**31 - 1
MAX_TOP_K = 1_000_000


def check_decode(decode: Decode, max_tokens: int) -> None:
    """Raises `InputError` for an unknown method or a number out of range."""
    if decode.method not in METHODS:
        raise InputError(
            "unknown-method", "decode.method", f"decode.method must be one of {', '.join(METHODS)}"
        )
    check_range("decode.beam", decode.beam, 1, MAX_BEAM)
    check_range("decode.length_penalty", decode.length_penalty, 0, 5)
    check_range("decode.temperature", decode.temperature, *TEMPERATURES)
    check_range("decode.top_p", decode.top_p, 0, 1)
    check_range("decode.seed", decode.seed, 0, MAX_SEED)
    if decode.top_k is not None:
        check_range("decode.top_k", decode.top_k, 1, MAX_TOP_K)
    if decode.max_tokens is not None:
        check_range("decode.max_tokens", decode.max_tokens, 1, max_tokens)


def check_interventions(
    interventions: Sequence[Intervention],
    names: Collection[str],
    attentions: Attentions,
    lengths: Mapping[str, int],
) -> None:
    """Raises `InputError` for an effect, a place, a head or a value that cannot be.

    `names` are the tensors that the model records, `lengths` the most tokens of each text, without
    padding: alone and in decoding there is none to change.
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
            known = f', such as "{min(places)}"' if places else "; this effect has none in it"
            detail = f"{field}.at must be a place of the model{known}"
            raise InputError("unknown-place", f"{field}.at", detail)
        if intervention.head is not None and not effect.heads:
            detail = f"{field}.head must be left out: {intervention.do} is not of a head"
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
    """What the effect takes: a token that there is, a number in its range."""
    value: Any = intervention.value
    queries, keys = (lengths[attention.query], lengths[attention.key]) if attention else (0, 0)
    causal = attention is not None and attention.causal
    match intervention.do:
        case "set":
            check_range(f"{field}.set[0]", value.query, 0, queries - 1)
            # While a row of the decoder is written, there is no later token to look at.
            check_range(f"{field}.set[1]", value.key, 0, value.query if causal else keys - 1)
            check_range(f"{field}.set[2]", value.value, 0, 1)
        case "cut":
            check_range(f"{field}.cut[0]", value[0], 0, queries - 1)
            check_range(f"{field}.cut[1]", value[1], 0, keys - 1)
        case "temperature":
            check_range(f"{field}.temperature", value, *TEMPERATURES)
        case "mask":
            check_range(f"{field}.mask", value, 0, lengths[intervention.at] - 1)
        case "shuffle":
            check_range(f"{field}.shuffle", value, 0, MAX_SEED)


def check_range(field: str, value: float, low: float, high: float) -> None:
    """Raises `InputError` unless `low` ≤ `value` ≤ `high`; NaN is out of every range."""
    if not low <= value <= high:
        raise InputError("out-of-range", field, f"{field} must be from {low} to {high}")

"""Validates the parts of a request that do not depend on its sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from model.adapters.requests.request import METHODS, Decode
from model.adapters.validate_parts import check_limits, check_parts, check_range, heads_at
from model.errors import InputError
from model.number_ranges import Factor, Seed, Temperature, Value, interval, intervals
from model.trace.attentions import AttentionInfo, Attentions
from model.trace.interventions import EFFECTS, Cell, Edge, Intervention, edges_of


def check_decode(decode: Decode, max_tokens: int) -> None:
    """Raise `InputError` for an unknown method or a number out of range."""
    if decode.method not in METHODS:
        raise InputError(
            "unknown-method", "decode.method", f"decode.method must be one of {', '.join(METHODS)}"
        )
    for name, limits in intervals(Decode).items():
        check_limits(f"decode.{name}", getattr(decode, name), limits)
    if decode.max_tokens is not None:
        check_range("decode.max_tokens", decode.max_tokens, 1, max_tokens)


def check_interventions(
    interventions: Sequence[Intervention],
    names: Mapping[str, tuple[str, ...]],
    attentions: Attentions,
    lengths: Mapping[str, int],
    widths: Mapping[str, int],
) -> None:
    """Raise `InputError` for an invalid effect, place, head, row, unit or value.

    `names` are the tensors that the model records, with their dims, `lengths` the maximum number of
    tokens of each text without padding, since decoding has no padding to change, `widths` the sizes
    of their last axes, as far as these are known. Does not check the other runs that values are
    taken from (`model.adapters.requests.validate`).
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
        if intervention.head is not None:
            heads = heads_at(intervention.at, effect, names, attentions)
            if not heads:
                detail = f"{field}.head must be left out: {intervention.do} has no heads there"
                raise InputError("unknown-field", f"{field}.head", detail)
            check_range(f"{field}.head", intervention.head, 0, heads - 1)
        check_parts(intervention, field, names, attentions, lengths, widths)
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
            check_limits(f"{field}.set[2]", value.value, intervals(Cell)["value"])
        case "cut":
            _check_cut(f"{field}.cut", value, queries, keys)
        case "scale":
            check_limits(f"{field}.scale", value, interval(Factor))
        case "fill":
            check_limits(f"{field}.fill", value, interval(Value))
        case "temperature":
            check_limits(f"{field}.temperature", value, interval(Temperature))
        case "mask":
            check_range(f"{field}.mask", value, 0, lengths[intervention.at] - 1)
        case "shuffle":
            check_limits(f"{field}.shuffle", value, interval(Seed))


def _check_cut(field: str, cut: Edge | tuple[Edge, ...], queries: int, keys: int) -> None:
    """Check the edges of a cut: at least one, and all of them exist."""
    edges = edges_of(cut)
    if not edges:
        raise InputError("too-short", field, f"{field} has no edges")
    for index, (query, key) in enumerate(edges):
        one = field if edges is not cut else f"{field}[{index}]"
        check_range(f"{one}[0]", query, 0, queries - 1)
        check_range(f"{one}[1]", key, 0, keys - 1)

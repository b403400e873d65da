"""Validates which heads, rows and features of a tensor an intervention changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotated_types import Interval

from model.adapters.other_runs import Step
from model.errors import Excess, InputError
from model.number_ranges import Factor, Value, interval
from model.trace.attentions import AttentionInfo, Attentions, text_of_rows
from model.trace.interventions import EFFECTS, HEADS, Effect, Intervention
from model.trace.tensor_tap import FEATURE, HEAD, HIDDEN

WITH_HEADS = 3  # dims of a tensor with a row per head and token
Dims = Mapping[str, tuple[str, ...]]


def widths_of(names: Dims, d_model: int, hidden: Mapping[str, int]) -> dict[str, int]:
    """Return the size of the last axis of tensors of features or hidden units.

    `hidden` gives the number of hidden units of networks, such as "encoder.0.ffn".
    """
    found = {name: d_model for name, dims in names.items() if dims[-1] == FEATURE}
    units = {name: name.rpartition(".")[0] for name, dims in names.items() if dims[-1] == HIDDEN}
    return found | {name: hidden[place] for name, place in units.items() if place in hidden}


def check_parts(
    one: Intervention,
    field: str,
    names: Dims,
    attentions: Attentions,
    lengths: Mapping[str, int],
    widths: Mapping[str, int],
) -> None:
    """Raise `InputError` for heads, rows or units that do not exist, or that cannot be chosen.

    Also checks the numbers of a vector to add, which are as many as the last axis is long.
    """
    effect = EFFECTS[one.do]
    if one.heads is not None:
        heads = 0 if one.head is not None else heads_at(one.at, effect, names, attentions)
        if not heads:
            raise _left_out(f"{field}.heads", f"{one.do} has no heads there, or one is named")
        _check_indices(f"{field}.heads", one.heads, heads)
    if one.rows is not None:
        if not effect.part:
            raise _left_out(f"{field}.rows", f"{one.do} does not act row by row")
        _check_indices(f"{field}.rows", one.rows, lengths[_text(one.at, names, attentions)])
    width = widths.get(one.at, 0)
    if one.units is not None:
        if not effect.part or not width:
            raise _left_out(f"{field}.units", "the last axis there is not of features")
        _check_indices(f"{field}.units", one.units, width)
    if one.do == "add":
        _check_vector(one, f"{field}.do.add", width)


def heads_at(at: str, effect: Effect, names: Dims, attentions: Attentions) -> int:
    """Return the number of heads that an effect can be applied to one by one, at a place."""
    table = {one.place: one for one in attentions}
    if effect.at == HEADS and at in table:
        return table[at].heads
    place = table.get(at.rpartition(".")[0])
    if not effect.by_name or place is None or len(names[at]) < WITH_HEADS:
        return 0
    return place.heads if names[at][0] == HEAD else place.kv_heads


def _text(at: str, names: Dims, attentions: Attentions) -> str:
    """Return the text whose tokens are the rows that an effect acts on."""
    here: AttentionInfo | None = next((one for one in attentions if one.place == at), None)
    return here.query if here else text_of_rows(at, names[at], attentions)


def _check_vector(one: Intervention, field: str, width: int) -> None:
    if not width:
        detail = f"{field}: vectors are added to features or hidden units, which {one.at} is not"
        raise InputError("unknown-place", f"{field}", detail)
    if isinstance(one.value, Step):
        check_limits(f"{field}.times", one.value.times, interval(Factor))
    if not isinstance(one.value, tuple):
        return  # of other runs, whose rows `validate_patches` checks
    if len(one.value) != width:
        detail = f"{field} has {len(one.value)} numbers; {one.at} has {width} features"
        raise InputError("does-not-fit", field, detail, Excess(width, "entries", len(one.value)))
    for index, number in enumerate(one.value):
        check_limits(f"{field}[{index}]", number, interval(Value))


def _check_indices(field: str, chosen: Sequence[int], count: int) -> None:
    if not chosen:
        raise InputError("too-short", field, f"{field} has no entries")
    for n, index in enumerate(chosen):
        check_range(f"{field}[{n}]", index, 0, count - 1)
        if index in chosen[:n]:
            detail = f"{field}[{n}] must be an index that is not listed yet"
            raise InputError("out-of-range", f"{field}[{n}]", detail)


def _left_out(field: str, why: str) -> InputError:
    return InputError("unknown-field", field, f"{field} must be left out: {why}")


def check_limits(field: str, value: float | None, limits: Interval | None) -> None:
    """Raise `InputError` for a number outside its type's range, naming both ends."""
    if limits is not None and value is not None:
        low: Any = limits.ge
        high: Any = limits.le
        check_range(field, value, low, high)


def check_range(field: str, value: float, low: float, high: float) -> None:
    """Raise `InputError` unless `low` ≤ `value` ≤ `high`; NaN is always out of range."""
    if not low <= value <= high:
        raise InputError("out-of-range", field, f"{field} must be from {low} to {high}")

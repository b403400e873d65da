"""Validates requests: decoding, interventions and their parts, attributions, and other runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from annotated_types import Interval

from model.adapters.requests.adapter_interface import Adapter
from model.adapters.requests.bind_interventions import can_follow
from model.adapters.requests.request import (
    METHODS,
    Decode,
    Patch,
    Receiver,
    Request,
    Step,
    alone,
    check_prefix,
    other_runs,
    path_of,
)
from model.errors import Excess, InputError
from model.explain import logit_lens, score_terms
from model.explain.attribution import LONGEST
from model.explain.logit_lens import CONTRAST, LOGIT
from model.request_limits import Factor, Seed, Temperature, Value, interval, intervals
from model.text.tokens import Token, fits
from model.trace.attentions import AttentionInfo, Attentions, by_place, text_of_rows
from model.trace.interventions import EFFECTS, HEADS, Cell, Edge, Effect, Intervention, edges_of
from model.trace.tensor_names import INSIDE, INTEGRATIONS, matching, select
from model.trace.tensor_tap import FEATURE, HEAD, HIDDEN, KEY, SOURCE, TARGET

Dims = Mapping[str, tuple[str, ...]]  # of tensors, by name


def check_request(
    adapter: Adapter,
    request: Request,
    texts: Mapping[str, Sequence[Token]],
    writable: tuple[int, Callable[[int, int], bool]],
    names: Dims,
    widths: Mapping[str, int],
    lengths: Callable[[Request], Mapping[str, int]],
) -> None:
    """Raise `InputError` for the first field that is invalid for a model.

    `texts` are the tokens of the texts that the request gives, `writable` are the arguments of
    `check_prefix`, `names` and `widths` those of `check_interventions`, as is what `lengths`
    returns for a request.
    """
    info, counts = adapter.info, {text: len(tokens) for text, tokens in texts.items()}
    check_attribution(request.select, counts[info.texts[0]], counts.get(TARGET, 0))
    select(request.summarise, info.places, "summarise")
    check_decode(request.decode, info.max_tokens)
    check_prefix(request.decode.prefix, *writable)
    if request.interventions:
        longest = lengths(request)
        check_interventions(request.interventions, names, info.attentions, longest, widths)
        check_patches(adapter, request, names, lengths)
    reached = {**lengths(request), **({TARGET: counts[TARGET]} if TARGET in counts else {})}
    reached = {text: max(length, request.pad_to or 0) for text, length in reached.items()}
    score_terms.check(info.attentions, request.select, reached)
    logit_lens.check_contrasts(request.select, info.vocabulary, reached[info.attentions[-1].query])
    if request.pad_to is not None:
        check_range("pad_to", request.pad_to, max(counts.values()), info.max_tokens)


def check_text(
    field: str, text: str, most: int, encode: Callable[[str], Sequence[Token]]
) -> list[Token]:
    """Return a text's tokens. Raises `InputError` if none covers any of it, or for too many."""
    tokens = list(encode(text))
    if not any(token.end > token.start for token in tokens):
        raise InputError("empty-text", field, f"{field} is empty")
    if len(tokens) > most:
        detail = f"{field} has {len(tokens)} tokens; this model reads at most {most}"
        excess = Excess(most, "tokens", len(tokens), fits(text, most, encode))
        raise InputError("text-too-long", field, detail, excess)
    return tokens


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
    _check_names(interventions, names, attentions)
    table = by_place(attentions)
    for index, intervention in enumerate(interventions):
        field = f"interventions[{index}]"
        effect = EFFECTS[intervention.do]
        if intervention.head is not None:
            heads = heads_at(intervention.at, effect, names, attentions)
            if not heads:
                detail = f"{field}.head must be left out: {intervention.do} has no heads there"
                raise InputError("unknown-field", f"{field}.head", detail)
            check_range(f"{field}.head", intervention.head, 0, heads - 1)
        check_parts(intervention, field, names, attentions, lengths, widths)
        _check_value(intervention, f"{field}.do", table.get(intervention.at), lengths)


def _check_names(
    interventions: Sequence[Intervention],
    names: Mapping[str, tuple[str, ...]],
    attentions: Attentions,
) -> None:
    """Raise `InputError` for an unknown effect or place: before any list of numbers is read."""
    places: dict[str, set[str]] = {}  # by effect
    for index, intervention in enumerate(interventions):
        field = f"interventions[{index}]"
        if intervention.do not in EFFECTS:
            raise InputError(
                "unknown-effect", f"{field}.do", f"{field}.do must be one of {', '.join(EFFECTS)}"
            )
        if intervention.do not in places:
            places[intervention.do] = EFFECTS[intervention.do].places(names, attentions)
        known = places[intervention.do]
        if intervention.at not in known:
            example = f', such as "{min(known)}"' if known else "; this effect has none here"
            detail = f"{field}.at must be a place of the model{example}"
            raise InputError("unknown-place", f"{field}.at", detail)


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
    if all(0 <= query < queries and 0 <= key < keys for query, key in edges):
        return  # before thousands of fields are named
    for index, (query, key) in enumerate(edges):
        edge_field = field if edges is not cut else f"{field}[{index}]"
        check_range(f"{edge_field}[0]", query, 0, queries - 1)
        check_range(f"{edge_field}[1]", key, 0, keys - 1)


WITH_HEADS = 3  # dims of a tensor with a row per head and token


def widths_of(names: Dims, d_model: int, hidden: Mapping[str, int]) -> dict[str, int]:
    """Return the size of the last axis of tensors of features or hidden units.

    `hidden` gives the number of hidden units of networks, such as "encoder.0.ffn".
    """
    features = {name: d_model for name, dims in names.items() if dims[-1] == FEATURE}
    units = {name: name.rpartition(".")[0] for name, dims in names.items() if dims[-1] == HIDDEN}
    return features | {name: hidden[place] for name, place in units.items() if place in hidden}


def check_parts(
    intervention: Intervention,
    field: str,
    names: Dims,
    attentions: Attentions,
    lengths: Mapping[str, int],
    widths: Mapping[str, int],
) -> None:
    """Raise `InputError` for heads, rows or units that do not exist, or that cannot be chosen.

    Also checks the numbers of a vector to add, which are as many as the last axis is long.
    """
    effect = EFFECTS[intervention.do]
    if intervention.heads is not None:
        heads = (
            0
            if intervention.head is not None
            else heads_at(intervention.at, effect, names, attentions)
        )
        if not heads:
            raise _left_out(
                f"{field}.heads", f"{intervention.do} has no heads there, or one is named"
            )
        _check_indices(f"{field}.heads", intervention.heads, heads)
    if intervention.rows is not None:
        if not effect.part:
            raise _left_out(f"{field}.rows", f"{intervention.do} does not act row by row")
        _check_indices(
            f"{field}.rows", intervention.rows, lengths[_text(intervention.at, names, attentions)]
        )
    width = widths.get(intervention.at, 0)
    if intervention.units is not None:
        if not effect.part or not width:
            raise _left_out(f"{field}.units", "the last axis there is not of features")
        _check_indices(f"{field}.units", intervention.units, width)
    if intervention.do == "add":
        _check_vector(intervention, f"{field}.do.add", width)


def heads_at(name: str, effect: Effect, names: Dims, attentions: Attentions) -> int:
    """Return the number of heads that an effect can be applied to one by one, at a place."""
    table = by_place(attentions)
    if effect.at == HEADS and name in table:
        return table[name].heads
    place = table.get(name.rpartition(".")[0])
    if not effect.by_name or place is None or len(names[name]) < WITH_HEADS:
        return 0
    return place.heads if names[name][0] == HEAD else place.kv_heads


def _text(name: str, names: Dims, attentions: Attentions) -> str:
    """Return the text whose tokens are the rows that an effect acts on."""
    attention = by_place(attentions).get(name)
    return attention.query if attention else text_of_rows(name, names[name], attentions)


def _check_vector(intervention: Intervention, field: str, width: int) -> None:
    if not width:
        place = intervention.at
        detail = f"{field}: vectors are added to features or hidden units, which {place} is not"
        raise InputError("unknown-place", f"{field}", detail)
    if isinstance(intervention.value, Step):
        check_limits(f"{field}.times", intervention.value.times, interval(Factor))
    if not isinstance(intervention.value, tuple):
        return  # of other runs, whose rows `check_patches` checks
    if len(intervention.value) != width:
        detail = (
            f"{field} has {len(intervention.value)} numbers; {intervention.at} has {width} features"
        )
        raise InputError(
            "does-not-fit", field, detail, Excess(width, "entries", len(intervention.value))
        )
    limits: Any = interval(Value)
    for index, number in enumerate(intervention.value):
        if not limits.ge <= number <= limits.le:  # before thousands of fields are named
            check_limits(f"{field}[{index}]", number, limits)


def _check_indices(field: str, chosen: Sequence[int], count: int) -> None:
    if not chosen:
        raise InputError("too-short", field, f"{field} has no entries")
    listed = set[int]()
    for n, index in enumerate(chosen):
        check_range(f"{field}[{n}]", index, 0, count - 1)
        if index in listed:
            detail = f"{field}[{n}] must be an index that is not listed yet"
            raise InputError("out-of-range", f"{field}[{n}]", detail)
        listed.add(index)


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


def check_attribution(select: Sequence[str], source: int, target: int) -> None:
    """Raise `InputError` for integrated gradients of texts with too many tokens."""
    index = next((number for number, name in enumerate(select) if name in INTEGRATIONS), None)
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


SUMS = tuple(f"{INSIDE}logit.{part}" for part in LOGIT)  # over what the model itself computed
# Parts of a stack whose value is no longer the sum of what it was computed from.
NOT_SUMS = ("input", "projected", "output", "residual", "norm")


def check_patches(
    adapter: Adapter,
    request: Request,
    dims: Mapping[str, tuple[str, ...]],
    lengths: Callable[[Request], Mapping[str, int]],
) -> None:
    """Raise `InputError` for an invalid other sentence, or for rows that do not exist.

    `dims` are those of all tensors, `lengths` the maximum number of tokens of each text of a
    request. Where both runs are given a text, either its tokens are as many, or rows are named.
    """
    for sentence, index in other_runs(request.interventions).items():
        intervention = request.interventions[index]
        field = f"interventions[{index}].do.{intervention.do}"
        if isinstance(intervention.value, Step):
            field += ".to" if alone(intervention.value.to.request) == sentence else ".minus"
        try:
            adapter.check(sentence)
        except InputError as error:
            raise error.at(f"{field}.{error.field}") from error
    ours = lengths(request)
    for index, intervention in enumerate(request.interventions):
        if intervention.do == "patch" and isinstance(intervention.value, Patch):
            text = text_of_rows(intervention.at, dims[intervention.at], adapter.info.attentions)
            field = f"interventions[{index}].do.patch.rows"
            if intervention.value.rows is None:
                _check_lengths(adapter, request, intervention.value.request, text, field)
            else:
                sizes = lengths(intervention.value.request)[text], ours[text]
                _check_rows(
                    intervention.value.rows,
                    sizes,
                    field,
                    _sees_only_read(adapter, intervention.at, dims),
                )
            if intervention.value.to is not None:
                _check_receiver(
                    adapter, intervention.value.to, dims, f"interventions[{index}].do.patch.to"
                )
        if isinstance(intervention.value, Step):
            text = text_of_rows(intervention.at, dims[intervention.at], adapter.info.attentions)
            for name, end in zip(("to", "minus"), intervention.value.ends, strict=False):
                field = f"interventions[{index}].do.add.{name}.row"
                check_range(field, end.row, 0, lengths(end.request)[text] - 1)
    _check_sums(request, adapter.info.attentions[-1])


def _check_lengths(
    adapter: Adapter, request: Request, other: Request, text: str, field: str
) -> None:
    tokens = [adapter.texts_of(either).get(text) for either in (other, request)]
    if None in tokens:
        return  # yet to be written
    theirs, ours = (len(some or ()) for some in tokens)
    if theirs != ours:
        detail = (
            f"{field} must say which rows replace which: {text} has {theirs} tokens there "
            f"and {ours} here"
        )
        raise InputError("does-not-fit", field, detail, Excess(ours, "tokens", theirs))


def _check_rows(
    rows: Sequence[tuple[int, int]], sizes: tuple[int, int], field: str, causal: bool
) -> None:
    if not rows:
        raise InputError("too-short", field, f"{field} has no rows")
    replaced = set[int]()
    for n, (donor_row, row) in enumerate(rows):
        check_range(f"{field}[{n}][1]", row, 0, sizes[1] - 1)
        # While a row of the decoder is being written, there is no later token to attend to.
        last = min(sizes[0] - 1, row) if causal else sizes[0] - 1
        check_range(f"{field}[{n}][0]", donor_row, 0, last)
        if row in replaced:
            detail = f"{field}[{n}][1] must be a row that is not replaced yet"
            raise InputError("out-of-range", f"{field}[{n}][1]", detail)
        replaced.add(row)


def _check_receiver(
    adapter: Adapter, to: Receiver, dims: Mapping[str, tuple[str, ...]], field: str
) -> None:
    """Raise `InputError` for the end of a path that does not exist, or that cannot be followed."""
    attentions = adapter.info.attentions
    if not can_follow(tuple(dims), attentions):
        detail = f"{field}: this model does not record the output of every sublayer"
        raise InputError("unsupported", field, detail)
    try:
        check_interventions([Intervention(to.at, "patch", to.head)], dims, attentions, {}, {})
    except InputError as error:
        raise error.at(f"{field}{error.field.removeprefix('interventions[0]')}") from error


def _sees_only_read(adapter: Adapter, name: str, dims: Mapping[str, tuple[str, ...]]) -> bool:
    """Return whether a tensor says which keys a query attends to, none of which are later."""
    place = name.rpartition(".")[0]
    attention = by_place(adapter.info.attentions).get(place)
    return dims[name][-1] == KEY and attention is not None and attention.causal


def _check_sums(request: Request, last: AttentionInfo) -> None:
    """Raise `InputError` for contributions of a run in which a sum was replaced."""
    replaced = next(
        (change for change in request.interventions if _replaces_sum(change, last)),
        None,
    )
    if replaced is None:
        return
    for index, pattern in enumerate(request.select):
        if pattern.startswith(CONTRAST) or matching(pattern, SUMS):
            article = "a patch" if replaced.do == "patch" else "a change"
            at = (path_of(replaced) or replaced).at
            detail = f"select[{index}]: with {article} at {at}, logits are not these sums"
            raise InputError("unsupported", f"select[{index}]", detail)


def _replaces_sum(intervention: Intervention, last: AttentionInfo) -> bool:
    name = (path_of(intervention) or intervention).at
    of, part = name.partition(".")[0], name.rpartition(".")[2]
    return intervention.do != "drop" and of in (last.stack, last.query) and part in NOT_SUMS

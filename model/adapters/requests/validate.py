"""Validates the other runs that interventions take values from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from model.adapters.other_runs import Patch, Receiver, Step, alone, other_runs, path_of
from model.adapters.requests.bind_interventions import can_follow
from model.adapters.requests.request import Adapter, Request
from model.adapters.validate import check_interventions
from model.adapters.validate_parts import check_range
from model.errors import Excess, InputError
from model.explain.contrast import CONTRAST
from model.explain.logit_lens import LOGIT
from model.trace.attentions import AttentionInfo, text_of_rows
from model.trace.interventions import Intervention
from model.trace.name_patterns import INSIDE, matches
from model.trace.tensor_tap import KEY

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
        one = request.interventions[index]
        field = f"interventions[{index}].do.{one.do}"
        if isinstance(one.value, Step):
            field += ".to" if alone(one.value.to.request) == sentence else ".minus"
        try:
            adapter.check(sentence)
        except InputError as error:
            detail = error.detail.replace(error.field, f"{field}.{error.field}", 1)
            raise InputError(error.kind, f"{field}.{error.field}", detail, error.excess) from error
    for index, one in enumerate(request.interventions):
        if one.do == "patch" and isinstance(one.value, Patch):
            text = text_of_rows(one.at, dims[one.at], adapter.info.attentions)
            field = f"interventions[{index}].do.patch.rows"
            if one.value.rows is None:
                _check_lengths(adapter, request, one.value.request, text, field)
            else:
                sizes = lengths(one.value.request)[text], lengths(request)[text]
                _check_rows(one.value.rows, sizes, field, _sees_only_read(adapter, one.at, dims))
            if one.value.to is not None:
                _check_receiver(adapter, one.value.to, dims, f"interventions[{index}].do.patch.to")
        if isinstance(one.value, Step):
            text = text_of_rows(one.at, dims[one.at], adapter.info.attentions)
            for name, end in zip(("to", "minus"), one.value.ends, strict=False):
                field = f"interventions[{index}].do.add.{name}.row"
                check_range(field, end.row, 0, lengths(end.request)[text] - 1)
    _check_sums(request, adapter.info.attentions[-1])


def _check_lengths(
    adapter: Adapter, request: Request, other: Request, text: str, field: str
) -> None:
    given = [adapter.texts_of(one).get(text) for one in (other, request)]
    if None in given:
        return  # yet to be written
    theirs, ours = (len(one or ()) for one in given)
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
    for n, (there, here) in enumerate(rows):
        check_range(f"{field}[{n}][1]", here, 0, sizes[1] - 1)
        # While a row of the decoder is being written, there is no later token to attend to.
        last = min(sizes[0] - 1, here) if causal else sizes[0] - 1
        check_range(f"{field}[{n}][0]", there, 0, last)
        if here in replaced:
            detail = f"{field}[{n}][1] must be a row that is not replaced yet"
            raise InputError("out-of-range", f"{field}[{n}][1]", detail)
        replaced.add(here)


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
        inner = error.field.removeprefix("interventions[0]")
        detail = error.detail.replace(error.field, f"{field}{inner}", 1)
        raise InputError(error.kind, f"{field}{inner}", detail, error.excess) from error


def _sees_only_read(adapter: Adapter, name: str, dims: Mapping[str, tuple[str, ...]]) -> bool:
    """Return whether a tensor says which keys a query attends to, none of which are later."""
    place = name.rpartition(".")[0]
    here = (one for one in adapter.info.attentions if one.place == place)
    return dims[name][-1] == KEY and any(one.causal for one in here)


def _check_sums(request: Request, last: AttentionInfo) -> None:
    """Raise `InputError` for contributions of a run in which a sum was replaced."""
    replaced = next((one for one in request.interventions if _replaces_sum(one, last)), None)
    for index, pattern in enumerate(request.select):
        sums = pattern.startswith(CONTRAST) or any(matches(pattern, name) for name in SUMS)
        if replaced is not None and sums:
            what = "a patch" if replaced.do == "patch" else "a change"
            at = (path_of(replaced) or replaced).at
            detail = f"select[{index}]: with {what} at {at}, logits are not these sums"
            raise InputError("unsupported", f"select[{index}]", detail)


def _replaces_sum(one: Intervention, last: AttentionInfo) -> bool:
    at = (path_of(one) or one).at
    of, part = at.partition(".")[0], at.rpartition(".")[2]
    return one.do != "drop" and of in (last.stack, last.query) and part in NOT_SUMS

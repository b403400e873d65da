"""Checks that arrays are attention weights that fit their tokens.

A row of weights sums to 1. What cannot be weights is refused with a sentence that names the layer,
the head, the row (all from 1) and what to do; what may be right with doubt becomes a notice, which
is drawn in the figure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from headlight.array_forms import TEXT_BLOCK, Array
from headlight.figure_notices import Notice, doubtful, shape_text, t
from model.text.tokens import Token

NEGATIVE = 1e-3  # by which rounding may take a weight below 0
ROUNDING = 4e-3  # by which the sum of a row may differ from 1: twice the rounding of bfloat16
SAME = 0.01  # of their mean: row sums that differ by less are one scale
FEWEST_OF_WINDOW = 5  # with fewer tokens, ordinary weights often leave these cells empty
DROPPED = 0.5  # with dropout, the mean of row sums stays within this of 1


def check_shape(place: str, array: Array, queries: int, keys: int) -> None:
    """Raise `ValueError` if weights (heads, queries, keys) do not fit the tokens."""
    needed = (queries, keys)
    if array.ndim == 3 and array.shape[1:] == needed and len(array):
        return
    advice = _advice(array.shape, needed)
    raise ValueError(
        f"{place} has shape {shape_text(array.shape)}; with {needed[0]} query tokens and "
        f"{needed[1]} key tokens, it must be (heads, {needed[0]}, {needed[1]}){advice}"
    )


def _advice(shape: Sequence[int], needed: tuple[int, int]) -> str:
    """Return what most likely happened, and what to do."""
    if len(shape) != 3:
        return ""
    if not shape[0]:
        return ": it has no head"
    if tuple(shape[1:]) == needed[::-1]:
        return ": queries and keys are swapped; use array.swapaxes(-1, -2), or exchange the tokens"
    if tuple(shape[:2]) == needed:
        return ": its heads come last; use array.transpose(2, 0, 1)"
    excess = shape[1] - needed[0], shape[2] - needed[1]
    square_tokens = needed[0] == needed[1]
    square = shape[1] == shape[2] and square_tokens
    if square and excess[0] in (1, 2):
        return (
            f": {excess[0]} more than there are tokens, probably special ones such as [CLS]; take "
            "the tokens from the ids that the model read"
        )
    if square_tokens and shape[0] == 1 and not excess[0]:
        return (
            ": a row of features for each token, such as hidden states, is no attention; take the "
            "attentions of the model's output"
        )
    if min(excess) >= 0:
        return f": if the rest is padding, cut it off: array[..., :{needed[0]}, :{needed[1]}]"
    if square and excess[0] == -1:
        return ": the last token was probably written and never read; leave it out"
    return ": take the tokens from the ids that the model read, without padding"


def check_values(name: str, arrays: Sequence[Array], queries: Sequence[Token]) -> list[Notice]:
    """Return notices about the weights of a block, layer by layer.

    Raises `ValueError` for numbers that cannot be attention weights.
    """
    for layer, array in enumerate(arrays):
        _check_numbers(name, layer, array, queries)
    sums = [array.sum(-1, dtype=np.float64) for array in arrays]  # each (heads, queries)
    empty = [layer_sums == 0 for layer_sums in sums]
    other = [
        ~none & (np.abs(layer_sums - 1) > ROUNDING)
        for layer_sums, none in zip(sums, empty, strict=True)
    ]
    notices = [*_about_empty_rows(name, empty, queries), *_about_windows(arrays)]
    if any(rows.any() for rows in other):
        notices.append(_about_sums(name, arrays, sums, other, empty, queries))
    return notices


def _check_numbers(name: str, layer: int, array: Array, queries: Sequence[Token]) -> None:
    unknown = ~np.isfinite(array)
    if unknown.any():
        place = _first(name, layer, np.any(unknown, axis=-1), queries)
        value = array[unknown][0]
        if np.isneginf(value):
            raise ValueError(
                f"{_place_text(place)} has a weight that is -inf: these are masked scores. Scores "
                "become weights by softmax over the keys: scores.softmax(-1)"
            )
        raise ValueError(
            f"{_place_text(place)} has a weight that is {value:g}. A query whose keys are all "
            "masked, such as padding, becomes NaN in a softmax, and float16 overflows: cut the "
            "padding off, or compute in float32"
        )
    negative = array < -NEGATIVE
    if negative.any():
        place = _first(name, layer, np.any(negative, axis=-1), queries)
        raise ValueError(
            f"{_place_text(place)} has a weight of {array[negative][0]:.4g}; weights must be 0 "
            "to 1. Scores become weights by softmax over the keys: scores.softmax(-1)"
        )


def _about_empty_rows(
    name: str, empty: Sequence[NDArray[np.bool_]], queries: Sequence[Token]
) -> list[Notice]:
    count = sum(int(rows.sum()) for rows in empty)
    if not count:
        return []
    if all(rows.all() for rows in empty):
        raise ValueError(f"{name}: all weights are 0; there is nothing to show")
    layer = next(layer for layer, rows in enumerate(empty) if rows.any())
    return [
        doubtful(
            t(
                "{block}Layer {layer}, head {head}, row {row} “{token}” "
                "has only zeros, and so have {n} rows in all: a query that may look at "
                "nothing (padding), a head that is off, or dropout.",
                n=count,
                **_first(name, layer, empty[layer], queries),
            )
        )
    ]


def _about_windows(arrays: Sequence[Array]) -> Iterator[Notice]:
    """Yield a notice if columns may be places in a window: key − query + half of its width."""
    rows, columns = arrays[0].shape[-2:]
    if rows != columns or rows < FEWEST_OF_WINDOW or not rows % 2:
        return
    token = np.arange(columns) + np.arange(rows)[:, None] - rows // 2
    outside = (token < 0) | (token >= rows)
    if not any(array[:, outside].any() for array in arrays):
        yield doubtful(
            t(
                "In no head do the first queries look at the first keys, nor the last ones at the "
                "last: so it is where columns are places in a window (Longformer), not tokens."
            )
        )


def _about_sums(
    name: str,
    arrays: Sequence[Array],
    sums: Sequence[NDArray[np.float64]],
    other: Sequence[NDArray[np.bool_]],
    empty: Sequence[NDArray[np.bool_]],
    queries: Sequence[Token],
) -> Notice:
    """Return the notice about rows that do not sum to 1, or raise `ValueError`."""
    layer = next(layer for layer, rows in enumerate(other) if rows.any())
    place = _first(name, layer, other[layer], queries)
    first = sums[layer][other[layer]][0]
    values = np.concatenate(
        [layer_sums[rows] for layer_sums, rows in zip(sums, other, strict=True)]
    )
    whole = all((rows | none).all() for rows, none in zip(other, empty, strict=True))
    sentence = (
        f"{_place_text(place)} sums to {first:.4g}; weights must be 0 to 1 and a row must sum to 1"
    )
    if _transposed(arrays):
        raise ValueError(
            f"{sentence}. The columns do: queries must be rows and keys columns, "
            "array.swapaxes(-1, -2)"
        )
    if whole and np.ptp(values) <= SAME * abs(values.mean()):
        raise ValueError(f"{sentence}. So do all rows, which is a scale: divide by {first:.4g}")
    highest = max(array.max() for array in arrays)
    if highest <= 1 + ROUNDING and values.max() <= 1 + ROUNDING:
        return doubtful(
            t(
                "{block}Layer {layer}, head {head}, row {row} “{token}” "
                "sums to {sum}, not to 1, as do {n} rows in all: weights are missing, such "
                "as keys that were cut off, a learned sink, or dropout. Nothing was rescaled.",
                **place,
                sum=f"{first:.2f}",
                n=len(values),
            )
        )
    if abs(values.mean() - 1) < DROPPED and _has_dropped(arrays):
        return doubtful(
            t(
                "{block}Layer {layer}, head {head}, row {row} “{token}” "
                "sums to {sum}, not to 1, as do {n} rows in all, and some weights are 0: "
                "dropout of a model in training mode. Call model.eval() for the weights without "
                "it.",
                **place,
                sum=f"{first:.2f}",
                n=len(values),
            )
        )
    raise ValueError(
        f"{sentence}. Row sums are {values.min():.4g} to {values.max():.4g}: these are no "
        "weights of a softmax over the keys"
    )


def _transposed(arrays: Sequence[Array]) -> bool:
    """Return whether columns sum to 1 in every head."""
    return all(
        array.shape[-1] > 1 and bool((np.abs(array.sum(-2) - 1) <= ROUNDING).all())
        for array in arrays
    )


def _has_dropped(arrays: Sequence[Array]) -> bool:
    """Return whether there are zeros before the last key that is looked at."""
    return any(
        bool(((array == 0) & (np.cumsum(array[..., ::-1], -1)[..., ::-1] > 0)).any())
        for array in arrays
    )


def _first(
    name: str, layer: int, rows: NDArray[np.bool_], queries: Sequence[Token]
) -> dict[str, str | int]:
    """Return the place of the first of some rows (heads, queries), from 1."""
    head, row = (int(index) for index in np.argwhere(rows)[0])
    return {
        "block": "" if name == TEXT_BLOCK else f"{name}: ",
        "layer": layer + 1,
        "head": head + 1,
        "row": row + 1,
        "token": queries[row].text.strip() or repr(queries[row].text)[1:-1],  # such as \n
    }


def _place_text(place: dict[str, str | int]) -> str:
    return "{block}layer {layer}, head {head}, row {row} “{token}”".format(**place)

"""The forms in which attention arrives, and the layers in them.

A list or tuple over layers, one stacked array, a model's output object, what `generate()` returns
step by step, a cache of TransformerLens, a saved value of nnsight. No library is imported for it:
an object is recognised by the attributes and keys that it has.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from headlight.figure_notices import Notice, doubtful, shape_text, t

Array = NDArray[np.float32]
TEXT_BLOCK = "attentions"  # of a model of one text
ENCODER, DECODER, CROSS_BLOCK = "encoder", "decoder", "cross"
OUTPUT_FIELDS = {
    "encoder_attentions": ENCODER,
    "decoder_attentions": DECODER,
    "cross_attentions": CROSS_BLOCK,
}
# Of TransformerLens; its encoder–decoder has an encoder, a decoder and cross-attention.
HOOK = re.compile(r"(blocks|encoder|decoder)\.(\d+)\.(attn|cross_attn)\.hook_pattern")
NO_ATTENTIONS = (
    '{what}. A model of transformers returns its attentions only with attn_implementation="eager" '
    "(in from_pretrained, or model.set_attn_implementation) and output_attentions=True; "
    "headlight.show(model, tokenizer, text) needs neither"
)


@dataclass(frozen=True)
class GivenLayers:
    """The attention of one block, layer by layer, as arrays of 2 to 4 axes."""

    arrays: Sequence[Any]
    numbers: Sequence[int]
    """The index of each layer in its model."""
    notices: tuple[Notice, ...] = ()
    joined: bool = False
    """Whether they are of several passes, of which the last token was never read."""


def given_blocks(attentions: Any, chosen: Sequence[int] | None = None) -> dict[str, GivenLayers]:
    """Return the layers by block: "encoder", "decoder", "cross", or `TEXT_BLOCK` of one text.

    `chosen` are the layers to keep, from 0. Raises `ValueError` and `TypeError` for what has no
    attention in it; the message says what to do.
    """
    blocks = {name: _layers(name, value) for name, value in _blocks(_saved(attentions)).items()}
    if chosen is None:
        return blocks
    numbers = {number for layers in blocks.values() for number in layers.numbers}
    chosen_numbers = check_layers(chosen, numbers)
    # A block may have fewer layers than the others.
    return {
        name: _chosen(layers, chosen_numbers)
        for name, layers in blocks.items()
        if chosen_numbers.intersection(layers.numbers)
    }


def check_layers(chosen: Sequence[int], numbers: Collection[int]) -> set[int]:
    """Return the chosen layers. Raises `ValueError` for none, and for one that does not exist."""
    if isinstance(chosen, int | str) or not len(chosen):
        raise ValueError(f"layers is {chosen!r}; it must be a list of layers, such as [0, 11]")
    if unknown := sorted(set(chosen) - set(numbers)):
        raise ValueError(
            f"layers: there is no layer {unknown[0]}; they count from 0 to {max(numbers)}"
        )
    return set(chosen)


def _chosen(layers: GivenLayers, chosen: Collection[int]) -> GivenLayers:
    indices = [index for index, number in enumerate(layers.numbers) if number in chosen]
    return replace(
        layers,
        arrays=[layers.arrays[index] for index in indices],
        numbers=[layers.numbers[index] for index in indices],
    )


def _saved(value: Any) -> Any:
    """Return the value of an nnsight proxy that was saved; anything else unchanged."""
    if isinstance(value, torch.Tensor) and value.is_nested:
        raise ValueError(
            "attentions has a nested tensor, a batch of texts: choose one of tensor.unbind()"
        )
    if isinstance(value, Mapping | Sequence) or hasattr(value, "shape"):
        return value
    inner = getattr(value, "value", None)
    return value if inner is None or callable(inner) else inner


def _blocks(attentions: Any) -> Mapping[str, Any]:
    if attentions is None:
        raise ValueError(NO_ATTENTIONS.format(what="attentions is None"))
    if (cached := _cached(attentions)) is not None:
        return cached
    if _field(attentions, "global_attentions") is not None:  # of Longformer
        raise ValueError(
            "these attentions are of windows: a column is a place in each query's window, not a "
            "token (the output has global_attentions). headlight.show(model, tokenizer, text) puts "
            "them at their tokens"
        )
    fields = {name: _field(attentions, name) for name in ("attentions", *OUTPUT_FIELDS)}
    has_fields = any(
        hasattr(attentions, name) or (isinstance(attentions, Mapping) and name in attentions)
        for name in fields
    )
    if not has_fields:
        if isinstance(attentions, Mapping):
            return attentions
        if isinstance(attentions, str | bytes) or not _is_layers(attentions):
            raise TypeError(
                f"attentions is {type(attentions).__name__}; needed are a list with an array for "
                "each layer, one array, or a model's output"
            )
        return {TEXT_BLOCK: attentions}
    blocks = {
        block: fields[name] for name, block in OUTPUT_FIELDS.items() if fields[name] is not None
    }
    if fields["attentions"] is not None and CROSS_BLOCK not in blocks:
        return {TEXT_BLOCK: fields["attentions"]}
    if not blocks:
        raise ValueError(NO_ATTENTIONS.format(what="this output has no attentions"))
    return blocks


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _is_layers(value: Any) -> bool:
    return isinstance(value, Sequence) or hasattr(value, "shape") or hasattr(value, "__array__")


def _cached(value: Any) -> dict[str, GivenLayers] | None:
    """Return the patterns of an `ActivationCache`, or of a dict with its names; None: no cache."""
    if isinstance(value, Sequence) or not (hasattr(value, "keys") and hasattr(value, "items")):
        return None
    places: dict[str, dict[int, Any]] = {}
    names = [str(name) for name in value.keys()]  # noqa: SIM118
    for name in names:
        if match := HOOK.fullmatch(name):
            stack = {"blocks": TEXT_BLOCK}.get(match[1], match[1])
            block = CROSS_BLOCK if match[3] == "cross_attn" else stack
            places.setdefault(block, {})[int(match[2])] = value[name]
    if not places:
        if any(".hook_" in name for name in names):
            raise ValueError(
                "the cache has no attention: keep blocks.{layer}.attn.hook_pattern in names_filter"
            )
        return None
    return {
        block: GivenLayers([layers[n] for n in sorted(layers)], sorted(layers))
        for block, layers in places.items()
    }


def _layers(name: str, value: Any) -> GivenLayers:
    value = _saved(value)
    if isinstance(value, GivenLayers):
        return value
    if not isinstance(value, Sequence) and _is_layers(value):
        return _stacked(name, value)
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        if value is None:
            raise ValueError(NO_ATTENTIONS.format(what=f"{name} is None"))
        raise TypeError(f"{name} is {type(value).__name__}, not a list of arrays")
    entries = [_saved(entry) for entry in value]
    if _is_output_and_weights(entries):
        raise ValueError(
            f"{name} is what nn.MultiheadAttention returns: its output, then its weights. Pass the "
            "weights: attentions[1]"
        )
    if all(entry is None for entry in entries):
        reason = f"{name}: every layer is None" if entries else f"{name}: there is no layer"
        raise ValueError(NO_ATTENTIONS.format(what=reason))
    if None in [entry if entry is None else 0 for entry in entries]:
        missing = next(index for index, entry in enumerate(entries) if entry is None)
        raise ValueError(
            f"{name}, layer {missing + 1} is None: this layer has no attention weights; leave it "
            "out, [a for a in attentions if a is not None]"
        )
    if not all(_is_step(entry) for entry in entries):
        return GivenLayers(entries, range(len(entries)))
    layers, passes = _joined(name, entries), len(entries)
    notice = t("The steps of generate() were joined: {n} passes, one after another.", n=passes)
    return GivenLayers(layers, range(len(layers)), (notice,), joined=True)


def _is_output_and_weights(entries: Sequence[Any]) -> bool:
    """Return whether the first of two arrays has a row of features for each row of the second."""
    shapes = [tuple(getattr(entry, "shape", ())) for entry in entries]
    if len(shapes) != 2 or not 2 <= len(shapes[0]) == len(shapes[1]) <= 3:
        return False
    (*rows, features), (*queries, keys) = shapes
    return rows == queries and features != keys == queries[-1]


def _stacked(name: str, value: Any) -> GivenLayers:
    """Return the layers of one array: (layers, heads, queries, keys), or fewer axes."""
    array = value if hasattr(value, "shape") else np.asarray(value)
    shape = tuple(array.shape)
    if len(shape) == 5 and shape[1] != 1:
        raise ValueError(
            f"{name} has shape {shape_text(shape)}: a batch of {shape[1]} in each layer. Choose a "
            "text, for example attentions[:, 0]"
        )
    if len(shape) in (4, 5) and shape[0]:
        layers = [array[layer] for layer in range(shape[0])]
        notice = t(
            "One array of shape {shape} was read as {layers} layers of {heads} heads. If its first "
            "axis is a batch, choose a text from it: [a[0]].",
            shape=shape_text(shape),
            layers=shape[0],
            heads=shape[-3],
        )
        doubts = (doubtful(notice),) if len(shape) == 4 and shape[0] > 1 else ()
        return GivenLayers(layers, range(len(layers)), doubts)
    if len(shape) in (2, 3):
        notice = t(
            "One array of shape {shape} was read as one layer of {heads} heads. If its first axis "
            "is a batch (nn.MultiheadAttention averages its heads), choose a text: [a[0]].",
            shape=shape_text(shape),
            heads=shape[0],
        )
        doubts = (doubtful(notice),) if len(shape) == 3 and shape[0] > 1 else ()
        return GivenLayers([array], range(1), doubts)
    raise ValueError(
        f"{name} has shape {shape_text(shape)}; one array must be (layers, heads, queries, keys)"
    )


def _is_step(entry: Any) -> bool:
    """Return whether an entry is the layers of one pass of `generate()`."""
    if not isinstance(entry, list | tuple) or not entry:
        return False
    return all(layer is None or len(getattr(layer, "shape", ())) == 4 for layer in entry)


def _joined(name: str, steps: Sequence[Sequence[Any]]) -> list[Any]:
    """Return each layer over all passes: (1, heads, queries, keys)."""
    if any(layer is None for step in steps for layer in step):
        raise ValueError(NO_ATTENTIONS.format(what=f"{name}: a layer of a step is None"))
    counts = {len(step) for step in steps}
    if len(counts) != 1:
        raise ValueError(f"{name}: the steps have {min(counts)} to {max(counts)} layers")
    return [
        _joined_layer(
            f"{name}, layer {layer + 1}",
            [to_numpy(f"{name}, layer {layer + 1}", step[layer]) for step in steps],
            cross=name == CROSS_BLOCK,
        )
        for layer in range(counts.pop())
    ]


def _joined_layer(place: str, passes: Sequence[Array], cross: bool) -> Array:
    batches = {len(array) for array in passes}
    if batches != {1}:
        raise ValueError(
            f"{place} has a batch of {max(batches)} (or as many beams): choose a text, for example "
            "[[layer[:1] for layer in step] for step in attentions]"
        )
    rows: list[Array] = []
    read = 0
    for step, array in enumerate(passes):
        queries, keys = array.shape[-2:]
        if step and queries == read + 1 > 1:  # without a cache, every pass reads everything
            rows, read = [], 0
        read += queries
        if not cross and keys > read:  # a cache of fixed length is filled with zeros
            if array[..., read:].any():
                raise ValueError(
                    f"{place}, step {step + 1} looks at {keys} tokens after {read} were read"
                )
            array = array[..., :read]
        rows.append(array)
    width = max(array.shape[-1] for array in rows) if cross else read
    end = 0
    for index, array in enumerate(rows):
        end = width if cross else end + array.shape[-2]
        before = end - array.shape[-1]  # a sliding window has forgotten the first keys
        rows[index] = np.pad(array, ((0, 0), (0, 0), (0, 0), (before, width - end)))
    return np.concatenate(rows, axis=-2)


def to_numpy(place: str, value: Any) -> Array:
    """Return an array of any library as float32. Raises `ValueError` for what is not numbers."""
    value = _saved(value)
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise ValueError(
            f"{place} is a masked array, whose masked weights would be drawn: array.filled(0) "
            "makes them 0"
        )
    if isinstance(value, torch.Tensor):  # bfloat16 has no NumPy type
        if value.device.type == "meta":
            raise ValueError(f"{place} is on the device meta and has no numbers")
        value = value.detach().to_dense().cpu().float().numpy()
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "biufV":
            raise TypeError(array.dtype)
        return array.astype(np.float32, copy=False)
    except (RuntimeError, TypeError, ValueError) as error:
        kind = type(value).__name__
        raise ValueError(f"{place} is not an array of numbers: {kind}, {error}") from error


def one_text(place: str, array: Array) -> Array:
    """Return weights without an axis of a batch of one.

    Raises `ValueError` for a batch that no text was chosen from, and for less than a matrix.
    """
    if array.ndim < 2:
        raise ValueError(
            f"{place} has shape {shape_text(array.shape)}; it must be (heads, queries, keys): a "
            "row of weights for each token that looks. Weights of a single query are one row"
        )
    if array.ndim == 4 and len(array) != 1:
        raise ValueError(
            f"{place} has shape {shape_text(array.shape)}: a batch of {len(array)}. Choose a text, "
            "for example [a[0] for a in attentions] (of one stacked array attentions[:, 0])"
        )
    return array[0] if array.ndim == 4 else array


def about_layers(numbers: Sequence[int]) -> Iterator[Notice]:
    """Yield a notice of which layers are shown, from 1, if they are not the first of the model."""
    if list(numbers) != [*range(len(numbers))]:
        texts = ", ".join(str(number + 1) for number in numbers)
        yield t("The layers of this figure are layers {layers} of the model.", layers=texts)

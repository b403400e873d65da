"""Attention computed elsewhere: arrays and tokens behind the interface of a model.

`array_forms` finds the layers in what is given, `array_tokens` reads the tokens, and `array_checks`
refuses what cannot be attention.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Literal

import numpy as np
import torch

from headlight.array_checks import check_shape, check_values
from headlight.array_forms import (
    CROSS_BLOCK,
    DECODER,
    ENCODER,
    TEXT_BLOCK,
    Array,
    GivenLayers,
    about_layers,
    given_blocks,
    one_text,
    to_numpy,
)
from headlight.array_tokens import Grid, ReadTokens, read_tokens
from headlight.figure_notices import AttentionWarning, Notice, t
from model.adapters.requests.adapter_interface import Adapter
from model.adapters.requests.model_info import ModelInfo
from model.adapters.requests.request import Request
from model.adapters.requests.trace import Output, Trace
from model.errors import InputError
from model.explain.patterns import summary
from model.text.tokens import Token
from model.trace.attentions import CAUSAL, CROSS, PADDING, SELF, AttentionInfo
from model.trace.tensor_names import select
from model.trace.tensor_tap import HEAD, KEY, QUERY, SOURCE, TARGET, NamedTensor

TEXT = "text"
Places = Mapping[str, tuple[str, Literal["self", "cross"], str, str]]
# Of an encoder–decoder: stack, kind, text of the queries, text of the keys.
BLOCKS: Places = {
    ENCODER: ("encoder", SELF, SOURCE, SOURCE),
    DECODER: ("decoder", SELF, TARGET, TARGET),
    CROSS_BLOCK: ("decoder", CROSS, TARGET, SOURCE),
}
OF_ONE_TEXT: Places = {TEXT_BLOCK: ("encoder", SELF, TEXT, TEXT)}
AVERAGED = t("There is no axis of heads: the one head is the average over all heads.")
ONE_HEAD = t(
    "There is one head. nn.MultiheadAttention averages its heads, unless it is called with "
    "average_attn_weights=False."
)
TITLE = t("Given attention")
AVERAGED_TITLE = t("Given attention, averaged over heads")
UNKNOWN = Token("…", 0, 0, 0, True)


class GivenAttention(Adapter):
    """Attention that was computed elsewhere; every request gets the same trace.

    It has only weights and masks: no q, k and v, no output, and no interventions.
    """

    def __init__(
        self,
        info: ModelInfo,
        texts: Mapping[str, tuple[Token, ...]],
        tensors: Mapping[str, NamedTensor],
        text: str,
        notices: Sequence[Notice] = (),
        last_written: Token = UNKNOWN,
        title: Notice = TITLE,
    ) -> None:
        self.info = info
        self.texts = texts
        self.tensors = tensors
        self.text = text
        """The first text; its tokens' `start` and `end` are offsets in it."""
        self.notices = tuple(notices)
        """How arrays and tokens were read, and what should be checked: sentences of the figure."""
        self.last_written = last_written
        self.title = title
        """The name of the model in the figure's language."""
        self.names = {name: tensor.dims for name, tensor in tensors.items()}

    def validate(self, request: Request) -> None:
        select(request.select, self.names)
        select(request.summarise, self.info.places, "summarise")
        if request.interventions:
            detail = "interventions: attention that was computed elsewhere cannot be changed"
            raise InputError("unsupported", "interventions", detail)

    def run(self, requests: Sequence[Request]) -> list[Trace]:
        return [self._trace(request) for request in requests]

    def written(self, ids: Sequence[int]) -> tuple[str, tuple[Token, ...]]:
        raise LookupError(f"{self.info.id} writes nothing")

    def token(self, id_: int, *, first: bool = False) -> Token:
        raise LookupError(f"{self.info.id} has no vocabulary")

    def _trace(self, request: Request) -> Trace:
        places = select(request.summarise, self.info.places, "summarise")
        # A row that has read a token predicts the next one.
        written = (*self.texts.get(TARGET, ())[1:], self.last_written)
        unknown = (math.nan,) * len(written)
        return Trace(
            model=self.info,
            request=request,
            texts=self.texts,
            tensors={name: self.tensors[name] for name in select(request.select, self.names)},
            written=Output(
                "".join(token.text for token in written if not token.special).strip(),
                written,
                unknown,
                (),
                math.nan,
                finished=False,
            )
            if TARGET in self.texts
            else None,
            summaries={
                place: summary(place, self.tensors, self.texts, written) for place in places
            },
        )


def given(
    attentions: Any,
    tokens: Any = None,
    *,
    tokenizer: Any = None,
    scheme: str | None = None,
    layers: Sequence[int] | None = None,
) -> GivenAttention:
    """Return attention that was computed elsewhere as a model.

    `attentions`: an array (heads, queries, keys) for each layer, one stacked array, a model's
    output, what `generate()` returns, or a cache of TransformerLens. An array may have a batch axis
    of one; without an axis of heads it is one averaged head. An encoder–decoder has a mapping with
    "encoder", "decoder" and "cross", as many of them as there are, and `tokens` a mapping with
    "source" and "target".

    `tokens`: the strings, the ids with their `tokenizer`, or a `Grid` of patches. `scheme` names
    the marks in strings (one of `array_tokens.SCHEMES`) if they are not recognised. `layers` are
    the layers to keep, from 0. If no query of any layer looks ahead, the attention is shown as
    causal.

    Raises `ValueError` and `TypeError` for what cannot be attention of these tokens; the message
    names layer, head and row, and what to do. What may be right is a notice in the figure, and an
    `AttentionWarning`.
    """
    blocks = given_blocks(attentions, layers)
    if tokens is None and tokenizer is not None:
        tokens = getattr(attentions, "sequences", None)
    named = _tokens_by_text(blocks, tokens)
    places = BLOCKS if TEXT not in named else OF_ONE_TEXT
    arrays = {name: _arrays(name, block) for name, block in blocks.items()}
    notices = [notice for name in blocks for notice in _reading(blocks[name], arrays[name])]
    texts = {
        text: _read(text, strings, _length(text, arrays, places), tokenizer, scheme)
        for text, strings in named.items()
    }
    last_written = UNKNOWN
    for name, block in blocks.items():
        if block.joined and len(texts[places[name][2]].tokens) == arrays[name][0].shape[-2] + 1:
            texts[places[name][2]], last_written = texts[places[name][2]].without_last()
    for name, block_arrays in arrays.items():
        _, _, query, key = places[name]
        sizes = len(texts[query].tokens), len(texts[key].tokens)
        arrays[name] = [array[None] if array.ndim == 2 else array for array in block_arrays]
        for layer, array in enumerate(arrays[name]):
            check_shape(f"{name}, layer {layer + 1}", array, *sizes)
        notices += check_values(name, arrays[name], texts[query].tokens)
    for read in texts.values():
        if read.notice and read.notice not in notices:
            notices.append(read.notice)
    for notice in notices:
        if notice.doubt:
            warnings.warn(str(notice), AttentionWarning, stacklevel=2)
    by_text = {name: read.tokens for name, read in texts.items()}
    infos, tensors = _tensors(arrays, places, by_text)
    title = AVERAGED_TITLE if AVERAGED in notices else TITLE
    info = _info(infos, tensors, by_text, str(title))
    return GivenAttention(
        info, by_text, tensors, next(iter(texts.values())).text, notices, last_written, title
    )


def _tokens_by_text(blocks: Mapping[str, GivenLayers], tokens: Any) -> Mapping[str, Any]:
    """Return the given tokens by text; raises `ValueError` if they are not those of the blocks."""
    of_two_texts = isinstance(tokens, Mapping) and not hasattr(tokens, "input_ids")
    if unknown := blocks.keys() - BLOCKS.keys() - {TEXT_BLOCK}:
        raise ValueError(
            f"unknown: {', '.join(map(repr, unknown))}; known are {', '.join(BLOCKS)}. A dict of "
            "layers is given as their list: list(attentions.values())"
        )
    if not blocks:
        raise ValueError(f"attentions is empty; it needs one of {', '.join(BLOCKS)}")
    if TEXT_BLOCK in blocks:
        if of_two_texts and "input_ids" not in tokens:
            raise ValueError(
                "attentions and tokens must both be mappings, or neither: these attentions are of "
                "one text, whose tokens are a list"
            )
        return {TEXT: tokens}
    if not of_two_texts:
        raise ValueError(
            "attentions and tokens must both be mappings, or neither: these attentions are of an "
            "encoder–decoder, whose tokens are {'source': […], 'target': […]}"
        )
    if unknown := tokens.keys() - {SOURCE, TARGET}:
        raise ValueError(f"unknown: {', '.join(map(repr, unknown))}; tokens has source and target")
    needed = {text for name in blocks for text in BLOCKS[name][2:]}
    if missing := needed - tokens.keys():
        raise ValueError(f"tokens lacks {', '.join(map(repr, sorted(missing)))}")
    return {name: tokens[name] for name in (SOURCE, TARGET) if name in tokens}


def _arrays(name: str, block: GivenLayers) -> list[Array]:
    """Return the layers of a block, each (heads, queries, keys), or (queries, keys) if averaged."""
    places = [f"{name}, layer {layer + 1}" for layer in range(len(block.arrays))]
    return [
        np.ascontiguousarray(one_text(place, to_numpy(place, array)))
        for place, array in zip(places, block.arrays, strict=True)
    ]


def _reading(block: GivenLayers, arrays: Sequence[Array]) -> list[Notice]:
    """Return notices of how the layers of a block were read."""
    notices = [*block.notices, *about_layers(block.numbers)]
    if any(array.ndim == 2 for array in arrays):
        notices.append(AVERAGED)
    elif all(array.ndim == 3 and len(array) == 1 for array in arrays):
        notices.append(ONE_HEAD)
    return notices


def _length(text: str, arrays: Mapping[str, Sequence[Array]], places: Places) -> int:
    """Return how many tokens of a text an array has."""
    for name, layers in arrays.items():
        for axis_text, axis in zip(places[name][2:], (-2, -1), strict=True):
            if axis_text == text:
                return int(layers[0].shape[axis])
    return 0


def _read(text: str, tokens: Any, length: int, tokenizer: Any, scheme: str | None) -> ReadTokens:
    if isinstance(tokens, Grid):
        return tokens.read(length)
    return read_tokens("tokens" if text == TEXT else f"tokens[{text!r}]", tokens, tokenizer, scheme)


def _tensors(
    arrays: Mapping[str, Sequence[Array]],
    places: Places,
    texts: Mapping[str, Sequence[Token]],
) -> tuple[list[AttentionInfo], dict[str, NamedTensor]]:
    """Return the table of attentions, and their weights and masks."""
    infos: list[AttentionInfo] = []
    tensors: dict[str, NamedTensor] = {}
    for name, layers in arrays.items():
        stack, kind, query, key = places[name]
        causal = kind == SELF and not any(np.triu(array, 1).any() for array in layers)
        causal &= len(texts[query]) > 1
        if causal and TEXT in texts:
            stack = "decoder"
        for layer, array in enumerate(layers):
            place = f"{stack}.{layer}.{kind}"
            heads, mask = len(array), CAUSAL if causal else PADDING
            infos.append(
                AttentionInfo(place, stack, layer, kind, query, key, heads, heads, mask, "given")
            )
            over = {QUERY: query, KEY: key}
            allowed = torch.ones(array.shape[1:], dtype=torch.bool)
            tensors[f"{place}.mask"] = NamedTensor(
                (QUERY, KEY), over, allowed.tril() if causal else allowed
            )
            tensors[f"{place}.weights"] = NamedTensor(
                (HEAD, QUERY, KEY), over, torch.from_numpy(array)
            )
    return infos, tensors


def _info(
    infos: Sequence[AttentionInfo],
    tensors: Mapping[str, NamedTensor],
    texts: Mapping[str, Sequence[Token]],
    title: str,
) -> ModelInfo:
    digest = sha256()
    for name, tensor in tensors.items():
        digest.update(name.encode() + tensor.value.numpy().tobytes())
    stacks = {info.stack for info in infos}
    kind: Literal["encoder-decoder", "encoder", "decoder"] = "encoder-decoder"
    if TEXT in texts:
        kind = "decoder" if "decoder" in stacks else "encoder"
    return ModelInfo(
        id="given",
        name=title,
        kind=kind,
        attentions=tuple(infos),
        d_model=0,
        parameters=0,
        vocabulary=0,
        languages=(),
        max_tokens=max(map(len, texts.values())),
        digest=digest.hexdigest()[:16],
        card="",
        positions="none",
    )

"""Attention computed elsewhere: arrays and tokens behind the interface of a model.

Arrays and tokens have the form in which `transformers` returns them with `output_attentions=True`:
one array per layer, (heads, queries, keys), with or without a batch axis of one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Literal

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from model.adapters.requests.adapter import Adapter
from model.adapters.requests.model_info import ModelInfo
from model.adapters.requests.request import Request
from model.adapters.requests.trace import Output, Trace
from model.errors import InputError
from model.explain.patterns import summary
from model.text.tokens import Token
from model.trace.attentions import CAUSAL, CROSS, PADDING, SELF, AttentionInfo
from model.trace.tensor_names import select
from model.trace.tensor_tap import HEAD, KEY, QUERY, SOURCE, TARGET, NamedTensor

Layers = Sequence[ArrayLike]  # one array per layer: (heads, queries, keys)
Tokens = Sequence[str]
TEXT = "text"
# Of an encoder–decoder: stack, kind, text of the queries, text of the keys.
BLOCKS: dict[str, tuple[str, Literal["self", "cross"], str, str]] = {
    "encoder": ("encoder", SELF, SOURCE, SOURCE),
    "decoder": ("decoder", SELF, TARGET, TARGET),
    "cross": ("decoder", CROSS, TARGET, SOURCE),
}
SPECIAL = re.compile(r"\[[A-Z]+\]|<\|?[\w/ ]+\|?>|<(?:s|/s|pad|unk|mask)>")
STARTS = ("Ġ", "▁")  # how byte-level BPE and SentencePiece mark the start of a word
CONTINUES = "##"  # how WordPiece marks that a word continues
UNKNOWN = Token("…", 0, 0, 0, True)
TOLERANCE = 1e-3  # by which a weight may be above 1 or below 0, in half precision


class GivenAttention(Adapter):
    """Attention that was computed elsewhere; every request gets the same trace.

    It has only weights and masks: no q, k and v, no output, and no interventions.
    """

    def __init__(
        self,
        info: ModelInfo,
        texts: Mapping[str, tuple[Token, ...]],
        tensors: Mapping[str, NamedTensor],
    ) -> None:
        self.info = info
        self.texts = texts
        self.tensors = tensors
        self.names = {name: tensor.dims for name, tensor in tensors.items()}

    @property
    def text(self) -> str:
        """The first text, joined from its tokens; their `start` and `end` are offsets in it."""
        tokens = next(iter(self.texts.values()))
        return "".join(token.text for token in tokens if not token.special).strip()

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
        # A row that has read a token predicts the next one; the last row's prediction is unknown.
        written = (*self.texts.get(TARGET, ())[1:], UNKNOWN)
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
    attentions: Layers | Mapping[str, Layers], tokens: Tokens | Mapping[str, Tokens]
) -> GivenAttention:
    """Return attention that was computed elsewhere as a model.

    For a model of one text, `attentions` has an array per layer, (heads, tokens, tokens), and
    `tokens` the strings. For an encoder–decoder, `attentions` maps "encoder", "decoder" and
    "cross", as many of them as there are, and `tokens` maps "source" and "target". An array may
    have a batch axis of one. If no query of any layer looks ahead, the attention is shown as
    causal.

    Raises `ValueError`, which names the layer and what is expected, for arrays that do not fit the
    tokens or one another, or whose values are not from 0 to 1.
    """
    if isinstance(attentions, Mapping) != isinstance(tokens, Mapping):
        raise ValueError("attentions and tokens must both be mappings, or neither")
    if isinstance(attentions, Mapping) and isinstance(tokens, Mapping):
        if unknown := [*(attentions.keys() - BLOCKS), *(tokens.keys() - {SOURCE, TARGET})]:
            raise ValueError(
                f"unknown: {', '.join(map(repr, unknown))}; known are {', '.join(BLOCKS)} and, of "
                f"tokens, {SOURCE} and {TARGET}"
            )
        blocks = {name: (BLOCKS[name], attentions[name]) for name in BLOCKS if name in attentions}
        named = tokens
    else:
        blocks = {"encoder": (("encoder", SELF, TEXT, TEXT), attentions)}  # type: ignore[dict-item]
        named = {TEXT: tokens}  # type: ignore[dict-item]
    if missing := {text for (_, _, *over), _ in blocks.values() for text in over} - named.keys():
        raise ValueError(f"tokens lacks {', '.join(map(repr, sorted(missing)))}")
    if not blocks:
        raise ValueError(f"attentions is empty; it needs one of {', '.join(BLOCKS)}")
    texts = {name: tuple(_tokens(strings)) for name, strings in named.items()}
    infos: list[AttentionInfo] = []
    tensors: dict[str, NamedTensor] = {}
    for name, ((stack, kind, query, key), layers) in blocks.items():
        arrays = [*_arrays(name, layers, len(texts[query]), len(texts[key]))]
        causal = kind == SELF and not any(np.triu(array, 1).any() for array in arrays)
        causal &= len(texts[query]) > 1
        if causal and TEXT in named:
            stack = "decoder"
        for layer, array in enumerate(arrays):
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
    return GivenAttention(_info(infos, tensors, texts), texts, tensors)


def _arrays(name: str, layers: Layers, queries: int, keys: int) -> Iterator[NDArray[np.float32]]:
    if not len(layers):
        raise ValueError(f"{name}: there is no layer")
    for layer, given_array in enumerate(layers):
        place = f"{name}, layer {layer + 1}"
        if isinstance(given_array, torch.Tensor):  # bfloat16 has no NumPy type
            given_array = given_array.detach().cpu().float().numpy()
        array = np.asarray(given_array, dtype=np.float32)
        if array.ndim == 4 and len(array) == 1:
            array = array[0]
        if array.ndim != 3 or array.shape[1:] != (queries, keys):
            raise ValueError(
                f"{place} has shape {array.shape}; with {queries} query tokens and {keys} key "
                f"tokens, it must be (heads, {queries}, {keys})"
            )
        if not np.isfinite(array).all() or array.min() < -TOLERANCE or array.max() > 1 + TOLERANCE:
            bounds = array.min(), array.max()
            raise ValueError(
                f"{place} has values from {bounds[0]:g} to {bounds[1]:g}; weights must be 0 to 1"
            )
        yield np.ascontiguousarray(array)


def _tokens(strings: Tokens) -> Iterator[Token]:
    """Yield tokens as they are shown: words have a leading space, no marks of the tokenizer."""
    pieces = any(string.startswith(CONTINUES) for string in strings)
    marked = any(string.startswith(STARTS) for string in strings)
    end = 0
    for index, string in enumerate(strings):
        special = bool(SPECIAL.fullmatch(string))
        text = string if special else _shown(string, pieces, marked)
        start = end
        if not special:
            start = end + text.startswith(" ") * bool(end)
            end = start + len(text.lstrip(" "))
        yield Token(text, index, start, end, special)


def _shown(string: str, pieces: bool, marked: bool) -> str:
    if string.startswith(CONTINUES):
        return string.removeprefix(CONTINUES)
    if string.startswith(STARTS):
        return " " + string[1:]
    return string if marked or not pieces else " " + string


def _info(
    infos: Sequence[AttentionInfo],
    tensors: Mapping[str, NamedTensor],
    texts: Mapping[str, Sequence[Token]],
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
        name="Given attention",
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

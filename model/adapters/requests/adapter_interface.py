"""The interface of a model that answers requests, and slices of its matrices by head.

`decoder.0.self.W_q.3` is the columns of W_q of head 3: the matrices of a large model take long to
send, and a calculation by hand needs those of one head.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import (
    Any,
    Protocol,
    Unpack,
)

import torch

from model.adapters.requests.model_info import ModelInfo
from model.adapters.requests.request import Request, RequestOptions, ask, needs
from model.adapters.requests.trace import Decoding, LongPass, Trace
from model.bundle.measurements import Learning
from model.errors import InputError
from model.explain.residual_stream import Stream
from model.text.tokens import Token
from model.trace.attentions import AttentionInfo, by_place
from model.trace.tensor_names import MAX_PATTERNS, matching
from model.trace.tensor_tap import NamedTensor


class Adapter(Protocol):
    """The interface that makes any model answer with a Trace; its methods are thread-safe."""

    info: ModelInfo
    names: Collection[str]  # names of the tensors that a run records
    learning: Learning | None = None  # its training history, if recorded
    notices: tuple[Any, ...] = ()  # `headlight.figure_notices.Notice`s
    stream: Stream | None = None  # what its logits are a sum of; None: they are no sum

    def trace(self, sentence: str | Request, **options: Unpack[RequestOptions]) -> Trace:
        """Run one sentence and return its trace; `options` are the other fields of a `Request`.

        Raises `InputError` for a request that this model cannot answer.
        """
        request = ask(sentence, **options)
        self.check(request)
        [trace] = self.run([request])
        return trace

    def check(self, request: Request) -> None:
        """Raise `InputError` for a request that this model cannot answer. Runs no model."""
        for capability, field in needs(request):
            self.info.require(capability, field)
        self.validate(request)

    def validate(self, request: Request) -> None:
        """Raise `InputError` if a field does not fit this model: its tokens, places or names."""

    def takes(self, request: Request) -> bool:
        """Return whether this model can answer the request."""
        try:
            self.check(request)
        except InputError:
            return False
        return True

    def run(self, requests: Sequence[Request]) -> list[Trace]:
        """Answer several checked requests as one batch; their interventions do not interfere."""

    def decode(self, sentence: str | Request, **options: Unpack[RequestOptions]) -> Decoding:
        """Return a decoding, step by step. The target and the selection are ignored.

        Raises `InputError` for a request that this model cannot answer.
        """
        request = ask(sentence, **options)
        self.info.require("decode", "model")
        self.check(request)
        return self.write(request)

    def write(self, request: Request) -> Decoding:
        """Return the decoding of a checked request, for a model that can `decode`."""
        raise LookupError(f"{self.info.id} writes nothing")

    def texts_of(self, request: Request) -> Mapping[str, tuple[Token, ...]]:
        """Return the tokens of what a checked request gives to read, if possible without a run."""
        [trace] = self.run([replace(request, select=(), summarise=())])
        return trace.texts

    def long(self, request: Request, dtype: torch.dtype) -> LongPass:
        """Run one text of any length, keeping q and k of every attention in this precision.

        Raises `InputError` for what this model cannot answer; the selection is ignored.
        """
        self.info.require("long", "model")
        self.check(request)
        return self.read_long(request, dtype)

    def read_long(self, request: Request, dtype: torch.dtype) -> LongPass:
        """Return the pass of a checked request, for a model that can read `long` texts."""
        raise LookupError(f"{self.info.id} reads no long texts")

    def written(self, ids: Sequence[int]) -> tuple[str, tuple[Token, ...]]:
        """Return the text of some ids, and each id as a token with its span of that text."""

    def token(self, id_: int, *, first: bool = False) -> Token:
        """Return an id as a token without offsets; the `first` of a text has no leading space."""

    def parameters(self, select: Sequence[str]) -> dict[str, NamedTensor]:
        """Return matrices and vectors by name; raises `InputError` if a pattern matches none.

        A number after a matrix names the columns of one head (see the top of this module).
        """
        self.info.require("parameters", "select")
        return with_slices(select, self.info.attentions, self.matrices)

    def matrices(self, select: Sequence[str]) -> dict[str, NamedTensor]:
        """Return the parameters that match patterns, for a model with `parameters`."""
        raise LookupError(f"{self.info.id} shows nothing")


SLICE = re.compile(r"(?P<place>[\w.]+)\.(?P<name>[Wb]_[qkv])\.(?P<head>\d{1,4})")
Find = Callable[[Sequence[str]], Mapping[str, NamedTensor]]


def with_slices(
    select: Sequence[str], attentions: Iterable[AttentionInfo], find: Find
) -> dict[str, NamedTensor]:
    """Return the parameters that `find` returns for patterns, and the slices that are named.

    W_k, W_v, b_k and b_v have a slice for each head of keys and values. Raises `InputError` for a
    head that does not exist.
    """
    if len(select) > MAX_PATTERNS or not any(map(SLICE.fullmatch, select)):
        return dict(find(select))
    table = by_place(attentions)
    slices = [SLICE.fullmatch(pattern) for pattern in select]
    cuts = [match if match and match["place"] in table else None for match in slices]
    bases = [
        f"{cut['place']}.{cut['name']}" if cut else pattern
        for cut, pattern in zip(cuts, select, strict=True)
    ]
    whole = find(bases)
    parameters: dict[str, NamedTensor] = {}
    for index, (cut, pattern) in enumerate(zip(cuts, select, strict=True)):
        if cut is None:
            parameters |= {name: whole[name] for name in matching(pattern, whole)}
            continue
        one, head = table[cut["place"]], int(cut["head"])
        heads = one.heads if cut["name"].endswith("q") else one.kv_heads
        if head >= heads:
            field = f"select[{index}]"
            detail = f"{field}: {bases[index]} has heads 0 to {heads - 1}"
            raise InputError("unknown-tensor", field, detail)
        parameters[pattern] = _cut(whole[bases[index]], head, heads)
    return parameters


def _cut(whole: NamedTensor, head: int, heads: int) -> NamedTensor:
    width = whole.value.shape[-1] // heads
    return replace(whole, value=whole.value[..., head * width : (head + 1) * width].contiguous())

"""Requests as rows of a batch: their tokens, their limits, what is invalid, and padding.

In a batch, a text is padded to the length of the longest. Attention masks padding, but what mixes
positions outside attention (a convolution, a Fourier transform, a pooling) reads it like any other
token. Such a model answers one text at a time. The check costs two passes over a few tokens when a
model is opened.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from model.adapters.huggingface.attention_probing import agree
from model.adapters.huggingface.forward_passes import TYPES, Forward, padded_batch
from model.adapters.huggingface.tokenizer import TextTokenizer
from model.adapters.huggingface.unsupported_models import error_line, own_attention
from model.adapters.requests.adapter_interface import Adapter
from model.adapters.requests.model_info import ModelInfo
from model.adapters.requests.request import BEYOND_SOURCE, Request
from model.adapters.requests.validate import Dims, check_request, check_text, widths_of
from model.errors import Excess, InputError
from model.text.tokens import Token
from model.trace.interventions import Intervention
from model.trace.tensor_tap import TARGET, WEIGHTS, BatchTap, Recorder

CONTINUATION = 20  # tokens that a decoder adds by default


@dataclass(frozen=True)
class RequestRow:
    """A request, its tokens (with padding) by text, and its interventions with their values."""

    request: Request
    texts: dict[str, tuple[Token, ...]]
    own: dict[str, int]  # tokens that are not padding
    made: tuple[Intervention, ...]
    written: tuple[int, ...] = ()  # continues the text; the last one is not read
    types: tuple[int, ...] = ()  # the tokenizer's token types, if the model takes them

    def ids(self, text: str) -> list[int]:
        """Return the ids of a text."""
        return [token.id for token in self.texts[text]]

    def real(self, text: str) -> list[int]:
        """Return the ids of a text without padding."""
        return self.ids(text)[: self.own[text]]


class RowMaker:
    """Converts requests to one model to rows."""

    def __init__(self, model: Any, text: TextTokenizer, info: ModelInfo) -> None:
        self.config = model.config
        self.device = model.device
        self.text = text
        self.info = info
        self.types = model_types(model)
        self.first = _first(model, text) if info.kind == "encoder-decoder" else None

    @property
    def read(self) -> str:
        """The name of the given text: "source" or "text"."""
        return self.info.texts[0]

    def tokens(self, request: Request) -> list[Token]:
        """Return the tokens of the text that is given; raises `InputError`."""
        encode = self.text.encode_chat if request.chat else self.text.encode
        tokens = check_text(self.read, request.source, self.info.max_tokens, encode)
        return tokens if request.pair is None else self._pair(request.source, request.pair)

    def _pair(self, text: str, pair: str) -> list[Token]:
        """Return the tokens of two texts; raises `InputError`."""
        tokens, _ = self.text.encode_pair(text, pair)
        if not any(token.pair and token.end > token.start for token in tokens):
            raise InputError("empty-text", "pair", "pair is empty")
        if len(tokens) > (limit := self.info.max_tokens):
            detail = f"pair: the two texts have {len(tokens)} tokens; this model reads at most "
            excess = Excess(limit, "tokens", len(tokens))
            raise InputError("text-too-long", "pair", f"{detail}{limit} together", excess)
        return [*tokens]

    def target(self, request: Request) -> list[Token] | None:
        """Return the tokens of the target, None if the model decodes one; raises `InputError`."""
        if request.target is None:
            return None
        return check_text(TARGET, request.target, self.info.max_tokens, self._as_written)

    def _as_written(self, text: str) -> Sequence[Token]:
        """Return the tokens of a target, which begins as the model's own do."""
        tokens = self.text.encode(text)
        if self.first is None:
            return tokens
        pieces = tokens[1:] if tokens and tokens[0].special else tokens
        return [self.text.token(self.first), *pieces]

    def texts_of(self, request: Request) -> dict[str, tuple[Token, ...]]:
        """Return the tokens of the text, and of a target that is given as it is read."""
        texts = {self.read: tuple(self.tokens(request))}
        target = self.target(request)
        if target is not None:
            texts[TARGET] = (self.start, *target[:-1])
        return texts

    def row(self, request: Request, interventions: tuple[Intervention, ...]) -> RequestRow:
        """Return the row of a request with the values of its interventions."""
        tokens = self.tokens(request)
        padded = self._padded(tokens, request.pad_to)
        return RequestRow(
            request,
            {self.read: padded},
            {self.read: len(tokens)},
            interventions,
            types=self._types(request),
        )

    def _types(self, request: Request) -> tuple[int, ...]:
        """Return the token types; none for a model that takes none, or has too few."""
        if not self.types or self.info.kind != "encoder":
            return ()
        types = self.text.types_of(request.source, request.pair)
        return types if max(types, default=0) < self.types else ()

    def with_target(self, row: RequestRow, written: Sequence[Token]) -> RequestRow:
        """Return a row whose decoder reads what it writes, shifted by one."""
        tokens = [self.start, *written[:-1]]
        texts = {**row.texts, TARGET: self._padded(tokens, row.request.pad_to)}
        return replace(row, texts=texts, own={**row.own, TARGET: len(tokens)})

    def continued(self, row: RequestRow, ids: tuple[int, ...]) -> RequestRow:
        """Return a row that also reads the ids that continue its text, without the last one."""
        read = row.texts[self.read][: row.own[self.read]]
        tokens = [*read, *self.after(row, self.text.written(ids)[1])[:-1]]
        texts = {self.read: self._padded(tokens, row.request.pad_to)}
        return replace(row, texts=texts, own={self.read: len(tokens)}, written=ids)

    def after(self, row: RequestRow, tokens: Sequence[Token]) -> list[Token]:
        """Return tokens of a continuation with their spans of the whole text."""
        length = len(row.request.source)
        return [
            replace(token, start=token.start + length, end=token.end + length) for token in tokens
        ]

    def _padded(self, tokens: Sequence[Token], pad_to: int | None) -> tuple[Token, ...]:
        pad = Token("<pad>", self.text.pad, 0, 0, True)
        return (*tokens, *[pad] * ((pad_to or 0) - len(tokens)))

    def batch(self, rows: Sequence[RequestRow], text: str) -> tuple[Tensor, Tensor]:
        """Return the ids (B, N) of a text, and which of them are not padding."""
        ids, lengths = [row.ids(text) for row in rows], [row.own[text] for row in rows]
        return padded_batch(ids, lengths, self.text.pad, self.device)

    def batch_types(self, rows: Sequence[RequestRow]) -> Tensor | None:
        """Return token types (B, N) if a row has any; those of the other rows are 0."""
        if not any(row.types for row in rows):
            return None
        longest = max(len(row.texts[self.read]) for row in rows)
        types = [[*row.types, *[0] * (longest - len(row.types))] for row in rows]
        return torch.tensor(types, device=self.device)

    @property
    def start(self) -> Token:
        """The token that the decoder of an encoder–decoder reads first."""
        id_ = self.config.decoder_start_token_id
        return Token("<start>", self.text.pad if id_ is None else id_, 0, 0, True)

    def limit(self, request: Request, tokens: Sequence[Token]) -> int:
        """Return the maximum number of tokens to write."""
        if self.info.kind == "decoder":
            room = self.info.max_tokens - len(tokens) + 1  # the last one is not read
            usual = max(CONTINUATION, len(request.decode.prefix))
            return min(room, request.decode.max_tokens or usual)
        if self.info.kind == "encoder":
            mask = self.text.tokenizer.mask_token_id
            return sum(token.id == mask for token in tokens) if self.info.mask else 0
        usual = min(self.info.max_tokens, len(tokens) + BEYOND_SOURCE)
        return min(usual, request.decode.max_tokens or usual)


def _first(model: Any, text: TextTokenizer) -> int | None:
    """Return the id with which every output begins, such as a language; None: the model chooses.

    It is named in `generation_config.json`, or is the tokenizer's target language (NLLB, mBART).
    """
    forced = getattr(getattr(model, "generation_config", None), "forced_bos_token_id", None)
    language = getattr(text.tokenizer, "tgt_lang", None)
    if forced is None and language is not None:
        forced = text.tokenizer.convert_tokens_to_ids(language)
    return None if forced is None else int(forced)


def model_types(model: Any) -> int | None:
    """Return the number of token types of a model; 0 if it ignores them, None if it takes none."""
    if TYPES not in inspect.signature(model.forward).parameters:
        return None
    count: int = getattr(model.config, "type_vocab_size", 0) or 0
    return count


def validate(adapter: Adapter, rows: RowMaker, request: Request, names: Dims) -> None:
    """Raise `InputError` for the first field that is invalid; `names` are recorded by a run."""
    info = adapter.info
    texts: dict[str, Sequence[Token]] = {rows.read: rows.tokens(request)}
    if (target := rows.target(request)) is not None:
        texts[TARGET] = target
    never, eos = {*rows.text.never.tolist()}, rows.text.tokenizer.eos_token_id
    last = len(request.decode.prefix) - 1

    def can_be_written(index: int, id_: int) -> bool:
        ended = id_ == eos and index < last
        begins = index == 0 and id_ == rows.first
        return 0 <= id_ < info.vocabulary and (id_ not in never or begins) and not ended

    def lengths(other: Request) -> dict[str, int]:
        # A text that is written has places too.
        most = dict.fromkeys(info.texts, info.max_tokens)
        return most if info.kind == "decoder" else {**most, rows.read: len(rows.tokens(other))}

    writable = rows.limit(request, texts[rows.read]), can_be_written
    hidden = {network.place: network.hidden for network in info.networks}
    widths = widths_of(names, info.d_model, hidden)
    check_request(adapter, request, texts, writable, names, widths, lengths)


SHORT, LONG = 5, 12  # tokens of the two texts
Numbers = dict[str, Tensor]


@torch.inference_mode()
def mixes_positions(forward: Forward, ids: Tensor, pad: int) -> bool:
    """Return whether the first of `ids` (12,) have other numbers beside all of them than alone.

    Raises `RefusalError` if they have no weights that sum to 1.
    """
    long = ids.tolist()
    alone = _numbers_alone(forward, long[:SHORT], pad)
    for attention in forward.layout.attentions:
        if attention.place not in forward.layout.sinks and not _sum_to_1(
            alone[f"{attention.place}{WEIGHTS}"]
        ):
            raise own_attention(forward.model, "reports numbers that do not sum to 1")
    try:
        beside = _first_row_numbers(forward, [long[:SHORT], long], pad)
    except Exception:  # it takes no batch
        _numbers_alone(forward, long, pad)
        return True
    dtype = forward.model.dtype
    return not all(agree(value, beside[name], dtype) for name, value in alone.items())


def _numbers_alone(forward: Forward, row: Sequence[int], pad: int) -> Numbers:
    try:
        return _first_row_numbers(forward, [row], pad)
    except Exception as error:
        reason = f"fails for {len(row)} tokens with {error_line(error)}"
        raise own_attention(forward.model, reason) from error


def _first_row_numbers(forward: Forward, rows: Sequence[Sequence[int]], pad: int) -> Numbers:
    """Return the weights and the output of the first row of a batch."""
    infos = forward.layout.attentions
    texts = {text for info in infos for text in info.over.values()}
    names = {f"{info.place}{WEIGHTS}" for info in infos}
    lengths = [len(row) for row in rows]
    recorders = [Recorder(names, dict.fromkeys(texts, length)) for length in lengths]
    ids, real = padded_batch(rows, lengths, pad, forward.model.device)
    tap = BatchTap(recorders)
    if forward.model.config.is_encoder_decoder:
        output = forward.decode(forward.encode(ids, real, tap), ids, real, tap)
    else:
        output = forward.read(ids, real, tap)
    weights = {name: tensor.value for name, tensor in recorders[0].tensors.items()}
    return {**weights, "output": output[0, : lengths[0]].float().cpu()}


def _sum_to_1(weights: Tensor) -> bool:
    sums = weights.float().sum(-1)
    return bool((weights >= 0).all()) and torch.allclose(sums, torch.ones_like(sums), atol=1e-2)

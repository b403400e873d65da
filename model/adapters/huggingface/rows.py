"""Converts requests to rows of a batch: tokens by text, padding, and maximum lengths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor

from model.adapters.decode_requests import BEYOND_SOURCE
from model.adapters.huggingface.forward import batch
from model.adapters.huggingface.tokenizer import Text
from model.adapters.model_info import ModelInfo
from model.adapters.request import Request
from model.errors import Excess, InputError
from model.text.fit import fits
from model.text.tokens import Token
from model.trace.interventions import Intervention
from model.trace.tensor_tap import TARGET

GOES_ON = 20  # tokens that a decoder adds by default


@dataclass(frozen=True)
class Row:
    """A request, its tokens (with padding) by text, and its interventions with their values."""

    request: Request
    texts: dict[str, tuple[Token, ...]]
    own: dict[str, int]  # tokens that are not padding
    made: tuple[Intervention, ...]
    written: tuple[int, ...] = ()  # continues the text; the last one is not read

    def ids(self, text: str) -> list[int]:
        """Return the ids of a text."""
        return [token.id for token in self.texts[text]]

    def real(self, text: str) -> list[int]:
        """Return the ids of a text without padding."""
        return self.ids(text)[: self.own[text]]


class Rows:
    """Converts requests to one model to rows."""

    def __init__(self, model: Any, text: Text, info: ModelInfo) -> None:
        self.config = model.config
        self.device = model.device
        self.text = text
        self.info = info
        self.first = _first(model, text) if info.kind == "encoder-decoder" else None

    @property
    def read(self) -> str:
        """The name of the given text: "source" or "text"."""
        return self.info.texts[0]

    def tokens(self, request: Request) -> list[Token]:
        """Return the tokens of the text that is given; raises `InputError`."""
        encode = self.text.encode_chat if request.chat else self.text.encode
        return self._fitting(self.read, request.source, encode)

    def target(self, request: Request) -> list[Token] | None:
        """Return the tokens of the target, None if the model decodes one; raises `InputError`."""
        if request.target is None:
            return None
        return self._fitting(TARGET, request.target, self._as_written)

    def _as_written(self, text: str) -> Sequence[Token]:
        """Return the tokens of a target, which begins as the model's own do."""
        tokens = self.text.encode(text)
        if self.first is None:
            return tokens
        rest = tokens[1:] if tokens and tokens[0].special else tokens
        return [self.text.token(self.first), *rest]

    def _fitting(
        self, field: str, text: str, encode: Callable[[str], Sequence[Token]] | None = None
    ) -> list[Token]:
        encode = encode or self.text.encode
        tokens = list(encode(text))
        if not any(token.end > token.start for token in tokens):
            raise InputError("empty-text", field, f"{field} is empty")
        most = self.info.max_tokens
        if len(tokens) > most:
            detail = f"{field} has {len(tokens)} tokens; this model reads at most {most}"
            excess = Excess(most, "tokens", len(tokens), fits(text, most, encode))
            raise InputError("text-too-long", field, detail, excess)
        return tokens

    def texts_of(self, request: Request) -> dict[str, tuple[Token, ...]]:
        """Return the tokens of the text, and of a target that is given as it is read."""
        texts = {self.read: tuple(self.tokens(request))}
        target = self.target(request)
        if target is not None:
            texts[TARGET] = (self.start, *target[:-1])
        return texts

    def row(self, request: Request, made: tuple[Intervention, ...]) -> Row:
        """Return the row of a request with the values of its interventions."""
        tokens = self.tokens(request)
        padded = self._padded(tokens, request.pad_to)
        return Row(request, {self.read: padded}, {self.read: len(tokens)}, made)

    def with_target(self, row: Row, written: Sequence[Token]) -> Row:
        """Return a row whose decoder reads what it writes, shifted by one."""
        tokens = [self.start, *written[:-1]]
        texts = {**row.texts, TARGET: self._padded(tokens, row.request.pad_to)}
        return replace(row, texts=texts, own={**row.own, TARGET: len(tokens)})

    def continued(self, row: Row, ids: tuple[int, ...]) -> Row:
        """Return a row that also reads the ids that continue its text, without the last one."""
        own = row.texts[self.read][: row.own[self.read]]
        tokens = [*own, *self.after(row, self.text.written(ids)[1])[:-1]]
        texts = {self.read: self._padded(tokens, row.request.pad_to)}
        return replace(row, texts=texts, own={self.read: len(tokens)}, written=ids)

    def after(self, row: Row, tokens: Sequence[Token]) -> list[Token]:
        """Return tokens of a continuation with their spans of the whole text."""
        length = len(row.request.source)
        return [replace(one, start=one.start + length, end=one.end + length) for one in tokens]

    def _padded(self, tokens: Sequence[Token], pad_to: int | None) -> tuple[Token, ...]:
        pad = Token("<pad>", self.text.pad, 0, 0, True)
        return (*tokens, *[pad] * ((pad_to or 0) - len(tokens)))

    def batch(self, rows: Sequence[Row], text: str) -> tuple[Tensor, Tensor]:
        """Return the ids (B, N) of a text, and which of them are not padding."""
        ids, own = [row.ids(text) for row in rows], [row.own[text] for row in rows]
        return batch(ids, own, self.text.pad, self.device)

    @property
    def start(self) -> Token:
        """The token that the decoder of an encoder–decoder reads first."""
        id_ = self.config.decoder_start_token_id
        return Token("<start>", self.text.pad if id_ is None else id_, 0, 0, True)

    def limit(self, request: Request, tokens: Sequence[Token]) -> int:
        """Return the maximum number of tokens to write."""
        if self.info.kind == "decoder":
            left = self.info.max_tokens - len(tokens) + 1  # the last one is not read
            most = max(GOES_ON, len(request.decode.prefix))
            return min(left, request.decode.max_tokens or most)
        if self.info.kind == "encoder":
            mask = self.text.tokenizer.mask_token_id
            return sum(token.id == mask for token in tokens) if self.info.mask else 0
        most = min(self.info.max_tokens, len(tokens) + BEYOND_SOURCE)
        return min(most, request.decode.max_tokens or most)


def _first(model: Any, text: Text) -> int | None:
    """Return the id with which every output begins, such as a language; None: the model chooses.

    It is named in `generation_config.json`, or is the tokenizer's target language (NLLB, mBART).
    """
    forced = getattr(getattr(model, "generation_config", None), "forced_bos_token_id", None)
    language = getattr(text.tokenizer, "tgt_lang", None)
    if forced is None and language is not None:
        forced = text.tokenizer.convert_tokens_to_ids(language)
    return None if forced is None else int(forced)

"""Converts requests to rows of a batch: tokens by text, padding, and maximum lengths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor

from model.adapters.decode_requests import BEYOND_SOURCE
from model.adapters.huggingface.forward import batch
from model.adapters.huggingface.text import Text
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

    @property
    def read(self) -> str:
        """The name of the given text: "source" or "text"."""
        return self.info.texts[0]

    def tokens(self, request: Request) -> list[Token]:
        """Return the tokens of the text that is given; raises `InputError`."""
        return self._fitting(self.read, request.source)

    def target(self, request: Request) -> list[Token] | None:
        """Return the tokens of the target, None if the model decodes one; raises `InputError`."""
        return None if request.target is None else self._fitting(TARGET, request.target)

    def _fitting(self, field: str, text: str) -> list[Token]:
        tokens = list(self.text.encode(text))
        if not any(token.end > token.start for token in tokens):
            raise InputError("empty-text", field, f"{field} is empty")
        most = self.info.max_tokens
        if len(tokens) > most:
            detail = f"{field} has {len(tokens)} tokens; this model reads at most {most}"
            excess = Excess(most, "tokens", len(tokens), fits(text, most, self.text.encode))
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
            left = self.info.max_tokens - len(tokens)
            return min(left, request.decode.max_tokens or GOES_ON)
        most = min(self.info.max_tokens, len(tokens) + BEYOND_SOURCE)
        return min(most, request.decode.max_tokens or most)

"""Converts requests to rows of tokens, and rows to a batch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import torch
from torch import Tensor, nn

from model.adapters.requests.request import Request
from model.errors import Excess, InputError
from model.text.detect import Detector
from model.text.fit import fits
from model.text.tokens import EOS, PAD, Token, Tokenizer

KEPT = 64  # recently tokenized texts that are cached


class Rows:
    """Tokenizes requests for a model, with at most `most` tokens per row."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        detector: Detector,
        directions: Sequence[str],
        most: int,
        device: torch.device,
    ) -> None:
        self.tokenizer = tokenizer
        self.detector = detector
        self.directions = directions
        self.most = most
        self.device = device
        # A request is tokenized both when it is checked and when it is run.
        self._encoded = lru_cache(KEPT)(tokenizer.encode)

    def direction(self, request: Request) -> str:
        """Return the requested direction, or the one suggested by the source's script.

        If no direction starts with the script's language, this is the first one. Raises
        `InputError` for a direction that the model was not trained in.
        """
        if request.direction is None:
            source = self.detector.language(request.source)
            fitting = (one for one in self.directions if one.startswith(f"{source}-"))
            return next(fitting, self.directions[0])
        if request.direction not in self.directions:
            known = f"must be one of {', '.join(self.directions)}"
            if len(self.directions) == 1:
                known = f"must be {self.directions[0]}, the only direction of this model"
            raise InputError("unknown-direction", "direction", f"direction {known}")
        return request.direction

    def source(self, request: Request) -> list[Token]:
        """Return what the encoder reads: the target language's tag, the pieces and <eos>.

        Raises `InputError` for an empty text, or one with more tokens than the model can read.
        """
        tag = self.tokenizer.tag(self.direction(request).split("-")[1])
        return self._fitting("source", request.source, [tag])

    def target(self, request: Request) -> list[Token] | None:
        """Return the tokens of a given target: its pieces and <eos>. Raises as `source` does."""
        if request.target is None:
            return None
        return self._fitting("target", request.target, [])

    def padded(self, tokens: list[Token], pad_to: int | None) -> list[Token]:
        """Return the tokens padded with <pad> up to `pad_to`."""
        return tokens + [self.tokenizer.control(PAD)] * ((pad_to or 0) - len(tokens))

    def batch(self, rows: Sequence[Sequence[Token]]) -> tuple[Tensor, Tensor]:
        """Return ids (B, longest), and a mask that is true where they are not padding."""
        ids = nn.utils.rnn.pad_sequence(
            [torch.tensor([token.id for token in row]) for row in rows],
            batch_first=True,
            padding_value=self.tokenizer.pad,
        ).to(self.device)
        return ids, ids != self.tokenizer.pad

    def _fitting(self, field: str, text: str, before: list[Token]) -> list[Token]:
        """Return the tokens before a text, its own and <eos>."""

        def encode(part: str) -> list[Token]:
            return [*before, *self._encoded(part), self.tokenizer.control(EOS)]

        if not self._encoded(text):
            raise InputError("empty-text", field, f"{field} is empty")
        tokens = encode(text)
        if len(tokens) > self.most:
            raise InputError(
                "text-too-long",
                field,
                f"{field} has {len(tokens)} tokens; this model reads at most {self.most}",
                Excess(self.most, "tokens", len(tokens), fits(text, self.most, encode)),
            )
        return tokens

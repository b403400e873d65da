"""From a request to rows of tokens, and from rows to a batch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import torch
from torch import Tensor, nn

from model.adapters.request import Request
from model.errors import Excess, InputError
from model.text.detect import Detector
from model.text.tokens import EOS, PAD, Token, Tokenizer

KEPT = 64  # texts that need not be tokenized again, the latest


class Rows:
    """Reads requests as a model's tokens, `most` a row, on its device."""

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
        # A request is read when it is checked and when it is run.
        self._encoded = lru_cache(KEPT)(tokenizer.encode)

    def direction(self, request: Request) -> str:
        """The direction asked for, or else the one that the source's script suggests.

        That is the first one where no direction begins with the script's language. Raises
        `InputError` for one that the model was not trained to translate.
        """
        if request.direction is None:
            source = self.detector.language(request.source)
            fitting = (one for one in self.directions if one.startswith(f"{source}-"))
            return next(fitting, self.directions[0])
        if request.direction not in self.directions:
            known = f"must be one of {', '.join(self.directions)}"
            if len(self.directions) == 1:
                known = f"must be {self.directions[0]}: this model was trained in no other"
            raise InputError("unknown-direction", "direction", f"direction {known}")
        return request.direction

    def source(self, request: Request) -> list[Token]:
        """What the encoder reads: the target's language, the pieces and <eos>.

        Raises `InputError` for an empty text, or one of more tokens than the model reads.
        """
        pieces = self._pieces("source", request.source)
        tag = self.tokenizer.tag(self.direction(request).split("-")[1])
        return self._fitting("source", [tag, *pieces, self.tokenizer.control(EOS)])

    def target(self, request: Request) -> list[Token] | None:
        """What a given target writes: its pieces and <eos>. Raises `InputError` as `source`."""
        if request.target is None:
            return None
        pieces = self._pieces("target", request.target)
        return self._fitting("target", [*pieces, self.tokenizer.control(EOS)])

    def padded(self, tokens: list[Token], pad_to: int | None) -> list[Token]:
        """The tokens with <pad> up to `pad_to`."""
        return tokens + [self.tokenizer.control(PAD)] * ((pad_to or 0) - len(tokens))

    def batch(self, rows: Sequence[Sequence[Token]]) -> tuple[Tensor, Tensor]:
        """Ids (B, longest), and true where they are no padding."""
        ids = nn.utils.rnn.pad_sequence(
            [torch.tensor([token.id for token in row]) for row in rows],
            batch_first=True,
            padding_value=self.tokenizer.pad,
        ).to(self.device)
        return ids, ids != self.tokenizer.pad

    def _pieces(self, field: str, text: str) -> list[Token]:
        pieces = self._encoded(text)
        if not pieces:
            raise InputError("empty-text", field, f"{field} has no text in it")
        return pieces

    def _fitting(self, field: str, tokens: list[Token]) -> list[Token]:
        if len(tokens) > self.most:
            raise InputError(
                "text-too-long",
                field,
                f"{field} has {len(tokens)} tokens; this model reads at most {self.most}",
                Excess(self.most, "tokens", len(tokens)),
            )
        return tokens

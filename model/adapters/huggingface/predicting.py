"""The output of a model of one text: what follows each token, or the words at its masks.

A decoder's row i predicts token i + 1 of its text (teacher forcing), and the last row the token
that comes next. With `decode.max_tokens` or `decode.prefix`, the text is continued by several
tokens, which the model reads as well, except the last. A masked language model predicts only its
masks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from model.adapters.huggingface.decoding import Steps
from model.adapters.huggingface.rows import Row, Rows
from model.adapters.output import Output
from model.adapters.scored_output import scored
from model.text.tokens import Token

Ids = tuple[int, ...]


class Predicting:
    """Computes the outputs of a model of one text; none if it has no language-modelling head."""

    def __init__(self, rows: Rows, steps: Steps, writes: bool) -> None:
        self.rows = rows
        self.steps = steps
        self.continues = writes and rows.info.kind == "decoder"
        self.fills = bool(rows.info.mask)
        self.never = rows.text.never

    def continued(self, row: Row) -> Row:
        """Return a row that reads the continuation of its text too, without its last token."""
        if not self.continues:
            return row
        ids = self._continuation(row)
        return self.rows.continued(row, ids) if ids else row

    def _continuation(self, row: Row) -> Ids:
        """Return the ids that continue a text; none if only the most probable one does."""
        decode, text = row.request.decode, row.texts[self.rows.read][: row.own[self.rows.read]]
        prefix = decode.prefix
        limit = replace(decode, max_tokens=decode.max_tokens or max(1, len(prefix)))
        request = replace(row.request, decode=limit)
        count = self.rows.limit(request, text)
        if len(prefix) >= count or (prefix and prefix[-1] in self.rows.text.ends):
            return prefix[:count]
        if count <= 1 and decode.method == "greedy":
            return ()
        return self.steps.ids(replace(row, request=request))

    def output(self, row: Row, logits: Tensor) -> Output | None:
        """Return the output of a row, given its logits (N, V); None if it predicts nothing."""
        own = row.own[self.rows.read]
        if self.continues:
            return self._of_decoder(row, row.texts[self.rows.read][:own], logits[:own])
        at = self._masks(row) if self.fills else []
        return self._of_masks(row, at, logits[at]) if at else None

    def predicted(self, row: Row, output: Output | None) -> list[int]:
        """Return the id that each row predicts: an encoder's own token, if it is not a mask."""
        if output is None:
            return row.real(self.rows.read)
        ids = {output.row(index): token.id for index, token in enumerate(output.tokens)}
        return [ids.get(index, id_) for index, id_ in enumerate(row.real(self.rows.read))]

    def _of_decoder(self, row: Row, read: Sequence[Token], logits: Tensor) -> Output:
        written = row.written or self._likely(logits[-1:])
        text, tokens = self.rows.text.written(written)
        given = len(read) - len(written) + 1
        spelled = [*read[1:given], *self.rows.after(row, tokens)]
        ends, penalty = self.rows.text.ends, row.request.decode.length_penalty
        return replace(scored(text, spelled, logits, ends, penalty), continues=given - 1)

    def _of_masks(self, row: Row, at: Sequence[int], logits: Tensor) -> Output:
        """Return the words at the masks: those of `decode.prefix`, then the most probable ones."""
        prefix = row.request.decode.prefix
        ids = (*prefix, *self._likely(logits[len(prefix) :]))
        read = row.texts[self.rows.read]
        tokens = [
            replace(self.rows.text.token(id_), start=read[index].start, end=read[index].end)
            for index, id_ in zip(at, ids, strict=True)
        ]
        text = _filled(row.request.source, tokens)
        return replace(scored(text, tokens, logits, (), 0.0), rows=tuple(at))

    def _masks(self, row: Row) -> list[int]:
        mask = self.rows.text.tokenizer.mask_token_id
        return [index for index, id_ in enumerate(row.real(self.rows.read)) if id_ == mask]

    def _likely(self, logits: Tensor) -> Ids:
        """Return the most probable id of each row (N, V) that can be written."""
        return tuple(logits.cpu().index_fill(1, self.never, -torch.inf).argmax(-1).tolist())


def _filled(text: str, tokens: Sequence[Token]) -> str:
    """Return a text with tokens in place of what they cover."""
    for token in reversed(tokens):
        text = text[: token.start] + token.text.strip() + text[token.end :]
    return text

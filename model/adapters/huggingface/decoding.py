"""Decoding with a model of `transformers`, by this project's own search, and the output of a row.

A target or the continuation of a text is written step by step. In a model of one text, a decoder's
row i predicts token i + 1 of its text (teacher forcing), and the last row the token that comes
next. With `decode.max_tokens` or `decode.prefix`, the text is continued by several tokens, which
the model reads as well, except the last. A masked language model predicts only its masks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache, EncoderDecoderCache

from model.adapters.huggingface.batch_rows import RequestRow, RowMaker
from model.adapters.huggingface.forward_passes import Forward
from model.adapters.requests.request import DecodedIds, Ids, search_steps
from model.adapters.requests.trace import Output, scored
from model.decode.decoding_steps import SearchStep
from model.decode.greedy_and_sampling import Predictor
from model.text.tokens import Token
from model.trace.tensor_tap import NULL, BatchTap, Recorder, Tap

# New ids (B, n), the number of all tokens, a tap and a cache -> logits of the next token (B, V).
NextLogits = Callable[[Tensor, int, Tap, Any], Tensor]


class TokenReader(Predictor):
    """Reads a text token by token; `first` may be written first even if it is in `never`.

    With a cache, keys and values of earlier tokens are kept, and a step computes only the new ones.
    Without one it reads the whole text again.
    """

    def __init__(
        self,
        next_: NextLogits,
        ids: Sequence[int],
        recorder: Recorder,
        never: Tensor,
        cache: Any = None,
        first: int | None = None,
    ) -> None:
        self.next = next_
        self.recorder = recorder
        self.never = never
        self.cache = cache
        self.first = first
        self.begun = len(ids)
        self.read = torch.tensor([list(ids)], device=never.device)
        self.known = 0  # tokens in the cache

    def logprobs(self) -> Tensor:
        length = self.read.shape[1]
        tap = BatchTap([self.recorder] * len(self.read)).begin(self.known)
        with torch.inference_mode():
            new = self.read[:, self.known :]
            logits = self.next(new, length, tap, self.cache).float()
        if self.cache is not None:
            self.known = length
        # Not renormalised without the forbidden ids: probabilities equal those of the trace.
        logprobs = logits.log_softmax(-1)
        allowed = logprobs.index_fill(1, self.never, -torch.inf)
        if self.first is not None and length == self.begun:
            allowed[:, self.first] = logprobs[:, self.first]
        return allowed

    def append(self, ids: Tensor, rows: Tensor | None = None) -> None:
        if rows is not None:
            self.read = self.read[rows]
            if self.cache is not None and self.known:
                self.cache.reorder_cache(rows)
        self.read = torch.cat([self.read, ids[:, None]], dim=1)


def new_cache(two_texts: bool) -> Any:
    """Return an empty cache that keeps all keys, even those outside a sliding window.

    Otherwise the columns of a step would not be the text's tokens.
    """
    if two_texts:
        return EncoderDecoderCache(DynamicCache(), DynamicCache())
    return DynamicCache()


CLOSE = 1e-4
TRIED = 6  # tokens with which the cache is tested


class Decoder:
    """Decodes with one model."""

    def __init__(self, model: Any, forward: Forward, rows: RowMaker, recorded: bool) -> None:
        self.model = model
        self.forward = forward
        self.rows = rows
        self.never = rows.text.never.to(rows.device)
        self.two_texts = rows.info.kind == "encoder-decoder"
        able = recorded and "decode" in rows.info.capabilities
        self.cached = able and self._same_with_cache()
        self._decoded = DecodedIds()

    def ids(self, row: RequestRow) -> Ids:
        """Return the ids that a row writes, which are cached."""
        ids = self._decoded.get(row.real(self.rows.read), row.request)
        if ids is None:
            *_, last = self.of(row)
            ids = last.written[0].ids
        return ids

    @torch.inference_mode()  # as a decorator, so that it is off between the steps
    def of(self, row: RequestRow) -> Iterator[SearchStep]:
        """Yield the steps of decoding a row, without padding, which changes nothing."""
        length = row.own[self.rows.read]
        recorder = Recorder(interventions=row.made, own={self.rows.read: length})
        read = torch.tensor([row.real(self.rows.read)], device=self.rows.device)
        if self.two_texts:
            following, begun = self._after(read, recorder), [self.rows.start.id]
        else:
            recorder, begun = replace(recorder, own={}), read[0].tolist()
            following = self._continuing()
        cache = new_cache(self.two_texts) if self.cached else None
        writer = TokenReader(following, begun, recorder, self.never, cache, self.rows.first)
        limit = self.rows.limit(row.request, row.texts[self.rows.read][:length])
        decode = row.request.decode
        if not decode.prefix and (first := self.rows.first) is not None:
            decode = replace(decode, prefix=(first,))
        for step in search_steps(writer, self.rows.text, decode, limit):
            yield step
        written = step.written[0].ids  # a trace usually follows
        self._decoded.put(row.real(self.rows.read), row.request, written)

    def _continuing(self) -> NextLogits:
        """Return the next step of a model of one text."""

        def following(ids: Tensor, length: int, tap: Tap, cache: Any) -> Tensor:
            real = torch.ones(len(ids), length, dtype=torch.bool, device=ids.device)
            return self.forward.read(ids, real, tap, cache)[:, -1]

        return following

    def _after(self, read: Tensor, recorder: Recorder) -> NextLogits:
        """Return the next step of a decoder after an encoder has read ids (1, S)."""
        with torch.inference_mode():
            real = torch.ones_like(read, dtype=torch.bool)
            encoded = self.forward.encode(read, real, BatchTap([recorder]))

        def following(ids: Tensor, length: int, tap: Tap, cache: Any) -> Tensor:
            mine = torch.ones(len(ids), length, dtype=torch.bool, device=ids.device)
            return self.forward.decode(encoded.repeated(len(ids)), ids, mine, tap, cache)[:, -1]

        return following

    @torch.inference_mode()
    def _same_with_cache(self) -> bool:
        """Return whether decoding with a cache gives the same results, tested on a few ids."""
        ids = torch.arange(5, 5 + TRIED, device=self.rows.device)[None] % self.rows.info.vocabulary
        following = self._after(ids, Recorder()) if self.two_texts else self._continuing()
        try:
            cache = new_cache(self.two_texts)
            begun = TRIED // 2
            logits = following(ids[:, :begun], begun, NULL, cache)
            for index in range(begun, TRIED):
                logits = following(ids[:, index : index + 1], index + 1, NULL, cache)
        except Exception:  # a model whose passes take no cache
            return False
        whole = following(ids, TRIED, NULL, None)
        return torch.allclose(logits, whole, atol=CLOSE, rtol=CLOSE)


class OneTextOutput:
    """Computes the outputs of a model of one text; none if it has no language-modelling head."""

    def __init__(self, rows: RowMaker, steps: Decoder, writes: bool) -> None:
        self.rows = rows
        self.steps = steps
        self.continues = writes and rows.info.kind == "decoder"
        self.fills = bool(rows.info.mask)
        self.never = rows.text.never

    def continued(self, row: RequestRow) -> RequestRow:
        """Return a row that reads the continuation of its text too, without its last token."""
        if not self.continues:
            return row
        ids = self._continuation(row)
        return self.rows.continued(row, ids) if ids else row

    def _continuation(self, row: RequestRow) -> Ids:
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

    def output(self, row: RequestRow, logits: Tensor) -> Output | None:
        """Return the output of a row, given its logits (N, V); None if it predicts nothing."""
        length = row.own[self.rows.read]
        if self.continues:
            return self._of_decoder(row, row.texts[self.rows.read][:length], logits[:length])
        masks = self._masks(row) if self.fills else []
        return self._of_masks(row, masks, logits[masks]) if masks else None

    def predicted(self, row: RequestRow, output: Output | None) -> list[int]:
        """Return the id that each row predicts: an encoder's own token, if it is not a mask."""
        if output is None:
            return row.real(self.rows.read)
        ids = {output.row(index): token.id for index, token in enumerate(output.tokens)}
        return [ids.get(index, id_) for index, id_ in enumerate(row.real(self.rows.read))]

    def _of_decoder(self, row: RequestRow, read: Sequence[Token], logits: Tensor) -> Output:
        written = row.written or self._likely(logits[-1:])
        text, tokens = self.rows.text.written(written)
        given_count = len(read) - len(written) + 1
        spelled = [*read[1:given_count], *self.rows.after(row, tokens)]
        ends, penalty = self.rows.text.ends, row.request.decode.length_penalty
        return replace(scored(text, spelled, logits, ends, penalty), continues=given_count - 1)

    def _of_masks(self, row: RequestRow, masks: Sequence[int], logits: Tensor) -> Output:
        """Return the words at the masks: those of `decode.prefix`, then the most probable ones."""
        prefix = row.request.decode.prefix
        ids = (*prefix, *self._likely(logits[len(prefix) :]))
        read = row.texts[self.rows.read]
        tokens = [
            replace(
                self.rows.text.token(id_),
                start=read[index].start,
                end=read[index].end,
                pair=read[index].pair,
            )
            for index, id_ in zip(masks, ids, strict=True)
        ]
        texts = [row.request.source, row.request.pair]
        text = "\n".join(
            _filled(text, [token for token in tokens if token.pair == bool(second)])
            for second, text in enumerate(texts)
            if text is not None
        )
        return replace(scored(text, tokens, logits, (), 0.0), rows=tuple(masks))

    def _masks(self, row: RequestRow) -> list[int]:
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

"""Words of a text by its tokens, as the page groups them, and greedy translations in batches."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence

from model.adapters.encoder_decoder.adapter import EncoderDecoder
from model.adapters.requests.request import Request
from model.adapters.requests.trace import Trace
from model.text.tokens import Token
from model.text.writing_systems import SCRIPTS, fold

BATCH = 48  # sentences


def word_groups(tokens: Sequence[Token]) -> list[list[int]]:
    """Return the tokens of each word, as the page groups them (`words` in alignment.js).

    Adjacent pieces of letters, digits and apostrophes are a word, and so are the bytes of one
    character; a Chinese character is a word by itself. Special tokens are left out.
    """
    groups: list[list[int]] = []
    before: Token | None = None
    for index, token in enumerate(tokens):
        if token.special:
            before = None
            continue
        if before and (_same_character(before, token) or _joins(before, token)):
            groups[-1].append(index)
        else:
            groups.append([index])
        before = token
    return groups


def _same_character(before: Token, token: Token) -> bool:
    return token.end > token.start and (before.start, before.end) == (token.start, token.end)


def _joins(before: Token, token: Token) -> bool:
    if before.end != token.start or not before.text or not token.text:
        return False
    return _in_word(before.text[-1]) and _in_word(token.text[0])


def _in_word(character: str) -> bool:
    if SCRIPTS["Han"].match(character):
        return False
    return character in "'’" or unicodedata.category(character)[0] in "LMN"


def is_word(text: str) -> bool:
    """Return whether a text has a letter or a digit."""
    return any(unicodedata.category(character)[0] in "LN" for character in text)


def spelled(text: str, tokens: Sequence[Token], group: Sequence[int]) -> str:
    """Return a word of the text without space, folded: capitals and variants of characters."""
    return fold(text[tokens[group[0]].start : tokens[group[-1]].end]).strip().lower()


def mean_probability(logprobs: Sequence[float]) -> float:
    """Return the geometric mean of the tokens' probabilities."""
    return math.exp(sum(logprobs) / max(1, len(logprobs)))


def traces(
    adapter: EncoderDecoder, texts: Sequence[str], direction: str, select: tuple[str, ...] = ()
) -> list[Trace | None]:
    """Return the greedy translations in the order of the texts; None for one that is too long."""
    requests = [Request(text, direction, select=select) for text in texts]
    fit = [row for row, request in enumerate(requests) if adapter.takes(request)]
    fit.sort(key=lambda row: len(texts[row]))
    results: list[Trace | None] = [None] * len(texts)
    for begin in range(0, len(fit), BATCH):
        rows = fit[begin : begin + BATCH]
        for row, trace in zip(rows, adapter.run([requests[row] for row in rows]), strict=True):
            results[row] = trace
    return results

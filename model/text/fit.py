"""How much of a text fits into a number of tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from model.text.tokens import Token

WORD = 64  # code points: a word is not longer


def fits(text: str, most: int, encode: Callable[[str], Sequence[Token]]) -> int:
    """Return how many code points of a text make at most `most` tokens, to the end of a word.

    `encode` returns all tokens of a text, with the special ones around it. In a script without
    spaces the text is cut between two tokens.
    """
    tokens = encode(text)
    room = most
    while len(tokens) > most:
        around = sum(token.start == token.end for token in tokens[room:])  # such as <eos>
        room = max(0, min(room, most - around))
        end = max((token.end for token in tokens[:room]), default=0)
        text = text[: _word_end(text, end)].rstrip()
        if not text:
            return 0
        tokens = encode(text)
        room -= 1  # the last word can take more tokens by itself than before another one
    return len(text)


def _word_end(text: str, end: int) -> int:
    """Return the last end of a word up to here, or `end` itself if there is none nearby."""
    if text[end : end + 1].isspace() or end == len(text):
        return end
    start = max(0, end - WORD)
    spaces = [start + at for at, character in enumerate(text[start:end]) if character.isspace()]
    return spaces[-1] if spaces else end

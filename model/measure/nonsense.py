"""Measures when a text is unlike what a model was trained on: by how finely its words are cut.

The tokenizer learned its pieces from the training text, so a frequent word is one piece and a word
that it never met is cut almost into letters. A text is *unlike* if the share of the places within
its words that are cut (`cut_share`) exceeds a limit of its direction, the one that `USUAL` of the
dev sentences stay within.

Nonsense is made of the dev sentences themselves: their letters, drawn from all sentences of the
set, so that lengths, spaces, signs and the frequencies of letters stay. Two things can give it
away, the pieces and an improbable translation; both are counted, on dev sentences as well. In
Chinese, where a character is a piece, only the second can.
"""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from model.adapters.encoder_decoder.adapter import EncoderDecoder
from model.measure.word_groups import is_word, mean_probability, spelled, traces, word_groups
from model.text.tokens import Token
from model.text.writing_systems import SCRIPTS
from model.train.metrics import read_test_sets

USUAL = 0.98  # share of dev sentences within the limit
SEED = 0


def cut_share(text: str, tokens: Sequence[Token]) -> float:
    """Return the cuts within words, divided by the places where a word could be cut.

    A word of n letters has n − 1 places, but at least one and at least as many as it has cuts: a
    Chinese character that is spelled in three bytes has two. 0 without a word.
    """
    cuts = places = 0
    for group in word_groups(tokens):
        if is_word(word := spelled(text, tokens, group)):
            cuts += len(group) - 1
            places += max(len(word) - 1, len(group) - 1, 1)
    return cuts / places if places else 0.0


def nonsense(texts: Sequence[str], seed: int = SEED) -> list[str]:
    """Return the texts with their letters exchanged at random, within each kind of letter."""
    chance = random.Random(seed)
    pools: dict[str, list[str]] = {}
    for character in "".join(texts):
        pools.setdefault(_kind(character), []).append(character)
    for kind in sorted(pools):
        chance.shuffle(pools[kind])
    return [
        "".join(pools[_kind(character)].pop() if _kind(character) else character for character in t)
        for t in texts
    ]


def _kind(character: str) -> str:
    if SCRIPTS["Han"].match(character):
        return "Han"
    category = unicodedata.category(character)
    return category if category[0] == "L" else ""


def limit_of(values: Sequence[float], share: float = USUAL) -> float:
    """Return the smallest value that at least this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -int(-len(ordered) * share // 1) - 1)]


def measure_nonsense(
    adapter: EncoderDecoder, dev: Mapping[str, Path], limit: int, text: float
) -> dict[str, Any]:
    """Choose the limits, and count what they and an improbable translation find.

    `text` is the mean probability up to which a translation is improbable.
    """
    first, second = adapter.info.languages
    tests = [
        (name, test) for name, path in dev.items() for test in read_test_sets(path, (first, second))
    ]
    values: dict[str, list[float]] = {}
    for _, test in tests:
        values.setdefault(test.direction, []).extend(_cut_shares(adapter, test.sources))
    limits = {direction: limit_of(column) for direction, column in values.items()}
    rows = []
    for name, test in tests:
        row: dict[str, Any] = {"set": name, "direction": test.direction}
        for kind, texts in ("dev", test.sources), ("nonsense", nonsense(test.sources)):
            row[kind] = _found(adapter, texts[:limit], test.direction, text, limits[test.direction])
        rows.append(row)
    unlike = {direction: round(value, 4) for direction, value in limits.items()}
    return {"unlike": unlike, "nonsense": rows}


def _cut_shares(adapter: EncoderDecoder, texts: Sequence[str]) -> list[float]:
    return [cut_share(text, adapter.tokenizer.encode(text)) for text in texts]


def _found(
    adapter: EncoderDecoder, texts: Sequence[str], direction: str, improbable: float, unlike: float
) -> dict[str, float]:
    """Return the share of texts that are unlike, that are improbable, and that are either."""
    runs = [
        (trace, text)
        for trace, text in zip(traces(adapter, texts, direction), texts, strict=True)
        if trace
    ]
    by_cuts = [value > unlike for value in _cut_shares(adapter, [text for _, text in runs])]
    by_mean = [mean_probability(trace.output.logprobs) <= improbable for trace, _ in runs]
    count = max(1, len(runs))
    return {
        "count": len(runs),
        "unlike": round(sum(by_cuts) / count, 3),
        "improbable": round(sum(by_mean) / count, 3),
        "either": round(sum(a or b for a, b in zip(by_cuts, by_mean, strict=True)) / count, 3),
    }

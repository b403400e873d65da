"""Measures which source words a translation leaves out, by where it looks while it is written.

A source word is *passed over* if no row of a written token has a weight of at least a limit on its
pieces together, by the head that aligns best: the largest weight over the rows. The limit is the
largest with which at least `PRECISION` of the words that the page would name are not translated, in
every set and direction.
Words that are often passed over, such as articles, are never named: they are listed from one half
of the sentences where the other half is judged, and from all of them for the page.

Whether a word *is* translated is read off the references: each is aligned with the source by the
same head, in both directions, joined by grow-diag (`model/measure/word_alignment.py`). A source
word is not translated if no reference word that is linked to it is in the translation, for any of
the references. A synonym counts as not translated; a word without a link counts neither way.

What marking values up to a threshold is worth: thresholds, precision and recall.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder
from model.adapters.requests.trace import Trace
from model.bundle.measurements import READS, Aligner
from model.measure.scores import Gated, read_gate
from model.measure.word_alignment import (
    AlignedPair,
    Link,
    aligned,
    fitting,
    grown,
    is_word,
    kept,
    mirrored,
    spelled,
    traces,
    word_groups,
)
from model.text.writing_systems import SCRIPTS
from model.train.metrics import TestSet, read_test_sets

RECALL = 2 / 3  # share of what is wrong that a threshold marks


def threshold(values: Sequence[float], wrong: Sequence[bool], recall: float = RECALL) -> float:
    """Return the smallest value such that this share of what is wrong has at most this value."""
    ordered = sorted(value for value, is_wrong in zip(values, wrong, strict=True) if is_wrong)
    return ordered[math.ceil(len(ordered) * recall) - 1]


def marked(values: Sequence[float], wrong: Sequence[bool], limit: float) -> dict[str, float]:
    """Return precision and recall of marking values up to a limit, and the share of marks."""
    marks = [value <= limit for value in values]
    hits = sum(mark and bad for mark, bad in zip(marks, wrong, strict=True))
    return {
        "count": len(values),
        "wrong": round(sum(wrong) / max(1, len(values)), 3),
        "marked": round(sum(marks) / max(1, len(values)), 3),
        "precision": round(hits / max(1, sum(marks)), 3),
        "recall": round(hits / max(1, sum(wrong)), 3),
    }


PRECISION = 0.7  # share of the named words that are not translated

LIMITS = [step / 20 for step in range(1, 13)]  # weights to try

LETTERS = 3  # a shorter word, such as "on", is never named; Chinese characters count together

# A word of at least so many occurrences is usual if it is passed over in this share of them, and
# more than once.
OCCURRENCES, SHARE = 4, 0.1


@dataclass(frozen=True)
class SourceWord:
    """A word of a source: its first and last token, and the largest weight on it."""

    text: str
    first: int
    last: int
    weight: float

    @property
    def is_han(self) -> bool:
        """Whether it is a single Chinese character."""
        return len(self.text) == 1 and bool(SCRIPTS["Han"].match(self.text))


def attended(trace: Trace, aligner: Aligner) -> list[SourceWord]:
    """Return the words of the source with their weights; none if nothing was written."""
    tokens = trace.texts["source"]
    weights = trace[place_of(aligner)].value[aligner.head]
    shift = int(aligner.rows == READS)
    rows = [row + shift for row, token in enumerate(trace.output.tokens) if not token.special]
    rows = [row for row in rows if row < len(weights)]
    words = []
    for group in word_groups(tokens):
        text = spelled(trace.request.source, tokens, group)
        if is_word(text) and rows:
            weight = float(weights[rows][:, group].sum(-1).max())
            words.append(SourceWord(text, group[0], group[-1], weight))
    return words


def place_of(aligner: Aligner) -> str:
    """Return the name of an aligner's weights."""
    return f"decoder.{aligner.layer}.cross.weights"


def passed_over(words: Sequence[SourceWord], usual: Collection[str], limit: float) -> list[bool]:
    """Return which words the page names (`passedOver` in core/store/certainty.js).

    Neighbouring Chinese characters that are passed over are one word, which counts from two
    characters on that are not usual: a single one may be a part of a word.
    """
    groups: list[list[int]] = []
    for index, word in enumerate(words):
        if word.weight >= limit:
            continue
        before = words[groups[-1][-1]] if groups else None
        if before and before.is_han and word.is_han and before.last == word.first - 1:
            groups[-1].append(index)
        else:
            groups.append([index])
    named: set[int] = set()
    for group in groups:
        is_han = words[group[0]].is_han
        texts = [words[index].text for index in group]
        missed = sum(text not in usual and (is_han or len(text) >= LETTERS) for text in texts)
        if missed >= (2 if is_han else 1):
            named.update(group)
    return [index in named for index in range(len(words))]


def word_pair(
    adapter: EncoderDecoder, source: str, reference: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words of both texts, punctuation included."""
    sides = []
    for text in (source, reference):
        tokens = adapter.tokenizer.encode(text)
        words = (text[tokens[g[0]].start : tokens[g[-1]].end].strip() for g in word_groups(tokens))
        sides.append(tuple(word for word in words if word))
    return sides[0], sides[1]


def reference_links(
    adapter: EncoderDecoder, pairs: Sequence[AlignedPair], direction: str, aligner: Aligner
) -> list[frozenset[Link]]:
    """Return the links of each pair, source first, by the aligner in both directions, joined."""
    key = f"{aligner.layer}.{aligner.head}", aligner.rows
    back = "-".join(reversed(direction.split("-")))
    forth_links = aligned(adapter, pairs, direction, {key})[key]
    back_links = aligned(adapter, [pair.swapped() for pair in pairs], back, {key})[key]
    return [
        grown(kept(forth, -1), mirrored(kept(other, -1)))
        for forth, other in zip(forth_links, back_links, strict=True)
    ]


@dataclass(frozen=True)
class Read:
    """A sentence that was translated: its words, and whether each is translated."""

    words: tuple[SourceWord, ...]
    translated: tuple[bool | None, ...]  # None: no reference word is linked to it


def translated(
    words: Sequence[str],
    written: Collection[str],
    references: Iterable[tuple[AlignedPair, Collection[Link]]],
) -> tuple[bool | None, ...]:
    """Return whether a linked word of a reference is among the written words.

    `words` are those of the source that have a letter or a digit, in lower case. None: no
    reference has a link to the word.
    """
    results: list[bool | None] = [None] * len(words)
    for pair, links in references:
        kept_rows = [row for row, word in enumerate(pair.first) if is_word(word)]
        if [pair.first[row].lower() for row in kept_rows] != list(words):
            continue  # cut otherwise with the spaces of word alignment
        for index, row in enumerate(kept_rows):
            theirs = [pair.second[b].lower() for a, b in links if a == row]
            if theirs := [word for word in theirs if is_word(word)]:
                results[index] = bool(results[index]) or any(word in written for word in theirs)
    return tuple(results)


def read_sentences(
    adapter: EncoderDecoder, test: TestSet, aligner: Aligner, limit: int
) -> list[Read]:
    """Translate the first sentences of a set, and judge each word of them by the references."""
    sources = test.sources[:limit]
    runs = traces(adapter, sources, test.direction, (place_of(aligner),))
    pairs: list[AlignedPair] = []
    owners: list[int] = []
    back = "-".join(reversed(test.direction.split("-")))
    for row, references in enumerate(test.references[:limit]):
        for reference in references:
            first, second = word_pair(adapter, sources[row], reference)
            pair = AlignedPair(first, second, frozenset(), frozenset())
            fits = fitting(adapter, [pair], test.direction)
            if first and second and fits and fitting(adapter, [pair.swapped()], back):
                pairs.append(pair)
                owners.append(row)
    links = reference_links(adapter, pairs, test.direction, aligner)
    by_sentence: dict[int, list[tuple[AlignedPair, frozenset[Link]]]] = {}
    for row, pair, pair_links in zip(owners, pairs, links, strict=True):
        by_sentence.setdefault(row, []).append((pair, pair_links))
    sentences = []
    for row, trace in enumerate(runs):
        if trace is None or not (words := attended(trace, aligner)):
            continue
        output = trace.output
        written = {
            spelled(output.text, output.tokens, group) for group in word_groups(output.tokens)
        }
        texts = [word.text for word in words]
        judged = translated(texts, written, by_sentence.get(row, []))
        sentences.append(Read(tuple(words), judged))
    return sentences


def usual_words(sentences: Iterable[Read], limit: float) -> list[str]:
    """Return the words that are often passed over: those that a translation does not need."""
    every, passed = Counter[str](), Counter[str]()
    for sentence in sentences:
        for word in sentence.words:
            every[word.text] += 1
            passed[word.text] += word.weight < limit
    return sorted(
        word
        for word, count in every.items()
        if count >= OCCURRENCES and passed[word] >= max(2, SHARE * count)
    )


def named(parts: Sequence[Sequence[Read]], limit: float) -> list[dict[str, float]]:
    """Return what naming the words that are passed over is worth, for each part and for all.

    Counted are the words that have a link.
    """
    halves = [[sentence for part in parts for sentence in part[half::2]] for half in (0, 1)]
    usual = [set(usual_words(half, limit)) for half in halves]
    rows = []
    all_values: list[float] = []
    all_wrong: list[bool] = []
    for part in parts:
        values: list[float] = []
        wrong: list[bool] = []
        for row, sentence in enumerate(part):
            names = passed_over(sentence.words, usual[1 - row % 2], limit)
            for is_named, is_translated in zip(names, sentence.translated, strict=True):
                if is_translated is not None:
                    values.append(0 if is_named else 1)
                    wrong.append(not is_translated)
        rows.append(marked(values, wrong, 0))
        all_values += values
        all_wrong += wrong
    return [*rows, marked(all_values, all_wrong, 0)]


def named_on_gate(
    adapter: EncoderDecoder, gate: Sequence[Gated], aligner: Aligner, usual: list[str], limit: float
) -> dict[str, int]:
    """Return how many right translations of the gate there are, and how many name a word."""
    right = named_right = 0
    for direction in sorted({gated.direction for gated in gate}):
        mine = [gated for gated in gate if gated.direction == direction]
        runs = traces(adapter, [gated.text for gated in mine], direction, (place_of(aligner),))
        for gated, trace in zip(mine, runs, strict=True):
            if trace and gated.passes(trace.output.text):
                right += 1
                named_right += any(passed_over(attended(trace, aligner), usual, limit))
    return {"right": right, "right_named": named_right}


def measure_untranslated(
    adapter: EncoderDecoder, dev: Mapping[str, Path], limit: int, gate: Path | None = None
) -> dict[str, Any]:
    """Measure the words that are passed over, on the first sentences of each set and direction.

    Returns no limit if the model has no aligner, or if none reaches the precision.
    """
    if not adapter.info.aligners:
        return {"source": None, "passed_over": [], "aligner": None, "untranslated": None}
    aligner = adapter.info.aligners[0]
    first, second = adapter.info.languages
    read = {
        (name, test.direction): read_sentences(adapter, test, aligner, limit)
        for name, path in dev.items()
        for test in read_test_sets(path, (first, second))
    }
    parts = list(read.values())
    by_limit = {limit: named(parts, limit) for limit in LIMITS}
    reached = [
        limit
        for limit, rows in by_limit.items()
        if rows[-1]["marked"]
        and all(row["precision"] >= PRECISION for row in rows if row["marked"])
    ]
    source = max(reached, default=None)
    *sets, words = named(parts, source or 0)
    usual = usual_words((s for part in parts for s in part), source or 0)
    on_gate = (
        {"gate": named_on_gate(adapter, read_gate(gate), aligner, usual, source or 0)}
        if gate
        else {}
    )
    return {
        "source": source,
        "passed_over": usual,
        "aligner": {"layer": aligner.layer, "head": aligner.head, "rows": aligner.rows},
        "untranslated": {
            "sentences": sum(map(len, parts)),
            "curve": [{"threshold": limit} | rows[-1] for limit, rows in by_limit.items()],
            "words": words,
            "sets": [
                {"set": name, "direction": direction} | row
                for (name, direction), row in zip(read, sets, strict=True)
            ],
        }
        | on_gate,
    }

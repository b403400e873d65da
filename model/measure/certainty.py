"""Measures when a model is unsure: which of the words that it writes are probably wrong.

A translation is compared with its references, word by word (`word_groups`). A written word with a
letter or a digit is *right* if it belongs to the longest common subsequence of the translation and
the reference with which it has most in common, else *wrong*. A good paraphrase thus counts as
wrong. As in Wang, Tu, Shi & Liu 2020, On the Inference Calibration of Neural Machine Translation,
the model's own translations are judged, not the references.

A word's certainty is its probability, the lowest of its pieces, times the text's: the geometric
mean over all tokens. Words whose certainty is at most a threshold are marked: the lowest one that
marks `RECALL` of the wrong words. A text is wrong if less than half of its words are right, and
has a threshold of its mean probability by the same rule.

The expected calibration error is that of the next token, given the reference so far, in 15 equal
bins of the largest probability (Guo et al. 2017, On Calibration of Modern Neural Networks; for
translation, Kumar & Sarawagi 2019). The temperature that minimises it divides the logits.

Measures when a text is unlike what a model was trained on: by how finely its words are cut.

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

import json
import math
import random
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder, load
from model.adapters.requests.trace import Trace
from model.bundle.measurements import CERTAINTY
from model.bundle.weights import Bundle, digest_of, load_bundle
from model.measure.heads import batches_of
from model.measure.scores import Gated, read_gate
from model.measure.untranslated import marked, measure_untranslated, threshold
from model.measure.word_alignment import is_word, mean_probability, spelled, traces, word_groups
from model.text.tokens import Token
from model.text.writing_systems import SCRIPTS
from model.train.data import read_pairs
from model.train.loss import answers
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


BINS = 15

WORDS, SOURCE, NONSENSE = PARTS = ("words", "source", "nonsense")


def in_common(written: Sequence[str], reference: Sequence[str]) -> list[bool]:
    """Return which written words are in the longest common subsequence (the first of several)."""
    rows, columns = len(written), len(reference)
    length = [[0] * (columns + 1) for _ in range(rows + 1)]
    for i in reversed(range(rows)):
        for j in reversed(range(columns)):
            length[i][j] = (
                length[i + 1][j + 1] + 1
                if written[i] == reference[j]
                else max(length[i + 1][j], length[i][j + 1])
            )
    right, i, j = [False] * rows, 0, 0
    while i < rows and j < columns:
        if written[i] == reference[j]:
            right[i], i, j = True, i + 1, j + 1
        elif length[i + 1][j] >= length[i][j + 1]:
            i += 1
        else:
            j += 1
    return right


def right_words(written: Sequence[str], references: Iterable[Sequence[str]]) -> list[bool]:
    """Return which words are right, by the reference that has most in common with them."""
    return max((in_common(written, reference) for reference in references), key=sum)


@dataclass(frozen=True)
class Judged:
    """A translation: whether its words are right, and how probable they are."""

    right: tuple[bool, ...]
    probabilities: tuple[float, ...]  # of each word: the lowest of its pieces
    mean: float  # geometric mean of the probabilities of all tokens

    @property
    def certainties(self) -> list[float]:
        """The certainty of each word."""
        return [probability * self.mean for probability in self.probabilities]

    @property
    def wrong(self) -> bool:
        """Whether less than half of its words are right."""
        return sum(self.right) < len(self.right) / 2


def probable(trace: Trace) -> tuple[list[str], list[float], float]:
    """Return the words of a translation, the probability of each, and the text's mean."""
    output = trace.output
    groups = [
        group
        for group in word_groups(output.tokens)
        if is_word(spelled(output.text, output.tokens, group))
    ]
    names = [spelled(output.text, output.tokens, group) for group in groups]
    lowest = [math.exp(min(output.logprobs[index] for index in group)) for group in groups]
    return names, lowest, mean_probability(output.logprobs)


def judged(adapter: EncoderDecoder, trace: Trace, references: Sequence[str]) -> Judged:
    """Compare a translation with its references."""
    names, lowest, mean = probable(trace)
    columns = []
    for reference in references:
        tokens = adapter.tokenizer.encode(reference)
        words = [spelled(reference, tokens, group) for group in word_groups(tokens)]
        columns.append([word for word in words if is_word(word)])
    return Judged(tuple(right_words(names, columns)), tuple(lowest), mean)


def calibration_error(confidence: Tensor, right: Tensor, bins: int = BINS) -> float:
    """Return Σ over bins |bin| / n · |mean confidence − share of right|; bins of equal width."""
    index = (confidence.double() * bins).ceil().clamp(1, bins).long() - 1
    gaps = torch.zeros(bins, dtype=torch.double)
    gaps.index_add_(0, index, confidence.double() - right.double())
    return float(gaps.abs().sum() / len(confidence))


GRID = tuple(step / 100 for step in range(60, 161, 2))


def confidences(logits: Tensor, grid: Sequence[float] = GRID) -> Tensor:
    """Return the largest probability of each row of logits (N, V) by temperature: (N, grid)."""
    largest = logits.max(-1).values
    return torch.stack(
        [(largest / heat - (logits / heat).logsumexp(-1)).exp() for heat in grid], dim=1
    )


def best_temperature(
    confidence: Tensor, right: Tensor, grid: Sequence[float] = GRID
) -> dict[str, float]:
    """Return the temperature with the least calibration error, given `confidences`."""
    errors = [calibration_error(column, right) for column in confidence.T]
    best = min(range(len(grid)), key=errors.__getitem__)
    return {
        "tokens": len(right),
        "right": round(float(right.double().mean()), 3),
        "temperature": grid[best],
        "error": round(errors[grid.index(1.0)], 4),
        "error_at_temperature": round(errors[best], 4),
    }


def measured_temperature(bundle: Bundle, paths: Iterable[Path], limit: int) -> dict[str, float]:
    """Measure the next token on the first pairs of each file, in both directions."""
    parts = []
    with torch.inference_mode():
        for batch in batches_of(bundle, [p for path in paths for p in read_pairs(path)[:limit]]):
            logits, written = answers(bundle.model, batch)
            parts.append((confidences(logits).cpu(), (logits.argmax(-1) == written).cpu()))
    confidence, right = (torch.cat(columns) for columns in zip(*parts, strict=True))
    return best_temperature(confidence, right)


def on_gate(adapter: EncoderDecoder, gate: Sequence[Gated], word: float) -> dict[str, float]:
    """Return how many right translations of the gate have no mark, and wrong ones have one."""
    clean = {True: 0, False: 0}
    total = {True: 0, False: 0}
    for direction in sorted({gated.direction for gated in gate}):
        mine = [gated for gated in gate if gated.direction == direction]
        runs = traces(adapter, [gated.text for gated in mine], direction)
        for gated, trace in zip(mine, runs, strict=True):
            assert trace is not None
            _, lowest, mean = probable(trace)
            right = gated.passes(trace.output.text)
            total[right] += 1
            clean[right] += all(probability * mean > word for probability in lowest)
    return {
        "right": total[True],
        "right_unmarked": clean[True],
        "wrong": total[False],
        "wrong_marked": total[False] - clean[False],
    }


def measure_words(
    folder: Path,
    adapter: EncoderDecoder,
    dev: Mapping[str, Path],
    limit: int,
    gate: Path | None,
) -> dict[str, Any]:
    """Measure the doubtful words and texts, on the first `limit` sentences of each set."""
    first, second = adapter.info.languages
    texts: dict[tuple[str, str], list[Judged]] = {}
    for name, path in dev.items():
        for test in read_test_sets(path, (first, second)):
            runs = traces(adapter, test.sources[:limit], test.direction)
            pairs = zip(runs, test.references, strict=False)
            texts[name, test.direction] = [
                judged(adapter, trace, references) for trace, references in pairs if trace
            ]
    measured = _thresholds(texts)
    measured["calibration"] = measured_temperature(load_bundle(folder), dev.values(), limit)
    if gate:
        measured["gate"] = on_gate(adapter, read_gate(gate), measured["word"])
    return measured


def _thresholds(texts: Mapping[tuple[str, str], Sequence[Judged]]) -> dict[str, Any]:
    """Return both thresholds, chosen on all texts, and their precision and recall on each set."""
    everything = [text for part in texts.values() for text in part if text.right]
    word = threshold(*_words(everything))
    mean = threshold([text.mean for text in everything], [text.wrong for text in everything])
    plain = threshold(*_words(everything, plain=True))
    rows = []
    for (name, direction), part in texts.items():
        part = [text for text in part if text.right]
        row = {"set": name, "direction": direction}
        rows.append(row | {"words": marked(*_words(part), word), "texts": _texts(part, mean)})
    return {
        "word": round(word, 4),
        "text": round(mean, 4),
        "words": marked(*_words(everything), word),
        "texts": _texts(everything, mean),
        "sets": rows,
        "plain": {"threshold": round(plain, 4)} | marked(*_words(everything, plain=True), plain),
        "curve": [
            {"threshold": limit / 20} | marked(*_words(everything), limit / 20)
            for limit in range(2, 17, 2)
        ],
    }


def _words(texts: Iterable[Judged], plain: bool = False) -> tuple[list[float], list[bool]]:
    values: list[float] = []
    wrong: list[bool] = []
    for text in texts:
        values += text.probabilities if plain else text.certainties
        wrong += [not right for right in text.right]
    return values, wrong


def _texts(texts: Sequence[Judged], limit: float) -> dict[str, float]:
    return marked([text.mean for text in texts], [text.wrong for text in texts], limit)


def write_certainty(
    folder: Path,
    dev: Mapping[str, Path],
    limit: int = 2000,
    gate: Path | None = None,
    parts: Collection[str] = PARTS,
) -> dict[str, Any]:
    """Write `certainty.json` into a bundle, and return what it contains.

    Parts that are not measured again are kept; a file of other weights, with which the bundle
    would not open, is removed. Without the part of the words, a text cannot be improbable:
    `ValueError`.
    """
    path, digest = folder / CERTAINTY, digest_of(folder)
    measured = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    if measured.get("digest") != digest:
        path.unlink(missing_ok=True)
        measured = {"digest": digest}
    adapter = load(folder.resolve(), "cpu")
    if WORDS in parts:
        measured |= measure_words(folder, adapter, dev, limit, gate)
    elif "text" not in measured:
        raise ValueError(f"{path}: no figures of these weights; measure the part {WORDS!r} too")
    if SOURCE in parts:
        measured |= measure_untranslated(adapter, dev, limit, gate)
    if NONSENSE in parts:
        measured |= measure_nonsense(adapter, dev, limit, measured["text"])
    text = json.dumps(measured, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")
    return measured

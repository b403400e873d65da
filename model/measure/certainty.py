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
"""

from __future__ import annotations

import json
import math
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from model.adapters.encoder_decoder.adapter import EncoderDecoder, load
from model.adapters.requests.request import Request
from model.adapters.requests.trace import Trace
from model.bundle.measurements import CERTAINTY, WRITES
from model.bundle.weights import Bundle, load_bundle
from model.measure.heads import batches_of
from model.measure.scores import Gated, read_gate
from model.text.tokens import Token
from model.text.writing_systems import SCRIPTS, fold
from model.train.data import read_pairs
from model.train.loss import answers
from model.train.metrics import read_test_sets

RECALL = 2 / 3  # share of what is wrong that a threshold marks
BATCH = 48  # sentences
BINS = 15
PASSED_OVER = 0.1  # a source word at which no written token looks more than this, by the aligner
SELDOM = 0.07  # a word is no content word if it is passed over in this share of sentences
OCCURRENCES = 20  # fewer than these say nothing about a word


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
    return names, lowest, math.exp(sum(output.logprobs) / max(1, len(output.logprobs)))


def judged(adapter: EncoderDecoder, trace: Trace, references: Sequence[str]) -> Judged:
    """Compare a translation with its references."""
    names, lowest, mean = probable(trace)
    columns = []
    for reference in references:
        tokens = adapter.tokenizer.encode(reference)
        words = [spelled(reference, tokens, group) for group in word_groups(tokens)]
        columns.append([word for word in words if is_word(word)])
    return Judged(tuple(right_words(names, columns)), tuple(lowest), mean)


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


def attended(trace: Trace, layer: int, head: int) -> list[tuple[str, float]]:
    """Return the words of the source, and the most that a written token looks at each."""
    tokens = trace.texts["source"]
    weights = trace[f"decoder.{layer}.cross.weights"].value[head]
    rows = [i for i, token in enumerate(trace.output.tokens) if not token.special]
    pairs = []
    for group in word_groups(tokens):
        word = spelled(trace.request.source, tokens, group)
        if is_word(word) and rows:
            pairs.append((word, float(weights[rows][:, group].sum(-1).max())))
    return pairs


def seldom_attended(words: Iterable[tuple[str, float]]) -> list[str]:
    """Return the words that are often passed over: those that a translation does not need."""
    every, passed = Counter[str](), Counter[str]()
    for word, weight in words:
        every[word] += 1
        passed[word] += weight < PASSED_OVER
    return sorted(
        word
        for word, count in passed.items()
        if every[word] >= OCCURRENCES and count >= SELDOM * every[word]
    )


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


def measure_certainty(
    folder: Path, dev: Mapping[str, Path], limit: int = 2000, gate: Path | None = None
) -> dict[str, Any]:
    """Measure a bundle on dev sets, the first `limit` sentences of each and direction."""
    adapter = load(folder.resolve(), "cpu")
    aligner = next((head for head in adapter.info.aligners if head.rows == WRITES), None)
    select = (f"decoder.{aligner.layer}.cross.weights",) if aligner else ()
    first, second = adapter.info.languages
    texts: dict[tuple[str, str], list[Judged]] = {}
    attention: list[tuple[str, float]] = []
    for name, path in dev.items():
        for test in read_test_sets(path, (first, second)):
            runs = traces(adapter, test.sources[:limit], test.direction, select)
            pairs = list(zip(runs, test.references, strict=False))
            texts[name, test.direction] = [
                judged(adapter, trace, references) for trace, references in pairs if trace
            ]
            if aligner:
                for trace in filter(None, runs):
                    attention += attended(trace, aligner.layer, aligner.head)
    return {
        "digest": adapter.info.digest,
        **_thresholds(texts),
        "calibration": measured_temperature(load_bundle(folder), dev.values(), limit),
        "source": PASSED_OVER,
        "passed_over": seldom_attended(attention),
    } | _gate(adapter, texts, gate)


def _gate(
    adapter: EncoderDecoder, texts: Mapping[tuple[str, str], list[Judged]], gate: Path | None
) -> dict[str, Any]:
    return {"gate": on_gate(adapter, read_gate(gate), _thresholds(texts)["word"])} if gate else {}


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
    folder: Path, dev: Mapping[str, Path], limit: int, gate: Path | None = None
) -> dict[str, Any]:
    """Write `certainty.json` into a bundle, and return what it contains."""
    measured = measure_certainty(folder, dev, limit, gate)
    text = json.dumps(measured, indent=1, ensure_ascii=False)
    (folder / CERTAINTY).write_text(text + "\n", encoding="utf-8")
    return measured

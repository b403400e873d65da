"""Turns a plan's files into the examples for training and for the dev loss."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from model.bundle.weights import TOKENIZER
from model.text.tokens import Tokenizer
from model.train.data import TextPair, TrainingExample, both_ways, read_back, read_pairs, read_rows
from model.train.events import Tidied
from model.train.generated.examples import generated
from model.train.pair_cleaning import clean, key, unseen
from model.train.plan import TrainingData
from model.train.synthetic_pairs import augment, unmark

Telling = Generator[Tidied, None, list[TextPair]]


class RefusedError(ValueError):
    """A run is not possible as requested. Commands print the message, which says why."""


def every_pair(paths: Sequence[Path]) -> list[TextPair]:
    """Return the pairs of all files, in order."""
    return [pair for path in paths for pair in read_pairs(path)]


def tidied(pairs: Sequence[TextPair], data: TrainingData) -> Telling:
    """Yield the counts of the cleaning; return the pairs to train on, cleaned unless raw.

    Raises `RefusedError` if none is left.
    """
    unseen_pairs = unseen(pairs, every_pair([*data.dev, *data.held_out]))
    counts = Counter({"held out": len(pairs) - len(unseen_pairs)})
    if not data.raw:
        unseen_pairs, rules = clean(unseen_pairs, data.languages)
        counts |= rules
    if not unseen_pairs:
        listed = ", ".join(f"{name} {count:,}" for name, count in counts.items())
        raise RefusedError(f"no pair is left of {len(pairs):,}: {listed}")
    yield Tidied(len(unseen_pairs), len(pairs), dict(counts))
    return unseen_pairs


def train_examples(
    pairs: Sequence[TextPair], data: TrainingData, seed: int
) -> Generator[Tidied, None, list[TrainingExample]]:
    """Return the pairs in both directions, back-translations, synthetic and generated examples.

    What is sampled is not augmented. Final marks are removed last, and examples that must not be
    read are left out.
    """
    examples = _ways(pairs, data)
    examples += yield from _back(data)
    count = round(data.generate * len(examples))
    examples += augment(examples, data.augment, seed)
    unread = {key(row[-2]) for path in data.unread for row in read_rows(path)}
    held_out = frozenset(
        key(text) for pair in every_pair([*data.dev, *data.held_out]) for text in pair
    )
    for path, weight in data.weights:
        kept = yield from tidied(read_pairs(path), data)
        examples += [replace(example, weight=weight) for example in _ways(kept, data)]
    examples += generated(count, data.languages, seed, unread, held_out)
    examples = [example for example in examples if key(example.source) not in unread]
    return unmark(examples, data.unmark, seed)


def dev_examples(data: TrainingData) -> list[TrainingExample]:
    """Return the examples for the dev loss, unchanged."""
    return _ways(every_pair(data.dev), data)


def tokenizer_of(
    folder: Path, pairs: Sequence[TextPair], size: int, data: TrainingData
) -> Tokenizer:
    """Return the run's tokenizer; train one on the pairs if its folder has none."""
    path = folder / TOKENIZER
    if not path.is_file():
        texts: Iterator[str] = (text for pair in pairs for text in pair)
        Tokenizer.train(texts, size, data.languages).save(path)
    return Tokenizer.load(path)


def _ways(pairs: Sequence[TextPair], data: TrainingData) -> list[TrainingExample]:
    examples = both_ways(pairs, data.languages)
    into = data.languages[1:] if data.one_way else data.languages
    return [example for example in examples if example.language in into]


def _back(data: TrainingData) -> Generator[Tidied, None, list[TrainingExample]]:
    """Return the back-translations, cleaned too, each as an example whose target is human text.

    Raises `ValueError` for a language that is not trained.
    """
    rows = [row for path in data.back for row in read_back(path)]
    if unknown := {language for language, _ in rows} - {*data.languages}:
        raise ValueError(f"--back has rows of {', '.join(sorted(unknown))}, not {data.languages}")
    examples: list[TrainingExample] = []
    for language in data.languages[1:] if data.one_way else data.languages:
        if pairs := [pair for wrote, pair in rows if wrote == language]:
            cleaned = yield from tidied(pairs, data)
            both_directions = both_ways(cleaned, data.languages)
            examples += [example for example in both_directions if example.language == language]
    return examples

"""The examples for training and for the dev loss: from a plan's files, and translated by models.

In back-translation the generated text is only the source, so the model is never trained to write a
model's output (Sennrich, Haddow & Birch 2016, section 3, arXiv:1511.06709). There the sentences had
no translation; here they have one and get another (Nguyen et al. 2020, Data Diversification,
arXiv:1911.01986).

In distillation a student learns from teachers. Each teacher proposes translations by beam search
(sequence-level distillation, Kim & Rush 2016, arXiv:1606.07947). All teachers score every proposal
in both directions, and the best one is kept (noisy-channel reranking, Yee, Dauphin & Auli 2019,
arXiv:1908.05731):

    score(y | x) = log P(y | x) / |y| + w · log P(x | y) / |x|       mean over the teachers
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from shutil import rmtree

import torch
from torch import Tensor
from torch.nn import functional as F

from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder, load
from model.adapters.requests.request import Decode, Request
from model.bundle.weights import TOKENIZER
from model.text.tokens import Tokenizer, normalise
from model.train.data import (
    Corpus,
    TextPair,
    TrainingExample,
    both_ways,
    read_back,
    read_pairs,
    read_rows,
)
from model.train.events import Distilled, Tidied
from model.train.generated.examples import generated
from model.train.loss import answers
from model.train.metrics import translate
from model.train.pair_cleaning import clean, key, unseen
from model.train.plan import TrainingData
from model.train.run_state import write_text
from model.train.synthetic_pairs import augment, unmark
from model.train.workers import spread

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


CHUNK = 1000  # sentences that a worker takes at a time


def write_back_translations(
    bundle: Path, train: Sequence[Path], out: Path, decode: Decode, jobs: int = 1
) -> None:
    """Translate both sides of the pairs and write the rows. An interrupted call writes no file."""
    pairs = [pair for path in train for pair in read_pairs(path)]
    # An incomplete file would be used for training without being noticed.
    partial = out.with_name(f"{out.name}.partial")
    with partial.open("w", encoding="utf-8") as file:
        for row in back_translations(bundle, pairs, decode, jobs):
            print(*row, sep="\t", file=file)
    partial.replace(out)


def back_translations(
    bundle: Path, pairs: Sequence[TextPair], decode: Decode, jobs: int = 1
) -> Iterator[tuple[str, str, str]]:
    """Yield rows (language of the human text, first text, second text), by language.

    Empty translations, and those that repeat an existing pair, are left out.
    """
    languages = load(bundle.resolve(), "cpu", measured=False).info.languages
    originals = set(pairs)
    for side, language in enumerate(languages):
        texts = [*dict.fromkeys(pair[side] for pair in pairs)]
        chunks = [texts[begin : begin + CHUNK] for begin in range(0, len(texts), CHUNK)]
        direction = f"{language}-{languages[1 - side]}"
        work = [(bundle, chunk, direction, decode) for chunk in chunks]
        for chunk, written in zip(chunks, spread(_translated, work, jobs), strict=True):
            for text, translation in zip(chunk, map(normalise, written), strict=True):
                pair = (translation, text) if side else (text, translation)
                if translation and pair not in originals:
                    yield language, *pair


def _translated(bundle: Path, texts: Sequence[str], direction: str, decode: Decode) -> list[str]:
    adapter = load(bundle.resolve(), "cpu", measured=False)
    return translate(adapter, texts, direction, decode)


SOURCES = 64  # sentences in a batch of beam searches

TOKENS = 4000  # in a batch to score

ASKED = "asked.json"

Row = tuple[str, str, str]  # language of the teachers' text, then both texts


@dataclass(frozen=True)
class Teaching:
    """How a train set is distilled."""

    teachers: tuple[Path, ...]  # bundles
    beam: int = 4  # proposals of each teacher
    reverse: float = 1.0  # w: weight of log P(x | y)
    device: str = "cpu"
    part: int = 2000  # sentences saved at a time, which survive an interruption


def distil(
    teaching: Teaching, train: Sequence[Path], out: Path, jobs: int = 1
) -> Generator[Distilled, None, None]:
    """Write rows `language<TAB>first<TAB>second` to `out`, one for each sentence of the pairs.

    The language is that of the teachers' text; `--back` trains the direction into it. Finished
    parts are stored next to `out` until all are done: after an interruption, the same call
    continues. Raises `RefusedError` if existing parts were made with other options.
    """
    pairs = [pair for path in train for pair in read_pairs(path)]
    languages = _teachers(teaching.teachers, teaching.device)[0].info.languages
    parts = out.with_name(f"{out.name}.parts")
    _claim(parts, {**asdict(teaching), "device": "", "train": train})
    tasks = {
        parts / f"{direction}-{begin:08}.tsv": (teaching, texts[begin : begin + size], direction)
        for direction, texts in _sources(pairs, languages).items()
        for size in (teaching.part,)
        for begin in range(0, len(texts), size)
    }
    remaining = {path: task for path, task in tasks.items() if not path.is_file()}
    originals = frozenset(pairs)
    done = len(tasks) - len(remaining)
    for path, rows in zip(remaining, spread(distilled, remaining.values(), jobs), strict=True):
        new_rows = [row for row in rows if row[1:] not in originals]
        write_text(path, "".join("\t".join(row) + "\n" for row in new_rows))
        done += 1
        yield Distilled(done, len(tasks))
    write_text(out, "".join(path.read_text(encoding="utf-8") for path in tasks))
    rmtree(parts)


def distilled(teaching: Teaching, texts: Sequence[str], direction: str) -> list[Row]:
    """Return the best translation of each text, as a row; texts without one are left out."""
    teachers = _teachers(teaching.teachers, teaching.device)
    read, written = direction.split("-")
    proposed = [
        list(dict.fromkeys(text for text_ in of_each for text in text_))
        for of_each in zip(
            *(proposals(teacher, texts, direction, teaching.beam) for teacher in teachers),
            strict=True,
        )
    ]
    pairs = [
        (text, translation)
        for text, mine in zip(texts, proposed, strict=True)
        for translation in mine
    ]
    forth = [TrainingExample(text, translation, written) for text, translation in pairs]
    back = [TrainingExample(translation, text, read) for text, translation in pairs]
    scores = torch.zeros(len(pairs), dtype=torch.float64)
    for teacher in teachers:
        scores += mean_logprobs(teacher, forth)
        scores += teaching.reverse * mean_logprobs(teacher, back)
    rows, start = [], 0
    first = teachers[0].info.languages[0] == read
    for text, mine in zip(texts, proposed, strict=True):
        if mine:
            best = mine[int(scores[start : start + len(mine)].argmax())]
            rows.append((written, *((text, best) if first else (best, text))))
        start += len(mine)
    return rows


def proposals(
    teacher: EncoderDecoder, texts: Sequence[str], direction: str, beam: int
) -> list[list[str]]:
    """Return the finished translations of each text, best first; none if it is too long."""
    requests = [
        Request(text, direction, decode=Decode("beam", beam=beam), select=()) for text in texts
    ]
    proposed = [list[str]() for _ in texts]
    order = [index for index, request in enumerate(requests) if teacher.takes(request)]
    order.sort(key=lambda index: len(texts[index]))
    for begin in range(0, len(order), SOURCES):
        rows = order[begin : begin + SOURCES]
        for row, written in zip(rows, teacher.hypotheses([requests[r] for r in rows]), strict=True):
            spelled = (
                teacher.written(hypothesis.ids)[0] for hypothesis in written if hypothesis.finished
            )
            proposed[row] = [text for text in dict.fromkeys(spelled) if text]
    return proposed


@torch.inference_mode()
def mean_logprobs(teacher: EncoderDecoder, examples: Sequence[TrainingExample]) -> Tensor:
    """Return log P(target | source) / |target| of each example (N,), in nats per token.

    −inf if an example is too long for the model.
    """
    means = torch.full((len(examples),), -torch.inf, dtype=torch.float64)
    if not examples:
        return means
    model = teacher.model
    corpus = Corpus(examples, teacher.tokenizer, model.config.max_tokens, teacher.device)
    for rows, batch in corpus.all_once(TOKENS):
        logits, written = answers(model, batch)
        logprobs = -F.cross_entropy(logits, written, reduction="none")  # (tokens,)
        lengths = batch.target_real.sum(dim=1)  # (B,)
        owner = torch.arange(len(rows), device=lengths.device).repeat_interleave(lengths)
        sums = torch.zeros(len(rows), device=lengths.device).index_add(0, owner, logprobs)
        means[rows] = (sums / lengths).double().cpu()
    return means


@cache
def _teachers(paths: tuple[Path, ...], device: str) -> list[EncoderDecoder]:
    return [load(path.resolve(), device, measured=False) for path in paths]


def _sources(pairs: Sequence[TextPair], languages: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """Return the distinct texts of each side, by the direction in which they are read."""
    return {
        f"{language}-{languages[1 - side]}": [*dict.fromkeys(pair[side] for pair in pairs)]
        for side, language in enumerate(languages)
    }


def _claim(parts: Path, options: Mapping[str, object]) -> None:
    """Raise `RefusedError` if existing parts were made with other options."""
    expected = json.loads(json.dumps(options, default=str))
    parts.mkdir(parents=True, exist_ok=True)
    if not (parts / ASKED).is_file():
        write_text(parts / ASKED, json.dumps(expected, indent=1) + "\n")
    saved = json.loads((parts / ASKED).read_text(encoding="utf-8"))
    if differing := [
        f"{name} {saved[name]}, not {value}"
        for name, value in expected.items()
        if saved[name] != value
    ]:
        raise RefusedError(
            f"{parts} has parts with {'; '.join(differing)}. Delete them or choose another file"
        )

"""Measures the quality of a bundle's translations: the figures in its model card.

The gate tests how many sentences that people type first are translated correctly. Each line of
`gate.tsv` has a kind, a sentence and a regular expression. A translation is correct if the
expression matches all of it after `plain`, which removes marks, capitals and contractions.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from model.adapters.encoder_decoder.encoder_decoder_adapter import load
from model.adapters.requests.adapter_interface import Adapter
from model.adapters.requests.request import Decode, Method, ask
from model.bundle.model_card import gate_table
from model.bundle.weights import digest_of
from model.text.writing_systems import Detector, fold
from model.train.data import Languages, TrainingExample, both_ways, read_pairs, read_rows
from model.train.metrics import TestSet, read_test_sets, score, translate
from model.train.synthetic_pairs import KINDS, Kind
from model.train.workers import spread

GATE = Path(__file__).with_name("gate.tsv")

MARKS = re.compile('[!！?？,，、。；;…“”"„「」『』～~\ufe0f]')
COLON = re.compile(r"[:：](?!\d|//)")
STOP = re.compile(r"\.+(?=\s|$|[^\x00-\x7f])|^\.+")  # not in 3.14 or example.com
BRACKETS = str.maketrans("（）【】’–—", "()[]'--")
AM = "(it|he|she|that|there|what|where|who|how|this|here|name)"
CONTRACTIONS = (
    (re.compile(r"\bi'm\b"), "i am"),
    (re.compile(r"\blet's\b"), "let us"),
    (re.compile(r"\bcan(?:'t|not)\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"'re\b"), " are"),
    (re.compile(r"'ve\b"), " have"),
    (re.compile(r"'ll\b"), " will"),
    (re.compile(r"'d\b"), " would"),
    (re.compile(rf"\b{AM}'s\b"), r"\1 is"),
)
CHINESE = (
    (re.compile(r"\s+"), ""),
    (re.compile("[您妳]"), "你"),
    (re.compile("([哪那这])儿"), r"\1里"),
    (re.compile("(?<=[哪])(?!里|怕|个|些|边|位|种|天|年|家|国|吒|一)"), "里"),
)


@dataclass(frozen=True)
class Gated:
    """A sentence that people type first, and the pattern of a correct translation."""

    kind: str
    text: str
    pattern: str  # matches the whole plain translation
    direction: str  # such as "en-zh", as the page detects it

    @cached_property
    def _right(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    def passes(self, translation: str) -> bool:
        """Return whether the translation is correct."""
        return bool(self._right.fullmatch(plain(translation, self.direction[-2:])))


@dataclass(frozen=True)
class Passage:
    """A model's translation of a sentence of the gate."""

    gated: Gated
    translation: str
    right: bool


def read_gate(path: Path = GATE) -> list[Gated]:
    """Read the sentences of a gate between English and Chinese.

    Raises `ValueError` for a malformed line, or an invalid pattern.
    """
    languages = ("en", "zh")
    detector = Detector(languages)
    gate = []
    for number, (kind, text, pattern) in enumerate(read_rows(path, columns=(3,)), 1):
        source = detector.language(text)
        target = languages[source == languages[0]]
        try:
            re.compile(pattern)
        except re.error as error:
            raise ValueError(f"{path}, line {number}: {error}: {pattern}") from error
        gate.append(Gated(kind, text, pattern, f"{source}-{target}"))
    return gate


def plain(translation: str, language: str) -> str:
    """Normalise text for the patterns: lower case, no marks or contractions, Chinese unspaced."""
    text = fold(translation).translate(BRACKETS).lower()
    text = STOP.sub("", COLON.sub(" ", MARKS.sub("", text)))
    rules = CHINESE if language == "zh" else CONTRACTIONS
    for pattern, replacement in rules:
        text = pattern.sub(replacement, text)
    return " ".join(text.split())


def passed(adapter: Adapter, gate: Sequence[Gated], decode: Decode) -> list[Passage]:
    """Return a model's translations of the sentences, in order."""
    written: dict[Gated, str] = {}
    for direction in sorted({gated.direction for gated in gate}):
        mine = [gated for gated in gate if gated.direction == direction]
        texts = translate(adapter, [gated.text for gated in mine], direction, decode)
        written |= dict(zip(mine, texts, strict=True))
    return [Passage(gated, written[gated], gated.passes(written[gated])) for gated in gate]


def measure_gate(
    bundle: Path, path: Path = GATE, device: str = "cpu", beam: int = 1
) -> list[Passage]:
    """Return a bundle's translations of the sentences of a gate, greedy with a beam of 1."""
    decode = Decode() if beam == 1 else Decode("beam", beam=beam)
    return passed(load(bundle.resolve(), device, measured=False), read_gate(path), decode)


def counts(passages: Sequence[Passage]) -> list[dict[str, Any]]:
    """Count the sentences of each kind and direction, and the correct translations."""
    kinds = dict.fromkeys((passage.gated.kind, passage.gated.direction) for passage in passages)
    rows = []
    for kind, direction in kinds:
        mine = [p for p in passages if (p.gated.kind, p.gated.direction) == (kind, direction)]
        right = sum(passage.right for passage in mine)
        rows.append({"kind": kind, "direction": direction, "right": right, "sentences": len(mine)})
    return rows


def table(passages: Sequence[Passage]) -> str:
    """Return the share of correct translations by kind and direction, in Markdown."""
    return gate_table(counts(passages))


def failures(passages: Sequence[Passage]) -> str:
    """Return the sentences that were not translated correctly, one per line."""
    wrong = [passage for passage in passages if not passage.right]
    return "\n".join(
        f"{passage.gated.kind}: {passage.gated.text} -> {passage.translation}" for passage in wrong
    )


FIGURES = "figures.json"
SEARCHES: tuple[Method, ...] = ("greedy", "beam")
SENTENCES = "sentences.txt"  # one per line; not in any of the training corpora


def write_figures(bundle: Path, new: dict[str, Any]) -> None:
    """Write `figures.json`; other figures are kept if they are of the same weights."""
    path = bundle / FIGURES
    old = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    if old.get("digest") == new["digest"]:
        measured = ("scores", "typed", "gate")
        new |= {key: old[key] for key in measured if key in old and not new[key]}
    path.write_text(json.dumps(new, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def measure(
    bundle: Path,
    tests: Mapping[str, Path],
    typed: Path | None,
    device: str,
    languages: Languages,
    ways: int,
    jobs: int,
    gate: Path | None = None,
) -> dict[str, Any]:
    """Return BLEU and chrF of every test set, direction and method, and sample translations.

    `languages` are those of the columns; with `ways` = 1, only the direction from the first to the
    second is measured. With a `gate`, also returns how many of its sentences are correct.
    """
    # One thread per process: a single sentence is too little work to share.
    tasks: list[tuple[Any, ...]] = [
        (_scored, bundle, device, name, test, method)
        for name, path in tests.items()
        for test in read_test_sets(path, languages)[:ways]
        for method in SEARCHES
    ]
    tasks += [(as_typed, bundle, device, typed)] if typed else []
    results = list(spread(_called, tasks, jobs))
    return {
        "digest": digest_of(bundle),
        "scores": results[:-1] if typed else results,
        "typed": results[-1] if typed else [],
        "gate": counts(measure_gate(bundle, gate, device)) if gate else [],
        "sentences": sentences(bundle, load(bundle.resolve(), device, measured=False)),
    }


def _called(work: Callable[..., Any], *rest: Any) -> Any:
    return work(*rest)


def as_typed(bundle: Path, device: str, path: Path, count: int = 200) -> list[dict[str, Any]]:
    """Return BLEU of sentences before and after each of `augment.KINDS`, `count` per direction.

    Only sentences to which a kind applies are used; greedy, one reference each.
    """
    adapter = load(bundle.resolve(), device, measured=False)
    first, second = adapter.info.languages
    examples = both_ways(read_pairs(path), (first, second))
    rows = []
    for direction in (f"{first}-{second}", f"{second}-{first}"):
        mine = [e for e in examples if direction.endswith(f"-{e.language}")]
        pairs = {kind.__name__: _made(kind, mine)[:count] for kind in KINDS}
        sources = sorted(
            {e.source for typed_pairs in pairs.values() for pair in typed_pairs for e in pair}
        )
        written = dict(zip(sources, translate(adapter, sources, direction, Decode()), strict=True))
        for kind, typed_pairs in pairs.items():
            plain, typed = (
                _bleu(direction, [pair[side] for pair in typed_pairs], written) for side in (0, 1)
            )
            rows.append(
                {
                    "kind": kind,
                    "direction": direction,
                    "sentences": len(typed_pairs),
                    "plain": plain,
                    "typed": typed,
                }
            )
    return rows


def _made(
    kind: Kind, examples: Sequence[TrainingExample]
) -> list[tuple[TrainingExample, TrainingExample]]:
    """Yield examples with their variants of a `kind`, if it applies."""
    chance = random.Random(0)
    variants = (
        (example, kind(example, partial(chance.choice, examples), chance)) for example in examples
    )
    return [(example, new) for example, new in variants if new]


def _bleu(
    direction: str, examples: Sequence[TrainingExample], written: Mapping[str, str]
) -> float | None:
    if not examples:
        return None
    test = TestSet(
        direction, tuple(e.source for e in examples), tuple((e.target,) for e in examples)
    )
    return float(score(test, [written[source] for source in test.sources])["bleu"])


def _scored(
    bundle: Path, device: str, name: str, test: TestSet, method: Method
) -> Mapping[str, float | str]:
    adapter = load(bundle.resolve(), device, measured=False)
    hypotheses = translate(adapter, test.sources, test.direction, Decode(method))
    row = {"set": name, "direction": test.direction, "method": method, **score(test, hypotheses)}
    print(row, file=sys.stderr, flush=True)
    return row


def sentences(bundle: Path, adapter: Adapter) -> list[dict[str, str]]:
    """Return translations of the bundle's sentences: greedy, as on the page, and by beam."""
    path = bundle / SENTENCES
    texts = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    rows = [{"source": text} for text in texts]
    for method in SEARCHES if rows else ():
        traces = adapter.run([ask(text, decode=method, select=()) for text in texts])
        for row, trace in zip(rows, traces, strict=True):
            row |= {"direction": str(trace.direction), method: trace.output.text}
    return rows

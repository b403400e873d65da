"""The gate: a test of how many sentences that people type first are translated correctly.

Each line of `gate.tsv` has a kind, a sentence and a regular expression. A translation is correct if
the expression matches all of it after `plain`, which removes marks, capitals and contractions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from model.adapters.encoder_decoder.adapter import load
from model.adapters.requests.adapter import Adapter
from model.adapters.requests.request import Decode
from model.bundle.model_card import gate_table
from model.text.writing_systems import Detector, fold
from model.train.metrics import translate
from model.train.pairs import read_rows

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


def passed(adapter: Adapter, gate: Sequence[Gated]) -> list[Passage]:
    """Return a model's greedy translations of the sentences, in order."""
    written: dict[Gated, str] = {}
    for direction in sorted({one.direction for one in gate}):
        mine = [one for one in gate if one.direction == direction]
        texts = translate(adapter, [one.text for one in mine], direction, Decode())
        written |= dict(zip(mine, texts, strict=True))
    return [Passage(one, written[one], one.passes(written[one])) for one in gate]


def measure_gate(bundle: Path, path: Path = GATE, device: str = "cpu") -> list[Passage]:
    """Return a bundle's translations of the sentences of a gate."""
    return passed(load(bundle.resolve(), device, measured=False), read_gate(path))


def counts(passages: Sequence[Passage]) -> list[dict[str, Any]]:
    """Count the sentences of each kind and direction, and the correct translations."""
    kinds = dict.fromkeys((one.gated.kind, one.gated.direction) for one in passages)
    found = []
    for kind, direction in kinds:
        mine = [p for p in passages if (p.gated.kind, p.gated.direction) == (kind, direction)]
        right = sum(one.right for one in mine)
        found.append({"kind": kind, "direction": direction, "right": right, "sentences": len(mine)})
    return found


def table(passages: Sequence[Passage]) -> str:
    """Return the share of correct translations by kind and direction, in Markdown."""
    return gate_table(counts(passages))


def failures(passages: Sequence[Passage]) -> str:
    """Return the sentences that were not translated correctly, one per line."""
    wrong = [one for one in passages if not one.right]
    return "\n".join(f"{one.gated.kind}: {one.gated.text} -> {one.translation}" for one in wrong)

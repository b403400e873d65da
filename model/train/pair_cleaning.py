"""Cleaning of pairs: consistent spelling in each language, and bad translations dropped.

A rule is a function from a pair to a pair or None; `RULES` gives their order. Sources
are cleaned as well: `model.train.synthetic_pairs` adds back the variants that people type.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from model.text.tokens import normalise
from model.text.writing_systems import HAN, LATIN_WORD
from model.train.data import Languages, TextPair

INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufe00-\ufe0f\ufeff]")
LETTER = re.compile(r"[^\W_]")
ENDS = ".。!！?？…"

ENGLISH = (
    (re.compile("[“”„«»＂]|``|''"), '"'),
    (re.compile("[‘’`]"), "'"),
    (re.compile(r" (?=(?:'(?:s|t|re|ve|d|m|ll)|n't)\b)"), ""),  # for tokenized corpora
    (re.compile(r"n 't\b"), "n't"),
    (re.compile(r" (?=[,.?!;:)](?:[\s\"]|$))"), ""),
    (re.compile(r"(?<=[.?!])\.$(?<!\.\.\.)"), ""),
    (re.compile("…|⋯"), "..."),
)

HAN_CHARACTER = HAN.pattern
MARKS = "。，、；：？！（）《》“”‘’…—"
WIDE = dict(zip(",;:?!()", "，；：？！（）", strict=True))
CHINESE = (
    (re.compile("[⋯…]+|\\.{3,}|。{2,}"), "……"),
    (re.compile("[﹣－─]"), "-"),
    (re.compile("[•‧・]"), "·"),
    (re.compile(f"(?<={HAN_CHARACTER})\\s+(?={HAN_CHARACTER}|[{MARKS}])"), ""),
    (re.compile(f"(?<=[{MARKS}])\\s+"), ""),
    (re.compile(f"(?<={HAN_CHARACTER})\\s*\\.(?=”?$)"), "。"),
    (re.compile("(?<=[。？！])[。.]$"), ""),
)
BESIDE_HAN = re.compile(f"(?:(?<={HAN_CHARACTER})|(?<=[”》]))\\s*[,;:?!()]|[(](?={HAN_CHARACTER})")
BRACKETS = re.compile(r"（([^（）()]*)\)|\(([^（）()]*)）")
QUOTED = re.compile('["＂„]([^"＂„”]*)["＂”]')


def english(text: str) -> str:
    """Normalise to straight quotes, with contractions and punctuation joined to their words."""
    text = INVISIBLE.sub("", text)
    for pattern, replacement in ENGLISH:
        text = pattern.sub(replacement, text)
    return normalise(text)


def chinese(text: str) -> str:
    """Normalise to full-width marks, curly quotes, no spaces between characters."""
    text = INVISIBLE.sub("", text)
    text = BESIDE_HAN.sub(lambda match: WIDE[match[0].strip()], text)
    text = BRACKETS.sub(lambda match: f"（{match[1] or match[2]}）", text)
    text = QUOTED.sub(r"“\1”", text)
    for pattern, replacement in CHINESE:
        text = pattern.sub(replacement, text)
    return normalise(text)


TIDY: Mapping[str, Callable[[str], str]] = {"en": english, "zh": chinese}


def tidy(pair: TextPair, languages: Languages) -> TextPair | None:
    """Normalise the spelling; a language without rules is not changed."""
    first, second = (
        TIDY.get(code, normalise)(text) for code, text in zip(languages, pair, strict=True)
    )
    return first, second


def ended(pair: TextPair, languages: Languages) -> TextPair | None:
    """Add a full stop if only the other side has one: the mark is copied, not guessed."""
    first, second = pair
    stop = {"zh": "。"}
    if first[-1:] in ".。" and second[-1:].isalpha():
        return first, second + stop.get(languages[1], ".")
    if second[-1:] in ".。" and first[-1:].isalpha():
        return first + stop.get(languages[0], "."), second
    return pair


def written(pair: TextPair, languages: Languages) -> TextPair | None:
    """Drop pairs without letters, or in the script of the other language."""
    for code, text in zip(languages, pair, strict=True):
        han, latin = len(HAN.findall(text)), len(LATIN_WORD.findall(text))
        if not LETTER.search(text):
            return None
        if code == "zh" and han < max(1, latin):
            return None
        if code == "en" and han:
            return None
    return pair


def proportionate(pair: TextPair, languages: Languages) -> TextPair | None:
    """Drop sentences that are four times as long as their translation, give or take a phrase.

    Also those with more than 60 words. A Chinese character counts as two thirds of a word, and so
    does any other mark in Chinese.
    """
    lengths = sorted(
        len(text) / 1.5 if code == "zh" else len(text.split())
        for code, text in zip(languages, pair, strict=True)
    )
    return pair if lengths[1] <= 4 * lengths[0] + 4 and lengths[1] <= 60 else None


Rule = Callable[[TextPair, TextPair], TextPair | None]
RULES: tuple[Rule, ...] = (tidy, ended, written, proportionate)


def key(text: str) -> str:
    """Return the letters and digits of a text in lower case, to compare texts by."""
    return "".join(LETTER.findall(normalise(text).lower()))


def unseen(pairs: Iterable[TextPair], held_out: Iterable[TextPair]) -> list[TextPair]:
    """Drop the pairs that share a sentence with a held-out one, ignoring marks and capitals."""
    keys = {key(text) for pair in held_out for text in pair}
    return [pair for pair in pairs if not keys & {key(pair[0]), key(pair[1])}]


def clean(pairs: Iterable[TextPair], languages: Languages) -> tuple[list[TextPair], Counter[str]]:
    """Return the remaining pairs, and how many each rule changed or dropped, by its name.

    Pairs that differ only in marks and capitals are kept once.
    """
    counts: Counter[str] = Counter()
    distinct: set[TextPair] = set()
    cleaned = []
    for pair_ in pairs:
        pair: TextPair | None = pair_
        for rule in RULES:
            before = pair
            assert before is not None
            pair = rule(before, languages)
            counts[rule.__name__] += pair != before
            if pair is None:
                break
        if pair is None:
            continue
        keys = (key(pair[0]), key(pair[1]))
        if keys in distinct:
            counts["repeated"] += 1
        else:
            distinct.add(keys)
            cleaned.append(pair)
    return cleaned, counts

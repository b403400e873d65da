"""Who is it? Sentences in which a property tells which of two nouns "it" stands for.

    The animal didn't cross the street because it was too tired.  -> animal
    The animal didn't cross the street because it was too wide.   -> street

That a walrus is an animal, and that animals get tired, is learned from sentences of one noun and
from questions such as "What is the walrus?". Every tenth noun is held out: no sentence of two nouns
that is trained has it.

Source: sentences of this kind are from Levesque et al. 2012, "The Winograd Schema Challenge".
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from random import Random
from zlib import crc32

from model.zoo.tasks import Example, one_in_ten

TOKEN = re.compile(r" ?\w+|'t|[.?]")
ANY = "any"
DEFINITIONS = ("What is the {a}?", "What was the {a}?", "Say what the {a} is.")
ALONE = ("We noticed the {a}", "They forgot the {a}", "The {a} wasn't far", "The {a} was replaced")
BECAUSE = " because it was too {p}."


@dataclass(frozen=True)
class Words:
    """Nouns and properties by kind, and frames by the kinds of their two nouns."""

    nouns: dict[str, list[str]]
    properties: dict[str, list[str]]
    frames: dict[tuple[str, str], list[str]]

    @classmethod
    def read(cls, path: Path) -> Words:
        """Reads `who.toml`; frames of any kinds belong to every two different ones."""
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        sentences = {tuple(one["kinds"]): one["frames"] for one in table.pop("sentences")}
        every = sentences.pop((ANY, ANY))
        pairs = [(a, b) for a, b in product(table, repeat=2) if a != b]
        return cls(
            {kind: lists["nouns"].split() for kind, lists in table.items()},
            {kind: lists["properties"].split() for kind, lists in table.items()},
            {pair: [*sentences.get(pair, ()), *every] for pair in pairs},
        )


WORDS = Words.read(Path(__file__).with_name("who.toml"))
NOUNS = frozenset(noun for nouns in WORDS.nouns.values() for noun in nouns)
HELD_OUT = frozenset(noun for noun in NOUNS if crc32(noun.encode()) % 10 == 0)


def nouns_of(example: Example) -> list[str]:
    """The nouns of a source."""
    return [word for token in example.source if (word := token.strip()) in NOUNS]


def held_out(example: Example) -> bool:
    """Two nouns: whether one of them is held out. Otherwise a tenth of the texts."""
    nouns = nouns_of(example)
    return not HELD_OUT.isdisjoint(nouns) if len(nouns) == 2 else one_in_ten(example)


def tokens(text: str) -> tuple[str, ...]:
    """As the tokenizer cuts it: "didn't" is two."""
    return tuple(TOKEN.findall(text))


def solved(text: str) -> Example:
    """What is right for a sentence that somebody typed: the noun that its property fits.

    Raises `ValueError` where it is no sentence of this kind, or the property fits no noun of it.
    """
    words = [token.strip() for token in tokens(text)]
    nouns = [word for word in words if word in NOUNS]
    if "it" not in words and len(nouns) == 1:
        return _asked(text, nouns[0])
    if "it" not in words or not 1 <= len(nouns) <= 2 or len({*nouns}) < len(nouns):
        raise ValueError("this task takes a sentence with “it” and one or two of its nouns")
    if "".join(tokens(text)) != text:
        raise ValueError("this task takes words, a full stop at the end, and nothing else")
    kinds = [kind for kind, fits in WORDS.properties.items() if {*words} & {*fits}]
    if len(kinds) != 1:
        raise ValueError("the sentence must have one of the task's properties, such as tired")
    fitting = [noun for noun in nouns if noun in WORDS.nouns[kinds[0]]]
    if len(fitting) != 1:
        raise ValueError("the property must fit one of the nouns, and one only")
    return about(text, fitting[0])


def _asked(text: str, noun: str) -> Example:
    [kind] = [kind for kind, nouns in WORDS.nouns.items() if noun in nouns]
    source = tokens(text)
    return Example(source, (kind,), (frozenset({source.index(f" {noun}")}),))


def about(text: str, noun: str) -> Example:
    """A sentence with the noun that "it" stands for."""
    source = tokens(text)
    answer = frozenset({[token.strip() for token in source].index(noun)})
    return Example(source, (noun,), (answer,), {source.index(" it"): answer})


def from_property(example: Example) -> Example:
    """The same sentence, looked at from its property instead of from "it"."""
    return replace(example, within={len(example.source) - 2: example.cross[0]})


def definition(random: Random) -> Example:
    """A noun, and what kind of thing it is."""
    kind = random.choice([*WORDS.nouns])
    noun = random.choice(WORDS.nouns[kind])
    source = tokens(random.choice(DEFINITIONS).format(a=noun))
    return Example(source, (kind,), (frozenset({source.index(f" {noun}")}),))


def alone(random: Random) -> Example:
    """A sentence of one noun."""
    kind = random.choice([*WORDS.nouns])
    noun, fits = random.choice(WORDS.nouns[kind]), random.choice(WORDS.properties[kind])
    return about((random.choice(ALONE) + BECAUSE).format(a=noun, p=fits), noun)


def twins(random: Random) -> tuple[Example, Example]:
    """A sentence of two nouns, with a property of the one and with one of the other."""
    kinds = random.choice([*WORDS.frames])
    nouns = {name: random.choice(WORDS.nouns[kind]) for name, kind in zip("ab", kinds, strict=True)}
    text = random.choice(WORDS.frames[kinds]) + BECAUSE
    first, second = (
        about(text.format(**nouns, p=random.choice(WORDS.properties[kind])), noun)
        for kind, noun in zip(kinds, nouns.values(), strict=True)
    )
    return first, second


def who(random: Random, length: int) -> Example:
    """With so many nouns; with none of them in a sentence: a question what a noun is."""
    if length < 2:
        return alone(random) if length else definition(random)
    return random.choice(twins(random))


def every_text() -> tuple[str, ...]:
    """Texts in which every word is, in an order that is always the same."""
    frames = [frame for frames in WORDS.frames.values() for frame in frames]
    sentences = dict.fromkeys([*DEFINITIONS, *(one + BECAUSE for one in [*frames, *ALONE])])
    filled = [one.format(a="animal", b="animal", p="tired") for one in sentences]
    lists = [*WORDS.nouns.values(), *WORDS.properties.values()]
    return (*filled, *WORDS.nouns, *(word for words in lists for word in words))

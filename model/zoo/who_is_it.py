"""Who is it? Sentences in which a property tells which of two nouns "it" stands for.

    The animal didn't cross the street because it was too tired.  -> animal
    The animal didn't cross the street because it was too wide.   -> street

The model learns that a walrus is an animal, and that animals get tired, from sentences with one
noun and from questions such as "What is the walrus?". Every tenth noun is held out: it is in no
training sentence with two nouns.

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
        """Read `who.toml`. Frames of the kinds `any` apply to every two different kinds."""
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        sentences = {tuple(entry["kinds"]): entry["frames"] for entry in table.pop("sentences")}
        general = sentences.pop((ANY, ANY))
        pairs = [(a, b) for a, b in product(table, repeat=2) if a != b]
        return cls(
            {kind: lists["nouns"].split() for kind, lists in table.items()},
            {kind: lists["properties"].split() for kind, lists in table.items()},
            {pair: [*sentences.get(pair, ()), *general] for pair in pairs},
        )


WORDS = Words.read(Path(__file__).with_name("who.toml"))
NOUNS = frozenset(noun for nouns in WORDS.nouns.values() for noun in nouns)
HELD_OUT = frozenset(noun for noun in NOUNS if crc32(noun.encode()) % 10 == 0)


def nouns_of(example: Example) -> list[str]:
    """Return the nouns of a source."""
    return [word for token in example.source if (word := token.strip()) in NOUNS]


def held_out(example: Example) -> bool:
    """Return whether an example is held out: by its nouns if it has two, else a tenth of all."""
    nouns = nouns_of(example)
    return not HELD_OUT.isdisjoint(nouns) if len(nouns) == 2 else one_in_ten(example)


def tokens(text: str) -> tuple[str, ...]:
    """Split a text as the tokenizer does: "didn't" is two tokens."""
    return tuple(TOKEN.findall(text))


def solved(text: str) -> Example:
    """Solve a typed sentence: the answer is the noun that the property fits.

    Raises `ValueError` for other sentences, or if the property does not fit exactly one noun.
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
        raise ValueError("the property must fit exactly one of the nouns")
    return about(text, fitting[0])


def _asked(text: str, noun: str) -> Example:
    [kind] = [kind for kind, nouns in WORDS.nouns.items() if noun in nouns]
    source = tokens(text)
    return Example(source, (kind,), (frozenset({source.index(f" {noun}")}),))


def about(text: str, noun: str) -> Example:
    """Make the example of a sentence, given the noun that "it" stands for."""
    source = tokens(text)
    answer = frozenset({[token.strip() for token in source].index(noun)})
    return Example(source, (noun,), (answer,), {source.index(" it"): answer})


def from_property(example: Example) -> Example:
    """Return the example with the property as query instead of "it"."""
    return replace(example, within={len(example.source) - 2: example.cross[0]})


def definition(random: Random) -> Example:
    """Draw a question about what kind of thing a noun is."""
    kind = random.choice([*WORDS.nouns])
    noun = random.choice(WORDS.nouns[kind])
    source = tokens(random.choice(DEFINITIONS).format(a=noun))
    return Example(source, (kind,), (frozenset({source.index(f" {noun}")}),))


def alone(random: Random) -> Example:
    """Draw a sentence with one noun."""
    kind = random.choice([*WORDS.nouns])
    noun, fits = random.choice(WORDS.nouns[kind]), random.choice(WORDS.properties[kind])
    return about((random.choice(ALONE) + BECAUSE).format(a=noun, p=fits), noun)


def twins(random: Random) -> tuple[Example, Example]:
    """Draw a sentence with two nouns, once with a property of each."""
    kinds = random.choice([*WORDS.frames])
    nouns = {name: random.choice(WORDS.nouns[kind]) for name, kind in zip("ab", kinds, strict=True)}
    text = random.choice(WORDS.frames[kinds]) + BECAUSE
    first, second = (
        about(text.format(**nouns, p=random.choice(WORDS.properties[kind])), noun)
        for kind, noun in zip(kinds, nouns.values(), strict=True)
    )
    return first, second


def who(random: Random, length: int) -> Example:
    """Draw a sentence with so many nouns, or, for 0, a question about what a noun is."""
    if length < 2:
        return alone(random) if length else definition(random)
    return random.choice(twins(random))


def every_text() -> tuple[str, ...]:
    """Return texts that together contain every word of the task, always in the same order."""
    frames = [frame for frames in WORDS.frames.values() for frame in frames]
    sentences = dict.fromkeys([*DEFINITIONS, *(frame + BECAUSE for frame in [*frames, *ALONE])])
    filled = [sentence.format(a="animal", b="animal", p="tired") for sentence in sentences]
    lists = [*WORDS.nouns.values(), *WORDS.properties.values()]
    return (*filled, *WORDS.nouns, *(word for words in lists for word in words))

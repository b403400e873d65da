"""Which hidden unit of the encoder answers to some words: measured over many sentences.

The sentences are those that come with the model, and some written for this, of which a third deny
something and a third contain a number.
"""

from collections.abc import Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.settings import ROOT
from model import Adapter

ACTIVE = 1.0  # from which on a unit counts as active
DENIALS = frozenset(("not", "never", "no", "nobody", "nothing", "none", "cannot", "without"))
NUMBERS = frozenset(
    (
        *("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve"),
        *("twenty", "thirty", "forty", "hundred"),
    )
)
WRITTEN = """\
I do not like this soup.
She does not want to go home.
They did not see the dog.
He never drinks coffee.
We never work on Sunday.
There is no milk in the glass.
I have no money with me.
Nobody came to the party.
You cannot swim in this river.
It is not far from here.
My mother never eats meat.
Do not open the door.
This is not my coat.
We could not find the key.
The shop is not open today.
I am not tired at all.
Three dogs are sleeping in the garden.
My aunt has two cars.
We waited four hours for the bus.
There are five chairs in this room.
He bought six eggs and ten potatoes.
She has eight cousins.
The baby is nine months old.
Seven people live in that house.
I need twenty minutes.
Our school has thirty teachers.
Two of my friends live in this street.
They stayed in the village for three weeks.
The old man has four cats and no dog.
I read ten pages every evening.
The sun is bright this morning.
Her brother likes to swim in the lake.
We drank tea with our neighbours.
The small boy lost his red ball.
I will write you a letter tomorrow.
The film begins in the evening.
My father repairs old clocks.
The birds sing in the trees.
She is waiting for the train.
Please give me a glass of water."""


def sentences() -> list[str]:
    """Return the English sentences."""
    text = (ROOT / "model/checkpoints/en-zh/corpus.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line.isascii()] + WRITTEN.splitlines()


@dataclass(frozen=True)
class Unit:
    """A hidden unit, and how well it answers to some words."""

    index: int
    tokens: int  # of all sentences
    words: int  # of these, the words that it should answer to
    active: int  # tokens at which it is active
    right: int  # of these, such words


def hidden_units(model: Adapter, place: str) -> tuple[list[str], NDArray[np.float64]]:
    """Return the tokens of all sentences, in small letters, and the units (token, unit) at each."""
    words: list[str] = []
    rows = []
    for sentence in sentences():
        trace = model.trace(sentence, select=[place])
        words += [token.text.strip().lower() for token in trace.texts["source"]]
        rows.append(np.asarray(trace[place].value, dtype=float))
    return words, np.concatenate(rows)


def unit_answering_to(model: Adapter, place: str, to: Set[str]) -> Unit:
    """Return the unit with the largest share of its sum at these words, and active at most of them.

    The share is multiplied by the part of the words at which the unit is active.
    """
    words, values = hidden_units(model, place)
    among = np.array([word in to for word in words])
    share = values[among].sum(0) / np.maximum(values.sum(0), 1e-9)
    active = values > ACTIVE
    index = int(np.argmax(share * active[among].mean(0)))
    return Unit(
        index,
        tokens=len(words),
        words=int(among.sum()),
        active=int(active[:, index].sum()),
        right=int(active[among, index].sum()),
    )


def largest(model: Adapter, place: str, unit: int, sentence: str) -> tuple[str, float, float]:
    """Return the token at which a unit is largest, its value there, and the next largest value."""
    trace = model.trace(sentence, select=[place])
    values = np.asarray(trace[place].value)[:, unit]
    second, first = np.argsort(values)[-2:]
    return trace.texts["source"][first].text.strip(), float(values[first]), float(values[second])

"""Goals that a sentence, a head or a change of the model can reach, checked on a live run.

A goal is about the weights of one head, or about the text that the model writes. Words of a goal
are found in the texts as typed, whatever their case, as whole words in alphabets; a word has all
tokens that its letters are in.

Which token a row is: in a decoder, the one that it writes, as everywhere in captions.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, BaseModel, Field

from app.engine.reply_formats import Reply
from app.http.request_fields import Strict, Text, shown_on_one_line
from model.errors import InputError
from model.trace.attentions import AttentionInfo, read_whole, texts

Optional = Field(exclude_if=lambda value: value is None)
MAX_WORD, MAX_WORDS = 40, 6
CHANGED = 4  # Chinese characters that are one changed word
EXACT = 1e-6  # by which equal weights may differ between two runs

GoalKind = Literal["weight", "strongest", "contains", "lacks", "any"]
Free = Literal["sentence", "head", "change"]
GoalWord = Annotated[
    Text, AfterValidator(shown_on_one_line), Field(min_length=1, max_length=MAX_WORD)
]


class Goal(Strict):
    """What is to be reached, and what may be chosen for it."""

    kind: GoalKind = Field(
        description="`weight`: of the head's attention, the word `key` gets at least `least`. "
        "`strongest`: the head's largest weight goes to the word `key`. `contains`, `lacks`: what "
        "the model writes has all of `words`, or none. `any`: nothing is run."
    )
    key: Annotated[GoalWord | None, Optional] = None
    query: Annotated[GoalWord | None, Optional] = Field(
        default=None, description="The word in whose rows; absent: in any row."
    )
    least: float = Field(default=0.5, ge=0, le=1, description="From 0 to 1.")
    words: list[GoalWord] = Field(default=[], max_length=MAX_WORDS)
    free: list[Free] = Field(
        default=["sentence"],
        min_length=1,
        max_length=3,
        description="What a member chooses; the rest is that of the question's link.",
    )
    uses: list[GoalWord] = Field(
        default=[], max_length=MAX_WORDS, description="Words that the sentence must have."
    )
    one_word: bool = Field(
        default=False,
        description="Whether the sentence may differ from the question's in one word only.",
    )


class Verdict(BaseModel):
    """Whether a goal was reached, and what the run showed."""

    does: bool | None = Field(description="Whether it does what is asked; null: nothing is.")
    missing: Annotated[str | None, Optional] = Field(
        default=None, description="A word of the goal that the texts do not have."
    )
    rewritten: bool = Field(default=False, description="Whether more than one word was changed.")
    weight: Annotated[float | None, Optional] = Field(
        default=None, description="What the word gets of the head's attention, at most."
    )
    strongest: Annotated[str | None, Optional] = Field(
        default=None, description="The token that gets the largest weight of these rows."
    )
    output: Annotated[str | None, Optional] = Field(
        default=None, description="What the model wrote."
    )


def is_about_weights(goal: Goal) -> bool:
    """Return whether the goal is about a head."""
    return goal.kind in ("weight", "strongest")


def check_goal(goal: Goal) -> None:
    """Raise InputError for a goal without the words that its kind is about."""
    if is_about_weights(goal) and goal.key is None:
        raise InputError("missing", "ask.goal.key", "ask.goal.key is required for this goal")
    if goal.kind in ("contains", "lacks") and not goal.words:
        raise InputError("missing", "ask.goal.words", "ask.goal.words is required for this goal")


def broken_rule(goal: Goal, sentence: str, original: str) -> Verdict | None:
    """Return why a sentence is not one that the goal allows; None if it is."""
    for word in goal.uses:
        if not occurrences(word, sentence):
            return Verdict(does=False, missing=word)
    if goal.one_word and not differs_in_a_word(sentence, original):
        return Verdict(does=False, rewritten=True)
    return None


def judge(goal: Goal, reply: Reply, table: Sequence[AttentionInfo], source: str) -> Verdict:
    """Return whether a run reaches its goal.

    The reply has one tensor, the weights (query, key) of the goal's head, if the goal is about
    weights; `source` is the text that the model read.

    Raises InputError if the goal is about what is written, and the model writes nothing.
    """
    output = reply.document.get("output")
    written = str(output["text"]) if output else None
    if is_about_weights(goal):
        by_text = {texts(table)[0]: source, "target": written or ""}
        return _of_weights(goal, reply, table, by_text)
    if written is None:
        detail = "ask.goal is about what the model writes, and it writes nothing"
        raise InputError("does-not-fit", "ask.goal", detail)
    in_output = [bool(occurrences(word, written)) for word in goal.words]
    does = all(in_output) if goal.kind == "contains" else not any(in_output)
    return Verdict(does=does, output=written)


def _of_weights(
    goal: Goal, reply: Reply, table: Sequence[AttentionInfo], by_text: Mapping[str, str]
) -> Verdict:
    ((name, array),) = reply.arrays.items()
    place = name.partition(".weights")[0]
    attention = next(attention for attention in table if attention.place == place)
    read, output = reply.document["tokens"], reply.document.get("output")
    writes = attention.query not in (*read_whole(table), texts(table)[0]) and output is not None
    rows = output["tokens"] if writes and output else read[attention.query]
    keys = read[attention.key]
    weights: NDArray[np.float64] = np.nan_to_num(array[: len(rows), : len(keys)].astype(float))
    columns = _places(goal.key or "", keys, by_text.get(attention.key, ""))
    if not columns:
        return Verdict(does=False, missing=goal.key)
    chosen = list(range(len(rows)))
    if goal.query:
        chosen = _flat(_places(goal.query, rows, by_text.get(attention.query, "")))
        if not chosen:
            return Verdict(does=False, missing=goal.query)
    part = weights[chosen]
    largest = float(part.max())
    strongest = str(keys[int(part.argmax()) % part.shape[1]]["text"]).strip()
    if goal.kind == "strongest":
        weight = float(part[:, _flat(columns)].max())
        does = largest > 0 and weight >= largest - EXACT
    else:
        weight = max(float(part[:, word].sum(axis=1).max()) for word in columns)
        does = weight >= goal.least - EXACT
    return Verdict(does=does, weight=weight, strongest=strongest)


def _places(word: str, tokens: Sequence[Mapping[str, Any]], text: str) -> list[list[int]]:
    """Return the tokens of each occurrence of a word, or the special tokens of this name."""
    spans = occurrences(word, text)
    by_occurrence = [
        [
            i
            for i, token in enumerate(tokens)
            if token["start"] < end and token["end"] > start and not token["pair"]
        ]
        for start, end in spans
    ]
    special = [[i] for i, token in enumerate(tokens) if token["special"] and token["text"] == word]
    return [places for places in by_occurrence if places] or special


def _flat(places: Sequence[Sequence[int]]) -> list[int]:
    return sorted({place for word in places for place in word})


ALPHABET = "0-9A-Za-z\u00c0-\u024f\u0370-\u1fff"  # letters of which only whole words count
LETTER = re.compile(f"[{ALPHABET}]")


def occurrences(word: str, text: str) -> list[tuple[int, int]]:
    """Return where a word is in a text, as half-open spans of code points."""
    sought, read, spans = _lower(word), _lower(text), []
    start = read.find(sought)
    while start >= 0:
        end = start + len(sought)
        inside = any(
            LETTER.match(edge) and LETTER.match(neighbour)
            for edge, neighbour in (
                (sought[0], read[max(0, start - 1) : start]),
                (sought[-1], read[end : end + 1]),
            )
        )
        if not inside:
            spans.append((start, end))
        start = read.find(sought, start + 1 if inside else end)
    return spans


def _lower(text: str) -> str:
    """Return the text in lower case, character by character, so that places stay."""
    return "".join(low if len(low := letter.lower()) == 1 else letter for letter in text)


WORD = re.compile(f"[{ALPHABET}'’-]+|[\u2e80-\U0010ffff]|[^\\s]")


def differs_in_a_word(text: str, original: str) -> bool:
    """Return whether a text differs from another in at most one word in a row."""
    first, second = (
        [word.casefold() for word in WORD.findall(words)] for words in (text, original)
    )
    before = _equal_words(first, second)
    after = _equal_words(first[before:][::-1], second[before:][::-1])
    changed = (words[before : len(words) - after] for words in (first, second))
    return all(len(words) <= 1 or _is_one_chinese(words) for words in changed)


def _equal_words(first: Sequence[str], second: Sequence[str]) -> int:
    """Return how many words two texts have in common at their beginning."""
    pairs = zip(first, second, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(first), len(second)))


def _is_one_chinese(words: Sequence[str]) -> bool:
    return len(words) <= CHANGED and all("\u2e80" <= word < "\ufe30" for word in words)

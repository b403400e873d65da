"""Sentences of a reader's text."""

import re
from collections.abc import Sequence

from model.errors import Excess, InputError

# After a mark that ends a sentence, and what closes after it. A full stop ends one only before a
# space; an abbreviation such as “Mr. Smith” is cut, too.
ENDS = re.compile(
    "(?<=[。！？])(?![。！？”’」』）])|(?<=[。！？][”’」』）])|(?<=[.!?…])\\s+|(?<=[.!?][\"'”’)])\\s+"
)


def sentences_of(text: str, split: str) -> list[str]:
    """Return the lines of a text, or its sentences ("sentences"), without empty ones.

    A line with a tab has two texts that are translations of each other; it is never split.
    """
    lines = [line.strip(" \r\n") for line in text.splitlines()]
    if split == "sentences":
        lines = [part for line in lines for part in ([line] if "\t" in line else ENDS.split(line))]
    return [line.strip(" ") for line in lines if line.strip()]


def check(sentences: Sequence[str], most: int, most_characters: int, pairs: bool) -> None:
    """Raise InputError for no sentence, too many, one that is too long, or too many tabs.

    `pairs` says whether a sentence may have a translation.
    """
    if not sentences:
        raise InputError("too-short", "text", "text must have at least 1 sentence")
    if len(sentences) > most:
        detail = f"text has {len(sentences)} sentences; it may have at most {most}"
        excess = Excess(most, "sentences", len(sentences))
        raise InputError("too-many-sentences", "text", detail, excess)
    for number, sentence in enumerate(sentences, 1):
        longest = max(map(len, sentence.split("\t")))
        if longest > most_characters:
            detail = (
                f"text: sentence {number} has {longest} characters; "
                f"it may have at most {most_characters}"
            )
            excess = Excess(most_characters, "characters", longest)
            raise InputError("text-too-long", "text", detail, excess)
        tabs, most_tabs = sentence.count("\t"), int(pairs)
        if tabs > most_tabs:
            detail = f"text: line {number} has {tabs} tabs; it may have at most {most_tabs}"
            raise InputError("out-of-range", "text", detail)

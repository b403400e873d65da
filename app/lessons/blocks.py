"""Blocks that extend Markdown: a figure, a question about one, and notes for the speaker.

    ```figure
    /?source=The+cat+sleeps.&view=attention&block=encoder&layer=0&head=2
    A caption, in one line.
    live: What to try, which can be done only where the figure is live.
    | a table | for readers |
    |---|---|
    | without | scripts |
    ```

    ```predict looks
    /?source=The+cat+sleeps.&block=cross&layer=2&head=3&query=1
    While it writes “cat”, which word does the head look at most?
    expects: cat
    why: What a reader may learn from the answer.
    ```

    ```notes
    Ask for a show of hands before you reveal.
    ```

Notes belong to the figure or the question before them, or to the beginning; each line is one note.
The first line of the others is a link to the workspace, the lab, the zoo or a training run's
options, as in the address bar.
Lines such as ``why: …`` are fields; a table is a figure's still; the others are text. ``expects``
is the answer that the text around the question relies on; tests compare it with the model's.
"""

import re
from dataclasses import dataclass

from app.figures.links import Link

FIELD = re.compile(r"(?P<name>[a-z]+): (?P<value>.+)")
KINDS = ("looks", "head", "next", "off", "change", "row", "number", "nearest", "unit")


@dataclass(frozen=True)
class FigureBlock:
    """A live figure, with its number on the page, from 1."""

    number: int
    link: Link
    caption: str  # Markdown
    live: str  # what to try where it is live, in Markdown
    still: str  # a table in Markdown; empty: its picture is a heatmap
    fields: dict[str, str]

    @property
    def pictured(self) -> Link:
        """The link that its picture is drawn from: `instead`, if a server cannot show its own."""
        return Link.parse(self.fields["instead"]) if "instead" in self.fields else self.link

    def shown(self, trains: bool) -> Link:
        """Return the link of the figure on a server that trains models, or not."""
        return self.link if trains else self.pictured

    @property
    def options(self) -> dict[str, str]:
        """How the figure of the link is shown: the fields but `instead`."""
        return {name: value for name, value in self.fields.items() if name != "instead"}


@dataclass(frozen=True)
class PredictBlock:
    """A question whose answer the model computes on request."""

    number: int
    kind: str
    link: Link
    question: str  # Markdown
    why: str  # Markdown
    expects: str  # not on the page, where the model answers; empty: the question states its value
    fields: dict[str, str]


Block = FigureBlock | PredictBlock
FIELDS = {
    "figure": {"about", "changes", "choices", "instead", "live", "options", "row", "rows"},
    "predict": {"why", "expects", "step", "row", "column", "value", "within"},
}


def is_notes(info: str) -> bool:
    """Return whether a fence with this info string has notes for the speaker."""
    return info.strip() == "notes"


def is_block(info: str) -> bool:
    """Return whether a fence with this info string is one of the two blocks."""
    return info.split(maxsplit=1)[:1] in (["figure"], ["predict"])


def parse_block(info: str, content: str, number: int) -> Block:
    """Parse a fenced block. Raises ValueError, which says what is wrong."""
    name, _, kind = info.strip().partition(" ")
    link, *lines = [line.strip() for line in content.strip().splitlines()] or [""]
    fields, text, table = {}, [], []
    for line in lines:
        field = FIELD.fullmatch(line)
        if line.startswith("|"):
            table.append(line)
        elif field and field["name"] in FIELDS[name]:
            fields[field["name"]] = field["value"]
        else:
            text.append(line)
    words = " ".join(text)
    if not words:
        raise ValueError(f"a {name} block needs text: {link}")
    if name == "figure":
        live = fields.pop("live", "")
        return FigureBlock(number, Link.parse(link), words, live, "\n".join(table), fields)
    if kind not in KINDS:
        raise ValueError(f"unknown kind of question: {kind} (one of {', '.join(KINDS)})")
    why, expects = fields.pop("why", ""), fields.pop("expects", "")
    return PredictBlock(number, kind, Link.parse(link), words, why, expects, fields)

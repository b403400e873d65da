"""Two blocks that extend Markdown: a figure, and a question about one.

    ```figure
    /?source=The+cat+sleeps.&view=attention&block=encoder&layer=0&head=2
    A caption, in one line.
    ```

    ```predict looks
    /?source=The+cat+sleeps.&block=cross&layer=2&head=3&query=1
    While it writes “cat”, which word does the head look at most?
    why: What a reader may learn from the answer.
    ```

The first line is a link to the workspace or the lab, as in the address bar. Lines such as
``why: …`` are fields; the others are text.
"""

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

FIELD = re.compile(r"(?P<name>[a-z]+): (?P<value>.+)")
PAGES = {"/": "workspace", "/lab": "lab"}
KINDS = ("looks", "head", "next", "off", "row")


@dataclass(frozen=True)
class Link:
    """A link to the workspace or the lab."""

    page: str  # "workspace" or "lab"
    query: str

    @property
    def path(self) -> str:
        """Path of its page."""
        return next(path for path, page in PAGES.items() if page == self.page)

    @property
    def state(self) -> dict[str, str]:
        """The parameters of the link."""
        return dict(parse_qsl(self.query, keep_blank_values=True))

    @classmethod
    def parse(cls, text: str) -> "Link":
        """Parse a link. Raises ValueError if it is to another page."""
        parts = urlsplit(text)
        if parts.scheme or parts.netloc or parts.path not in PAGES:
            raise ValueError(f"not a link to the workspace or the lab: {text}")
        return cls(PAGES[parts.path], parts.query)


@dataclass(frozen=True)
class FigureBlock:
    """A live figure, with its number on the page, from 1."""

    number: int
    link: Link
    caption: str  # Markdown
    fields: dict[str, str]


@dataclass(frozen=True)
class PredictBlock:
    """A question whose answer the model computes on request."""

    number: int
    kind: str
    link: Link
    question: str  # Markdown
    why: str  # Markdown
    fields: dict[str, str]


Block = FigureBlock | PredictBlock
FIELDS = {"figure": {"choices", "options"}, "predict": {"why", "row", "step"}}


def is_block(info: str) -> bool:
    """Return whether a fence with this info string is one of the two blocks."""
    return info.split(maxsplit=1)[:1] in (["figure"], ["predict"])


def parse_block(info: str, content: str, number: int) -> Block:
    """Parse a fenced block. Raises ValueError, which says what is wrong."""
    name, _, kind = info.strip().partition(" ")
    link, *lines = [line.strip() for line in content.strip().splitlines()] or [""]
    fields, text = {}, []
    for line in lines:
        field = FIELD.fullmatch(line)
        if field and field["name"] in FIELDS[name]:
            fields[field["name"]] = field["value"]
        else:
            text.append(line)
    words = " ".join(text)
    if not words:
        raise ValueError(f"a {name} block needs text: {link}")
    if name == "figure":
        return FigureBlock(number, Link.parse(link), words, fields)
    if kind not in KINDS:
        raise ValueError(f"unknown kind of question: {kind} (one of {', '.join(KINDS)})")
    return PredictBlock(number, kind, Link.parse(link), words, fields.pop("why", ""), fields)

"""Links to what this server can show, and what a question about them is about.

/?source=…                       the workspace
/lab?x=…                         attention by hand
/s/{id}                          a share
/learn/{lesson}                  a lesson
/learn/{lesson}#figure-2         one of its figures
/learn/{lesson}?share=ID#figure-2  the figure with the sentence of a share
/learn/{lesson}?shows=…#figure-2  the figure in a state

Questions to a class as what a file of questions has: in words, in the language of a reader.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal
from urllib.parse import parse_qsl, urlencode, urlsplit

from pydantic import Field

from app.assets.qti import QtiQuestion
from app.figures.challenge_goals import Goal
from app.http.request_fields import Count, Magnitude, Name, Number, Strict, Text
from app.store.documents import is_id
from model.errors import InputError

MAX_LINK = 16_000  # characters

MAX_OPTIONS = 12  # of a question that its author wrote

MAX_AXIS = 60  # rows and columns of a figure that a question asks to point at

CELL = r"^(0|[1-9][0-9]?) (0|[1-9][0-9]?)$"  # row and column, from 0

SHARE = r"^[a-z0-9]{1,32}$"

# How a question is answered; `work`: by what its goal is checked on.
Entry = Literal["choice", "numbers", "shares", "text", "order", "cell", "work"]

# Absent from replies where it does not apply, as in the page's own predictions.
Optional = Field(exclude_if=lambda value: value is None)


class Option(Strict):
    """A choice of a question that its author wrote."""

    text: Text = Field(min_length=1, max_length=200)
    note: Text = Field(
        default="",
        max_length=300,
        description="What choosing it stands for, such as a misunderstanding; sent to nobody until "
        "revealed.",
    )


class Translation(Strict):
    """A question that its author wrote in a second language."""

    words: Text = Field(min_length=1, max_length=500)
    options: list[Annotated[Text, Field(min_length=1, max_length=200)]] = Field(
        default=[], max_length=MAX_OPTIONS
    )


AxisLabels = Annotated[
    list[Annotated[Text, Field(max_length=100)]], Field(min_length=1, max_length=MAX_AXIS)
]


class Axes(Strict):
    """The tokens along a matrix in which a cell is to be chosen."""

    rows: AxisLabels
    columns: AxisLabels

    def words(self, cell: str) -> str:
        """Return a cell in the words of its row and its column."""
        row, column = map(int, cell.split())
        query = self.rows[row]  # of a decoder: the token that it reads → the one that it writes
        return f"{f'({query})' if '→' in query else query} → {self.columns[column]}"


class Asked(Strict):
    """What a question is about, in the words of the page's predictions."""

    kind: Name
    link: Annotated[Text, Field(max_length=MAX_LINK)] = Field(description="A query string.")
    page: Literal["workspace", "lab"] = "workspace"
    share: Annotated[
        Annotated[str, Field(pattern=SHARE, description="Whose stored numbers answer it")] | None,
        Optional,
    ] = None
    step: Annotated[Name | None, Optional] = None
    row: Annotated[Count | None, Optional] = None
    column: Annotated[Count | None, Optional] = None
    value: Annotated[Number | None, Optional] = Field(
        default=None,
        description="The right number, if no model computes it; sent to nobody until revealed.",
    )
    within: Annotated[Magnitude | None, Optional] = None
    options: Annotated[list[Option] | None, Optional] = Field(
        default=None, max_length=MAX_OPTIONS, description="The choices, or what is to be ordered."
    )
    right: Annotated[list[Count] | None, Optional] = Field(
        default=None,
        max_length=MAX_OPTIONS,
        description="Numbers of the right options from 0, or their right order; absent: none is. "
        "Sent to nobody until revealed.",
    )
    axes: Annotated[Axes | None, Optional] = Field(
        default=None, description="Of the figure of `link`, in which a cell is to be chosen."
    )
    cells: Annotated[list[Annotated[str, Field(pattern=CELL)]] | None, Optional] = Field(
        default=None,
        max_length=MAX_OPTIONS,
        description="The right cells, each as its row and column from 0, such as `3 0`; absent: "
        "none is. Sent to nobody until revealed.",
    )
    translations: Annotated[dict[Literal["en", "zh"], Translation] | None, Optional] = Field(
        default=None, description="The question in the other language, if its author wrote it."
    )
    goal: Annotated[Goal | None, Optional] = Field(
        default=None, description="What a work is to reach, checked on a run of the model."
    )
    scene: Annotated[Name | None, Optional] = Field(
        default=None,
        description="The question of the presented lesson that this is: the page of a student who "
        "reads the lesson in another language words it.",
    )
    words: Annotated[Text, Field(max_length=500)] = Field(
        default="", description="The question as its author wrote it; absent: the page words it."
    )


def check_stated(entry: Entry, about: Mapping[str, Any]) -> None:
    """Raise InputError if a question states a right answer that is none of its options or cells.

    Raises it also for works without a goal, and for a goal of anything else.
    """
    if (entry == "work") != (about.get("goal") is not None):
        raise InputError("does-not-fit", "ask.goal", "ask.goal is for works, and required for them")
    if entry == "cell":
        if about.get("axes") is None:
            raise InputError("missing", "ask.axes", "ask.axes is required to choose a cell")
        if not all(has_cell(about["axes"], cell) for cell in about.get("cells") or ()):
            detail = "ask.cells must have cells of the figure: a row and a column of ask.axes"
            raise InputError("does-not-fit", "ask.cells", detail)
    options, right = about.get("options"), about.get("right")
    if options is None or right is None:
        return
    if entry == "order" and sorted(right) != list(range(len(options))):
        detail = f"ask.right must have each of the numbers 0 to {len(options) - 1} once"
        raise InputError("does-not-fit", "ask.right", detail)
    if not all(number < len(options) for number in right):
        detail = f"ask.right must have numbers of options, from 0 to {len(options) - 1}"
        raise InputError("does-not-fit", "ask.right", detail)


def has_cell(axes: Mapping[str, Any], cell: str) -> bool:
    """Return whether a text is a cell, as its row and column, and the figure has it."""
    if not re.fullmatch(CELL, cell):
        return False
    row, column = map(int, cell.split())
    return row < len(axes["rows"]) and column < len(axes["columns"])


Kind = Literal["workspace", "lab", "share", "lesson", "figure"]

OWN = ("lang", "projector", "screen", "opening", "tour")  # of the reader, not of what is shown

FIGURE = "figure-"

PAGES = {"/": "workspace", "/lab": "lab", "/zoo": "zoo", "/train": "train"}  # with figures


@dataclass(frozen=True)
class Link:
    """A link to a page that has figures."""

    page: str  # "workspace", "lab", "zoo" or "train"
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
            raise ValueError(f"not a link to a page with figures ({', '.join(PAGES)}): {text}")
        return cls(PAGES[parts.path], parts.query)


@dataclass(frozen=True)
class Target:
    """What a link shows. `query` is that of the workspace and of the lab."""

    kind: Kind
    query: str = ""
    share: str = ""
    lesson: str = ""
    figure: int = 0  # from 1; 0: none
    shows: str = ""  # the state of the figure, as a query string; empty: that of the lesson
    fragment: str = ""

    @property
    def link(self) -> str:
        """The link in its one form: a path, without what belongs to a reader."""
        path = {
            "workspace": "/",
            "lab": "/lab",
            "share": f"/s/{self.share}",
        }.get(self.kind, f"/learn/{self.lesson}")
        named = {"share": self.share} if self.share else {"shows": self.shows}
        query = urlencode(named) if self.kind == "figure" and any(named.values()) else self.query
        fragment = f"{FIGURE}{self.figure}" if self.figure else self.fragment
        return path + (f"?{query}" if query else "") + (f"#{fragment}" if fragment else "")


def parse_link(text: str, home: str) -> Target | None:
    """Return what a link of this server shows; None if it is not such a link.

    `text` is a path or an address; `home` is the address of the server, which may have a path. The
    host of an address is not compared, since a server has several.
    """
    try:
        parts = urlsplit(text.strip())
        parameters = parse_qsl(parts.query, keep_blank_values=True, max_num_fields=100)
    except ValueError:
        return None
    if parts.scheme not in ("", "http", "https") or (parts.netloc and not parts.scheme):
        return None
    path = parts.path
    if parts.netloc:
        path = path.removeprefix(urlsplit(home).path.rstrip("/"))
    query = urlencode([(name, value) for name, value in parameters if name not in OWN], safe="*")
    match path.rstrip("/").split("/"):
        case [""] if "source" in dict(parameters) or parts.fragment.startswith("source="):
            return Target("workspace", query=query, fragment=parts.fragment)
        case ["", "lab"] if "x" in dict(parameters):
            return Target("lab", query=query)
        case ["", "s" | "embed", share] if is_id(share.lower()):
            return Target("share", query=query, share=share.lower())
        case ["", "learn", lesson] if lesson != "plan":
            return _in_lesson(lesson, dict(parameters), parts.fragment)
    return None


def _in_lesson(lesson: str, parameters: Mapping[str, str], fragment: str) -> Target:
    """Return a lesson or its figure: of a share, or else in a state, as the lesson's page does."""
    number = fragment.removeprefix(FIGURE)
    if not fragment.startswith(FIGURE) or not number.isdecimal() or len(number) > 3:
        return Target("lesson", lesson=lesson)
    share = parameters.get("share", "").lower()
    if is_id(share):
        return Target("figure", share=share, lesson=lesson, figure=int(number))
    return Target("figure", lesson=lesson, figure=int(number), shows=parameters.get("shows", ""))


WITHIN = 0.005  # how far a number may be off where the question does not say it


def qti_question(
    entry: Entry,
    about: Asked,
    lang: str,
    *,
    words: str = "",
    choices: Mapping[str, str] | None = None,
    right: Sequence[str] = (),
    numbers: Sequence[float] = (),
    within: float = WITHIN,
) -> QtiQuestion:
    """Return a question with what is right.

    `words` and `choices` are those of a question that its author did not write. One whose choices
    are not known, and one that is answered by drawing a row, is answered in words.
    """
    translation = (about.translations or {}).get("zh" if lang == "zh" else "en")
    worded = translation.words if translation else about.words or words
    listed = list((choices or {}).items())
    if about.options:
        translated = translation.options if translation else []
        words_of = [*translated, *(option.text for option in about.options[len(translated) :])]
        listed = [(str(n), text) for n, text in enumerate(words_of)]
    if entry == "cell" and about.axes:
        rows, columns = about.axes.rows, about.axes.columns
        return QtiQuestion("cell", worded, right=right, rows=rows, columns=columns)
    if entry in ("choice", "order") and len(listed) > 1:
        numbered = {choice: str(n) for n, (choice, _) in enumerate(listed)}
        texts = [(str(n), text) for n, (_, text) in enumerate(listed)]
        chosen = [numbered[choice] for choice in right if choice in numbered]
        return QtiQuestion("choice" if entry == "choice" else "order", worded, texts, chosen)
    if entry == "numbers":
        return QtiQuestion("numbers", worded, listed, numbers=numbers, within=within)
    return QtiQuestion("text", worded)

"""The inventory: questions that show whether a lesson taught what it should.

Read from `lessons/inventory.toml`. Each item has two parallel forms, so that a test after the
lessons can ask the same as one before them in other words. Every wrong option is a misunderstanding
that is named by its kind. `docs/inventory.md` is written from the same file.
"""

import tomllib
from collections.abc import Iterator
from functools import cache
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from app.settings import ROOT

INVENTORY = ROOT / "lessons" / "inventory.toml"
RIGHT = "right"
Form = Literal["A", "B"]
FORMS: tuple[Form, ...] = get_args(Form)


class Entry(BaseModel):
    """A part of the file."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Words(Entry):
    """A text in each language."""

    en: str = Field(min_length=1)
    zh: str = Field(min_length=1)

    def text(self, lang: str) -> str:
        """Return the text in a language, or in English."""
        return self.zh if lang == "zh" else self.en


class Option(Words):
    """An answer to choose: the right one, or a misunderstanding."""

    kind: str

    @property
    def right(self) -> bool:
        """Whether it is the right one."""
        return self.kind == RIGHT


class Question(Entry):
    """One form of an item."""

    asks: Words
    options: tuple[Option, ...] = Field(min_length=2, max_length=6)


class Item(Entry):
    """A thing to understand, and a question about it in each form."""

    id: str = Field(pattern=r"^[a-z-]{1,32}$")
    lessons: tuple[str, ...] = Field(min_length=1)
    about: Words
    why: Words
    A: Question
    B: Question

    def question(self, form: Form) -> Question:
        """Return the question of a form."""
        return self.A if form == "A" else self.B


class Inventory(Entry):
    """All items in the order in which they are asked, and the kinds of misunderstandings."""

    edition: int = Field(ge=1)
    misunderstandings: dict[str, Words]
    items: tuple[Item, ...]

    def numbered(self) -> Iterator[tuple[int, Item]]:
        """Yield the items with their numbers, from 1."""
        return enumerate(self.items, start=1)

    def moved_by(self, slug: str) -> list[tuple[int, Item]]:
        """Return the items that a lesson should move, with their numbers."""
        return [(number, item) for number, item in self.numbered() if slug in item.lessons]


@cache
def inventory() -> Inventory:
    """Return the inventory."""
    return Inventory.model_validate(tomllib.loads(INVENTORY.read_text(encoding="utf-8")))

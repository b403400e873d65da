"""What of a stored room can be read, so that the room goes on without the rest.

SQLite notices damaged pages, not what is in them: a row can hold anything. Whatever takes a room up
from its file asks this first, so that every other reader finds what was written.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import orjson
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from app.figures.links import Asked, Entry
from app.rooms.room_document import VOTES, Question, Room, check, part_of
from app.rooms.rooms_in_file import Field as StoredField
from app.rooms.rooms_in_file import PlacedField
from app.rooms.schemas import RecordEntry, Truth, Wording
from app.store.documents import dumped

Seconds = Annotated[float, Field(allow_inf_nan=False)]

log = logging.getLogger(__name__)


class StoredAnswer(BaseModel):
    """An answer, as `asking.answer` stores it; `does` is of works."""

    model_config = ConfigDict(strict=True, extra="forbid")

    answer: list[str]
    moment: Seconds = Field(alias="at")
    nickname: str | None = None
    does: bool | None = None


class StoredWork(BaseModel):
    """What a member explores, as `members.send_to_wall` stores it."""

    model_config = ConfigDict(strict=True, extra="forbid")

    link: str
    nickname: str | None
    moment: Seconds = Field(alias="at")


class Noted(Asked):
    """A question that was asked, as `asking.ask` notes it."""

    entry: Entry
    wording: Wording | None = None


NUMBERED = ("asked", "truths", "record")  # parts whose names are whole numbers
PARTS: Mapping[str, TypeAdapter[Any]] = {
    "members": TypeAdapter(Seconds),
    "work": TypeAdapter(StoredWork),
    "asked": TypeAdapter(Noted),
    "truths": TypeAdapter(Truth),
    "record": TypeAdapter(RecordEntry),
}


def readable(document: bytes, fields: Sequence[PlacedField]) -> list[PlacedField] | None:
    """Return the fields of a room that can be read; None if its document cannot be.

    Answers are read as those of their question; without it they are left out. The present question
    is in the document as well.
    """
    try:
        room = Room.load(document)
        room.seen()
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    entries = {
        name: orjson.loads(note.value)["entry"]
        for part, name, note in fields
        if part == "asked" and _loads(part, name, note, {})
    }
    restored = list[PlacedField]()
    if room.question and (name := str(room.question.n)) not in entries:
        value = _note(room.question)
        restored = [("asked", name, StoredField(value, "", len(name) + len(value)))]
        entries[name] = room.question.entry
    entry_of = {part_of(int(name), vote): entries[name] for name in entries for vote in VOTES}
    intact = [placed for placed in fields if _loads(*placed, entry_of)]
    if lost := len(fields) - len(intact):
        log.error("a room goes on without %d of its entries, which are damaged", lost)
    return intact + restored


def _note(question: Question) -> bytes:
    """Return what is noted of a question, as far as its room's document has it."""
    return dumped({**question.ask, "entry": question.entry})


def _loads(part: str, name: str, stored: StoredField, entry_of: Mapping[str, Entry]) -> bool:
    """Return whether a field is of its part's form; answers also of their question's entry."""
    if stored.size <= 0 or (part in NUMBERED and not (name.isascii() and name.isdecimal())):
        return False
    try:
        content = orjson.loads(stored.value)
        if part in PARTS:
            PARTS[part].validate_python(content)
            return True
        answer = StoredAnswer.model_validate(content).answer
        return check(entry_of[part], answer)
    except (ValueError, KeyError):
        return False

"""A room's document: everything that its members see, as one numbered value.

Each change produces a new document with the next number (`seq`). Documents are whole: a member that
missed some needs only the last one.

Codes of rooms, and the keys that control them.
"""

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from app.figures.links import Entry
from app.rooms.schemas import Picked, Results, RoomReply, Stage, Truth, WallMode
from app.store.documents import ALPHABET, dumped, new_edit_key

NEXT: dict[Stage, tuple[Stage, ...]] = {
    "first": ("discuss", "closed"),
    "discuss": ("second", "closed"),
    "second": ("closed",),
    "closed": ("revealed",),
    "revealed": (),
}
VOTES = ("first", "second")  # stages in which answers are accepted


class Question(BaseModel):
    """A question that the room is asked; its answers are stored outside the document.

    `ask` is for the page only: the kind of the question, and the link that it is about.
    """

    model_config = ConfigDict(frozen=True)

    n: int
    entry: Entry
    ask: dict[str, Any]
    nicknames: bool = False
    stage: Stage = "first"
    ends: float | None = None  # when its timer is over: the vote goes on
    truth: Truth | None = None
    results: dict[str, Results] | None = None
    gallery: list[str] = []  # works that the class sees, by their ids


class Room(BaseModel):
    """The document of a room; `key` and `driver` are hashes, which members do not see."""

    model_config = ConfigDict(frozen=True)

    seq: int = 1
    link: str
    pointer: dict[str, Any] | None = None
    question: Question | None = None
    asked: int = 0
    key: str
    driver: str | None = None
    driving: bool = False  # whether the driver has presented: until then, the teacher does
    closed: bool = False  # to newcomers
    paused: bool = False  # whether nobody explores
    wall: WallMode = "closed"
    picked: Picked | None = None  # whose work is presented
    removals: int = 0  # how often members were removed
    created: float
    over: bool = False

    def then(self, **changes: Any) -> "Room":
        """Return the next document, with these changes."""
        return self.model_copy(update={"seq": self.seq + 1, **changes})

    def dumped(self) -> bytes:
        """Return the document as stored. Raises InputError if it would not load."""
        return dumped(self)

    def seen(self) -> RoomReply:
        """Return what members see."""
        document = self.model_dump(
            exclude={"key", "driver", "driving", "asked", "created", "removals"}
        )
        if self.question and self.question.stage != "revealed":
            document["question"]["ask"] = unanswered(document["question"]["ask"])
        return RoomReply(**document, handed=self.driving)

    @classmethod
    def load(cls, stored: bytes) -> "Room":
        """Return a stored document."""
        return cls.model_validate_json(stored)


def unanswered(about: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a question is about, without what it states of its answer."""
    kept = {name: value for name, value in about.items() if name not in ("value", "right", "cells")}
    if "options" in kept:
        kept["options"] = [{"text": option["text"]} for option in kept["options"]]
    return kept


class Counts(BaseModel):
    """Members of a room that one server serves."""

    following: Annotated[int, Field(ge=0)] = 0
    in_step: Annotated[int, Field(ge=0)] = 0  # of those who follow: sent the document `seq`
    exploring: Annotated[int, Field(ge=0)] = 0
    seq: int = 0
    at: float = 0.0


CODE_LENGTH = 6  # 31 ** 6 = 887 million, and few wrong codes per minute are answered


def new_code() -> str:
    """Return a random code, short enough to type from a projector."""
    return "".join(secrets.choice(ALPHABET) for _ in range(CODE_LENGTH))


def normalised(text: str) -> str:
    """Return a typed code in lower case, without spaces and hyphens."""
    return "".join(sign for sign in text.lower() if sign not in " -\u2010\u2011")


def is_code(text: str) -> bool:
    """Return whether a text has the form of a code."""
    return len(text) == CODE_LENGTH and set(text) <= set(ALPHABET)


def new_key() -> str:
    """Return an unguessable key: slightly more than 128 random bits."""
    return new_edit_key()


def hashed(key: str) -> str:
    """Return the hash under which a key is stored. The key is random, so no salt is needed."""
    return hashlib.sha256(key.encode()).hexdigest()


def opens(key: str, stored: str | None) -> bool:
    """Return whether a key has this hash, in constant time."""
    return stored is not None and hmac.compare_digest(hashed(key), stored)

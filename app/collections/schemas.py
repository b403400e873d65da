"""Requests and replies about collections."""

from operator import not_
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from app.figures.links import FIGURE, Asked, Entry
from app.http.request_fields import Name, Strict, Text
from app.lab import MAX_LINK
from app.shares.schemas import MAX_NOTE, MAX_TITLE

MAX_ITEMS = 50
MAX_QUESTIONS = 8  # of an item

Title = Annotated[Text, Field(max_length=MAX_TITLE)]
Note = Annotated[Text, Field(max_length=MAX_NOTE)]
UNCHANGED = "Absent in a change: as it was of the item with this link; null or empty: none."
PRIVATE = ("private", "minutes", "questions")  # fields of an item that only its owner gets

Lang = Literal["en", "zh"]
Minutes = Annotated[int, Field(ge=1, le=600)]


class PreparedQuestion(Strict):
    """A question to a class, written beforehand."""

    entry: Entry = Field(description="How it is answered.")
    ask: Asked


class CollectionItem(Strict):
    """A link of this server, or the name of what it shows; with a title and a note of its own."""

    link: Annotated[Text, Field(min_length=1, max_length=MAX_LINK)] | None = None
    share: Name | None = Field(default=None, description="Instead of a link: the id of a share.")
    lesson: Name | None = Field(default=None, description="Instead of a link: a lesson's name.")
    figure: Annotated[int, Field(ge=1, le=999)] | None = Field(
        default=None, description="The number of the lesson's figure, from 1."
    )
    title: Title = Field(default="", description="Absent: that of what the link shows.")
    note: Note = ""
    private: Note | None = Field(
        default=None, description="For its owner and speaker; sent to no reader. " + UNCHANGED
    )
    minutes: Minutes | None = Field(default=None, description=UNCHANGED)
    questions: Annotated[list[PreparedQuestion], Field(max_length=MAX_QUESTIONS)] | None = Field(
        default=None, description=UNCHANGED
    )

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(target is not None for target in (self.link, self.share, self.lesson)) != 1:
            raise PydanticCustomError("one_link", "one of three")
        if self.figure is not None and self.lesson is None:
            raise PydanticCustomError("figure_alone", "a figure needs its lesson")
        return self

    @property
    def address(self) -> str:
        """The link that the item names."""
        if self.link is not None:
            return self.link
        if self.share is not None:
            return f"/s/{self.share}"
        return f"/learn/{self.lesson}" + (f"#{FIGURE}{self.figure}" if self.figure else "")

    @property
    def stated(self) -> dict[str, Any]:
        """The private fields that are in the request; null and an empty text or list alike."""
        return {name: getattr(self, name) for name in PRIVATE if name in self.model_fields_set}


class CollectionRequest(Strict):
    """A title, a note to the reader, and what the collection shows, in order."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "title": "Pronouns",
                    "note": "For the second week.",
                    "items": [
                        {"lesson": "what-a-head-does", "figure": 1, "note": "Guess first."},
                        {"link": "/?source=The+cat+sat.&view=lines", "title": "Our sentence"},
                    ],
                }
            ]
        }
    )

    title: Annotated[Text, Field(min_length=1, max_length=MAX_TITLE)]
    note: Note = ""
    items: list[CollectionItem] = Field(default=[], max_length=MAX_ITEMS)


class KeptItem(BaseModel):
    """An item of a collection; its link is a path on this server.

    What only its owner gets is absent otherwise.
    """

    link: str
    title: str = Field(description="The owner's title; empty: that of what the link shows.")
    note: str
    private: str = Field(
        default="", exclude_if=not_, description="For its owner and speaker; sent to no reader."
    )
    minutes: int | None = Field(
        default=None, exclude_if=not_, description="Planned; for its owner only."
    )
    questions: list[PreparedQuestion] = Field(
        default=[], exclude_if=not_, description="To a class, in order; for its owner only."
    )


class Origin(BaseModel):
    """What a collection was copied from; it may have changed or be gone since."""

    title: str
    link: str = Field(description="A path on this server.")


class CollectionDocument(BaseModel):
    """What is stored of a collection."""

    title: str
    note: str
    items: list[KeptItem]
    origin: Origin | None = Field(
        default=None, exclude_if=not_, description="What it was copied from."
    )


class CollectionReply(CollectionDocument):
    """A collection; its ETag names its version."""

    id: str
    url: str
    version: int = Field(description="1, then one more with each change.")
    created: str = Field(description="ISO 8601, UTC.")
    changed: str = Field(description="ISO 8601, UTC.")
    listed: list[Lang] = Field(
        default=[], exclude_if=not_, description="The languages for which it is on the shelf."
    )


class Listing(Strict):
    """For whom a collection is on the shelf."""

    languages: list[Lang] = Field(
        min_length=1, max_length=2, description="The languages of its texts."
    )


class ShelfItem(BaseModel):
    """An item of a collection that comes with Headlight."""

    title: str
    minutes: int
    questions: list[str]


class ShelfEntry(BaseModel):
    """A collection that anyone can copy."""

    id: str = Field(description="For `POST /api/collections/{id}/copies`.")
    title: str
    note: str
    languages: list[Lang]
    minutes: int = Field(description="Planned; 0: not known.")
    figures: int
    questions: int = Field(description="Prepared for the class.")
    origin: Origin | None = Field(default=None, exclude_if=not_)
    link: str = Field(description="Where it is shown: a path on this server.")
    lesson: str = Field(
        default="", exclude_if=not_, description="The title of the lesson that it comes with."
    )
    items: list[ShelfItem] = Field(
        default=[], exclude_if=not_, description="Of one that comes with Headlight."
    )


class ShelfReply(BaseModel):
    """All collections that anyone can copy: those of Headlight, then the newest."""

    collections: list[ShelfEntry]
    listing: bool = Field(description="Whether collections can be listed on this server.")


class CollectionCreated(BaseModel):
    """The collection is stored."""

    id: str
    url: str
    edit_url: str = Field(description="Opens the collection for editing; it contains the key.")
    edit_key: str = Field(description="Changes and deletes the collection.")
    expires: str | None = Field(
        description="ISO 8601, UTC: deleted then, unless it is changed before; null: kept."
    )


class LinkReply(BaseModel):
    """What a link shows, in the reader's language."""

    link: str = Field(description="The link as a path on this server, in its one form.")
    kind: Literal["workspace", "lab", "share", "lesson", "figure"]
    title: str = Field(description="The sentence, or the title of the lesson or the share.")
    says: str = Field(description="The claim of the lesson, or the caption of its figure.")
    page: Literal["workspace", "lab", "zoo", "train", "lesson"] = Field(
        description="Where its figure is drawn."
    )
    query: str = Field(description="The query string with which that page shows it.")
    options: dict[str, str] = Field(
        default={}, description="How the lesson shows its figure, such as `about` and `choices`."
    )
    share: str = Field(description="The id of the share that has its numbers; empty: none.")
    fits: bool = Field(
        default=True,
        description="Whether the state in the link (`shows`) is one of the lesson's figure; if "
        "not, `query` is the figure as the lesson has it.",
    )
    gone: bool = Field(description="Whether its share or lesson no longer exists.")
    picture: bool = Field(
        default=True,
        description="Whether `/api/links/picture` draws it; not a formula or models of the zoo.",
    )
    questions: list[Asked] = Field(
        default=[],
        description="What it asks before it shows: of a lesson all questions. That of a share has "
        "no `link`: it is about the place on which the share opens.",
    )

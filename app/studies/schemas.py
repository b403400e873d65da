"""Requests and replies about studies."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.assignments.schemas import Note, Title
from app.http.request_fields import Count, Strict, Text
from app.lessons.inventory import Form
from app.rooms.schemas import Link, Member
from app.shares.schemas import MAX_TITLE

MAX_ARMS = 4
MAX_PAGES = 16
MAX_NAME = 60
MAX_DELAY = 90  # days

Stage = Literal["before", "after", "later"]


class StudyPage(Strict):
    """A page that participants read."""

    link: Link
    title: Annotated[Text, Field(max_length=MAX_TITLE)] = Field(
        default="", description="Empty: the title of a lesson, or else the link."
    )


class StudyArm(Strict):
    """What one group of participants reads between the tests."""

    name: Annotated[Text, Field(min_length=1, max_length=MAX_NAME, description="For the author.")]
    pages: list[StudyPage] = Field(
        default=[], max_length=MAX_PAGES, description="In this order; none: a control group."
    )


class StudyRequest(Strict):
    """A study: the arms to which participants are assigned at random."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "title": "Attention, spring",
                    "arms": [
                        {"name": "Lessons", "pages": [{"link": "/learn/masks"}]},
                        {"name": "Own reading"},
                    ],
                    "later_days": 14,
                }
            ]
        }
    )

    title: Title
    note: Note = ""
    arms: list[StudyArm] = Field(min_length=1, max_length=MAX_ARMS)
    later_days: Annotated[int, Field(ge=1, le=MAX_DELAY)] | None = Field(
        default=None, description="Days from the second test to a third one; null: there is none."
    )


class StudyDocument(BaseModel):
    """What is stored of a study."""

    title: str
    note: str
    arms: list[StudyArm]
    later_days: int | None
    edition: int = Field(description="Of the inventory when the study was created.")


class StudyReply(BaseModel):
    """A study as participants get it: not what the arms are."""

    id: str
    url: str
    title: str
    note: str
    later_days: int | None
    items: int = Field(description="Questions of each test.")
    created: str = Field(description="ISO 8601, UTC.")


class ParticipantRequest(Strict):
    """Someone who takes part."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"member": "k2m4n6p8q3r5"}]})

    member: Member


class StudyAnswers(ParticipantRequest):
    """The answers to one test."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"member": "k2m4n6p8q3r5", "stage": "before", "answers": [2, None]}]
        }
    )

    stage: Stage
    answers: list[Count | None] = Field(
        max_length=100,
        description="One per question: the place of the chosen option, from 0; null: none.",
    )


class AskedItem(BaseModel):
    """A question of a test, in the reader's language."""

    asks: str
    options: list[str]


class PageToRead(BaseModel):
    """A page that a participant reads."""

    link: str
    title: str


class ParticipantReply(BaseModel):
    """Where a participant stands."""

    stage: Stage | Literal["done"] = Field(description="The test that comes next.")
    pages: list[PageToRead] = Field(description="To read before the test `after`.")
    opens: str | None = Field(description="ISO 8601, UTC: when the test opens; null: it is open.")
    questions: list[AskedItem] = Field(description="Of the test, if it is open.")


class MeanScore(BaseModel):
    """Scores of a test, from 0 to 1."""

    mean: float | None
    sd: float | None = Field(description="Standard deviation.")


class EffectSize(BaseModel):
    """Cohen's d with its 95 % confidence interval."""

    d: float
    low: float
    high: float


class ScoreChange(BaseModel):
    """The same participants in two tests."""

    n: int = Field(description="Participants who took both tests.")
    before: MeanScore
    after: MeanScore
    gain: float | None = Field(description="Difference of the means.")
    normalized: float | None = Field(description="Hake's normalized gain.")
    effect: EffectSize | None


class ItemChange(BaseModel):
    """Shares of right answers to an item of the inventory."""

    item: str = Field(description="Id in the inventory.")
    number: int
    about: str = Field(description="What it asks, in the reader's language.")
    before: float | None
    after: float | None
    gain: float | None
    normalized: float | None
    later: float | None = Field(description="Of those who took the third test.")


class MisunderstandingChange(BaseModel):
    """How often a misunderstanding was chosen, of all answers that could have been it."""

    kind: str
    about: str = Field(description="In the reader's language.")
    before: float | None
    after: float | None


class ArmResults(BaseModel):
    """The results of one arm."""

    name: str
    pages: list[StudyPage]
    assigned: int = Field(description="Participants who began.")
    before: int = Field(description="Participants who took the first test.")
    minutes: float | None = Field(description="Median time between the first two tests.")
    learned: ScoreChange
    kept: ScoreChange = Field(description="From the first test to the third one.")
    items: list[ItemChange]
    misunderstandings: list[MisunderstandingChange]


class ArmComparison(BaseModel):
    """The gains of an arm beside those of the first one."""

    name: str
    difference: float | None = Field(description="Of the mean gains; positive: more than there.")
    effect: EffectSize | None


class StudyResults(BaseModel):
    """The results of a study."""

    participants: int
    arms: list[ArmResults]
    comparisons: list[ArmComparison]


class StoredTest(BaseModel):
    """What a participant answered in one test."""

    sent: str  # ISO 8601, UTC
    edition: int
    answers: dict[str, str | None]  # the kind of the chosen option, by item


class ParticipantDocument(BaseModel):
    """What is stored of a participant."""

    arm: int
    first: Form
    tests: dict[Stage, StoredTest] = {}

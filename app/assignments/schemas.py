"""Requests and replies about assignments."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.figures.challenge_checking import MAX_FITTED, WorkLink
from app.figures.challenge_goals import Verdict
from app.figures.links import Asked, Entry
from app.http.request_fields import Count, Strict, Text
from app.rooms.schemas import Member, Nickname, Results, Truth
from app.shares.schemas import MAX_NOTE, MAX_TITLE

MAX_QUESTIONS = 50

Title = Annotated[Text, Field(min_length=1, max_length=MAX_TITLE)]
Note = Annotated[Text, Field(max_length=MAX_NOTE, description="To the students.")]
Answer = Annotated[
    list[Annotated[Text, Field(max_length=MAX_FITTED)]],
    Field(
        max_length=512,
        description="Ids of choices, or one text per field; for a goal the link and the seal of a "
        "work, as the reply to its check has them.",
    ),
]


class AssignedQuestion(Strict):
    """A question, and the model's answer to it, which students do not get from the server."""

    entry: Entry = Field(description="How it is answered.")
    ask: Asked
    truth: Truth | None = Field(default=None, description="The model's answer, to compare with.")


class AssignmentRequest(Strict):
    """Questions in the order in which they are asked."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "title": "Week 3",
                    "questions": [
                        {
                            "entry": "choice",
                            "ask": {"kind": "looks", "link": "source=Hi&query=0"},
                            "truth": {"right": ["2"]},
                        }
                    ],
                }
            ]
        }
    )

    title: Title
    note: Note = ""
    questions: list[AssignedQuestion] = Field(min_length=1, max_length=MAX_QUESTIONS)
    reveal: Literal["each", "end"] = Field(
        default="end", description="When students see the model's answers."
    )
    nicknames: bool = Field(default=False, description="Whether students give a nickname.")


class AssignmentCreated(BaseModel):
    """The assignment is stored."""

    id: str
    url: str = Field(description="For the students.")
    key: str = Field(description="Reads the answers and deletes the assignment.")
    owner_url: str = Field(description="For the author; it contains the key.")
    expires: str = Field(description="ISO 8601, UTC: deleted then, if nobody answers before.")


class OpenQuestion(BaseModel):
    """A question without its answer."""

    entry: Entry
    ask: Asked


class AssignmentDocument(BaseModel):
    """What students get of what is stored."""

    title: str
    note: str
    questions: list[OpenQuestion]
    reveal: Literal["each", "end"]
    nicknames: bool


class AssignmentReply(AssignmentDocument):
    """An assignment as students get it."""

    id: str
    url: str
    created: str = Field(description="ISO 8601, UTC.")


class SubmissionRequest(Strict):
    """What a student answers."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"member": "k2m4n6p8q3r5", "answers": [["2"], None]}]}
    )

    member: Member
    nickname: Nickname | None = None
    answers: list[Answer | None] = Field(
        max_length=MAX_QUESTIONS, description="One per question; null: not answered."
    )


class CheckRequest(Strict):
    """A work for the goal of a question."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"question": 0, "link": "/?source=The+cat+sleeps."}]}
    )

    question: Count = Field(description="Its number, from 0.")
    link: WorkLink


class CheckReply(BaseModel):
    """A work as it can be sent, and whether it reaches the goal."""

    link: str = Field(description="What was run: what may not be chosen is that of the question.")
    verdict: Verdict
    seal: str = Field(description="Proves the verdict where the work is sent as an answer.")


class StudentAnswers(BaseModel):
    """What a student answered; `member` is the same in the table."""

    member: str
    nickname: str | None
    sent: str = Field(description="ISO 8601, UTC.")
    answers: list[Answer | None] = Field(description="One per question; null: not answered.")
    right: list[bool | None] = Field(
        description="One per question; null: not answered, or nothing to compare with."
    )


class AssignmentRecord(BaseModel):
    """Everything: the questions with what is right, the sums, and every answer."""

    id: str
    title: str
    note: str
    created: str = Field(description="ISO 8601, UTC.")
    saved: str = Field(description="ISO 8601, UTC.")
    questions: list[AssignedQuestion]
    results: list[Results] = Field(description="One per question.")
    students: list[StudentAnswers]


class AnswersSummary(BaseModel):
    """The sum of all answers."""

    members: int = Field(description="Students that have sent answers.")
    results: list[Results] = Field(description="One per question.")

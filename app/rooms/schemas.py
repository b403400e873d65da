"""Requests and replies about rooms."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue

from app.figures.challenge_checking import MAX_WORK, WorkLink
from app.figures.challenge_goals import Verdict
from app.figures.links import MAX_LINK, Asked, Entry, Optional
from app.http.request_fields import Count, Magnitude, Name, Number, Strict, Text, shown_on_one_line

# A page of this server that can be presented, with its query and fragment. A second slash would
# make it the address of another server.
LINK = r"^/(lab|learn/[a-z0-9-]{1,64}|(s|c)/[a-z0-9]{1,32})?(\?[^\s#\\]*)?(#[^\s\\]*)?$"
MEMBER = r"^[A-Za-z0-9_-]{8,64}$"
MAX_NICKNAME = 40  # characters
MAX_THANKS = 120
MAX_TEXT = 500  # characters of an answer
MAX_TIMER = 3_600  # seconds
MAX_GALLERY = 40  # works that the class sees
EXAMPLE: dict[str, JsonValue] = {"link": "/?source=The+cat+sleeps.&view=attention&layer=1&head=3"}

Link = Annotated[
    Text,
    Field(max_length=MAX_LINK, pattern=LINK, description="Path, query and fragment of a page."),
]

Member = Annotated[str, Field(pattern=MEMBER, description="The student's random token.")]
Nickname = Annotated[
    Text,
    AfterValidator(shown_on_one_line),
    Field(min_length=1, max_length=MAX_NICKNAME, description="What the student wants to be called"),
]
WallMode = Literal["closed", "open", "named"]
Stage = Literal["first", "discuss", "second", "closed", "revealed"]
ROUNDING = 0.005  # a number is right if it agrees to two decimals


class TokenRef(Strict):
    """One token of a text."""

    side: Name = Field(description="The text, such as `source`.")
    index: Count


class Pointer(Strict):
    """What the presenter points at: a cell, or one token."""

    figure: Annotated[Name | None, Optional] = Field(
        default=None, description="The scene whose figure it is in, on a page that has several."
    )
    query: TokenRef | None = None
    key: TokenRef | None = None


class Truth(Strict):
    """The model's answer: ids of the right choices, or numbers."""

    right: list[Name] = Field(default=[], max_length=512)
    numbers: list[Number] = Field(default=[], max_length=512)
    within: Magnitude = Field(default=ROUNDING, description="How far a number may be off.")


class Results(BaseModel):
    """The sum of a vote."""

    count: int = Field(description="Number of answers.")
    chosen: dict[str, int] = Field(
        description="Number of answers by choice, or by number where one is asked for: the twenty "
        "most frequent ones, and the right ones."
    )
    others: int = Field(default=0, description="Answers that are not among `chosen`.")
    mean: list[float] = Field(
        description="Mean number per field, or mean share, of answers with as many as most."
    )
    right: int | None = Field(description="Right answers; of rows, those with the same maximum.")
    rows: list[list[float]] = Field(
        default=[],
        description="Rows as shares of 1, the nearest to the model's first; of many, an even "
        "selection from the nearest to the farthest.",
    )
    distance: float | None = Field(
        description="Mean total variation distance of rows from the model's, ½ Σ|p − q|."
    )


class Wording(Strict):
    """How a question reads on the teacher's page."""

    words: Text = Field(max_length=2_000)
    choices: dict[Name, Annotated[Text, Field(max_length=300)]] = Field(
        default={}, max_length=512, description="The words of each choice or field, by its id."
    )


class QuestionRequest(Strict):
    """A question to the room."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"entry": "choice", "ask": {"kind": "looks", "link": "source=Hi&query=0"}}]
        }
    )

    entry: Entry = Field(description="How it is answered.")
    ask: Asked
    nicknames: bool = Field(default=False, description="Whether students give a nickname.")
    wording: Wording | None = Field(
        default=None, description="For the files of answers; sent to nobody."
    )


class StageRequest(Strict):
    """The next stage of a question."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"stage": "discuss"}, {"stage": "revealed", "truth": {"right": ["2"]}}]
        }
    )

    stage: Literal["discuss", "second", "revealed"]
    gallery: list[Name] | None = Field(
        default=None,
        max_length=MAX_GALLERY,
        description="The works that the class sees from now on, by their ids; absent: as before, "
        "at first none.",
    )
    truth: Truth | None = Field(default=None, description="The model's answer, to compare with.")


class TimerRequest(Strict):
    """A timer for the present stage of a question."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"seconds": 60}]})

    seconds: int = Field(ge=0, le=MAX_TIMER, description="From now on; 0: no timer.")


Answer = Annotated[
    list[Annotated[Text, Field(max_length=MAX_TEXT)]],
    Field(max_length=512, description="Ids of choices, or one text per field."),
]


class AnswerRequest(Strict):
    """A student's answer."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"member": "k2m4n6p8", "n": 1, "answer": ["2"]}]}
    )

    member: Member
    n: Count = Field(description="Number of the question.")
    answer: Answer
    nickname: Nickname | None = Field(default=None, description="Only if the question asks for it.")


class TryRequest(Strict):
    """A member's work for the present question."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"member": "k2m4n6p8", "n": 1, "link": "/?source=The+cat+sleeps."}]
        }
    )

    member: Member
    n: Count = Field(description="Number of the question.")
    link: WorkLink
    nickname: Nickname | None = Field(default=None, description="Only if the question asks for it.")


class TryReply(BaseModel):
    """A work as it was stored, and whether it reaches the goal."""

    id: str = Field(description="As in the gallery and in `picked`.")
    link: str = Field(description="What was run: what may not be chosen is that of the question.")
    verdict: Verdict


class GalleryWork(BaseModel):
    """A work that the class sees; `id` is that of a member within this question only."""

    id: str
    link: str
    does: bool | None = Field(description="Whether it reaches the goal; null: nothing is checked.")
    votes: Annotated[int | None, Optional] = Field(default=None, description="Once revealed.")


class GalleryReply(BaseModel):
    """The works of the present question that the class sees, in no order of their makers."""

    n: int
    works: list[GalleryWork]
    mine: str | None = Field(description="The work of the member who reads it; null: none.")
    vote: str | None = Field(description="The work that this member has voted for.")


class Picked(Strict):
    """That what is presented was made by a member, who is thanked."""

    id: Name = Field(description="Of the member's work, which only that member knows.")
    words: Annotated[Text, AfterValidator(shown_on_one_line)] = Field(
        default="", max_length=MAX_THANKS, description="The presenter's words; empty: the usual."
    )


class RoomState(Strict):
    """What is presented, as a whole."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    link: Link
    pointer: Pointer | None = None
    picked: Picked | None = Field(default=None, description="If a member's work is presented.")


class RoomRequest(Strict):
    """A new room."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"state": EXAMPLE}]})

    state: RoomState


class RoomCreated(BaseModel):
    """An open room."""

    code: str = Field(description="What students type.")
    url: str = Field(description="What students open.")
    key: str = Field(description="Controls the room (`Authorization: Bearer`); returned only here.")


class Votes(BaseModel):
    """The results of a question's votes."""

    first: Results
    second: Results


class QuestionReply(BaseModel):
    """A question that the room is asked."""

    n: int
    entry: Entry
    ask: Asked
    nicknames: bool = Field(default=False, description="Whether students give a nickname.")
    stage: Stage
    ends: Annotated[float | None, Optional] = Field(
        default=None, description="When its timer is over, Unix time in seconds."
    )
    truth: Truth | None = None
    results: Votes | None = Field(default=None, description="Once revealed.")


class RoomReply(BaseModel):
    """The present state of a room."""

    seq: int = Field(description="Number of the state; a higher one is newer.")
    link: str
    pointer: Pointer | None = None
    question: QuestionReply | None = None
    handed: bool = Field(description="Whether someone presents from the driver's seat.")
    closed: bool = Field(default=False, description="Whether the room is closed to newcomers.")
    paused: bool = Field(default=False, description="Whether members cannot explore at present.")
    wall: WallMode = Field(
        default="closed",
        description="Whether the teacher sees what members explore; `named`: with nicknames.",
    )
    picked: Picked | None = None
    over: bool = Field(description="Whether the room has ended.")


class ClassReply(BaseModel):
    """Who is in the room, as numbers."""

    seq: int
    joined: int = Field(description="Members that have ever joined.")
    following: int = Field(description="Members that are present and follow.")
    in_step: int = Field(
        description="Of those who follow: they were sent the newest state. Other servers' members "
        "are counted some seconds later."
    )
    exploring: int = Field(description="Members that are present and explore on their own.")
    answered: int = Field(description="Answers in the present vote.")


class AnsweredReply(BaseModel):
    """How many have answered, without what."""

    answered: int = Field(description="Answers in the present vote.")


class RoomPatch(Strict):
    """A change of who may come in, and of exploring; what is absent stays."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"closed": True}, {"paused": True}, {"wall": "open"}]}
    )

    closed: Annotated[bool | None, Optional] = Field(
        default=None, description="Whether the room is closed to newcomers."
    )
    paused: Annotated[bool | None, Optional] = Field(
        default=None, description="Whether members cannot explore."
    )
    wall: Annotated[WallMode | None, Optional] = Field(
        default=None,
        description="Whether the teacher sees what members explore; `named`: they may add a "
        "nickname. `closed` deletes what they sent.",
    )


class WorkRequest(Strict):
    """What a member explores."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"member": "k2m4n6p8", "link": EXAMPLE["link"]}]}
    )

    member: Member
    link: Annotated[Link, Field(max_length=MAX_WORK)]
    nickname: Nickname | None = Field(default=None, description="Only if the wall is `named`.")


class WorkCreated(BaseModel):
    """An entry of the wall."""

    id: str = Field(description="As in `picked`, if it is shown to everyone.")


class Work(BaseModel):
    """What a member explores; `id` is in no list of members or answers."""

    id: str
    link: str
    nickname: Annotated[str | None, Optional] = None
    at: float = Field(description="Unix time in seconds.")


class WallReply(BaseModel):
    """What the members explore."""

    works: list[Work]


class MemberReply(BaseModel):
    """A member, without its name; `id` is in no list of answers."""

    id: str
    network: int = Field(description="Members with the same number came from the same address.")
    joined: float = Field(description="Unix time in seconds.")
    here: bool = Field(description="Whether the member is connected.")
    answered: bool = Field(description="Whether the member has answered the present question.")


class MembersReply(BaseModel):
    """The members of a room, the first to come first."""

    closed: bool = Field(description="Whether the room is closed to newcomers.")
    at: float = Field(description="The server's time, Unix time in seconds.")
    network: int | None = Field(description="The network of this request; null: of no member.")
    members: list[MemberReply]


class RemovalRequest(Strict):
    """Members to be removed."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"members": ["0a1b2c3d4e5f"]}]})

    members: list[Name] = Field(min_length=1, max_length=10_000, description="Their ids.")


class RemovalReply(BaseModel):
    """How many members were removed."""

    removed: int


class SeatReply(BaseModel):
    """A key for the driver's seat."""

    key: str = Field(description="Presents in the room until the seat is taken back.")
    url: str = Field(description="The room's page with the key in its fragment.")
    qr: str = Field(description="The QR code of `url`, as SVG: no request has the key in its URL.")


class AnswerReply(BaseModel):
    """An answer; its `id` is that of a member within this question only."""

    id: str
    vote: str
    answer: list[str]
    does: Annotated[bool | None, Optional] = Field(
        default=None, description="Of a work: whether it reaches its goal."
    )
    nickname: Annotated[str | None, Optional] = None
    at: float


class AnswersReply(BaseModel):
    """The answers to the present question."""

    n: int
    truth: Truth | None = Field(
        default=None, description="The right answer, if the question states it."
    )
    answers: list[AnswerReply]


class MemberAnswer(BaseModel):
    """What a member answered to a question, in both votes; `member` is an id within it only."""

    member: str
    nickname: str | None
    first: list[str] | None
    first_right: bool | None = Field(description="null: nothing to compare with, or no answer.")
    second: list[str] | None
    second_right: bool | None
    answered: float = Field(description="Unix time in seconds of the last answer.")


class QuestionRecord(BaseModel):
    """A question that was asked, with its answers."""

    n: int
    entry: Entry
    ask: Asked
    words: str = Field(description="The question as the teacher read it; empty: not known.")
    choices: dict[str, str] = Field(description="The words of each choice or field, by its id.")
    truth: Truth | None = Field(description="The right answer; null: none, or not revealed.")
    votes: Votes
    answers: list[MemberAnswer]


class RoomRecord(BaseModel):
    """Everything that was asked, answered and presented in a room."""

    code: str
    created: float = Field(description="Unix time in seconds.")
    saved: float = Field(description="Unix time in seconds.")
    questions: list[QuestionRecord]
    states: list["RecordEntry"]


class RecordEntry(BaseModel):
    """A link that was presented."""

    seq: int
    at: float = Field(description="Unix time in seconds.")
    link: str


class RecordReply(BaseModel):
    """What was presented, in order."""

    states: list[RecordEntry]

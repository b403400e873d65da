"""The answers of a class as files: a table that a person reads, and a record of everything."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import orjson

from app.assets.qti import QtiQuestion, package
from app.figures.challenge_checking import work_words
from app.figures.links import Asked, qti_question
from app.http.replies import csv_of
from app.http.tasks_and_caches import off_loop
from app.rooms import asking
from app.rooms.asking import Given
from app.rooms.open_rooms import Rooms
from app.rooms.room_document import VOTES, is_right
from app.rooms.room_on_server import Hub
from app.rooms.schemas import MemberAnswer, QuestionRecord, RecordEntry, RoomRecord, Truth, Votes

COLUMNS = (
    "question",
    "words",
    "right answer",
    "member",
    "nickname",
    "first vote",
    "first right",
    "second vote",
    "second right",
    "time (UTC)",
    "kind",
    "link",
)
ORDERED = " → "
CHOSEN = ("choice", "work")  # entries whose answers are ids of choices
RIGHT = {True: "yes", False: "no", None: ""}


async def record(rooms: Rooms, hub: Hub) -> RoomRecord:
    """Return everything that was asked, answered and presented."""
    notes = await rooms.bus.fields(hub.code, "asked")
    truths = await rooms.bus.fields(hub.code, "truths")
    questions = []
    for n in range(1, hub.room.asked + 1):
        if note := notes.get(str(n)):
            given = await asking.given(rooms, hub, n)
            truth = truths.get(str(n))
            questions.append(
                await off_loop(_question, n, note, truth, given, size=500 * len(given))
            )
    states = [RecordEntry.model_validate(state) for state in await rooms.record(hub)]
    return RoomRecord(
        code=hub.code,
        created=hub.room.created,
        saved=time.time(),
        questions=questions,
        states=states,
    )


async def table(rooms: Rooms, hub: Hub) -> str:
    """Return all answers as CSV: a row for each member that answered a question.

    A member has the same id only within a question; there are nicknames where the question asked
    for them.
    """
    questions = (await record(rooms, hub)).questions
    rows = sum(len(question.answers) for question in questions)
    return await off_loop(_csv, questions, size=1_000 * rows)


async def qti(rooms: Rooms, hub: Hub, title: str, lang: str) -> bytes:
    """Return the questions that were asked as a QTI package, with what is right if revealed."""
    questions = (await record(rooms, hub)).questions
    return await off_loop(
        lambda: package(title, lang, [_portable(question, lang) for question in questions]),
        size=10_000 * len(questions),
    )


def _portable(question: QuestionRecord, lang: str) -> QtiQuestion:
    truth = question.truth or Truth()
    return qti_question(
        question.entry,
        question.ask,
        lang,
        words=question.words,
        choices=question.choices,
        right=truth.right,
        numbers=truth.numbers,
        within=truth.within,
    )


def _csv(questions: Sequence[QuestionRecord]) -> str:
    return csv_of(COLUMNS, (row for question in questions for row in _rows(question)))


def _question(n: int, note: bytes, truth: bytes | None, given: Sequence[Given]) -> QuestionRecord:
    about: dict[str, Any] = orjson.loads(note)
    entry, wording = about.pop("entry"), about.pop("wording", None) or {}
    right = Truth.model_validate_json(truth) if truth else None
    votes = {
        vote: asking.summed(entry, vote, [answer for answer in given if answer.vote == vote], right)
        for vote in VOTES
    }
    choices = dict(wording.get("choices", {}))
    if entry == "work":
        first = [answer for answer in given if answer.vote == "first"]
        choices = {answer.id: work_words(answer.answer[0], about) for answer in first}
    return QuestionRecord(
        n=n,
        entry=entry,
        ask=Asked.model_validate(about),
        words=wording.get("words") or about.get("words", ""),
        choices=choices,
        truth=right,
        votes=Votes(**votes),
        answers=_by_member(entry, given, right),
    )


def _by_member(entry: Any, given: Sequence[Given], truth: Truth | None) -> list[MemberAnswer]:
    by_member: dict[str, dict[str, Any]] = {}
    for answer in given:
        member = by_member.setdefault(answer.id, {"member": answer.id, "nickname": None})
        member[answer.vote] = answer.answer
        member[f"{answer.vote}_right"] = (
            answer.does if entry == "work" else is_right(entry, answer.answer, truth)
        )
        member["nickname"] = answer.nickname or member["nickname"]
        member["answered"] = answer.at
    blank = {f"{vote}{part}": None for vote in VOTES for part in ("", "_right")}
    return [MemberAnswer(**{**blank, **member}) for member in by_member.values()]


def _rows(question: QuestionRecord) -> list[list[object]]:
    return [
        [
            question.n,
            question.words,
            _truth_words(question),
            answer.member,
            answer.nickname,
            _answer_words(
                question,
                [answer.member] if question.entry == "work" and answer.first else answer.first,
            ),
            RIGHT[answer.first_right],
            _answer_words(question, answer.second),
            RIGHT[answer.second_right],
            datetime.fromtimestamp(answer.answered, UTC).strftime("%Y-%m-%d %H:%M:%S"),
            question.ask.kind,
            question.ask.link,
        ]
        for answer in question.answers
    ]


def _truth_words(question: QuestionRecord) -> str:
    if question.truth is None:
        return ""
    if question.truth.numbers:
        return _answer_words(question, [f"{number:.6g}" for number in question.truth.numbers])
    joint = ORDERED if question.entry == "order" else " / "
    return joint.join(_choice_words(question, name) for name in question.truth.right)


def _choice_words(question: QuestionRecord, name: str) -> str:
    """Return the words of a choice; of a cell those of its row and column."""
    if question.entry == "cell" and question.ask.axes:
        return question.ask.axes.words(name)
    return question.choices.get(name, name)


def _answer_words(question: QuestionRecord, answer: list[str] | None) -> str:
    """Return an answer in the words of its choices; of several fields, each with its name."""
    if answer is None:
        return ""
    if question.entry == "text" or (len(answer) == 1 and question.entry not in (*CHOSEN, "cell")):
        return answer[0]
    if question.entry in (*CHOSEN, "cell", "order"):
        return ORDERED.join(_choice_words(question, name) for name in answer)
    if question.entry == "shares":
        whole = sum(map(float, answer)) or 1.0
        answer = [f"{float(share) / whole:.2f}" for share in answer]
    names = [question.choices.get(str(n), "") for n in range(len(answer))]
    if not any(names):
        return " ".join(answer)
    return "; ".join(f"{name} {number}" for name, number in zip(names, answer, strict=True))

"""Questions to a room: asked, answered once or twice, revealed; and works for a goal.

Works are handed in, shown in a gallery and voted on.
"""

import hashlib
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from app.figures.challenge_checking import checked, fitted
from app.figures.challenge_goals import Verdict
from app.figures.links import Entry, check_stated, has_cell
from app.http.problems import ProblemError
from app.http.route_dependencies import Services
from app.rooms.open_rooms import TRIES, Rooms
from app.rooms.room_document import (
    MAX_BYTES,
    NEXT,
    VOTES,
    Question,
    Room,
    check,
    part_of,
    parts_of,
    tally,
    tally_works,
)
from app.rooms.room_on_server import Hub
from app.rooms.schemas import (
    ROUNDING,
    GalleryReply,
    GalleryWork,
    Results,
    Stage,
    Truth,
    TryReply,
    TryRequest,
    Wording,
)
from app.store.documents import dumped
from model.errors import Excess, InputError


@dataclass(frozen=True)
class Given:
    """An answer; `id` identifies its member within the question and nowhere else."""

    id: str
    n: int
    vote: str
    answer: list[str]
    at: float
    nickname: str | None = None
    does: bool | None = None  # of a work: whether it reaches its goal


async def ask(
    rooms: Rooms,
    code: str,
    key: str,
    entry: Entry,
    about: dict[str, Any],
    *,
    nicknames: bool = False,
    wording: Wording | None = None,
) -> Room:
    """Ask the room a question, instead of the present one. Raises what `Rooms.change` raises."""
    check_stated(entry, about)
    noted = {**about, "entry": entry, "wording": wording and wording.model_dump()}

    def make(room: Room) -> Room:
        n = room.asked + 1
        return room.then(
            asked=n, question=Question(n=n, entry=entry, ask=about, nicknames=nicknames)
        )

    hub = await rooms.owned(code, key)
    await hub.refresh()
    await _note(rooms, hub, hub.room.asked + 1, noted)
    room = await rooms.change(code, key, make)
    if room.asked > hub.room.asked + 1:  # another question came between
        await _note(rooms, hub, room.asked, noted)
    return room


async def _note(rooms: Rooms, hub: Hub, n: int, about: dict[str, Any]) -> None:
    """Store what a question is about. Raises a ProblemError beyond the limits of the room."""
    if n > rooms.limits.questions:
        limit = rooms.limits.questions
        detail = f"a room can be asked at most {limit} questions"
        raise ProblemError(409, "too-many-questions", detail, excess=Excess(limit, "questions"))
    await rooms.store(hub, "asked", str(n), dumped(about), document=None)


async def proceed(
    rooms: Rooms,
    code: str,
    key: str,
    stage: Stage,
    truth: Truth | None = None,
    gallery: Sequence[str] | None = None,
) -> Room:
    """Go on to a stage of the question; for "revealed", sum up the answers.

    `gallery` has the ids of the works that the class sees from now on; None: as before.

    Raises what `Rooms.change` raises, and a 409 ProblemError if the stage does not follow.
    """
    if stage != "revealed":
        return await rooms.change(code, key, lambda room: _staged(room, stage, gallery))
    # No answer is accepted any more; those that were are all counted.
    room = await rooms.change(
        code,
        key,
        lambda room: room if _is(room, "closed") else _staged(room, "closed", gallery),
    )
    assert room.question
    question = room.question
    truth = truth or stated(question.ask)
    if truth:
        hub = await rooms.owned(code, key)
        await rooms.store(hub, "truths", str(question.n), dumped(truth), document=None)
    results = {
        vote: summed(question.entry, vote, await _answers(rooms, code, question.n, vote), truth)
        for vote in VOTES
    }

    def make(room: Room) -> Room:
        if not (room.question and room.question.n == question.n):
            raise _not_asking()
        update = {"stage": "revealed", "truth": truth, "results": results}
        return room.then(question=room.question.model_copy(update=update))

    return await rooms.change(code, key, make)


def summed(entry: Entry, vote: str, votes: Sequence[Given], truth: Truth | None) -> Results:
    """Sum up the answers of a vote: works in the first, and in the second the votes on them."""
    if entry == "work" and vote == "first":
        return tally_works([work.does for work in votes])
    return tally(entry, [vote_answer.answer for vote_answer in votes], truth)


async def set_timer(rooms: Rooms, code: str, key: str, seconds: int) -> Room:
    """Set the timer of the present stage; 0 is none. When it is over, the vote goes on.

    Raises what `Rooms.change` raises, and a 409 ProblemError if nothing is asked.
    """
    ends = time.time() + seconds if seconds else None

    def make(room: Room) -> Room:
        if room.question is None or "closed" not in NEXT[room.question.stage]:
            raise _not_asking()
        return room.then(question=room.question.model_copy(update={"ends": ends}))

    return await rooms.change(code, key, make)


async def dismiss(rooms: Rooms, code: str, key: str) -> Room:
    """Take the question off the screens. Raises what `Rooms.change` raises."""
    return await rooms.change(
        code, key, lambda room: room.then(question=None) if room.question else room
    )


async def answer(
    rooms: Rooms,
    hub: Hub,
    member: str,
    n: int,
    values: Sequence[str],
    nickname: str | None = None,
    address: str = "",
    *,
    verdict: Verdict | None = None,
) -> None:
    """Store a member's answer to question `n`, instead of an earlier one in the same vote.

    `verdict` is that of a work; without it, what is stored for works is a vote.

    Raises InputError for an answer of another form or size and for a nickname that is not asked
    for, a 409 ProblemError if the room is not asked this question now, a 507 one if the address has
    its share of the room's bytes.
    """
    for _ in range(TRIES):
        document, question, seq = hub.document, hub.room.question, hub.room.seq
        if question and question.n == n and question.stage in VOTES:
            _check(question, values, nickname)
            _check_work(question, member, values, verdict)
            stored = {"answer": list(values), "at": time.time(), "nickname": nickname}
            stored |= {"does": verdict.does} if verdict else {}
            value = dumped(stored)
            if len(value) > MAX_BYTES:
                detail = f"answer takes {len(value)} bytes; at most {MAX_BYTES} are allowed"
                raise InputError(
                    "too-long", "answer", detail, Excess(MAX_BYTES, "bytes", len(value))
                )
            if await rooms.store(
                hub, part_of(n, question.stage), member, value, address, document=document
            ):
                return
        await hub.refresh()
        if hub.room.seq == seq:
            raise _not_asking()
    raise ProblemError(503, "busy", "the room changes too often", headers={"Retry-After": "1"})


async def answered(rooms: Rooms, hub: Hub) -> int:
    """Return the number of answers in the present vote."""
    question = hub.room.question
    if question is None:
        return 0
    vote = "second" if question.stage == "second" else "first"
    return await rooms.bus.count(hub.code, part_of(question.n, vote))


async def given(rooms: Rooms, hub: Hub, n: int) -> list[Given]:
    """Return the answers to a question, in the order in which they came."""
    return [
        vote_answer for vote in VOTES for vote_answer in await _answers(rooms, hub.code, n, vote)
    ]


async def remove(rooms: Rooms, hub: Hub, n: int, identity: str) -> bool:
    """Remove a member's answers to a question; return whether there was one."""
    removed = False
    for part in parts_of(n):
        members = await rooms.bus.fields(hub.code, part)
        gone = [member for member in members if identity_of(n, member) == identity]
        await rooms.bus.remove(hub.code, part, gone)
        removed |= bool(gone)
    return removed


def fits_options(about: Mapping[str, Any], entry: Entry, values: Sequence[str]) -> bool:
    """Return whether an answer of the right form names options or cells of the question."""
    if entry == "cell":
        axes = about.get("axes")
        return axes is None or all(has_cell(axes, cell) for cell in values)
    options = about.get("options")
    if options is None or entry not in ("choice", "order"):
        return True
    ids = set(map(str, range(len(options))))
    return set(values) == ids if entry == "order" else set(values) <= ids


def _check(question: Question, values: Sequence[str], nickname: str | None) -> None:
    if not check(question.entry, values) or not fits_options(question.ask, question.entry, values):
        detail = f"answer does not fit a question of the kind {question.entry}"
        raise InputError("wrong-type", "answer", detail)
    if nickname is not None and not question.nicknames:
        raise InputError("unknown-field", "nickname", "nickname is not asked for in this question")


def _check_work(
    question: Question, member: str, values: Sequence[str], verdict: Verdict | None
) -> None:
    """Raise an error unless works are handed in before the vote, and voted on in it."""
    if question.entry != "work":
        return
    if (question.stage == "second") == (verdict is not None):
        raise _not_asking()
    if verdict is None and values[0] not in question.gallery:
        raise InputError("unknown-value", "answer", "answer must be a work of the gallery")
    if verdict is None and values[0] == identity_of(question.n, member):
        raise InputError("does-not-fit", "answer", "answer must be the work of another member")


def stated(about: Mapping[str, Any]) -> Truth | None:
    """Return the right answer that a question states itself; None if it states none."""
    if "right" in about:
        return Truth(right=[str(option) for option in about["right"]])
    if "cells" in about:
        return Truth(right=about["cells"])
    if "value" not in about:
        return None
    return Truth(numbers=[about["value"]], within=about.get("within", ROUNDING))


async def _answers(rooms: Rooms, code: str, n: int, vote: str) -> list[Given]:
    fields = await rooms.bus.fields(code, part_of(n, vote))
    votes = [
        Given(id=identity_of(n, member), n=n, vote=vote, **orjson.loads(value))
        for member, value in fields.items()
    ]
    return sorted(votes, key=lambda vote_answer: vote_answer.at)


def identity_of(n: int, member: str) -> str:
    """Return what identifies a member within question `n`, and nowhere else."""
    return hashlib.sha256(f"{n} {member}".encode()).hexdigest()[:12]


def _is(room: Room, stage: Stage) -> bool:
    return room.question is not None and room.question.stage == stage


def _staged(room: Room, stage: Stage, gallery: Sequence[str] | None = None) -> Room:
    question = room.question
    if question is None or stage not in NEXT[question.stage]:
        raise _not_asking()
    changes: dict[str, Any] = {"stage": stage, "ends": None}
    if gallery is not None:
        changes["gallery"] = list(gallery)
    return room.then(question=question.model_copy(update=changes))


def _not_asking() -> ProblemError:
    return ProblemError(409, "not-asking", "the room is not asked this question at present")


SECONDS = 2.0  # between two works of a member


async def hand_in(services: Services, hub: Hub, body: TryRequest, address: str) -> TryReply:
    """Check a member's work on a run and store it, instead of an earlier one.

    Raises InputError for a link that cannot be run, a 409 ProblemError if the room is not asked
    this question now, a 429 one for works in quick succession, and what a run and `answer` raise.
    """
    question = hub.room.question
    if not (question and question.n == body.n and question.entry == "work"):
        raise ProblemError(409, "not-asking", "the room is not asked this question at present")
    hub.pace(f"work {body.member}", SECONDS)
    link = fitted(question.ask, body.link)
    verdict = await checked(services, question.ask, link)
    await answer(
        services[Rooms], hub, body.member, body.n, [link], body.nickname, address, verdict=verdict
    )
    return TryReply(id=identity_of(body.n, body.member), link=link, verdict=verdict)


async def gallery(services: Services, hub: Hub, member: str | None) -> GalleryReply:
    """Return the works that the class sees; once the question is revealed, with their votes.

    Raises a 409 ProblemError if there is no gallery at present.
    """
    question = hub.room.question
    if not question or question.entry != "work" or question.stage in ("first", "closed"):
        raise ProblemError(409, "not-asking", "the room has no gallery at present")
    answers = await given(services[Rooms], hub, question.n)
    votes = {answer.id: answer.answer[0] for answer in answers if answer.vote == "second"}
    counts = Counter(votes.values()) if question.stage == "revealed" else None
    works = [
        GalleryWork(
            id=answer.id,
            link=answer.answer[0],
            does=answer.does,
            votes=None if counts is None else counts[answer.id],
        )
        for answer in answers
        if answer.vote == "first" and answer.id in question.gallery
    ]
    reader = identity_of(question.n, member) if member else None
    is_maker = any(answer.vote == "first" and answer.id == reader for answer in answers)
    return GalleryReply(
        n=question.n,
        works=sorted(works, key=lambda work: work.id),
        mine=reader if is_maker else None,
        vote=votes.get(reader) if reader else None,
    )

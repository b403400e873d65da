"""Works for a goal in a room: handed in, shown in a gallery and voted on."""

from collections import Counter

from app.challenges.checking import checked, fitted
from app.http.problems import ProblemError
from app.http.route_dependencies import Services
from app.rooms import asking
from app.rooms.open_rooms import Rooms
from app.rooms.room_on_server import Hub
from app.rooms.schemas import GalleryReply, GalleryWork, TryReply, TryRequest

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
    await asking.answer(
        services[Rooms], hub, body.member, body.n, [link], body.nickname, address, verdict=verdict
    )
    return TryReply(id=asking.identity_of(body.n, body.member), link=link, verdict=verdict)


async def gallery(services: Services, hub: Hub, member: str | None) -> GalleryReply:
    """Return the works that the class sees; once the question is revealed, with their votes.

    Raises a 409 ProblemError if there is no gallery at present.
    """
    question = hub.room.question
    if not question or question.entry != "work" or question.stage in ("first", "closed"):
        raise ProblemError(409, "not-asking", "the room has no gallery at present")
    answers = await asking.given(services[Rooms], hub, question.n)
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
    reader = asking.identity_of(question.n, member) if member else None
    is_maker = any(answer.vote == "first" and answer.id == reader for answer in answers)
    return GalleryReply(
        n=question.n,
        works=sorted(works, key=lambda work: work.id),
        mine=reader if is_maker else None,
        vote=votes.get(reader) if reader else None,
    )

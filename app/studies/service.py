"""Creates studies, leads participants through them, and stores what they answer.

Studies lie in the tables of the assignments. Of an address, only the first byte of a keyed digest
is stored: it limits how many participants come from one address, and is the same for one in 256
addresses, so that it identifies nobody.
"""

import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any, NoReturn

from fastapi import Request

from app.assets.languages import languages, negotiate
from app.assets.templates import base_url
from app.assignments.schemas import AssignmentCreated
from app.assignments.store import Assignment, Assignments, FullError, Refusal, Submission
from app.engine.engine import Engine
from app.engine.fair_queue import asking
from app.http.limits import Shared, client_network
from app.http.problems import ProblemError
from app.http.route_dependencies import Services
from app.http.tasks_and_caches import off_loop
from app.lessons.course import lessons
from app.lessons.inventory import FORMS, Form, inventory
from app.settings import Settings
from app.store.storage_errors import Stored, undamaged
from app.store.store import CreationRate, Store
from app.studies import results
from app.studies.schemas import (
    AskedItem,
    PageToRead,
    ParticipantDocument,
    ParticipantReply,
    Stage,
    StoredTest,
    StudyAnswers,
    StudyDocument,
    StudyReply,
    StudyRequest,
    StudyResults,
)
from model.errors import Excess, InputError

Cell = tuple[int, Form]  # an arm, and the form with which it begins


class Studies(Assignments):
    """Studies by id; a member is a participant."""

    kind: Stored = "study"

    def cell(self, study_id: str, arms: int, number: int) -> Cell:
        """Return the arm and the first form of the participant who came after `number` others.

        Participants are assigned in blocks. Each block has every arm with both forms once, in an
        order that nobody outside can foresee.
        """
        cells: Sequence[Cell] = list(product(range(arms), FORMS))
        block, place = divmod(number, len(cells))
        seed = self.store.keyed(f"{study_id} block {block}")
        return random.Random(seed).sample(cells, len(cells))[place]

    def _sender(self, assignment_id: str, address: str) -> bytes:
        return self.store.keyed(f"{assignment_id} {address}")[:1]


@asynccontextmanager
async def open_studies(services: Services) -> AsyncIterator[None]:
    """Open the studies of a server."""
    services.add(Studies(services[Store]))
    yield


SEND = 500.0  # what beginning a study and sending a test cost, in the engine's units of work

LESSON = "/learn/"


async def create(services: Services, request: Request, body: StudyRequest) -> AssignmentCreated:
    """Store a study. Raises ProblemError if too many are created, InputError and StorageError."""
    keep = services[Settings].keep_assignments_days
    if body.later_days is not None and body.later_days >= keep:
        detail = f"later_days must be less than {keep:g}, the days that answers are kept"
        raise InputError("out-of-range", "later_days", detail)
    address = client_network(request)
    await services[CreationRate].count(address)
    document = StudyDocument(**body.model_dump(), edition=inventory().edition)
    study, key = await services[Studies].add(document.model_dump(mode="json"), address)
    url = _url(services, request, study.id)
    expires = (study.changed + timedelta(days=keep)).isoformat()
    return AssignmentCreated(
        id=study.id, url=url, key=key, owner_url=f"{url}#key={key}", expires=expires
    )


async def find(services: Services, study_id: str) -> tuple[Assignment, StudyDocument]:
    """Return a study. Raises a 404 ProblemError if there is none, and DamagedError."""
    study = await services[Studies].find(study_id)
    if study is None:
        _refuse("unknown")
    with undamaged("study"):
        return study, StudyDocument.model_validate(study.document)


async def read(services: Services, request: Request, study_id: str) -> StudyReply:
    """Return a study without its arms. Raises ProblemError and DamagedError."""
    study, document = await find(services, study_id)
    return StudyReply(
        id=study.id,
        url=_url(services, request, study.id),
        title=document.title,
        note=document.note,
        later_days=document.later_days,
        items=len(inventory().items),
        created=study.created.isoformat(),
    )


async def begin(
    services: Services, request: Request, study_id: str, member: str
) -> ParticipantReply:
    """Return where a participant stands, who is assigned to an arm the first time.

    Raises ProblemError if there is no such study or no place in it, SpentError and StorageError.
    """
    study, document = await find(services, study_id)
    participant = await _participant(services, study.id, member)
    if participant is None:
        services[Engine].charge(SEND)
        studies, arms = services[Studies], len(document.arms)

        def assigned(before: Submission | None, number: int) -> dict[str, Any]:
            if before is not None:  # by a request at the same time
                return before.document
            arm, first = studies.cell(study.id, arms, number)
            return ParticipantDocument(arm=arm, first=first).model_dump(mode="json")

        await _store(services, study.id, member, assigned)
        participant = await _participant(services, study.id, member)
        if participant is None:
            _refuse("unknown")
    return _standing(request, document, participant)


async def submit(
    services: Services, request: Request, study_id: str, sent: StudyAnswers
) -> ParticipantReply:
    """Store the answers to a test, and return what comes next; durable on return.

    What was sent stays: the same answers may be sent again, but not others. Raises InputError for
    answers of another form, ProblemError if the test is not this participant's turn, SpentError and
    StorageError.
    """
    services[Engine].charge(SEND)
    study, document = await find(services, study_id)
    participant = await _participant(services, study.id, sent.member)
    if participant is None:
        raise ProblemError(409, "study-order", "this participant has not begun the study")
    test = _test(participant, sent)

    def added(before: Submission | None, _number: int) -> dict[str, Any]:
        current = _parsed(before) if before else participant
        if (earlier := current.tests.get(sent.stage)) is None:
            if _next(document, current) != sent.stage or _opens(document, current):
                detail = f"the test {sent.stage} is not open for this participant"
                raise ProblemError(409, "study-order", detail)
            current = current.model_copy(update={"tests": {**current.tests, sent.stage: test}})
        elif earlier.answers != test.answers:
            detail = f"the test {sent.stage} was sent before, with other answers"
            raise ProblemError(409, "study-order", detail)
        return current.model_dump(mode="json")

    await _store(services, study.id, sent.member, added)
    return _standing(
        request, document, await _participant(services, study.id, sent.member) or participant
    )


async def summary(services: Services, request: Request, study_id: str, key: str) -> StudyResults:
    """Return the results in the reader's language, given the key. Raises ProblemError."""
    document, participants = await _owned(services, study_id, key)
    return await off_loop(
        results.summed_up,
        document,
        [stored for _, stored in participants],
        negotiate(request, languages()),
        size=_size(participants),
    )


async def table(services: Services, study_id: str, key: str) -> str:
    """Return all answers as CSV, given the key. Raises ProblemError."""
    document, participants = await _owned(services, study_id, key)
    return await off_loop(results.table, document, participants, size=_size(participants))


async def delete(services: Services, study_id: str, key: str) -> None:
    """Delete a study with all answers, given its key. Raises ProblemError."""
    if refused := await services[Studies].delete(study_id, key):
        _refuse(refused)


async def _owned(
    services: Services, study_id: str, key: str
) -> tuple[StudyDocument, list[tuple[str, ParticipantDocument]]]:
    if refused := await services[Studies].check_key(study_id, key):
        _refuse(refused)
    study, document = await find(services, study_id)
    sent = await services[Studies].submissions(study.id)
    return document, [(submission.member, _parsed(submission)) for submission in sent]


async def _participant(
    services: Services, study_id: str, member: str
) -> ParticipantDocument | None:
    submission = await services[Studies].own(study_id, member)
    return _parsed(submission) if submission else None


async def _store(services: Services, study_id: str, member: str, change: Any) -> None:
    most, address = services[Settings].max_assignment_members, asking.get().address
    places = Shared(most, "participants").refusal_of
    try:
        refused = await services[Studies].submit(study_id, member, change, address, places)
    except FullError as full:
        beyond = Excess(most, "participants")
        raise ProblemError(409, "study-full", str(full), excess=beyond) from None
    if refused:
        _refuse(refused)


def _parsed(submission: Submission) -> ParticipantDocument:
    with undamaged("study"):
        return ParticipantDocument.model_validate(submission.document)


def _standing(
    request: Request, document: StudyDocument, participant: ParticipantDocument
) -> ParticipantReply:
    stage, lang = _next(document, participant), negotiate(request, languages())
    opens = _opens(document, participant)
    questions: list[AskedItem] = []
    if stage is not None and opens is None:
        form = _form(participant, stage)
        questions = [
            AskedItem(
                asks=question.asks.text(lang),
                options=[option.text(lang) for option in question.options],
            )
            for question in (item.question(form) for item in inventory().items)
        ]
    pages = document.arms[participant.arm].pages if stage == "after" else []
    return ParticipantReply(
        stage=stage or "done",
        pages=[
            PageToRead(link=page.link, title=page.title or _title(page.link, lang))
            for page in pages
        ],
        opens=opens.isoformat(timespec="seconds") if opens else None,
        questions=questions,
    )


def _next(document: StudyDocument, participant: ParticipantDocument) -> Stage | None:
    """Return the test that comes next; None if there is no other."""
    stages: list[Stage] = ["before", "after"]
    if document.later_days is not None:
        stages.append("later")
    return next((stage for stage in stages if stage not in participant.tests), None)


def _opens(document: StudyDocument, participant: ParticipantDocument) -> datetime | None:
    """Return when the next test opens; None if it is open."""
    after = participant.tests.get("after")
    if after is None or document.later_days is None:
        return None
    opens = datetime.fromisoformat(after.sent) + timedelta(days=document.later_days)
    return opens if opens > datetime.now(UTC) else None


def _form(participant: ParticipantDocument, stage: Stage) -> Form:
    """Return the form of a test: the last one has that of the first, which is longer ago."""
    other: Form = "B" if participant.first == "A" else "A"
    return other if stage == "after" else participant.first


def _test(participant: ParticipantDocument, sent: StudyAnswers) -> StoredTest:
    """Return the answers to a test as they are stored. Raises InputError if they do not fit it."""
    items = inventory().items
    if len(sent.answers) != len(items):
        detail = f"answers has {len(sent.answers)} entries; there are {len(items)} questions"
        raise InputError("does-not-fit", "answers", detail)
    answers: dict[str, str | None] = {}
    for n, (item, place) in enumerate(zip(items, sent.answers, strict=True)):
        options = item.question(_form(participant, sent.stage)).options
        if place is not None and place >= len(options):
            detail = f"answers[{n}] must be less than {len(options)}, the number of options"
            raise InputError("out-of-range", f"answers[{n}]", detail)
        answers[item.id] = None if place is None else options[place].kind
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return StoredTest(sent=now, edition=inventory().edition, answers=answers)


def _title(link: str, lang: str) -> str:
    """Return the title of a lesson, or else the link itself."""
    titles = {LESSON + lesson.slug: lesson for lesson in lessons()}
    lesson = titles.get(link.partition("?")[0].partition("#")[0])
    return lesson.document(lang).title if lesson else link


def _size(participants: list[tuple[str, ParticipantDocument]]) -> int:
    """Return the size of the answers for `off_loop`."""
    return 1_000 * len(inventory().items) * len(participants)


def _url(services: Services, request: Request, study_id: str) -> str:
    return f"{base_url(request, services)}{request.app.url_path_for('study_page', id=study_id)}"


def _refuse(why: Refusal) -> NoReturn:
    if why == "unknown":
        detail = "there is no study with this id"
        raise ProblemError(404, "unknown-study", detail, field="id")
    raise ProblemError(403, "wrong-study-key", "the key does not match the study")

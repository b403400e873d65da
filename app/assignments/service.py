"""Creates, shows and deletes assignments, and stores and sums up the answers to them."""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta
from hmac import compare_digest
from typing import Any, NoReturn

import orjson
from fastapi import Request

from app.assets.templates import base_url
from app.assignments.schemas import (
    AnswersSummary,
    AssignmentCreated,
    AssignmentDocument,
    AssignmentRecord,
    AssignmentReply,
    AssignmentRequest,
    CheckReply,
    CheckRequest,
    StudentAnswers,
    SubmissionRequest,
)
from app.assignments.store import Assignment, Assignments, FullError, Refusal, Submission
from app.engine.engine import Engine
from app.engine.fair_queue import asking
from app.figures.challenge_checking import check_ask, checked, fitted, work_words
from app.figures.links import Axes, check_stated
from app.http.limits import Shared, client_network
from app.http.problems import ProblemError
from app.http.replies import csv_of
from app.http.request_fields import within
from app.http.route_dependencies import Services
from app.http.tasks_and_caches import off_loop
from app.rooms.answer_files import ORDERED, RIGHT
from app.rooms.asking import fits_options, stated
from app.rooms.room_document import MAX_BYTES, check, is_right, tally, tally_works, unanswered
from app.rooms.schemas import MAX_TEXT, Truth
from app.settings import Settings
from app.store.storage_errors import undamaged
from app.store.store import CreationRate
from model.errors import Excess, InputError

SEND = 500.0  # what a submission costs, in the engine's units of work
CHECKED = ("link", "seal")  # what an answer to a question with a goal has
COLUMNS = ("question", "kind", "link", "member", "nickname", "sent", "answer")


async def create(
    services: Services, request: Request, body: AssignmentRequest
) -> AssignmentCreated:
    """Store an assignment. Raises ProblemError if too many are created, and StorageError.

    Raises InputError for a question that states an answer that is none of its options, and for a
    goal that no run could be checked for.
    """
    for n, question in enumerate(body.questions):
        with within(f"questions[{n}]"):
            about = question.ask.model_dump(exclude_none=True)
            check_stated(question.entry, about)
            if question.entry == "work":
                check_ask(services, about)
    address = client_network(request)
    await services[CreationRate].count(address)
    document = body.model_dump(mode="json", exclude_none=True)
    assignment, key = await services[Assignments].add(document, address)
    url = _url(services, request, assignment.id)
    days = timedelta(days=services[Settings].keep_assignments_days)
    return AssignmentCreated(
        id=assignment.id,
        url=url,
        key=key,
        owner_url=f"{url}#key={key}",
        expires=(assignment.changed + days).isoformat(),
    )


async def find(services: Services, assignment_id: str) -> Assignment:
    """Return an assignment. Raises a 404 ProblemError if there is none, and DamagedError."""
    assignment = await services[Assignments].find(assignment_id)
    if assignment is None:
        _refuse("unknown")
    with undamaged("assignment"):
        AssignmentDocument.model_validate(assignment.document)
    return assignment


async def read(
    services: Services, request: Request, assignment_id: str, token: str | None
) -> AssignmentReply:
    """Return an assignment without the model's answers.

    What a question states of its answer is shown if it is revealed to the owner of the token: to
    the author all, to a student those of the questions that this student has answered or, at the
    end, all. Raises ProblemError if there is none, and DamagedError.
    """
    assignment = await find(services, assignment_id)
    questions = assignment.document["questions"]
    revealed = await _revealed(services, assignment, token) if token else []
    visible = [
        question if n in revealed else _hidden(question) for n, question in enumerate(questions)
    ]
    return AssignmentReply(
        id=assignment.id,
        url=_url(services, request, assignment.id),
        created=assignment.created.isoformat(),
        **{**assignment.document, "questions": visible},
    )


async def submit(services: Services, assignment_id: str, sent: SubmissionRequest) -> None:
    """Store what a student answers, instead of what it sent before; durable on return.

    Raises InputError for an answer of another form, ProblemError if there is no such assignment or
    if the address has its share of the members, SpentError and StorageError.
    """
    services[Engine].charge(SEND)
    assignment = await find(services, assignment_id)
    _check(assignment, sent)
    document = sent.model_dump(include={"nickname", "answers"})
    if verdicts := _verdicts(services, assignment, sent):
        document["does"] = verdicts
        document["answers"] = [
            answer[:1] if answer and str(n) in verdicts else answer
            for n, answer in enumerate(sent.answers)
        ]
    if (size := len(orjson.dumps(document))) > MAX_BYTES:
        detail = f"answers take {size} bytes; at most {MAX_BYTES} are allowed"
        raise InputError("too-long", "answers", detail, Excess(MAX_BYTES, "bytes", size))
    max_members, address = services[Settings].max_assignment_members, asking.get().address
    places = Shared(max_members, "members").refusal_of
    try:
        refused = await services[Assignments].submit(
            assignment.id, sent.member, document, address, places
        )
    except FullError as full:
        beyond = Excess(max_members, "members")
        raise ProblemError(409, "assignment-full", str(full), excess=beyond) from None
    if refused:
        _refuse(refused)


async def check_work(services: Services, assignment_id: str, body: CheckRequest) -> CheckReply:
    """Run a work for the goal of a question; nothing is stored.

    Raises InputError for a link that cannot be run, a 404 ProblemError if there is no such
    assignment, a 409 one if the question has no goal, and what a run raises.
    """
    assignment = await find(services, assignment_id)
    questions = assignment.document["questions"]
    if body.question >= len(questions) or questions[body.question]["entry"] != "work":
        detail = "question is not answered with a work"
        raise ProblemError(409, "not-asking", detail, field="question")
    about = questions[body.question]["ask"]
    link = fitted(about, body.link)
    verdict = await checked(services, about, link)
    seal = _work_seal(services, assignment, body.question, link, verdict.does)
    return CheckReply(link=link, verdict=verdict, seal=seal)


def _work_seal(
    services: Services, assignment: Assignment, n: int, link: str, does: bool | None
) -> str:
    """Return what proves a verdict, so that a submission runs no work again."""
    return services[Assignments].store.keyed(f"work {assignment.id} {n} {does} {link}").hex()


def _verdicts(
    services: Services, assignment: Assignment, sent: SubmissionRequest
) -> dict[str, bool | None]:
    """Return whether works reach their goals, by the number of the question from 0.

    Raises InputError for a work that the server has not checked.
    """
    verdicts: dict[str, bool | None] = {}
    for n, (question, answer) in enumerate(
        zip(assignment.document["questions"], sent.answers, strict=True)
    ):
        if question["entry"] != "work" or answer is None:
            continue
        link, seal = answer
        for does in (True, False, None):
            if compare_digest(
                _work_seal(services, assignment, n, link, does).encode(), seal.encode()
            ):
                verdicts[str(n)] = does
        if str(n) not in verdicts:
            detail = f"answers[{n}] must be the link and the seal of a work that was checked"
            raise InputError("does-not-fit", f"answers[{n}]", detail)
    return verdicts


async def summary(services: Services, assignment_id: str, key: str) -> AnswersSummary:
    """Return the sum of all answers, given the key. Raises ProblemError."""
    assignment = await _owned(services, assignment_id, key)
    sent = await services[Assignments].submissions(assignment.id)
    questions = assignment.document["questions"]
    results = await off_loop(_sums, questions, sent, size=_cells(questions, sent))
    return AnswersSummary(members=len(sent), results=results)


async def table(services: Services, assignment_id: str, token: str) -> str:
    """Return answers as CSV: for the key all, for a member's token those of the member.

    Raises ProblemError if there is no such assignment, or for another token.
    """
    assignment = await find(services, assignment_id)
    questions = assignment.document["questions"]
    submission = await services[Assignments].own(assignment.id, token)
    if submission is not None:
        return await off_loop(_plain, questions, [submission], size=_cells(questions, [submission]))
    await _owned(services, assignment_id, token)
    sent = await services[Assignments].submissions(assignment.id)
    return await off_loop(_compared, questions, sent, size=_cells(questions, sent))


async def record(services: Services, assignment_id: str, key: str) -> AssignmentRecord:
    """Return the questions, the sums and every answer, given the key. Raises ProblemError."""
    assignment = await _owned(services, assignment_id, key)
    sent = await services[Assignments].submissions(assignment.id)
    questions = assignment.document["questions"]
    return await off_loop(_record, assignment, sent, size=_cells(questions, sent))


def _record(assignment: Assignment, sent: Sequence[Submission]) -> AssignmentRecord:
    questions = assignment.document["questions"]
    students = [
        StudentAnswers(
            member=submission.member,
            nickname=submission.document["nickname"],
            sent=submission.sent.isoformat(timespec="seconds"),
            answers=submission.document["answers"],
            right=[_is_right(question, submission, n) for n, question in enumerate(questions)],
        )
        for submission in sent
    ]
    return AssignmentRecord(
        id=assignment.id,
        title=assignment.document["title"],
        note=assignment.document["note"],
        created=assignment.created.isoformat(timespec="seconds"),
        saved=datetime.now(UTC).isoformat(timespec="seconds"),
        questions=questions,
        results=_sums(questions, sent),
        students=students,
    )


def _is_right(question: dict[str, Any], submission: Submission, n: int) -> bool | None:
    """Return whether an answer is right; None: there is none, or nothing to compare it with."""
    answer = submission.document["answers"][n]
    if answer is None:
        return None
    if question["entry"] == "work":
        does: bool | None = submission.document["does"][str(n)]
        return does
    return is_right(question["entry"], answer, _truth(question))


async def delete(services: Services, assignment_id: str, key: str) -> None:
    """Delete an assignment with all answers, given its key. Raises ProblemError."""
    if refused := await services[Assignments].delete(assignment_id, key):
        _refuse(refused)


async def _owned(services: Services, assignment_id: str, key: str) -> Assignment:
    if refused := await services[Assignments].check_key(assignment_id, key):
        _refuse(refused)
    return await find(services, assignment_id)


async def _revealed(services: Services, assignment: Assignment, token: str) -> Collection[int]:
    """Return the questions whose stated answer may be shown to the owner of a token."""
    everything = range(len(assignment.document["questions"]))
    if (submission := await services[Assignments].own(assignment.id, token)) is None:
        refused = await services[Assignments].check_key(assignment.id, token)
        return [] if refused else everything
    if assignment.document["reveal"] == "end":
        return everything
    return [n for n, answer in enumerate(submission.document["answers"]) if answer is not None]


def _hidden(question: dict[str, Any]) -> dict[str, Any]:
    """Return a question without what it states of its answer; a number is then about no page."""
    ask = question["ask"]
    visible = unanswered(ask)
    return {**question, "ask": {**visible, "link": ""} if "value" in ask else visible}


def _check(assignment: Assignment, sent: SubmissionRequest) -> None:
    questions = assignment.document["questions"]
    if len(sent.answers) != len(questions):
        detail = f"answers has {len(sent.answers)} entries; there are {len(questions)} questions"
        raise InputError("does-not-fit", "answers", detail)
    if sent.nickname is not None and not assignment.document["nicknames"]:
        detail = "nickname is not asked for in this assignment"
        raise InputError("unknown-field", "nickname", detail)
    for n, (question, answer) in enumerate(zip(questions, sent.answers, strict=True)):
        if answer is None:
            continue
        entry = question["entry"]
        if entry == "work":
            fits = len(answer) == len(CHECKED)
        else:
            _check_lengths(f"answers[{n}]", answer)
            fits = check(entry, answer) and fits_options(question["ask"], entry, answer)
        if not fits:
            detail = f"answers[{n}] does not fit a question of the kind {entry}"
            raise InputError("wrong-type", f"answers[{n}]", detail)


def _check_lengths(field: str, answer: Sequence[str]) -> None:
    """Raise InputError for a text that is longer than one of a room may be."""
    for i, text in enumerate(answer):
        if len(text) > MAX_TEXT:
            detail = f"{field}[{i}] may have at most {MAX_TEXT} characters"
            raise InputError("too-long", f"{field}[{i}]", detail, Excess(MAX_TEXT, "characters"))


def _sums(questions: Sequence[dict[str, Any]], sent: Sequence[Submission]) -> list[Any]:
    results = []
    for n, question in enumerate(questions):
        answered = [
            submission for submission in sent if submission.document["answers"][n] is not None
        ]
        if question["entry"] == "work":
            results.append(
                tally_works([_is_right(question, submission, n) for submission in answered])
            )
            continue
        answers = [submission.document["answers"][n] for submission in answered]
        results.append(tally(question["entry"], answers, _truth(question)))
    return results


def _rows(
    questions: Sequence[dict[str, Any]], sent: Sequence[Submission]
) -> "list[tuple[list[object], str, str]]":
    """Return a row per answer; whether it is right ("yes", "no" or unknown); and the question."""
    rows = []
    for n, question in enumerate(questions):
        about = question["ask"]
        for submission in sent:
            answer = submission.document["answers"][n]
            if answer is None:
                continue
            name, time = (
                submission.document["nickname"] or "",
                submission.sent.isoformat(timespec="seconds"),
            )
            row = [
                n + 1,
                about["kind"],
                about["link"],
                submission.member,
                name,
                time,
                _answer_words(question, answer),
            ]
            rows.append((row, RIGHT[_is_right(question, submission, n)], about.get("words", "")))
    return rows


def _plain(questions: Sequence[dict[str, Any]], sent: Sequence[Submission]) -> str:
    return csv_of([*COLUMNS, "words"], ([*row, words] for row, _, words in _rows(questions, sent)))


def _compared(questions: Sequence[dict[str, Any]], sent: Sequence[Submission]) -> str:
    rows = ([*row, right, words] for row, right, words in _rows(questions, sent))
    return csv_of([*COLUMNS, "right", "words"], rows)


def _answer_words(question: dict[str, Any], answer: Sequence[str]) -> str:
    """Return an answer as a person reads it: the texts of what was chosen."""
    if question["entry"] == "work":
        return work_words(answer[0], question["ask"])
    options, axes = question["ask"].get("options"), question["ask"].get("axes")
    if question["entry"] == "cell" and axes:
        return ORDERED.join(Axes.model_validate(axes).words(cell) for cell in answer)
    if options is None or question["entry"] not in ("choice", "order"):
        return " ".join(answer)
    return ORDERED.join(options[int(name)]["text"] for name in answer)


def _truth(question: dict[str, Any]) -> Truth | None:
    with undamaged("assignment"):
        if "truth" in question:
            return Truth.model_validate(question["truth"])
        return stated(question["ask"])


def _cells(questions: Sequence[object], sent: Sequence[object]) -> int:
    """Return the size of the answers for `off_loop`: a cell takes about as long as 1 kB."""
    return 1_000 * len(questions) * len(sent)


def _url(services: Services, request: Request, assignment_id: str) -> str:
    path = request.app.url_path_for("assignment_page", id=assignment_id)
    return f"{base_url(request, services)}{path}"


def _refuse(why: Refusal) -> NoReturn:
    if why == "unknown":
        detail = "there is no assignment with this id"
        raise ProblemError(404, "unknown-assignment", detail, field="id")
    raise ProblemError(403, "wrong-assignment-key", "the key does not match the assignment")

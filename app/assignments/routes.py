"""/api/assignments: questions with a link, answered in one's own time; and their pages."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request, Response
from fastapi.responses import HTMLResponse

from app.assets.templates import render
from app.assignments import service as assignments
from app.assignments.schemas import (
    AnswersSummary,
    AssignmentCreated,
    AssignmentRecord,
    AssignmentReply,
    AssignmentRequest,
    CheckReply,
    CheckRequest,
    SubmissionRequest,
)
from app.http.replies import DATABASE, JSON_BODY, TABLE, csv_reply, problems
from app.http.route_dependencies import Opened, key_of, optional_key_of, problems_of
from app.lessons import pages as lessons

router = APIRouter(prefix="/assignments", tags=["assignments"])

AssignmentId = Annotated[str, Path(alias="id", max_length=64)]
Token = Annotated[str, Depends(key_of("assignment", "/api/assignments"))]
BODY = {
    **JSON_BODY,
    "_422": "A field is not valid; `detail` says which.",
    "_429": "Too many in a short time; `Retry-After` says when to retry.",
}
FOUND = problems_of("assignment")
OWNED = {"_403": "The key does not match.", **FOUND}


@router.post(
    "", status_code=201, summary="Create an assignment", responses=problems(**BODY, **DATABASE)
)
async def create_assignment(
    request: Request, response: Response, services: Opened, body: AssignmentRequest
) -> AssignmentCreated:
    """Store questions in their order. They are on disk before the reply is sent."""
    created = await assignments.create(services, request, body)
    response.headers["Location"] = request.app.url_path_for("assignment", id=created.id)
    return created


@router.get("/{id}", summary="Read an assignment", responses=problems(**FOUND, **DATABASE))
async def assignment(
    request: Request,
    response: Response,
    services: Opened,
    assignment_id: AssignmentId,
    key: Annotated[str | None, Depends(optional_key_of("/api/assignments"))],
) -> AssignmentReply:
    """Return the questions, without the model's answers.

    What a question states of its answer (`value`, `right`, the notes of options) is included for
    the assignment's key and, once it is revealed, for a student's token.
    """
    response.headers["Vary"] = "Authorization"
    return await assignments.read(services, request, assignment_id, key)


@router.delete(
    "/{id}",
    status_code=204,
    summary="Delete an assignment",
    response_class=Response,
    responses=problems(**OWNED, **DATABASE),
)
async def delete_assignment(services: Opened, assignment_id: AssignmentId, key: Token) -> Response:
    """Delete the assignment with all answers, given its key."""
    await assignments.delete(services, assignment_id, key)
    return Response(status_code=204)


@router.post(
    "/{id}/answers",
    status_code=204,
    summary="Answer an assignment",
    response_class=Response,
    responses=problems(
        **{**BODY, **DATABASE},
        _404="No such assignment.",
        _409="As many members as allowed have answered, or as many from one address.",
        _410="The assignment is damaged.",
    ),
)
async def submit_answers(
    services: Opened, assignment_id: AssignmentId, body: SubmissionRequest
) -> Response:
    """Store a student's answers, instead of those that the student sent before."""
    await assignments.submit(services, assignment_id, body)
    return Response(status_code=204)


@router.post(
    "/{id}/checks",
    summary="Check a work",
    responses=problems(
        **{
            **BODY,
            **DATABASE,
            "_404": "No such assignment.",
            "_409": "The question has no goal.",
            "_410": "The assignment is damaged.",
            "_503": "The model is busy, or the database cannot be used; `Retry-After` says when to "
            "retry.",
        }
    ),
)
async def check_work(
    services: Opened, assignment_id: AssignmentId, body: CheckRequest
) -> CheckReply:
    """Check on a run whether a work reaches the goal of a question. Nothing is stored."""
    return await assignments.check_work(services, assignment_id, body)


@router.get("/{id}/answers", summary="Sum up the answers", responses=problems(**OWNED, **DATABASE))
async def sum_up_answers(
    services: Opened, assignment_id: AssignmentId, key: Token
) -> AnswersSummary:
    """Return, per question, how often each answer was given and how many are right."""
    return await assignments.summary(services, assignment_id, key)


@router.get(
    "/{id}/answers.csv",
    summary="Download answers",
    response_class=Response,
    responses=TABLE | problems(**OWNED, **DATABASE),
)
async def download_answers(services: Opened, assignment_id: AssignmentId, token: Token) -> Response:
    """Return answers as CSV: for the assignment's key all, for a student's token the student's."""
    return csv_reply(
        await assignments.table(services, assignment_id, token), f"answers-{assignment_id.lower()}"
    )


@router.get(
    "/{id}/answers.json",
    summary="Download the whole record",
    responses=problems(**OWNED, **DATABASE),
)
async def download_record(
    services: Opened, assignment_id: AssignmentId, key: Token
) -> AssignmentRecord:
    """Return everything: the questions with what is right, the sums, each student's answers."""
    return await assignments.record(services, assignment_id, key)


page_router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@page_router.get("/a")
async def assignments_page(request: Request, services: Opened) -> HTMLResponse:
    """List the assignments that this browser created, and create one."""
    variables = {"listed": lessons.listed(request)}
    return render(request, services, "assignments.html", more=variables)


@page_router.get("/a/{id}")
async def assignment_page(
    request: Request, services: Opened, assignment_id: Annotated[str, Path(alias="id")]
) -> HTMLResponse:
    """Show an assignment to students and, with its key, to its author."""
    assignment = await assignments.find(services, assignment_id)
    return render(request, services, "assignment.html", more={"assignment": assignment})

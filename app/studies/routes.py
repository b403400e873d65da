"""/api/studies: a test before and after, with participants in random arms; and their pages."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request, Response
from fastapi.responses import HTMLResponse

from app.assets.templates import render
from app.assignments.routes import BODY
from app.assignments.schemas import AssignmentCreated
from app.http.replies import DATABASE, TABLE, csv_reply, problems
from app.http.route_dependencies import Opened, key_of, problems_of
from app.lessons import pages as lessons
from app.lessons.inventory import inventory
from app.studies import service as studies
from app.studies.schemas import (
    ParticipantReply,
    ParticipantRequest,
    StudyAnswers,
    StudyReply,
    StudyRequest,
    StudyResults,
)

router = APIRouter(prefix="/studies", tags=["studies"])

StudyId = Annotated[str, Path(alias="id", max_length=64)]
Key = Annotated[str, Depends(key_of("study", "/api/studies"))]
FOUND = problems_of("study")
OWNED = {"_403": "The key does not match.", **FOUND}
TAKES_PART = {**BODY, **DATABASE, "_404": "No such study.", "_410": "The study is damaged."}


@router.post("", status_code=201, summary="Create a study", responses=problems(**BODY, **DATABASE))
async def create_study(
    request: Request, response: Response, services: Opened, body: StudyRequest
) -> AssignmentCreated:
    """Store the plan of a study. It is on disk before the reply is sent."""
    created = await studies.create(services, request, body)
    response.headers["Location"] = request.app.url_path_for("study", id=created.id)
    return created


@router.get("/{id}", summary="Read a study", responses=problems(**FOUND, **DATABASE))
async def study(request: Request, services: Opened, study_id: StudyId) -> StudyReply:
    """Return a study as participants get it, without its arms."""
    return await studies.read(services, request, study_id)


@router.delete(
    "/{id}",
    status_code=204,
    summary="Delete a study",
    response_class=Response,
    responses=problems(**OWNED, **DATABASE),
)
async def delete_study(services: Opened, study_id: StudyId, key: Key) -> Response:
    """Delete the study with all answers, given its key."""
    await studies.delete(services, study_id, key)
    return Response(status_code=204)


@router.post(
    "/{id}/participants",
    summary="Take part in a study",
    responses=problems(
        **TAKES_PART, _409="As many participants as allowed, or as many from one address."
    ),
)
async def take_part(
    request: Request,
    services: Opened,
    study_id: StudyId,
    body: ParticipantRequest,
) -> ParticipantReply:
    """Assign a participant to an arm, once, and return which test or which pages come next."""
    return await studies.begin(services, request, study_id, body.member)


@router.post(
    "/{id}/answers",
    summary="Answer a test of a study",
    responses=problems(
        **TAKES_PART, _409="The test is not open for this participant, or was sent before."
    ),
)
async def submit_test(
    request: Request,
    services: Opened,
    study_id: StudyId,
    body: StudyAnswers,
) -> ParticipantReply:
    """Store the answers to a test, which stay as they are, and return what comes next."""
    return await studies.submit(services, request, study_id, body)


@router.get("/{id}/results", summary="Sum up a study", responses=problems(**OWNED, **DATABASE))
async def sum_up_study(
    request: Request, services: Opened, study_id: StudyId, key: Key
) -> StudyResults:
    """Return gains by arm, item and misunderstanding, with their effect sizes."""
    return await studies.summary(services, request, study_id, key)


@router.get(
    "/{id}/answers.csv",
    summary="Download the answers of a study",
    response_class=Response,
    responses=TABLE | problems(**OWNED, **DATABASE),
)
async def download_study(services: Opened, study_id: StudyId, key: Key) -> Response:
    """Return all answers as CSV, a row for each."""
    return csv_reply(await studies.table(services, study_id, key), f"study-{study_id.lower()}")


page_router = APIRouter(
    prefix="/study", include_in_schema=False, default_response_class=HTMLResponse
)


@page_router.get("")
async def studies_page(request: Request, services: Opened) -> HTMLResponse:
    """List the studies that this browser created, and create one."""
    choices = [
        {
            "link": str(request.app.url_path_for("lesson_page", lesson=one["lesson"].slug)),
            "title": one["document"].title,
        }
        for one in lessons.listed(request)
    ]
    return render(request, services, "studies.html", more={"choices": choices})


@page_router.get("/inventory")
async def inventory_page(request: Request, services: Opened) -> HTMLResponse:
    """Show all questions with their answers, for teachers."""
    titles = {one["lesson"].slug: one["document"].title for one in lessons.listed(request)}
    variables = {"inventory": inventory(), "titles": titles}
    return render(request, services, "inventory.html", more=variables)


@page_router.get("/{id}")
async def study_page(
    request: Request, services: Opened, study_id: Annotated[str, Path(alias="id")]
) -> HTMLResponse:
    """Show a study to participants and, with its key, to its author."""
    study, document = await studies.find(services, study_id)
    variables = {"study": study, "document": document}
    return render(request, services, "study.html", more=variables)

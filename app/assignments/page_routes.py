"""The pages of assignments."""

from typing import Annotated

from fastapi import APIRouter, Path, Request
from fastapi.responses import HTMLResponse

from app.assets.templates import render
from app.assignments import service as assignments
from app.http.services import Opened
from app.lessons import service as lessons

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@router.get("/a")
async def assignments_page(request: Request, services: Opened) -> HTMLResponse:
    """List the assignments that this browser created, and create one."""
    variables = {"listed": lessons.listed(request)}
    return render(request, services, "assignments.html", more=variables)


@router.get("/a/{id}")
async def assignment_page(
    request: Request, services: Opened, assignment_id: Annotated[str, Path(alias="id")]
) -> HTMLResponse:
    """Show an assignment to students and, with its key, to its author."""
    assignment = await assignments.find(services, assignment_id)
    return render(request, services, "assignment.html", more={"assignment": assignment})

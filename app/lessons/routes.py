"""The pages of lessons."""

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from fastapi.responses import HTMLResponse

from app.assets.languages import languages, negotiate
from app.http.route_dependencies import Opened
from app.lessons import service as lessons

PICTURES = "public, max-age=3600"  # until another model may have been installed

router = APIRouter(prefix="/learn", include_in_schema=False, default_response_class=HTMLResponse)

Name = Annotated[str, Path(alias="lesson")]


@router.get("")
async def learn_page(request: Request, services: Opened) -> HTMLResponse:
    """Show the table of contents of the lessons."""
    return lessons.contents(request, services)


@router.get("/plan")
async def plan_page(request: Request, services: Opened) -> HTMLResponse:
    """Lesson plans."""
    return lessons.plan_page(request, services)


@router.get("/{lesson}")
async def lesson_page(request: Request, services: Opened, name: Name) -> HTMLResponse:
    """Show a lesson with live figures."""
    return lessons.page(request, services, name)


@router.get("/{lesson}/figures/{number}.png")
async def lesson_figure(request: Request, services: Opened, name: Name, number: int) -> Response:
    """Return a picture of a figure in its initial state."""
    lang = negotiate(request, languages())
    content = await lessons.picture(services, name, number, lang)
    headers = {"Cache-Control": PICTURES, "Vary": "Accept-Language, Cookie"}
    return Response(content, headers=headers, media_type="image/png")

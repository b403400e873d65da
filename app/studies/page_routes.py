"""The pages of studies, and the inventory that they ask."""

from typing import Annotated

from fastapi import APIRouter, Path, Request
from fastapi.responses import HTMLResponse

from app.assets.templates import render
from app.http.services import Opened
from app.lessons import service as lessons
from app.lessons.inventory import inventory
from app.studies import service as studies

router = APIRouter(prefix="/study", include_in_schema=False, default_response_class=HTMLResponse)


@router.get("")
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


@router.get("/inventory")
async def inventory_page(request: Request, services: Opened) -> HTMLResponse:
    """Show all questions with their answers, for teachers."""
    titles = {one["lesson"].slug: one["document"].title for one in lessons.listed(request)}
    variables = {"inventory": inventory(), "titles": titles}
    return render(request, services, "inventory.html", more=variables)


@router.get("/{id}")
async def study_page(
    request: Request, services: Opened, study_id: Annotated[str, Path(alias="id")]
) -> HTMLResponse:
    """Show a study to participants and, with its key, to its author."""
    study, document = await studies.find(services, study_id)
    variables = {"study": study, "document": document}
    return render(request, services, "study.html", more=variables)

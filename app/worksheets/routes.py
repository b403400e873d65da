"""The page of a worksheet."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from app.assets.templates import render
from app.figures.links import MAX_LINK
from app.http.problems import ProblemError
from app.http.route_dependencies import Opened
from app.worksheets import service as worksheets
from app.worksheets.service import Sheet
from model.errors import InputError

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

MAX_HEAD = 63  # from 0
MAX_SENTENCE = 200  # characters: more words than a matrix on paper has columns


@router.get("/worksheet")
async def worksheet_page(
    request: Request,
    services: Opened,
    link: Annotated[str, Query(max_length=MAX_LINK)] = "",
    seed: Annotated[int, Query(ge=0, le=9999)] = 0,
    sentence: Annotated[str, Query(max_length=MAX_SENTENCE)] = "",
    head: Annotated[int, Query(ge=0, le=MAX_HEAD)] = 0,
) -> HTMLResponse:
    """Show what a link leads to as tasks on paper, with an answer key.

    Of a link that leads to nothing, the page keeps what was asked, to be corrected.
    """
    problem, status = None, 200
    try:
        parameters = link, seed, sentence.strip(), head
        sheet = await worksheets.sheet_of(services, request, *parameters)
    except (InputError, ProblemError) as error:
        sheet, problem = Sheet(link=link, sentence=sentence), error.kind
        status = 422 if isinstance(error, InputError) else error.status_code
        if status not in (404, 410, 422):
            raise
    variables = {"sheet": sheet}
    return render(
        request, services, "worksheet.html", problem=problem, status=status, more=variables
    )

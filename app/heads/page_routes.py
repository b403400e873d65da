"""The pages about what heads do over many sentences."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from app.heads import pages as head_pages
from app.http.services import Opened

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@router.get("/heads/{model}")
async def heads_page(
    request: Request, services: Opened, model: str, corpus: str = ""
) -> HTMLResponse:
    """Show all heads of a model: a scatter of two measures, and a table."""
    return head_pages.overview(request, services, model, corpus)


@router.get("/heads/{model}/{place}/{head}")
async def head_page(
    request: Request, services: Opened, model: str, place: str, head: int, corpus: str = ""
) -> HTMLResponse:
    """Show a head: its patterns, examples, similar heads and a search."""
    return head_pages.head(request, services, model, place, head, corpus)

"""The pages of collections, and the window with the speaker's notes."""

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from fastapi.responses import HTMLResponse

from app.assets.templates import render
from app.collections import pages
from app.handouts.routes import Theme, download
from app.http.security import FOR_OTHERS
from app.http.services import Opened
from app.http.streaming import while_present

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

CollectionId = Annotated[str, Path(alias="id")]


@router.get("/c")
async def collections_page(request: Request, services: Opened) -> HTMLResponse:
    """List the collections that this browser can edit, and create one."""
    return pages.mine(request, services)


@router.get("/collections")
async def shelf_page(request: Request, services: Opened) -> HTMLResponse:
    """Show the shelf: collections that anyone can copy."""
    return await pages.shelf_page(request, services)


@router.get("/c/{id}")
async def collection_page(
    request: Request, services: Opened, collection_id: CollectionId
) -> HTMLResponse:
    """Show a collection."""
    return await pages.page(request, services, collection_id)


@router.get("/c/{id}/preview.png")
async def collection_preview(
    request: Request, services: Opened, collection_id: CollectionId
) -> Response:
    """Return a picture for link previews; other sites may embed it."""
    content = await pages.preview(request, services, collection_id)
    headers = {**FOR_OTHERS, "Cache-Control": "no-cache"}
    return Response(content, headers=headers, media_type="image/png")


@router.get("/c/{id}/handout.html")
async def collection_handout(
    request: Request, services: Opened, collection_id: CollectionId, theme: Theme = None
) -> Response:
    """Return the collection as one HTML file that opens without a network."""
    making = pages.handout(request, services, collection_id, theme)
    file, name = await while_present(request, making)
    return download(file, name)


@router.get("/speaker")
async def speaker_page(request: Request, services: Opened) -> HTMLResponse:
    """Show the speaker's notes of a lesson or a collection that another window presents."""
    return render(request, services, "speaker.html")

"""The pages; GET /api/qr, the code by which a phone opens one; and files for the browser.

The content at the address of a file never changes.
"""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse
from starlette.exceptions import HTTPException

from app.assets.bundles import bundle
from app.assets.languages import languages, messages, negotiate
from app.assets.qr import qr_code
from app.assets.static_files import FOREVER, Vendor, find_static
from app.assets.templates import render, static_digest
from app.http.file_formats import preferences
from app.http.replies import problems
from app.http.route_dependencies import Opened
from app.http.security import FOR_OTHERS, FRAMED
from app.http.tasks_and_caches import off_loop
from app.lessons import pages as lessons
from app.lessons.course import collections_of
from app.rooms import service as rooms
from app.runs.training_runs import Runs
from app.settings import Settings
from app.shares import service as sharing

PICTURES = "public, max-age=3600"  # a picture never changes, but its share may be deleted

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@router.get("/")
async def workspace(request: Request, services: Opened) -> HTMLResponse:
    """Show the workspace: type a sentence, see what every attention head looks at."""
    return render(request, services, "workspace.html")


@router.get("/lab")
async def lab_page(request: Request, services: Opened) -> HTMLResponse:
    """Show the lab: attention by hand, on the reader's own matrices."""
    return render(request, services, "lab.html")


@router.get("/zoo")
async def zoo_page(request: Request, services: Opened) -> HTMLResponse:
    """Show the zoo: small models of simple tasks, side by side."""
    return render(request, services, "zoo.html")


@router.get("/train")
async def train_page(request: Request, services: Opened) -> HTMLResponse:
    """Show training: watch a model learn."""
    services[Runs].check_on()
    return render(request, services, "train.html")


@router.get("/room")
async def rooms_page(request: Request, services: Opened, code: str = "") -> Response:
    """Show where to type the code of a room; with a code, go there."""
    return await rooms.door(request, services, code)


@router.get("/room/{code}")
async def room_page(
    request: Request, services: Opened, code: str, screen: bool = False
) -> HTMLResponse:
    """Show what a room presents; a screen has no controls."""
    return await rooms.page(request, services, code, screen=screen)


@router.get("/teach")
async def teach_page(request: Request, services: Opened) -> HTMLResponse:
    """Show where a teacher begins: choose, prepare, present, hand out, read the results."""
    lang = negotiate(request, languages())
    variables = {"plans": collections_of(lang), "listed": lessons.listed(request)}
    return render(request, services, "teach.html", more=variables)


@router.get("/teach/results")
async def results_page(request: Request, services: Opened) -> HTMLResponse:
    """Show what a class answered: in the browser that opened the room, or from a saved file."""
    return render(request, services, "results.html")


@router.get("/s/{id}")
async def share_page(
    request: Request, services: Opened, share_id: Annotated[str, Path(alias="id")]
) -> HTMLResponse:
    """Show a share in the workspace or the lab."""
    share = await sharing.find(services, share_id)
    card = await off_loop(sharing.card, share, size=len(share.trace))
    template = "lab.html" if "lab" in share.state else "workspace.html"
    return render(request, services, template, share=card)


@router.get("/s/{id}/preview.png")
async def share_preview(services: Opened, share_id: Annotated[str, Path(alias="id")]) -> Response:
    """Return a picture of the share's heatmap, for link previews; other sites may embed it."""
    headers = {**FOR_OTHERS, "Cache-Control": PICTURES}
    content = await sharing.picture(services, share_id)
    return Response(content, headers=headers, media_type="image/png")


@router.get("/embed/{id}")
async def embed_page(
    request: Request, services: Opened, share_id: Annotated[str, Path(alias="id")]
) -> HTMLResponse:
    """Show a share in a frame on another site; only this address can be framed."""
    share = await sharing.find(services, share_id)
    card = await off_loop(sharing.card, share, size=len(share.trace))
    template = "lab-embed.html" if "lab" in share.state else "embed.html"
    return render(request, services, template, share=card, headers=FRAMED)


@router.get("/docs")
async def api_docs(request: Request, services: Opened) -> HTMLResponse:
    """Show the API reference; not served on the internet."""
    if services[Settings].public:
        raise HTTPException(404)
    return render(request, services, "docs.html")


qr_router = APIRouter(tags=["links"])

MEDIA_TYPE = "image/svg+xml"


@qr_router.get(
    "/qr",
    summary="Make a QR code of a link",
    response_class=Response,
    responses={
        200: {
            "description": "The QR code.",
            "content": {MEDIA_TYPE: {"schema": {"type": "string"}}},
        },
        **problems(_422="Not a link, or too long."),
    },
)
async def qr(
    text: Annotated[str, Query(description="The link.", examples=["https://example.org/s/1"])],
) -> Response:
    """Return the code as SVG, dark on white with a quiet zone.

    The link must be http or https, with at most 2000 bytes.
    """
    content = await off_loop(qr_code, text)
    headers = {"Cache-Control": "private, max-age=86400"}
    return Response(content, headers=headers, media_type=MEDIA_TYPE)


static_router = APIRouter(include_in_schema=False)


@static_router.get("/static/{digest}/i18n/{lang}.json")
async def catalog(digest: str, lang: str) -> Response:
    """Return the messages of a language for the browser."""
    if lang not in languages():
        raise HTTPException(404)
    return JSONResponse(messages(lang), headers=_caching(digest, static_digest()))


@static_router.get("/static/{digest}/page/{name}")
async def page_bundle(request: Request, digest: str, name: str) -> Response:
    """Return all modules or all stylesheets of a page, as one file."""
    current = static_digest()
    script = await off_loop(bundle, name, current)
    if script is None:
        raise HTTPException(404)
    accepted = preferences(request.headers.get("accept-encoding", ""))
    content, encoding = await off_loop(script.encoded, accepted)
    headers = _caching(digest, current) | {"Vary": "Accept-Encoding"}
    if encoding:
        headers["Content-Encoding"] = encoding
    return Response(content, headers=headers, media_type=script.media_type)


@static_router.get("/static/{digest}/{path:path}")
async def static(digest: str, path: str) -> Response:
    """Return a file of `static/`."""
    file = find_static(path)
    if file is None:
        raise HTTPException(404)
    return FileResponse(file, headers=_caching(digest, static_digest()))


@static_router.get("/vendor/{digest}/{name}")
async def vendor(request: Request, services: Opened, digest: str, name: str) -> Response:
    """Return a file from a package, compressed ahead of time."""
    if name not in services[Vendor].sources:
        raise HTTPException(404)
    accepted = preferences(request.headers.get("accept-encoding", ""))
    path, encoding = services[Vendor].find(name, accepted)
    headers = _caching(digest, services[Vendor].digests[name]) | {"Vary": "Accept-Encoding"}
    if encoding:
        headers["Content-Encoding"] = encoding
    media_type = "text/css" if name.endswith(".css") else "text/javascript"
    return FileResponse(path, headers=headers, media_type=media_type)


def _caching(version: str, current: str) -> dict[str, str]:
    """Return cache headers: an address with an old digest is served, but must not be cached."""
    return {"Cache-Control": FOREVER if version == current else "no-cache"}

"""Files for the browser; the content at each address never changes."""

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, JSONResponse, Response
from starlette.exceptions import HTTPException

from app.assets.bundles import bundle
from app.assets.languages import languages, messages
from app.assets.static_files import FOREVER, Vendor, find_static
from app.assets.templates import static_digest
from app.http.file_formats import preferences
from app.http.route_dependencies import Opened
from app.http.tasks_and_caches import off_loop

router = APIRouter(include_in_schema=False)


@router.get("/static/{digest}/i18n/{lang}.json")
async def catalog(digest: str, lang: str) -> Response:
    """Return the messages of a language for the browser."""
    if lang not in languages():
        raise HTTPException(404)
    return JSONResponse(messages(lang), headers=_caching(digest, static_digest()))


@router.get("/static/{digest}/page/{name}")
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


@router.get("/static/{digest}/{path:path}")
async def static(digest: str, path: str) -> Response:
    """Return a file of `static/`."""
    file = find_static(path)
    if file is None:
        raise HTTPException(404)
    return FileResponse(file, headers=_caching(digest, static_digest()))


@router.get("/vendor/{digest}/{name}")
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

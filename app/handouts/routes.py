"""POST /api/handout and GET /s/{id}/handout.html: a page as one file to keep.

GET /s/{id}/runs shows that file of a share, with the model in it.
"""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response

from app.assets.languages import languages, negotiate
from app.assets.templates import base_url
from app.handouts import service as handouts
from app.handouts.handout_html import policy_of
from app.handouts.packing import CHARSET
from app.http.replies import run_problems, while_present
from app.http.route_dependencies import Opened, Services
from app.http.security import NOBODY
from app.shares import service as sharing
from app.shares.formats import Share
from app.shares.schemas import ShareRequest

router = APIRouter(tags=["shares"])

Theme = Annotated[
    Literal["light", "dark"] | None, Query(description="Absent: the reader's system theme.")
]
Runs = Annotated[
    bool,
    Query(
        description="With the model in the file, where it runs: some 21 MB, and minutes the first "
        "time. Only for models that can be exported (docs/exports.md)."
    ),
]
HTML: dict[int | str, dict[str, Any]] = {
    200: {"description": "One HTML file.", "content": {"text/html": {"schema": {"type": "string"}}}}
}


@router.post(
    "/api/handout",
    summary="Download the figure as one HTML file",
    response_class=Response,
    responses=HTML
    | run_problems(_507="The disk has no room for the model; `Retry-After` says when to retry."),
)
async def make_handout(
    request: Request, services: Opened, body: ShareRequest, theme: Theme = None, runs: Runs = False
) -> Response:
    """Return the page with every head's attention in one file that opens without a network.

    The body is the same as for a share. Of the replies to `asks`, the handout contains what its
    views draw, and of a long text the windows in `tiles`; `select` is ignored.
    """
    home = base_url(request, services)
    file = await while_present(request, handouts.create(services, body, home, theme, runs))
    return download(file, handouts.name(body.state.model_dump(), runs))


@router.get("/s/{id}/handout.html", include_in_schema=False)
async def share_handout(
    request: Request,
    services: Opened,
    share_id: Annotated[str, Path(alias="id")],
    theme: Theme = None,
    runs: Runs = False,
) -> Response:
    """Return the handout of a share, made of its frozen data."""
    share = await sharing.find(services, share_id)
    file = await _made_of(request, services, share, theme, runs)
    return download(file, handouts.name(share.state, runs))


@router.get("/s/{id}/runs", include_in_schema=False)
async def share_that_runs(
    request: Request,
    services: Opened,
    share_id: Annotated[str, Path(alias="id")],
    theme: Theme = None,
) -> Response:
    """Show a share with its model in the page, which may have gone from this server."""
    share = await sharing.find(services, share_id)
    file = await _made_of(request, services, share, theme, runs=True)
    headers = {
        "Content-Security-Policy": f"{policy_of(file)}; {NOBODY}",
        "Cache-Control": "no-cache",
    }
    return Response(file, headers=headers, media_type=f"text/html; charset={CHARSET}")


async def _made_of(
    request: Request, services: Services, share: Share, theme: Theme, runs: bool
) -> bytes:
    home, lang = base_url(request, services), negotiate(request, languages())
    making = handouts.of_share(services, share, home, lang, theme, runs)
    return await while_present(request, making)


def download(file: bytes, name: str) -> Response:
    """Return a handout as a file to save."""
    # Always downloaded, never displayed: its Content-Security-Policy is for a page on a disk.
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',
        "Cache-Control": "no-cache",
    }
    return Response(file, headers=headers, media_type=f"text/html; charset={CHARSET}")

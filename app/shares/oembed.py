"""GET /oembed: what another site needs to show a share that somebody pastes (oEmbed 1.0).

Learning platforms and notebooks find it by a `<link>` in the page of the share.
"""

import re
from typing import Annotated, Literal
from urllib.parse import urlsplit

from fastapi import APIRouter, Query, Request, Response
from markupsafe import escape
from pydantic import BaseModel, Field

from app.assets.templates import base_url
from app.http.problems import ProblemError
from app.http.replies import problems
from app.http.route_dependencies import Opened
from app.http.tasks_and_caches import off_loop
from app.shares import service as sharing

router = APIRouter(tags=["shares"])

SHARE = re.compile(r"(?P<root>.*)/(?:s|embed)/(?P<id>[0-9A-Za-z]{1,64})/?")
WIDTH, HEIGHT = 900, 600  # as in the share panel
PREVIEW = (1200, 630)
CACHED_SECONDS = 3600  # a share never changes, but may be deleted
MOST_CHARACTERS = 8_000  # of an address
TITLE = 100  # characters in the title of a frame

Side = Annotated[int, Query(ge=1, le=100_000)]


class OEmbedReply(BaseModel):
    """A share as a frame to embed."""

    type: Literal["rich"] = "rich"
    version: Literal["1.0"] = "1.0"
    title: str
    provider_name: str = "Headlight"
    provider_url: str
    cache_age: int = CACHED_SECONDS
    html: str = Field(description="An `<iframe>` of `/embed/{id}`.")
    width: int
    height: int
    thumbnail_url: str | None = Field(
        default=None, description="The picture of the share, if it fits the limits."
    )
    thumbnail_width: int | None = None
    thumbnail_height: int | None = None


@router.get(
    "/oembed",
    summary="Embed a share by its address",
    response_model_exclude_none=True,
    responses=problems(
        _404="The address is not that of a share of this server.",
        _410="The share is damaged.",
        _422="The address is too long, or a limit is not a number from 1.",
        _501="Only JSON is available.",
    ),
)
async def oembed(
    request: Request,
    response: Response,
    services: Opened,
    url: Annotated[
        str,
        Query(
            max_length=MOST_CHARACTERS,
            description="The address of a share's page; its other keys select what it opens on.",
            examples=["http://localhost:8000/s/23456789abcde?lang=en"],
        ),
    ],
    maxwidth: Side = WIDTH,
    maxheight: Side = HEIGHT,
    form: Annotated[str, Query(alias="format", max_length=20)] = "json",
) -> OEmbedReply:
    """Return a frame of at most the size that the other site has."""
    if form != "json":
        raise ProblemError(501, "not-acceptable", "format must be json", field="format")
    base = base_url(request, services)
    share_id, query = _share_of(url, {base, str(request.base_url).rstrip("/")})
    share = await sharing.find(services, share_id)
    card = await off_loop(sharing.card, share, size=len(share.trace))
    width, height = min(WIDTH, maxwidth), min(HEIGHT, maxheight)
    source = f"{base}/embed/{share.id}{f'?{query}' if query else ''}"
    html = (
        f'<iframe src="{escape(source)}" title="Headlight: {escape(card["title"][:TITLE])}" '
        f'width="{width}" height="{height}" loading="lazy"></iframe>'
    )
    response.headers["Cache-Control"] = f"public, max-age={CACHED_SECONDS}"
    reply = OEmbedReply(
        title=card["title"], provider_url=base, html=html, width=width, height=height
    )
    limits = {"maxwidth": PREVIEW[0], "maxheight": PREVIEW[1]}
    if all(int(request.query_params.get(name, side)) >= side for name, side in limits.items()):
        reply.thumbnail_url = f"{base}/s/{share.id}/preview.png"
        reply.thumbnail_width, reply.thumbnail_height = PREVIEW
    return reply


def _share_of(url: str, bases: set[str]) -> tuple[str, str]:
    """Return the id in an address of this server, and its query; 404 for any other address."""
    try:
        parts = urlsplit(url)
        match = SHARE.fullmatch(parts.path)
        hosts = {(host.netloc.lower(), host.path) for host in map(urlsplit, bases)}
        here = match and (parts.netloc.lower(), match["root"]) in hosts
        if match and here and parts.scheme in ("http", "https"):
            return match["id"], parts.query
    except ValueError:  # such as a broken address of IPv6
        pass
    raise ProblemError(404, "not-found", "url is not the address of a share here", field="url")

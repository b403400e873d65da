"""POST /api/shares, GET and DELETE /api/shares/{id}, the replies stored in a share; GET /oembed.

oEmbed 1.0 is what another site needs to show a share that somebody pastes. Learning platforms and
notebooks find it by a `<link>` in the page of the share.
"""

import re
from typing import Annotated, Literal
from urllib.parse import urlsplit

from fastapi import APIRouter, Header, Path, Query, Request, Response
from markupsafe import escape
from pydantic import BaseModel, Field

from app.assets.templates import base_url
from app.http.limits import CLIENT_HEADER, client_network
from app.http.problems import ProblemError
from app.http.replies import (
    DATABASE,
    NOT_ACCEPTABLE,
    in_both_forms,
    media_type,
    problems,
    reply,
    run_problems,
    while_present,
)
from app.http.request_fields import Whole
from app.http.route_dependencies import Opened
from app.http.tasks_and_caches import off_loop
from app.models import ExampleReply
from app.shares import creation as share_creation
from app.shares import service as sharing
from app.shares.schemas import ShareCreated, ShareReply, ShareRequest
from app.store.store import CreationRate
from app.traces.replies import ParametersReply, TraceReply
from app.traces.service import SweepReply

router = APIRouter(prefix="/shares", tags=["shares"])

ShareId = Annotated[str, Path(alias="id")]

READING = {
    **NOT_ACCEPTABLE,
    "_410": "The share is damaged.",
    "_501": "The share was written by a newer server, in an unknown format.",
}


@router.post(
    "",
    status_code=201,
    summary="Create a share",
    responses=run_problems(
        _429="Too many shares, or too much work; `Retry-After` says when to retry.",
        _507="There is no room; `Retry-After` says when to retry.",
    )
    | {200: {"model": ShareCreated, "description": "This client has made the same share before."}},
)
async def create_share(
    request: Request, response: Response, services: Opened, body: ShareRequest
) -> ShareCreated:
    """Run the state and the additional requests of its view, and freeze the results.

    The share is on disk before the reply is sent, and opens the same after the model has changed
    or been removed. The same request from the same client returns the same share, with status 200.
    """
    address = client_network(request)
    await services[CreationRate].count(address)
    maker = share_creation.Maker(address, request.headers.get(CLIENT_HEADER, ""))
    created = await while_present(request, share_creation.create(services, body, maker))
    if created.edit_key is None:
        response.status_code = 200
    path = request.app.url_path_for("share_page", id=created.id)
    response.headers["Location"] = request.app.url_path_for("share", id=created.id)
    return ShareCreated(
        id=created.id,
        url=base_url(request, services) + path,
        edit_key=created.edit_key,
        expires=created.expires.isoformat(timespec="seconds") if created.expires else None,
    )


@router.get(
    "/{id}",
    summary="Open a share",
    response_class=Response,
    responses=in_both_forms(ShareReply)
    | problems(_404="No such share.", _422="As JSON it would be too large.", **READING, **DATABASE),
)
async def share(request: Request, services: Opened, share_id: ShareId) -> Response:
    """Return the state, and the trace that was frozen when the share was created.

    In a safetensors file, the metadata has the share without its trace under `share`.
    """
    form = media_type(request)
    content = await sharing.encoded(services, share_id, form)
    return reply(content, form, "no-cache")


@router.delete(
    "/{id}",
    status_code=204,
    summary="Delete a share",
    response_class=Response,
    responses=problems(
        _403="The edit key does not match.",
        _404="No such share.",
        _422="The header `Edit-Key` is missing.",
        **DATABASE,
    ),
)
async def delete_share(
    services: Opened,
    share_id: ShareId,
    edit_key: Annotated[str, Header(alias="Edit-Key", description="From the reply to `POST`.")],
) -> Response:
    """Delete the share and its stored replies before the reply is sent."""
    await sharing.delete(services, share_id, edit_key)
    return Response(status_code=204)


@router.get(
    "/{id}/asks/{n}",
    summary="Read the reply to an additional request of a share",
    response_class=Response,
    responses=in_both_forms(TraceReply | ParametersReply | ExampleReply | SweepReply)
    | problems(
        _404="No such share, or it has no such request.",
        _422="n is not a number, or the reply would be too large as JSON.",
        **READING,
        **DATABASE,
    ),
)
async def share_answer(
    request: Request,
    services: Opened,
    share_id: ShareId,
    n: Annotated[Whole, Path(description="The request's index in `asks`, from 0.")],
) -> Response:
    """Return the frozen reply to one of the requests in `asks`."""
    form = media_type(request)
    content = await sharing.encoded_answer(services, share_id, n, form)
    return reply(content, form, "no-cache")


oembed_router = APIRouter(tags=["shares"])

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


@oembed_router.get(
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
    maxwidth: Side | None = None,
    maxheight: Side | None = None,
    form: Annotated[str, Query(alias="format", max_length=20)] = "json",
) -> OEmbedReply:
    """Return a frame of at most the size that the other site has."""
    if form != "json":
        raise ProblemError(501, "not-acceptable", "format must be json", field="format")
    base = base_url(request, services)
    share_id, query = _share_of(url, {base, str(request.base_url).rstrip("/")})
    share = await sharing.find(services, share_id)
    card = await off_loop(sharing.card, share, size=len(share.trace))
    width, height = min(WIDTH, maxwidth or WIDTH), min(HEIGHT, maxheight or HEIGHT)
    source = f"{base}/embed/{share.id}{f'?{query}' if query else ''}"
    html = (
        f'<iframe src="{escape(source)}" title="Headlight: {escape(card["title"][:TITLE])}" '
        f'width="{width}" height="{height}" loading="lazy"></iframe>'
    )
    response.headers["Cache-Control"] = f"public, max-age={CACHED_SECONDS}"
    reply = OEmbedReply(
        title=card["title"], provider_url=base, html=html, width=width, height=height
    )
    sides = zip((maxwidth, maxheight), PREVIEW, strict=True)
    if all(limit is None or limit >= side for limit, side in sides):
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

"""POST /api/shares, GET and DELETE /api/shares/{id}, and the replies stored in a share."""

from typing import Annotated

from fastapi import APIRouter, Header, Path, Request, Response

from app.assets.templates import base_url
from app.http.rate_limits import CLIENT_HEADER, client_network
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
from app.models.training_history import ExampleReply
from app.shares import creation as share_creation
from app.shares import service as sharing
from app.shares.schemas import ShareCreated, ShareReply, ShareRequest
from app.store.store import CreationRate
from app.traces.replies import ParametersReply, TraceReply
from app.traces.sweeps import SweepReply

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

"""POST /api/shares, GET and DELETE /api/shares/{id}, and the replies stored in a share."""

from typing import Annotated

from fastapi import APIRouter, Header, Path, Request, Response

from app.answers import share_creation
from app.answers import shares as sharing
from app.answers.pages import base_url
from app.answers.traces import while_present
from app.dependencies import CLIENT_HEADER, Opened
from app.http.rate_limits import client_network
from app.http.replies import in_both_forms, media_type, problems, reply, run_problems
from app.schemas.history import ExampleReply
from app.schemas.replies import ParametersReply, TraceReply
from app.schemas.shares import ShareCreated, ShareReply, ShareRequest

router = APIRouter(prefix="/shares", tags=["shares"])

ShareId = Annotated[str, Path(alias="id")]
READING = {
    "_406": "No available format is acceptable.",
    "_410": "The share is damaged.",
    "_501": "The share was written by a newer server, in a format not known here.",
}
DATABASE = {
    "_503": "The database cannot be used; `Retry-After` says when to retry.",
    "_507": "The database has no room left; `Retry-After` says when to retry.",
}


@router.post(
    "",
    status_code=201,
    summary="Save what is on the screen",
    responses=run_problems(
        _429="Too many shares, or too much work; `Retry-After` says when to retry.",
        _507="There is no room; `Retry-After` says when to retry.",
    )
    | {200: {"model": ShareCreated, "description": "This client has made the same share before."}},
)
async def create_share(
    request: Request, response: Response, services: Opened, body: ShareRequest
) -> ShareCreated:
    """The server runs the state and the additional requests of its view, and freezes the results.

    When the 201 arrives the share is on disk; it opens the same after the model has changed or been
    removed. The same request from the same client gets the same share, with status 200.
    """
    address = client_network(request)
    await services.sharing.count(address)
    maker = share_creation.Maker(address, request.headers.get(CLIENT_HEADER, ""))
    made = await while_present(request, share_creation.create(services, body, maker))
    if made.edit_key is None:
        response.status_code = 200
    path = request.app.url_path_for("share_page", id=made.id)
    response.headers["Location"] = request.app.url_path_for("share", id=made.id)
    response.headers["Cache-Control"] = "no-store"
    return ShareCreated(
        id=made.id,
        url=base_url(request, services) + path,
        edit_key=made.edit_key,
        expires=made.expires.isoformat(timespec="seconds") if made.expires else None,
    )


@router.get(
    "/{id}",
    summary="Open a share",
    response_class=Response,
    responses=in_both_forms(ShareReply)
    | problems(_404="No such share.", _422="As JSON it would be too large.", **READING, **DATABASE),
)
async def share(request: Request, services: Opened, share_id: ShareId) -> Response:
    """The state, and the trace frozen when the share was created.

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
        _403="Wrong edit key for this share.",
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
    """When the 204 arrives, the share and its stored replies are deleted."""
    await sharing.delete(services, share_id, edit_key)
    return Response(status_code=204)


@router.get(
    "/{id}/asks/{n}",
    summary="What a share's view requested in addition",
    response_class=Response,
    responses=in_both_forms(TraceReply | ParametersReply | ExampleReply)
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
    n: Annotated[int, Path(description="The request's index in `asks`, from 0.")],
) -> Response:
    """The frozen reply to one of the requests in `asks`."""
    form = media_type(request)
    content = await sharing.encoded_answer(services, share_id, n, form)
    return reply(content, form, "no-cache")

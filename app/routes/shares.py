"""POST /api/shares, GET /api/shares/{id} and the answers that it holds."""

from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Path, Request, Response

from app.answers import shares as sharing
from app.answers.pages import base_url
from app.answers.traces import while_present
from app.http.replies import in_both_forms, media_type, problems, reply, run_problems
from app.schemas.history import ExampleReply
from app.schemas.replies import ParametersReply, TraceReply
from app.schemas.shares import ShareCreated, ShareReply, ShareRequest
from app.services import Opened

router = APIRouter(prefix="/shares", tags=["shares"])


@router.post(
    "",
    status_code=201,
    summary="Keep what is on the screen",
    responses=run_problems(
        _429="Too many shares in a minute; `Retry-After` says when to come back."
    ),
)
async def create_share(
    request: Request, response: Response, services: Opened, body: ShareRequest
) -> ShareCreated:
    """The server runs the state, and what else the view asked, and freezes what it saw.

    When the 201 arrives the share is on the disk; it opens the same when the model has changed or
    gone.
    """
    services.sharing.count(request.client.host if request.client else "")
    share = await while_present(request, sharing.create(services, body))
    path = request.app.url_path_for("share_page", id=share.id)
    response.headers["Location"] = request.app.url_path_for("share", id=share.id)
    return ShareCreated(id=share.id, url=base_url(request, services) + path)


@router.get(
    "/{id}",
    summary="Open a share",
    response_class=Response,
    responses=in_both_forms(ShareReply)
    | problems(_404="No such share.", _406="Neither form is acceptable."),
)
async def share(
    request: Request, services: Opened, share_id: Annotated[str, Path(alias="id")]
) -> Response:
    """The state, and what was seen when the share was made.

    As a safetensors file, the metadata holds the share without its trace under `share`.
    """
    form = media_type(request)
    found = await sharing.find(services, share_id)
    content = await to_thread.run_sync(sharing.encode, found, form)
    return reply(content, form, "no-cache")


@router.get(
    "/{id}/asks/{n}",
    summary="What a share's view asked besides",
    response_class=Response,
    responses=in_both_forms(TraceReply | ParametersReply | ExampleReply)
    | problems(
        _404="No such share, or no such question in it.",
        _406="Neither form is acceptable.",
        _422="n is not a number.",
    ),
)
async def share_answer(
    request: Request,
    services: Opened,
    share_id: Annotated[str, Path(alias="id")],
    n: Annotated[int, Path(description="The question's place in `asks`, from 0.")],
) -> Response:
    """The frozen answer to one of the questions in `asks`."""
    form = media_type(request)
    found = await sharing.find_answer(services, share_id, n)
    content = await to_thread.run_sync(sharing.encode_answer, found, form)
    return reply(content, form, "no-cache")

"""/api/collections: create, read, change and delete; /api/links: what a link shows; the pages."""

from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Query, Request, Response
from fastapi.responses import HTMLResponse

from app.assets.languages import languages, negotiate
from app.assets.qti import QTI_FILE, qti_reply
from app.assets.templates import render
from app.collections import link_previews, pages, shelf
from app.collections import service as collections
from app.collections.schemas import (
    CollectionCreated,
    CollectionReply,
    CollectionRequest,
    LinkReply,
    Listing,
    ShelfReply,
)
from app.handouts.routes import Theme, download
from app.http.limits import CLIENT_HEADER, client_network
from app.http.replies import DATABASE, ENGINE, JSON_BODY, problems, while_present
from app.http.route_dependencies import Opened
from app.http.security import FOR_OTHERS
from app.lab import MAX_LINK
from app.settings import Settings
from app.store.store import CreationRate

router = APIRouter(tags=["collections"])

CollectionId = Annotated[str, Path(alias="id")]
EditKey = Annotated[str, Header(alias="Edit-Key", description="From the reply to `POST`.")]
Asked = Annotated[
    str, Query(min_length=1, max_length=MAX_LINK, description="A link to this server.")
]
STORED = {"_410": "What is stored is damaged.", **DATABASE}
BODY = {
    **JSON_BODY,
    "_422": "A field is not valid, or a link leads nowhere; `detail` says which.",
    "_429": "Too many in a short time; `Retry-After` says when to retry.",
}
MINE = {"_403": "The edit key does not match.", "_404": "No such collection."}
PICTURE = {"image/png": {"schema": {"type": "string", "format": "binary"}}}
PNG: dict[int | str, dict[str, Any]] = {
    200: {"description": "A picture of the weights, 960 × 600.", "content": PICTURE}
}


@router.post(
    "/collections",
    status_code=201,
    summary="Create a collection",
    responses=problems(**BODY, **STORED)
    | {200: {"model": CollectionCreated, "description": "This client has just made the same."}},
)
async def create_collection(
    request: Request, response: Response, services: Opened, body: CollectionRequest
) -> CollectionCreated:
    """Store an ordered list of links with notes. It is on disk before the reply is sent.

    The same request from the same client returns the same collection and edit key, with status 200,
    until the collection is changed. A client is known by its header `Headlight-Client`, a random
    text; without it every request creates a collection.
    """
    address = client_network(request)
    await services[CreationRate].count(address)
    token = request.headers.get(CLIENT_HEADER, "")
    collection, new = await collections.create(services, request, body, address, token)
    if not new:
        response.status_code = 200
    response.headers["Location"] = request.app.url_path_for("collection", id=collection.id)
    return collection


@router.get(
    "/collections/{id}",
    summary="Read a collection",
    responses=problems(**MINE, **STORED),
)
async def collection(
    request: Request,
    response: Response,
    services: Opened,
    collection_id: CollectionId,
    edit_key: Annotated[
        str | None, Header(alias="Edit-Key", description="For private notes and questions.")
    ] = None,
) -> CollectionReply:
    """Return the title, the note and the items. The ETag names the version.

    With the edit key, items have private notes, minutes and prepared questions as well.
    """
    document = await collections.find(services, collection_id)
    owner = await collections.owns(services, collection_id, edit_key)
    response.headers["ETag"] = f'"{document.version}"'
    response.headers["Cache-Control"] = "no-store" if owner else "no-cache"
    return collections.reply(services, request, document, owner=owner)


@router.get(
    "/collections/{id}/questions.zip",
    summary="Download the prepared questions",
    response_class=Response,
    responses=QTI_FILE | problems(**MINE, _422="The header `Edit-Key` is missing.", **STORED),
)
async def collection_questions(
    request: Request, services: Opened, collection_id: CollectionId, edit_key: EditKey
) -> Response:
    """Return the prepared questions as a QTI 2.1 package, given the edit key."""
    content = await collections.qti(services, request, collection_id, edit_key)
    return qti_reply(content, collection_id.lower())


@router.put(
    "/collections/{id}",
    summary="Change a collection",
    responses=problems(**BODY, **MINE, **STORED, _412="The collection has changed."),
)
async def change_collection(
    request: Request,
    response: Response,
    services: Opened,
    collection_id: CollectionId,
    body: CollectionRequest,
    edit_key: EditKey,
    if_match: Annotated[
        str, Header(alias="If-Match", description="The ETag of what is replaced; `*`: anything.")
    ],
) -> CollectionReply:
    """Replace the title, the note and the items; nothing is changed unless `If-Match` matches."""
    await services[CreationRate].count(client_network(request))
    version = collections.version_of(if_match)
    changed = await collections.change(services, request, collection_id, body, edit_key, version)
    response.headers["ETag"] = f'"{changed.version}"'
    return collections.reply(services, request, changed, owner=True)


@router.delete(
    "/collections/{id}",
    status_code=204,
    summary="Delete a collection",
    response_class=Response,
    responses=problems(**MINE, _422="The header `Edit-Key` is missing.", **STORED),
)
async def delete_collection(
    services: Opened, collection_id: CollectionId, edit_key: EditKey
) -> Response:
    """Delete the collection. The shares that it lists are not deleted."""
    await collections.delete(services, collection_id, edit_key)
    return Response(status_code=204)


@router.post(
    "/collections/{id}/copies",
    status_code=201,
    summary="Copy a collection",
    responses=problems(
        _403="The edit key does not match.",
        _404="No such collection.",
        _429="Too many in a short time; `Retry-After` says when to retry.",
        **STORED,
    )
    | {200: {"model": CollectionCreated, "description": "This client has just made the same."}},
)
async def copy_collection(
    request: Request,
    response: Response,
    services: Opened,
    collection_id: CollectionId,
    edit_key: Annotated[
        str | None, Header(alias="Edit-Key", description="For a copy with private notes.")
    ] = None,
) -> CollectionCreated:
    """Make a collection of one's own of another; it names its origin.

    `id` may be the name of a collection on the shelf. The copy has what a reader can see; of a
    collection on the shelf, its minutes and questions as well.
    """
    await services[CreationRate].count(client_network(request))
    token = request.headers.get(CLIENT_HEADER, "")
    created, new = await shelf.copy(services, request, collection_id, edit_key, token)
    if not new:
        response.status_code = 200
    response.headers["Location"] = request.app.url_path_for("collection", id=created.id)
    return created


@router.put(
    "/collections/{id}/listing",
    status_code=204,
    summary="List a collection",
    response_class=Response,
    responses=problems(
        **JSON_BODY,
        _403="The edit key does not match, or the collection may not be listed.",
        _404="No such collection.",
        _409="As many collections of the author are listed as can be.",
        _422="A field is not valid, or the header `Edit-Key` is missing.",
        _429="Too many in a short time; `Retry-After` says when to retry.",
        **STORED,
    ),
)
async def list_collection(
    request: Request,
    services: Opened,
    collection_id: CollectionId,
    body: Listing,
    edit_key: EditKey,
) -> Response:
    """Put the collection on the shelf of this server, where anyone can copy it.

    Its title, note, minutes and questions with their answers are then known to all; private notes
    are not.
    """
    await services[CreationRate].count(client_network(request))
    await shelf.list_it(services, collection_id, edit_key, body)
    return Response(status_code=204)


@router.delete(
    "/collections/{id}/listing",
    status_code=204,
    summary="Take a collection off the shelf",
    response_class=Response,
    responses=problems(**MINE, _422="The header `Edit-Key` is missing.", **STORED),
)
async def unlist_collection(
    services: Opened, collection_id: CollectionId, edit_key: EditKey
) -> Response:
    """Take the collection off the shelf. Copies stay with those who made them."""
    await shelf.unlist(services, collection_id, edit_key)
    return Response(status_code=204)


@router.get("/shelf", summary="List collections to copy", responses=problems(**DATABASE))
async def shelf_entries(request: Request, response: Response, services: Opened) -> ShelfReply:
    """Return the collections that come with Headlight and those that are listed on this server.

    Texts of those that come with Headlight are in the reader's language. Of the others, the hundred
    that were changed last are returned.
    """
    response.headers["Vary"] = "Accept-Language, Cookie"
    entries = await shelf.shelf(request, services)
    return ShelfReply(collections=entries, listing=services[Settings].list_collections)


@router.get(
    "/links",
    summary="Say what a link shows",
    responses=problems(_422="It is not a link to something on this server.", **STORED),
)
async def link(request: Request, services: Opened, link: Asked) -> LinkReply:
    """Return the title and the place of what a link of this server shows, and its one form."""
    target = await link_previews.target(services, request, link, "link")
    return await link_previews.describe(services, target, negotiate(request, languages()))


@router.get(
    "/links/picture",
    summary="Draw what a link shows",
    response_class=Response,
    responses=PNG
    | problems(
        _404="There is nothing to draw.",
        _410="The share is damaged.",
        _422="It is not a link to something on this server, or it cannot be run.",
        _501="The share was written by a newer server.",
        _507="There is no room; `Retry-After` says when to retry.",
        **ENGINE,
    ),
)
async def link_picture(request: Request, services: Opened, link: Asked) -> Response:
    """Return the heatmap at a link, for a page that shows the link itself on request."""
    lang = negotiate(request, languages())
    target = await link_previews.target(services, request, link, "link")
    content = await link_previews.picture(services, target, lang)
    headers = {"Cache-Control": "no-cache", "Vary": "Accept-Language, Cookie"}
    return Response(content, headers=headers, media_type="image/png")


page_router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@page_router.get("/c")
async def collections_page(request: Request, services: Opened) -> HTMLResponse:
    """List the collections that this browser can edit, and create one."""
    return pages.mine(request, services)


@page_router.get("/collections")
async def shelf_page(request: Request, services: Opened) -> HTMLResponse:
    """Show the shelf: collections that anyone can copy."""
    return await pages.shelf_page(request, services)


@page_router.get("/c/{id}")
async def collection_page(
    request: Request, services: Opened, collection_id: CollectionId
) -> HTMLResponse:
    """Show a collection."""
    return await pages.page(request, services, collection_id)


@page_router.get("/c/{id}/preview.png")
async def collection_preview(
    request: Request, services: Opened, collection_id: CollectionId
) -> Response:
    """Return a picture for link previews; other sites may embed it."""
    content = await pages.preview(request, services, collection_id)
    headers = {**FOR_OTHERS, "Cache-Control": "no-cache"}
    return Response(content, headers=headers, media_type="image/png")


@page_router.get("/c/{id}/handout.html")
async def collection_handout(
    request: Request, services: Opened, collection_id: CollectionId, theme: Theme = None
) -> Response:
    """Return the collection as one HTML file that opens without a network."""
    making = pages.handout(request, services, collection_id, theme)
    file, name = await while_present(request, making)
    return download(file, name)


@page_router.get("/speaker")
async def speaker_page(request: Request, services: Opened) -> HTMLResponse:
    """Show the speaker's notes of a lesson or a collection that another window presents."""
    return render(request, services, "speaker-notes.html")

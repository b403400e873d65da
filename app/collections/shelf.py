"""The shelf: collections that anyone can use, those that come with Headlight and those listed here.

A copy belongs to whoever makes it and names its origin. Of a listed collection it has the minutes
and the questions, but not the private notes.
"""

from collections.abc import Mapping
from typing import Any

from fastapi import Request

from app.assets.languages import languages, negotiate
from app.collections import service as collections
from app.collections.schemas import CollectionCreated, Listing, ShelfEntry, ShelfItem
from app.collections.shipped_collections import ready_collections
from app.collections.store import Collection, Collections
from app.figures.links import parse_link
from app.http.problems import ProblemError
from app.http.rate_limits import client_network
from app.http.route_dependencies import Services
from app.http.tasks_and_caches import ByteCache, off_loop
from app.lessons import service as lessons
from app.lessons.quoted_numbers import lessons as all_lessons
from app.settings import Settings
from app.store.storage_errors import DamagedError
from model.errors import Excess

MAX_SHOWN = 100  # listed collections, those that were changed last
MAX_BY_ADDRESS = 20  # listed collections of one author
SHELF = "/collections"


async def shelf(request: Request, services: Services) -> list[ShelfEntry]:
    """Return what is on the shelf: what comes with Headlight first, then the newest."""
    lang = negotiate(request, languages())
    return [*_ready(lang), *await _listed(services)]


def _ready(lang: str) -> list[ShelfEntry]:
    entries = []
    minutes_of = {lesson.slug: lesson for lesson in all_lessons()}
    for slug, collection in ready_collections().items():
        document = collection.document(slug, lang)
        title = minutes_of[slug].document(lang).title
        entry = _entry(slug, document, languages(), f"{SHELF}#{slug}")
        items = [
            ShelfItem(
                title=item["title"]
                or lessons.says(slug, written.figure, lang, live=False).striptags(),
                minutes=item["minutes"],
                questions=[question["ask"]["words"] for question in item.get("questions", [])],
            )
            for item, written in zip(document["items"], collection.items, strict=True)
        ]
        entries.append(entry.model_copy(update={"items": items, "lesson": title}))
    return entries


async def _listed(services: Services) -> list[ShelfEntry]:
    """Return the listed collections; those that are damaged are left out."""
    if not services[Settings].list_collections:
        return []
    entries = []
    for name, version, listing in await services[Collections].listed(MAX_SHOWN):

        async def make(name: str = name) -> bytes:
            return await off_loop(_summary, await collections.find(services, name))

        try:
            summary = await services[ByteCache].find(("shelf", name, version, listing), make)
        except (DamagedError, ProblemError):
            continue
        entries.append(ShelfEntry.model_validate_json(summary))
    return entries


def _summary(collection: Collection) -> bytes:
    link = f"/c/{collection.id}"
    entry = _entry(collection.id, collection.document, collection.languages, link)
    return entry.model_dump_json().encode()


def _entry(
    name: str, document: Mapping[str, Any], named_languages: list[Any], link: str
) -> ShelfEntry:
    items = document["items"]
    return ShelfEntry(
        id=name,
        title=document["title"],
        note=document["note"],
        languages=named_languages,
        minutes=sum(item.get("minutes") or 0 for item in items),
        figures=sum(map(_figures, items)),
        questions=sum(len(item.get("questions", [])) for item in items),
        origin=document.get("origin"),
        link=link,
    )


def _figures(item: Mapping[str, Any]) -> int:
    """Return how many figures an item has: a lesson has several."""
    target = parse_link(item["link"], "")
    if target is None or target.kind != "lesson":
        return 1
    try:
        return len(lessons.figures(target.lesson, "en"))
    except ProblemError:  # the lesson is no longer there
        return 0


async def list_it(services: Services, collection_id: str, edit_key: str, listing: Listing) -> None:
    """List a collection for a language or two. Raises ProblemError, also where that is refused."""
    if not services[Settings].list_collections:
        raise ProblemError(403, "listing-off", "this server lists no collections")
    named = " ".join(sorted(set(listing.languages)))
    refused = await services[Collections].list_it(collection_id, edit_key, named, MAX_BY_ADDRESS)
    if refused == "full":
        detail = f"at most {MAX_BY_ADDRESS} collections of one author can be listed"
        excess = Excess(MAX_BY_ADDRESS, "collections")
        raise ProblemError(409, "too-many-listed", detail, excess=excess)
    if refused == "withdrawn":
        detail = "the operator of the server has taken the collection off the shelf"
        raise ProblemError(403, "listing-withdrawn", detail)
    if refused:
        collections.refuse(refused)


async def unlist(services: Services, collection_id: str, edit_key: str) -> None:
    """Take a collection off the shelf. Raises ProblemError if there is none."""
    if refused := await services[Collections].unlist(collection_id, edit_key):
        collections.refuse(refused)


async def copy(
    services: Services, request: Request, name: str, edit_key: str | None, token: str
) -> tuple[CollectionCreated, bool]:
    """Copy a collection by its id, or one that comes with Headlight by its name.

    Return the reply and whether it is new. The copy is of what the reader can see; of a listed
    collection with its minutes and questions, and for its owner with everything. Raises
    ProblemError if there is none, and StorageError.
    """
    address = client_network(request)
    ready = ready_collections().get(name)
    if ready:
        document = ready.document(name, negotiate(request, languages()))
        origin = f"{SHELF}#{name}"
    else:
        collection = await collections.find(services, name)
        owner = await collections.owns(services, collection.id, edit_key)
        document = _for_others(collection, services) if not owner else collection.document
        origin = f"/c/{collection.id}"
    named = {"title": document["title"], "link": origin}
    return await collections.store(services, request, {**document, "origin": named}, address, token)


def _for_others(collection: Collection, services: Services) -> dict[str, Any]:
    listed = bool(collection.languages) and services[Settings].list_collections
    names = ("link", "title", "note", *(("minutes", "questions") if listed else ()))
    items = [
        {name: item[name] for name in names if name in item}
        for item in collection.document["items"]
    ]
    return {**collection.document, "items": items}

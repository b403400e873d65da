"""The page of a collection, its picture for link previews, and its handout."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from fastapi import Request
from fastapi.responses import HTMLResponse

from app.assets.languages import languages, negotiate
from app.assets.templates import base_url, render
from app.collections import link_previews, shelf
from app.collections import service as collections
from app.collections.service import Shown
from app.collections.store import Collection
from app.figures.figure_kinds import KINDS, HandoutContent, kind_of
from app.figures.links import Link
from app.figures.preview_picture import list_preview
from app.handouts import service as handouts
from app.handouts.handout_html import collection_handout
from app.http.problems import ProblemError
from app.http.route_dependencies import Services
from app.http.tasks_and_caches import LARGE, ByteCache, off_loop
from app.lessons import pages as lessons
from app.lessons.markdown import Figure, Part, Predict, Text, unlinked
from app.settings import Settings
from app.shares import service as sharing
from app.shares.store import Shares
from model.errors import InputError

WHAT_IF = "whatif"
CHANGES = ("interventions", "view", "effect")  # of a link
Item = tuple[Mapping[str, Any], HandoutContent | None]


def mine(request: Request, services: Services) -> HTMLResponse:
    """Return the page that lists the collections whose keys this browser has."""
    return render(request, services, "collections.html")


async def shelf_page(request: Request, services: Services) -> HTMLResponse:
    """Return the page of collections that anyone can use."""
    entries = await shelf.shelf(request, services)
    variables = {
        "ready": [entry for entry in entries if entry.items],
        "listed": [entry for entry in entries if not entry.items],
        "listing": services[Settings].list_collections,
    }
    return render(request, services, "shelf.html", more=variables)


async def page(
    request: Request,
    services: Services,
    collection_id: str,
    room: Mapping[str, Any] | None = None,
) -> HTMLResponse:
    """Return the page of a collection, which may be in a room.

    Raises a 404 ProblemError if there is none.
    """
    collection = await collections.find(services, collection_id)
    lang = negotiate(request, languages())
    items = await collections.shown(services, request, collection, lang)
    variables = {"collection": collection, "items": items, **(room or {})}
    variables |= {"listing": services[Settings].list_collections}
    return render(request, services, "collection.html", more=variables)


async def preview(request: Request, services: Services, collection_id: str) -> bytes:
    """Return the PNG for link previews: the title, and the picture of the first item."""
    collection = await collections.find(services, collection_id)
    items = await collections.shown(services, request, collection, "en")

    async def make() -> bytes:
        first = await _first_picture(services, items)
        titles = [(item.title or item.of.kind) for item in items]
        return await off_loop(list_preview, collection.document["title"], titles, first, size=LARGE)

    png: bytes = await services[ByteCache].find(
        ("collection", collection.id, collection.version), make
    )
    return png


async def handout(
    request: Request, services: Services, collection_id: str, theme: str | None
) -> tuple[bytes, str]:
    """Return the collection as one file, and the file's name.

    Links that no longer lead anywhere, or cannot be run, are in it without a figure.
    """
    collection = await collections.find(services, collection_id)
    lang, home = negotiate(request, languages()), base_url(request, services)
    items: list[Item] = []
    for item in await collections.shown(services, request, collection, lang):
        items += await _items(services, item, lang)
    content = {
        **_title_and_note(collection),
        "url": str(collections.reply(services, request, collection).url),
        "origin": collection.document.get("origin"),
    }
    file = await off_loop(collection_handout, content, items, lang, home, theme)
    return file, f"headlight-collection-{collection.id}.html"


def _title_and_note(collection: Collection) -> dict[str, Any]:
    return {"title": collection.document["title"], "note": collection.document["note"]}


async def _first_picture(services: Services, items: Sequence[Shown]) -> bytes | None:
    for item in items:
        if item.of.gone:
            continue
        try:
            return await link_previews.picture(services, item.target, "en")
        except (InputError, ProblemError):
            continue
    return None


async def _items(services: Services, item: Shown, lang: str) -> list[Item]:
    """Return an item of a handout; a lesson as one item for each of its parts."""
    words = item.says(lang, live=False)
    texts = {"title": item.title, "note": item.note, "says": words, "link": item.of.link}
    if item.of.gone:
        return [({**texts, "gone": True}, None)]
    if item.of.kind == "figure" and not item.of.share:
        figure_texts, figure = await _figure(services, item, lang)
        return [({**texts, **figure_texts}, figure)]
    if item.of.kind != "lesson":
        about = {"about": item.of.options.get("about", "")}
        return [
            (
                {**texts, **about, **await _author_texts(services, item)},
                await _data(services, item, lang),
            )
        ]
    return [
        (texts, None),
        *[await _part(services, item, part, lang) for part in _parts(item, lang)],
    ]


def _parts(item: Shown, lang: str) -> Sequence[Part]:
    return lessons.find(item.target.lesson).document(lang).parts


async def _part(services: Services, item: Shown, part: Part, lang: str) -> Item:
    """Return a part of a lesson: its prose, a question with what is learned from it, a figure."""
    texts = {"title": "", "note": "", "says": "", "link": item.of.link}
    if isinstance(part, Text):
        return {**texts, "text": unlinked(part.html)}, None
    if isinstance(part, Predict):
        texts["link"] += f"#question-{part.block.number}"
        return {**texts, "question": unlinked(part.question), "why": unlinked(part.why)}, None
    texts |= {"link": f"{item.of.link}#figure-{part.block.number}", "says": unlinked(part.caption)}
    figure_texts, figure = await _of_lesson(services, part, part.block.pictured, lang)
    return {**texts, **figure_texts}, figure


async def _figure(services: Services, item: Shown, lang: str) -> Item:
    """Return a figure of a lesson in the state of its link, if that can be in a file."""
    figure = lessons.figures(item.target.lesson, lang)[item.target.figure - 1]
    stated = item.target.shows and item.of.fits
    link = Link(item.of.page, item.of.query) if stated else figure.block.pictured
    if not item.of.picture and not figure.still:  # a training run without a snapshot
        link = figure.block.pictured
    texts, figure_shown = await _of_lesson(services, figure, link, lang)
    remark = {"remark": "state"} if stated and texts["still"] else {}
    return {**texts, **remark, "fits": item.of.fits}, figure_shown


async def _of_lesson(services: Services, figure: Figure, link: Link, lang: str) -> Item:
    """Return a figure of a lesson with the numbers of a link, or else with its table.

    `remark` names what is in its place.
    """
    kind = kind_of(link)
    still = figure.still if kind in ("formula", "zoo") else ""
    texts = {"about": figure.block.options.get("about", ""), "still": still}
    if kind == "pairing":
        texts["remark"] = "matrix"
    if figure.block.link.page == "train" and link.page != "train":
        texts["remark"] = "run"
    if link.state.get("view") == WHAT_IF:
        link, texts["remark"] = _unchanged(link), "unchanged"
    return texts, None if still else await _run(services, link, lang)


def _unchanged(link: Link) -> Link:
    """Return a link without its changes, whose effects no handout shows.

    A head that is off would be an empty matrix.
    """
    state = {name: value for name, value in link.state.items() if name not in CHANGES}
    return Link(link.page, urlencode(state))


async def _author_texts(services: Services, item: Shown) -> dict[str, str]:
    """Return what a share's author wrote, and the remark on a link whose changes are left out."""
    if item.of.share:
        _, about = await services[Shares].brief(item.of.share) or ({}, {})
        return {
            "note": item.note or about.get("note", ""),
            "question": about.get("question", ""),
            "why": about.get("answer", ""),
        }
    changed = item.of.kind == "workspace" and _link(item).state.get("view") == WHAT_IF
    return {"remark": "unchanged"} if changed else {}


async def _data(services: Services, item: Shown, lang: str) -> HandoutContent | None:
    if item.of.share:
        share = await sharing.find(services, item.of.share)
        return await handouts.of_kept(services, share, lang)
    link = _link(item)
    return await _run(
        services, _unchanged(link) if link.state.get("view") == WHAT_IF else link, lang
    )


def _link(item: Shown) -> Link:
    fragment = f"&{item.target.fragment}" if item.of.kind == "workspace" else ""
    return Link(item.of.page, (item.of.query + fragment).strip("&"))


async def _run(services: Services, link: Link, lang: str) -> HandoutContent | None:
    """Run a link; without a figure if the link cannot be read, or compares models of the zoo."""
    kind = KINDS[link.page]
    try:
        if kind.content is not None:
            return await kind.content(services, link)
        if kind.state is None:
            return None
        return await handouts.run_state(services, kind.state(services, link, lang))
    except (InputError, ProblemError):
        return None

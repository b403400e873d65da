"""What links of this server show: their titles and their pictures."""

from fastapi import Request

from app.assets.templates import base_url
from app.collections.schemas import LinkReply
from app.figures import figure_kinds
from app.figures.heatmap import still
from app.figures.links import Asked, Link, Target, parse_link
from app.figures.preview_picture import sentence
from app.figures.sentence_figures import heatmap_of
from app.http.problems import ProblemError
from app.http.route_dependencies import Services
from app.http.tasks_and_caches import LARGE, ByteCache, off_loop
from app.lessons import pages as lessons
from app.lessons.markdown import Document, plain
from app.runs.training_runs import Runs
from app.shares import service as sharing
from app.shares.formats import Share
from app.shares.store import Shares
from model.errors import InputError

SHOWN = (
    "a link of this server to a sentence (/?source=…), to attention by hand (/lab?…), to a share "
    "(/s/…), or to a lesson or one of its figures (/learn/…#figure-1)"
)


async def target(services: Services, request: Request, text: str, field: str) -> Target:
    """Return what a link shows. Raises InputError if it is not a link to something that exists."""
    return (await _found(services, request, text, field))[0]


async def fitting(services: Services, request: Request, text: str, field: str) -> Target:
    """Return what a link shows.

    Raises InputError as `target` does, and for a state that is not one of the lesson's figure.
    """
    target, description = await _found(services, request, text, field)
    if not description.fits:
        detail = f"{field}: shows is not a state of this figure"
        raise InputError("not-a-state", field, detail)
    return target


async def _found(
    services: Services, request: Request, text: str, field: str
) -> tuple[Target, LinkReply]:
    target = parse_link(text, base_url(request, services))
    if target is None:
        raise InputError("not-a-link", field, f"{field} must be {SHOWN}")
    description = await describe(services, target, "en")
    if description.gone:
        raise InputError("not-a-link", field, f"{field} leads to something that is not there")
    return target, description


async def describe(services: Services, of: Target, lang: str) -> LinkReply:
    """Return what a link shows, in a language; `gone` if it is no longer there."""
    fields: dict[str, object] = {
        "link": of.link,
        "kind": of.kind,
        "share": of.share,
        "says": "",
        "title": "",
    }
    fields |= {"page": "workspace", "query": of.query, "gone": False}
    if of.kind == "workspace":
        fields["title"] = Link("workspace", f"{of.query}&{of.fragment}").state.get("source", "")
    if of.kind == "lab":
        fields["page"] = "lab"
    if of.kind in ("lesson", "figure"):
        fields |= _in_lesson(services, of, lang)
    if of.share and not fields["gone"]:
        fields |= await _shared(services, of, str(fields["title"]))
    return LinkReply.model_validate(fields)


def _in_lesson(services: Services, of: Target, lang: str) -> dict[str, object]:
    try:
        document = lessons.find(of.lesson).document(lang)
        figures = lessons.figures(of.lesson, lang)
    except ProblemError:
        return {"page": "lesson", "gone": True}
    fields: dict[str, object] = {
        "title": document.title,
        "says": document.claim.striptags(),
        "page": "lesson",
    }
    if of.kind == "lesson":
        return {**fields, "questions": _questions(document)}
    if not 1 <= of.figure <= len(figures):
        return {**fields, "gone": True}
    block = figures[of.figure - 1].block
    block_link = block.shown(services[Runs].on)
    link = figure_kinds.in_state(services, block_link, of.shows) if of.shows else block_link
    fields |= {"fits": link is not None, "options": block.options}
    link_shown = link or block_link
    fields |= {"page": block_link.page, "query": link_shown.query}
    has_picture = figure_kinds.has_picture(services, link_shown) and (
        link_shown != block_link or not block.still
    )
    fields["picture"] = bool(of.share) or has_picture
    return {**fields, "says": lessons.says(of.lesson, of.figure, lang, live=True).striptags()}


def _questions(document: Document) -> list[Asked]:
    return [
        Asked.model_validate(
            {name: value for name, value in part.block.fields.items() if name in Asked.model_fields}
            | {"kind": part.block.kind, "words": plain(part.question)}
            | {"link": part.block.link.query, "page": part.block.link.page},
            strict=False,
        )
        for part in lessons.taken(document)
    ]


async def _shared(services: Services, of: Target, title: str) -> dict[str, object]:
    share = await services[Shares].brief(of.share)
    if share is None:
        return {"gone": True}
    state, about = share
    by_hand = "lab" in state
    named = about.get("title") or ("" if by_hand else sentence(state))
    fields: dict[str, object] = {
        "page": "lab" if by_hand else "workspace",
        "title": named or title,
    }
    if of.kind == "figure":
        fields["query"] = ""
    elif "predict" in about:
        fields["questions"] = [Asked(kind=about["predict"], link="", share=of.share)]
    return fields


async def picture(services: Services, of: Target, lang: str) -> bytes:
    """Return the PNG of a link's weights. Raises a 404 ProblemError, and what `run` raises."""
    if of.share:
        share = await sharing.find(services, of.share)

        async def make() -> bytes:
            return await off_loop(_still_of, share, size=LARGE)

        png: bytes = await services[ByteCache].find(("still", share.id), make)
        return png
    if of.kind in ("lesson", "figure"):
        return await _of_lesson(services, of, lang)
    page = "lab" if of.kind == "lab" else "workspace"
    return await figure_kinds.picture(services, Link(page, f"{of.query}&{of.fragment}".strip("&")))


async def _of_lesson(services: Services, of: Target, lang: str) -> bytes:
    if of.shows:
        description = await describe(services, of, lang)
        link = Link(description.page, description.query)
        if description.fits and description.picture:
            return await figure_kinds.picture(services, link)
    return await lessons.picture(services, of.lesson, of.figure, lang)


def _still_of(share: Share) -> bytes:
    heatmap = heatmap_of(share.state, share.model, sharing.thaw(share.trace))
    return still(heatmap.hidden() if "predict" in (share.about or {}) else heatmap)

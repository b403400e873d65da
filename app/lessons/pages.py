"""The pages of lessons, and pictures of their figures."""

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from app.assets.languages import languages, negotiate
from app.assets.templates import render
from app.engine.model_listing import Listing
from app.figures import figure_kinds
from app.figures.links import Link
from app.http.problems import ProblemError
from app.http.route_dependencies import Opened, Services
from app.lessons.course import Lesson, bringing, lessons, plan, short_lesson
from app.lessons.inventory import inventory
from app.lessons.markdown import Document, Figure, Predict, meaning, unlinked
from app.lessons.markdown_extensions import Block


def contents(request: Request, services: Services) -> HTMLResponse:
    """Return the table of contents in the reader's language."""
    variables = contents_variables(negotiate(request, languages()))
    variables["lesson_url"] = partial(_lesson_url, request)
    return render(request, services, "learn.html", more=variables)


def contents_variables(lang: str) -> dict[str, Any]:
    """Return what the table of contents has in a language."""
    short = short_lesson()
    brief = {"lesson": short, "document": short.document(lang)}
    return {"listed": listed_in(lang), "short": brief}


def _lesson_url(request: Request, lesson: Lesson) -> str:
    lang = negotiate(request, languages())
    return f"{request.app.url_path_for('lesson_page', lesson=lesson.slug)}?lang={lang}"


def lacks(services: Services, block: Block, link: Link) -> str:
    """Return the model that a block's link names and this server does not have, or ""."""
    name = link.state.get("model") or ""
    return name if link.page == "workspace" and name not in {"", *services[Listing]} else ""


def listed(request: Request) -> list[dict[str, Any]]:
    """Return all lessons in the reader's language, with their questions in all and to take."""
    return listed_in(negotiate(request, languages()))


def listed_in(lang: str) -> list[dict[str, Any]]:
    """Return all lessons in a language, with their questions in all and to take."""
    documents = [(lesson, lesson.document(lang)) for lesson in lessons()]
    return [
        {
            "lesson": lesson,
            "document": document,
            "questions": sum(isinstance(part, Predict) for part in document.parts),
            "taken": len(taken(document)),
        }
        for lesson, document in documents
    ]


def taken(document: Document) -> list[Predict]:
    """Return the questions that can be asked outside of their lesson: those about one model."""
    questions = (part for part in document.parts if isinstance(part, Predict))
    return [part for part in questions if part.block.link.page != "zoo"]


def page(
    request: Request, services: Services, slug: str, room: Mapping[str, Any] | None = None
) -> HTMLResponse:
    """Return the page of a lesson, which may be in a room.

    Raises a 404 ProblemError if there is none.
    """
    lang, lesson = negotiate(request, languages()), find(slug)
    variables = lesson_variables(lesson, lang)
    variables["lacks"] = partial(lacks, services)
    variables["lesson_url"] = partial(_lesson_url, request)
    variables["open_url"] = lambda link: f"{link.path}?{link.query}&lang={lang}"
    variables |= {"items": [] if room else inventory().moved_by(slug), **(room or {})}
    return render(request, services, "lesson.html", more=variables)


def lesson_variables(lesson: Lesson, lang: str) -> dict[str, Any]:
    """Return what the page of a lesson has in a language."""
    document = lesson.document(lang)
    all_lessons = lessons()
    near = {"previous": lesson.number - 2, "next": lesson.number} if lesson.number else {"next": 0}
    beside: dict[str, Any] = {
        name: (all_lessons[n], all_lessons[n].document(lang).title)
        for name, n in near.items()
        if 0 <= n < len(all_lessons)
    }
    terms = [(term, *meaning(term, lang), bringing()[term]) for term in document.terms]
    return {"lesson": lesson, "document": document, "terms": terms, "beside": beside}


def plans_in_page(request: Request, services: Services) -> HTMLResponse:
    """Return the plans for classes in the reader's language."""
    lang = negotiate(request, languages())
    return render(request, services, "plan.html", more={"document": plan(lang)})


def find(slug: str) -> Lesson:
    """Return a lesson by its name. Raises a 404 ProblemError if there is none."""
    for lesson in (*lessons(), short_lesson()):
        if lesson.slug == slug:
            return lesson
    raise ProblemError(404, "not-found", "there is no lesson with this name", field="lesson")


def figures(slug: str, lang: str) -> list[Figure]:
    """Return the figures of a lesson. Raises a 404 ProblemError if there is no such lesson."""
    return [part for part in find(slug).document(lang).parts if isinstance(part, Figure)]


def says(slug: str, number: int, lang: str, *, live: bool) -> Markup:
    """Return the caption of a figure, which exists; 0: the claim of the lesson.

    `live` is whether it includes what can be tried.
    """
    if not number:
        return unlinked(find(slug).document(lang).claim)
    figure = figures(slug, lang)[number - 1]
    words = [figure.caption, *([figure.live] if live and figure.live else [])]
    return unlinked(("" if lang == "zh" else " ").join(words))


async def picture(services: Services, slug: str, number: int, lang: str) -> bytes:
    """Return the PNG of a figure in its initial state, for print and for pages without scripts.

    `number` counts from 1; 0 is the first figure that has a picture. Raises a 404 ProblemError if
    there is no such figure, and what `run` raises.
    """
    lesson_figures = figures(slug, lang)
    number = number or next(
        (figure.block.number for figure in lesson_figures if not figure.block.still), 0
    )
    if not 1 <= number <= len(lesson_figures):
        raise ProblemError(404, "not-found", "the lesson has no figure with this number")
    block = lesson_figures[number - 1].block
    if block.still:
        raise ProblemError(404, "not-found", "this figure has a table in place of a picture")
    return await figure_kinds.picture(services, block.pictured)


PICTURES = "public, max-age=3600"  # until another model may have been installed

router = APIRouter(prefix="/learn", include_in_schema=False, default_response_class=HTMLResponse)

Name = Annotated[str, Path(alias="lesson")]


@router.get("")
async def learn_page(request: Request, services: Opened) -> HTMLResponse:
    """Show the table of contents of the lessons."""
    return contents(request, services)


@router.get("/plan")
async def plan_page(request: Request, services: Opened) -> HTMLResponse:
    """Lesson plans."""
    return plans_in_page(request, services)


@router.get("/{lesson}")
async def lesson_page(request: Request, services: Opened, name: Name) -> HTMLResponse:
    """Show a lesson with live figures."""
    return page(request, services, name)


@router.get("/{lesson}/figures/{number}.png")
async def lesson_figure(request: Request, services: Opened, name: Name, number: int) -> Response:
    """Return a picture of a figure in its initial state."""
    lang = negotiate(request, languages())
    content = await picture(services, name, number, lang)
    headers = {"Cache-Control": PICTURES, "Vary": "Accept-Language, Cookie"}
    return Response(content, headers=headers, media_type="image/png")

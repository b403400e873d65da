"""Replies about lessons: their pages, and pictures of their figures."""

from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse

from app.answers.lab import names
from app.answers.pages import render
from app.answers.shares import thaw
from app.answers.traces import run
from app.assets.languages import languages, negotiate
from app.dependencies import Services
from app.engine.jobs import Encoding
from app.engine.wire import ZSTD
from app.http.problems import ProblemError
from app.lessons.blocks import Link
from app.lessons.library import Lesson, lessons, plan
from app.lessons.links import by_hand, looking, running
from app.lessons.markdown import Figure, Predict, meaning
from app.off_loop import LARGE, off_loop
from app.preview.card import heatmap, look
from app.preview.heatmap import Heatmap
from app.preview.still import still
from app.schemas.replies import ModelReply
from model.lab.compute import compute
from model.trace.tensor_tap import KEY, QUERY

SELECT = ["*.weights", "*.mask"]


def contents(request: Request, services: Services) -> HTMLResponse:
    """Return the table of contents in the reader's language."""
    lang = negotiate(request, languages())
    listed = [
        {
            "lesson": one,
            "document": one.document(lang),
            "questions": sum(isinstance(part, Predict) for part in one.document(lang).parts),
        }
        for one in lessons()
    ]
    return render(request, services, "learn.html", more={"listed": listed})


def page(request: Request, services: Services, slug: str) -> HTMLResponse:
    """Return the page of a lesson. Raises a 404 ProblemError if there is none."""
    lang = negotiate(request, languages())
    lesson = find(slug)
    document = lesson.document(lang)
    all_lessons = lessons()
    at = all_lessons.index(lesson)
    near = {"previous": at - 1, "next": at + 1}
    beside: dict[str, Any] = {
        name: (all_lessons[n], all_lessons[n].document(lang).title)
        for name, n in near.items()
        if 0 <= n < len(all_lessons)
    }
    terms = [(term, *meaning(term, lang)) for term in document.terms]
    more = {"lesson": lesson, "document": document, "terms": terms, "beside": beside}
    return render(request, services, "lesson.html", more=more)


def plan_page(request: Request, services: Services) -> HTMLResponse:
    """Return the plans for classes in the reader's language."""
    lang = negotiate(request, languages())
    return render(request, services, "plan.html", more={"document": plan(lang)})


def find(slug: str) -> Lesson:
    """Return a lesson by its name. Raises a 404 ProblemError if there is none."""
    for lesson in lessons():
        if lesson.slug == slug:
            return lesson
    raise ProblemError(404, "not-found", "there is no lesson with this name", field="lesson")


async def picture(services: Services, slug: str, number: int, lang: str) -> bytes:
    """Return the PNG of a figure in its initial state, for print and for pages without scripts.

    Raises a 404 ProblemError if there is no such figure, and what `run` raises.
    """
    figures = [part for part in find(slug).document(lang).parts if isinstance(part, Figure)]
    if not 1 <= number <= len(figures):
        raise ProblemError(404, "not-found", "the lesson has no figure with this number")
    link = figures[number - 1].block.link

    async def make() -> bytes:
        shown = await _seen(services, link)
        return await off_loop(still, shown, size=LARGE)

    model = "" if link.page == "lab" else services.catalog.describe(_model(services, link)).digest
    made: bytes = await services.cache.find(("still", link, model), make)
    return made


def _model(services: Services, link: Link) -> str:
    return services.catalog.pick(link.state.get("model"))


async def _seen(services: Services, link: Link) -> Heatmap:
    """Return the weights at a link's place."""
    if link.page == "lab":
        steps = (await off_loop(compute, by_hand(link), size=LARGE)).steps
        weights, mask = steps["weights"].value[0], steps["mask"].value
        if link.state.get("convention") == "column":
            weights, mask = weights.T, mask.T
        rows, columns = (
            names(link.query, side, count)
            for side, count in zip((QUERY, KEY), weights.shape, strict=True)
        )
        return Heatmap(weights, mask, rows, columns)
    state = looking(link)
    encoding = Encoding(ZSTD, services.settings.max_values)
    reply = thaw((await run(services, running(state), SELECT, encoding)).content)
    info = services.catalog.describe(_model(services, link))
    model = ModelReply.model_validate(info).model_dump()
    return heatmap(look(state.model_dump(), model, reply), reply.document)

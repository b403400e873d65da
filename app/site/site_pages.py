"""The pages of a site in every language: the workspace and the lessons.

index.html, zh.html                  the workspace
lessons.html, lessons-zh.html        the table of contents of the lessons
lesson-masks.html, …                 a lesson
lab.html, lab-zh.html                attention by hand
"""

import re
from collections.abc import Iterator, Set
from functools import partial
from pathlib import Path
from typing import Any

from app.assets.languages import SOURCE_LANGUAGE, languages, translations
from app.assets.static_files import STATIC
from app.assets.templates import environment, static_digest
from app.figures.links import Link
from app.lessons.blocks import Block, FigureBlock
from app.lessons.quoted_numbers import Lesson, lessons, short_lesson
from app.lessons.service import contents_variables, lesson_variables

HOME, CONTENTS, LAB = "index", "lessons", "lab"
FORMULA = "show"  # of a link to a formula
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self' 'wasm-unsafe-eval'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "worker-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
    ]
)
VIEWS = re.findall(
    r'"\./([\w-]+)/view\.js"', (STATIC / "js/views/view-groups-in-site.js").read_text()
)
LESSON_LINK = re.compile(r'href="/learn(?:/([\w-]++))?+[^"]*+"')  # in the text of a lesson
WITH_SERVER = {"why"}  # formulas whose numbers the lab draws


def page_name(page: str, lang: str) -> str:
    """Return the file of a page in a language."""
    if lang == SOURCE_LANGUAGE:
        return f"{page}.html"
    return f"{lang}.html" if page == HOME else f"{page}-{lang}.html"


def lesson_page(lesson: Lesson, lang: str) -> str:
    """Return the file of a lesson in a language."""
    return page_name(f"lesson-{lesson.slug}", lang)


def site_pages(info: Any, models: Set[str]) -> Iterator[tuple[str, str]]:
    """Yield each page of a site with its file.

    `models` are the ids of those that run in the pages; `info` describes the first.
    """
    for lang in languages():
        yield page_name(HOME, lang), _page("site.html", info, lang, HOME, {})
        contents = {**contents_variables(lang), "lesson_url": partial(lesson_page, lang=lang)}
        yield (
            page_name(LAB, lang),
            _page("lab.html", info, lang, LAB, {"share": None, "room": None}),
        )
        yield page_name(CONTENTS, lang), _page("learn.html", info, lang, CONTENTS, contents)
        for lesson in (*lessons(), short_lesson()):
            variables = {
                **lesson_variables(lesson, lang),
                "lesson_url": partial(lesson_page, lang=lang),
                "lacks": partial(lacks, models),
                "open_url": lambda link, lang=lang: _open_url(link, lang),
                "room": None,
                "trains": False,
                "items": [],
            }
            name = f"lesson-{lesson.slug}"
            page = _page("lesson.html", info, lang, name, variables)
            yield page_name(name, lang), LESSON_LINK.sub(partial(_relinked, lang), page)


def lacks(models: Set[str], block: Block, link: Link) -> bool:
    """Return whether a figure or an answer needs more than a page with these models computes."""
    if "value" in block.fields:  # of the answer, which the question states
        return False
    if link.page == "lab":
        return link.state.get(FORMULA) in WITH_SERVER
    has_model = "model" not in link.state or link.state["model"] in models
    if link.page != "workspace" or not has_model:
        return True
    return isinstance(block, FigureBlock) and link.state.get("view") not in VIEWS


def _relinked(lang: str, link: re.Match[str]) -> str:
    page = f"lesson-{link[1]}" if link[1] else CONTENTS
    return f'href="{page_name(page, lang)}"'


def _open_url(link: Link, lang: str) -> str:
    """Return the address that opens a figure in its page; "": this site does not have it."""
    page = {"workspace": HOME, "lab": LAB}.get(link.page)
    return f"{page_name(page, lang)}#{link.query}&lang={lang}" if page else ""


def _page(template: str, info: Any, lang: str, page: str, variables: dict[str, Any]) -> str:
    other = next(name for name in languages() if name != lang)
    gettext = translations(lang).gettext
    return (
        environment(lang, static_digest())
        .get_template(template)
        .render(
            lang=lang,
            policy=POLICY,
            served=False,
            model=info,
            folder=f"{info.id}/",
            home=page_name(HOME, lang),
            translated=page_name(page, other),
            parts=[
                ("workspace", page_name(HOME, lang), gettext("Workspace")),
                ("lab", page_name(LAB, lang), gettext("By hand")),
                ("lessons", page_name(CONTENTS, lang), gettext("Lessons")),
            ],
            asset=lambda path: Path(path).name,
            page_file=lambda name: name,
            catalog_url=f"messages-{lang}.json",
            plotly_url="",
            learn=page_name(CONTENTS, lang),
            **variables,
        )
    )

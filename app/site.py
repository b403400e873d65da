"""Writes the site: pages in both languages, their script and styles, the models, what runs them.

index.html, zh.html           the workspace
lessons.html, lessons-zh.html the table of contents of the lessons
lesson-masks.html, …          a lesson
lab.html, lab-zh.html         attention by hand
shared.js, site.js, … linked from the files in `static/`, as the server does; what both kinds of
                      pages need is in the first
model-worker.js       the worker that runs the model, and the libraries that it imports
ort-wasm.bin          ONNX Runtime's WebAssembly, compressed with gzip
offline.js            a service worker, which keeps the files
opening-en.share, …   the run on which the page opens, as a share: it is drawn while the model is
                      being loaded, and a browser that cannot run the model shows only this
en-zh/learning-0.bin  a sentence at each saved step of the training, compressed with gzip
models.json           descriptions of the models: the one that translates, then small ones of the
                      zoo that lessons show
en-zh/, zoo-…/        each exported model
lab/                  the stages of attention by hand

Stores nothing; uses `local_models` for what a page loads, `figures` for links, and `lessons`.
"""

import gzip
import json
import re
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from app.assets import bundles
from app.assets.languages import SOURCE_LANGUAGE, languages, messages, translations
from app.assets.static_files import STATIC
from app.assets.templates import environment, static_digest
from app.engine.model_listing import example_reply
from app.engine.reply_formats import trace_reply
from app.figures.links import Link
from app.lessons.course import Lesson, lessons, short_lesson
from app.lessons.markdown import Text
from app.lessons.markdown_extensions import Block, FigureBlock
from app.lessons.pages import contents_variables, lesson_variables
from app.local_models import (
    LIBRARIES,
    RUNTIME_FILE,
    WASM,
    described,
    licences,
    missing_file,
    worker_script,
)
from app.settings import ZOO
from model import load
from model.adapters.encoder_decoder.encoder_decoder_adapter import load as load_bundle
from model.adapters.requests.adapter_interface import Adapter
from model.bundle.weights import CHECKPOINTS, WEIGHTS
from model.errors import FileError
from model.transformer.positions import POSITIONS

MAX_ZOO_BYTES = 2_000_000  # of the weights of a model that is loaded when a reader chooses it


@dataclass(frozen=True)
class SiteModel:
    """A model that runs in the pages of a site, and the folder of its bundle."""

    adapter: Adapter
    bundle: Path


def site_models(model: str) -> list[SiteModel]:
    """Load the models of a site, `model` first."""
    shipped = CHECKPOINTS / model
    first = SiteModel(load(model), shipped if shipped.is_dir() else Path(model))
    zoo = {f"zoo-{folder.name}": folder for folder in sorted(ZOO.iterdir())}
    return [
        first,
        *(
            SiteModel(load_bundle(zoo[id_], "cpu", id_), zoo[id_])
            for id_ in sorted({*_models_of_lessons()} & zoo.keys())
            if (zoo[id_] / WEIGHTS).stat().st_size <= MAX_ZOO_BYTES
        ),
    ]


def _models_of_lessons() -> Iterator[str]:
    for lesson in (*lessons(), short_lesson()):
        for lang in languages():
            for part in lesson.document(lang).parts:
                if not isinstance(part, Text) and part.block.link.page == "workspace":
                    yield part.block.link.state.get("model", "")


# What the opening draws, and the views of attention; vectors would be six times as many bytes.
SELECT = ["*.weights", "*.mask", "*.probabilities", "*.candidates"]

SENTENCES = "js/core/store/examples-and-tasks.js"

EXAMPLE = 'lang: "{}", text: "'  # before an example's sentence


def opening_sentence(lang: str) -> str:
    """Return the sentence on which the page opens: the first example of its language."""
    examples = (STATIC / SENTENCES).read_text(encoding="utf-8")
    for language in (lang, "en"):
        _, label, rest = examples.partition(EXAMPLE.format(language))
        if label:
            return rest.partition('"')[0]
    raise ValueError(f"{SENTENCES} has no example in en")


def frozen_opening(adapter: Adapter, described: Mapping[str, Any], lang: str) -> bytes:
    """Return the run of the opening's sentence as a file; `described`: the model, for the page."""
    sentence = opening_sentence(lang)
    trace = adapter.trace(sentence, select=SELECT)
    reply = trace_reply(trace, f"opening-{lang}", adapter.info.id)
    state = {"source": sentence, "lang": lang, "view": "attention"}
    return reply.safetensors(share={"state": state, "model": described, "asks": []})


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


PAGES = {"site": "site", "learn": "site-learn"}  # scripts and styles by their file

EXPLAINED = {"lens", "contributions"}  # graphs that handouts leave out, since they are one file

TRAINING = {"learning"}  # its data come with the site

EXAMPLES = 1  # of the training, the one that lessons show: each is a quarter of a megabyte

STATIC_FILES = ("glossary.json", "img/mark.svg", "js/pages/first-paint.js")


def write_site(model: str, into: Path) -> Iterator[Path]:
    """Write the site into a folder; yield each file that was written.

    Raises `FileError` if what the page loads is not installed, and for a model that cannot be
    exported; `ModuleNotFoundError` without the packages of requirements-web.txt.
    """
    from model.web.export import export_for_web
    from model.web.lab_graphs import write_lab

    if file := missing_file():
        raise FileError(file, "it is not installed: run `make site`, or `npm ci` before")
    models = site_models(model)
    files = [*_texts(models), *_copied()]
    written = [_write(into / name, content) for name, content in files]
    yield from written
    for part in models:
        id_ = part.adapter.info.id
        for file in export_for_web(part.bundle, into / id_, id_):
            written.append(file)
            yield file
    for file in write_lab(into / "lab"):
        written.append(file)
        yield file
    yield _write(into / "offline.js", _offline(into, written, [name for name, _ in files]))


def _texts(models: list[SiteModel]) -> Iterator[tuple[str, bytes]]:
    """Yield what is made for this site: pages, scripts, styles, catalogs, descriptions."""
    adapter = models[0].adapter
    descriptions = [site_description(model.adapter.info) for model in models]
    for name, page in site_pages(adapter.info, {model["id"] for model in descriptions}):
        yield name, page.encode()
    for lang in languages():
        yield f"opening-{lang}.share", frozen_opening(adapter, descriptions[0], lang)
        if lang != SOURCE_LANGUAGE:
            yield f"messages-{lang}.json", _json(messages(lang))
    shared, scripts = bundles.scripts_with_shared([*PAGES.values()])
    yield "shared.js", shared.encode()
    for (name, page), script in zip(PAGES.items(), scripts, strict=True):
        yield f"{name}.css", bundles.stylesheet(page).encode()
        yield f"{name}.js", script.encode()
    yield "lab.css", bundles.stylesheet("site-lab").encode()
    yield "lab.js", bundles.script("site-lab").encode()
    yield "model-worker.js", worker_script().encode()
    for model in models:
        yield from _saved_training(model.adapter)
    yield "models.json", _json(descriptions)


def site_description(info: Any) -> dict[str, Any]:
    """Return the description of a model; learned positions are parameters, which a page lacks."""
    positions = set() if POSITIONS[info.positions].learns else {"positions"}
    description = described(info, EXPLAINED | TRAINING | positions)
    return {**description, "examples": min(info.examples, EXAMPLES)}


def _saved_training(adapter: Adapter) -> Iterator[tuple[str, bytes]]:
    """Yield how a model learned its first examples, as the API replies, and nothing of others."""
    for number in range(min(adapter.info.examples, EXAMPLES)):
        reply = example_reply(adapter.info.id, adapter, number)
        examples = reply.document["examples"][:EXAMPLES]
        file = replace(reply, document={**reply.document, "examples": examples}).safetensors()
        yield f"{adapter.info.id}/learning-{number}.bin", gzip.compress(file, 9, mtime=0)


def _copied() -> Iterator[tuple[str, bytes]]:
    """Yield the libraries, their licences, and files of `static/`."""
    for name, folder in LIBRARIES.items():
        yield name, (folder / name).read_bytes()
    yield RUNTIME_FILE, gzip.compress(WASM.read_bytes(), 9, mtime=0)
    for path in STATIC_FILES:
        yield Path(path).name, (STATIC / path).read_bytes()
    yield "LICENSES.txt", licences().encode()


def _offline(into: Path, written: list[Path], names: list[str]) -> bytes:
    """Return the service worker: `names` are kept at once, other files as they are loaded."""
    digest = sha256()
    for file in sorted(written):
        digest.update(sha256(file.read_bytes()).digest())
    at_once = ["./", *(name for name in sorted(names) if _is_first(name))]
    first = {"siteVersion": digest.hexdigest()[:16], "siteFiles": at_once}
    return f"Object.assign(globalThis, {json.dumps(first)});\n{bundles.script('offline')}".encode()


def _is_first(name: str) -> bool:
    """Return whether a file is kept at once; lessons and a model's files are as they are read."""
    pages = {page_name(page, lang) for page in (HOME, CONTENTS) for lang in languages()}
    return (
        name != RUNTIME_FILE and "/" not in name and (name in pages or not name.endswith(".html"))
    )


def _json(content: object) -> bytes:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


def _write(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path

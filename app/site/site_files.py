"""Writes the site: pages in both languages, their script and styles, the model, what runs it.

index.html, …         the pages (`app.site.site_pages`)
shared.js, site.js, … linked from the files in `static/`, as the server does; what both kinds of
                      pages need is in the first
model-worker.js       the worker that runs the model, and the libraries that it imports
ort-wasm.bin          ONNX Runtime's WebAssembly, compressed with gzip
offline.js            a service worker, which keeps the files
opening-en.share, …   the run on which the page opens
en-zh/learning-0.bin  a sentence at each saved step of the training, compressed with gzip
models.json           descriptions of the models, the one that translates first
en-zh/, zoo-…/        each exported model
lab/                  the stages of attention by hand
"""

import gzip
import json
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from app.assets import bundles
from app.assets.languages import SOURCE_LANGUAGE, languages, messages
from app.assets.static_files import STATIC
from app.engine.model_listing import example_reply
from app.local_models.page_files import (
    LIBRARIES,
    RUNTIME_FILE,
    WASM,
    described,
    licences,
    missing_file,
    worker_script,
)
from app.site.frozen_opening import frozen_opening
from app.site.site_models import SiteModel, site_models
from app.site.site_pages import CONTENTS, HOME, page_name, site_pages
from model.adapters.requests.adapter_interface import Adapter
from model.errors import FileError
from model.transformer.positions import POSITIONS

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

"""Handouts of a state or a share, also with a model; see `app.handouts.handout_html` for the file.

A handout in which the model runs is the file of a figure, and in it the model and what runs it:
its files, ONNX Runtime and the worker, in a denser text than the rest (`base85`). Other sentences,
changes and decodings need no server then. The figure's own run is in it as in other handouts, so it
is drawn before the model has been opened, and without one.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from filelock import FileLock
from markupsafe import Markup

from app.assets.static_files import STATIC
from app.engine.jobs import Encoding
from app.engine.model_listing import Listing
from app.engine.reply_formats import Reply
from app.figures.figure_kinds import HandoutContent
from app.figures.preview_picture import in_short, sentence
from app.figures.sentence_figures import opened
from app.handouts.handout_html import (
    FEW,
    SELECT,
    handout,
    handout_page,
    lab_handout,
    language,
    share_blocks,
)
from app.handouts.packing import data_url, dense_block
from app.http.file_formats import SAFETENSORS
from app.http.request_fields import within
from app.http.route_dependencies import Services
from app.http.tasks_and_caches import LARGE, off_loop
from app.lab import LabShareState, freeze
from app.local_models import (
    RUNTIME_FILE,
    WASM,
    ExportedModels,
    described,
    licences,
    whole_worker_script,
)
from app.long_texts.routes import is_long, run_long
from app.long_texts.schemas import Window
from app.settings import Settings
from app.shares.creation import Freezer, check, check_asks, check_options, freeze_answers
from app.shares.formats import Answer, Share
from app.shares.schemas import AnyShareState, Question, ShareRequest
from app.shares.service import find_answer, thaw
from app.store.storage_errors import files
from app.traces.replies import ModelReply
from app.traces.service import run
from model.bundle.weights import CARD, TOKENIZER, WEIGHTS
from model.trace.tensor_names import present

BUNDLE = "handout-with-model"

FEW_NUMBERS = 200_000  # with more weights, the file has those of the head on which it opens

GRAPHS = ("encoder.onnx", "decoder.onnx", "self-patterns.onnx", "cross-patterns.onnx")

MODEL_FILES = {WEIGHTS: 2, TOKENIZER: 1, "graphs.json": 1, **dict.fromkeys(GRAPHS, 1)}

"""The files of an exported model that run, with the bytes of their numbers."""

WORKER = "model-worker.js"

GLOSSARY = "glossary.json"

MARKDOWN = "text/markdown;charset=utf-8"


def living_handout(
    content: HandoutContent, model: Any, folder: Path, home: str, theme: str | None
) -> bytes:
    """Return the file; `model` is the description, and `folder` has the exported model."""
    about = {**content.about, "model": described(model)}
    trace = content.trace.only(FEW)
    if trace.values > FEW_NUMBERS:
        place = opened(content).attention.place
        small = [name for name in trace.arrays if not name.endswith((".weights", ".mask"))]
        trace = trace.only([f"{place}.weights", f"{place}.mask", *small])
    frozen_run = replace(content, trace=trace, about=about, answers=[])
    return handout_page(
        BUNDLE,
        language(about),
        runs=True,
        theme=theme,
        home=home.rstrip("/"),
        source=in_short(sentence(about["state"])),
        created=about["created"],
        model=about["model"],
        folder="",
        learn="",
        card=data_url((folder / CARD).read_bytes(), MARKDOWN) if (folder / CARD).is_file() else "",
        licences=data_url(licences().encode(), "text/plain;charset=utf-8"),
        trace=share_blocks("trace", frozen_run),
        packed_model=packed_model(folder),
    )


def packed_model(folder: Path) -> Markup:
    """Return the blocks of a model and of what runs it; kept beside the model.

    Raises StorageError if they cannot be written; then an earlier version is still there.
    """
    worker = whole_worker_script().encode()
    glossary = (STATIC / GLOSSARY).read_bytes()
    version = sha256(worker + glossary).hexdigest()[:16]
    file = folder / f"packed-{version}.html"
    # Packing takes a while: a second request waits for it.
    with files(), FileLock(folder / "packed.lock"):
        if not file.is_file():
            blocks = [
                dense_block(WORKER, worker),
                dense_block(GLOSSARY, glossary),
                dense_block(RUNTIME_FILE, WASM.read_bytes()),
                *(
                    dense_block(f"model/{name}", (folder / name).read_bytes(), width)
                    for name, width in MODEL_FILES.items()
                ),
            ]
            earlier = [*folder.glob("packed-*.html")]
            part = file.with_suffix(".part")
            try:
                part.write_text("".join(blocks), encoding="ascii")
                part.rename(file)
            except OSError:
                part.unlink(missing_ok=True)
                raise
            for old in earlier:
                old.unlink(missing_ok=True)
        return Markup(file.read_text(encoding="ascii"))


PLAIN = re.compile(r"[A-Za-z0-9-]+")

UNDRAWN = {"learning", "sweep"}  # requests whose replies no view of a handout draws


async def create(
    services: Services, body: ShareRequest, home: str, theme: str | None, runs: bool = False
) -> bytes:
    """Run a state and the requests besides, and return the handout. Raises as `run_state`.

    With `runs` the model is in it; raises what `ExportedModels.export` raises.
    """
    content = await run_state(services, body.state, body.asks, body.tiles)
    if isinstance(body.state, LabShareState):
        return await off_loop(lab_handout, content.trace, content.about, home, theme)
    if runs:
        return await _living(services, content, home, theme)
    return await off_loop(handout, content, home, theme)


async def _living(
    services: Services, content: HandoutContent, home: str, theme: str | None
) -> bytes:
    """Return the handout with the model in it, which is exported first if it is not yet."""
    model = content.about["model"]
    folder = await services[ExportedModels].export(model["digest"])
    return await off_loop(living_handout, content, model, folder, home, theme)


async def run_state(
    services: Services,
    state: AnyShareState,
    asks: Sequence[Question] = (),
    tiles: Sequence[Window] = (),
) -> HandoutContent:
    """Run a state and the requests besides; `tiles` are the windows of a long text.

    Raises what `run`, `check` and `freeze_answers` do.
    """
    if isinstance(state, LabShareState):
        reply = await freeze(services, state)
        return HandoutContent(
            reply, {"state": state.model_dump(exclude_unset=True), "created": _now()}
        )
    encoding = Encoding(SAFETENSORS, services[Settings].max_values)
    check_options(services[Settings], state)
    check_asks(services, asks)
    with within("state"):
        name = services[Listing].pick(state.model)
        model = services[Listing].describe(name)
        long = await is_long(services, state)
    if long:
        traced = await run_long(services, state, tiles, encoding)
    else:
        with within("state"):
            select = present(SELECT, services[Listing].names(name))
            traced = await run(services, state, select, encoding, summarise=["*"])
    reply = await off_loop(Reply.parse, traced.content, size=len(traced.content))
    with within("state"):
        check(state, model.attentions, reply)
    freezer = Freezer(services[Settings].max_values - reply.values, "a handout")
    drawn = [question for question in asks if not question.model_fields_set & UNDRAWN]
    frozen = await freeze_answers(services, state, drawn, freezer)
    about = {
        "state": state.model_dump(exclude_unset=True),
        "created": _now(),
        "model": ModelReply.model_validate(model).model_dump(),
    }
    return await off_loop(_told, reply, about, frozen, size=LARGE)


async def of_share(
    services: Services,
    share: Share,
    home: str,
    lang: str,
    theme: str | None,
    runs: bool = False,
) -> bytes:
    """Return the handout of a share, in a reader's language; with `runs`, as `create` does."""
    content = await of_kept(services, share, lang)
    if "lab" in share.state:
        return await off_loop(lab_handout, content.trace, content.about, home, theme)
    if runs:
        return await _living(services, content, home, theme)
    return await off_loop(handout, content, home, theme)


async def of_kept(services: Services, share: Share, lang: str) -> HandoutContent:
    """Return what a share holds, in a reader's language. Raises what `find_answer` raises."""
    frozen = [
        Answer(question, await find_answer(services, share.id, n))
        for n, question in enumerate(share.asks)
    ]
    about = {
        "id": share.id,
        "state": {**share.state, "lang": lang},
        "created": share.created.isoformat(timespec="seconds"),
        "model": share.model,
    }
    return await off_loop(lambda: _told(thaw(share.trace), about, frozen), size=LARGE)


def _told(reply: Reply, about: Mapping[str, Any], frozen: Sequence[Answer]) -> HandoutContent:
    drawn = [answer for answer in frozen if not answer.question.keys() & UNDRAWN]
    return HandoutContent(
        reply, about, [(answer.question, thaw(answer.answer)) for answer in drawn]
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def name(state: Mapping[str, Any], runs: bool = False) -> str:
    """Return the file name: the model, and the place at which the handout opens."""
    if "lab" in state:
        return "headlight-by-hand.html"
    place = (f"{key}-{state[key] + 1}" for key in ("layer", "head") if state.get(key) is not None)
    parts = ["headlight", *(state.get(key) for key in ("model", "view", "block")), *place]
    named = [part for part in parts if part and PLAIN.fullmatch(part)]
    return "-".join([*named, "runs"] if runs else named) + ".html"

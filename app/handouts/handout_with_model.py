"""A handout in which the model runs: the file of a figure, and in it the model and what runs it.

The model's files, ONNX Runtime and the worker are in a denser text than the rest (`base85`): other
sentences, changes and decodings need no server then. The figure's own run is in it as in other
handouts, so it is drawn before the model has been opened, and without one.
"""

from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from filelock import FileLock
from markupsafe import Markup

from app.assets.static_files import STATIC
from app.figures.figure_kinds import HandoutContent
from app.figures.opening_head import opened
from app.figures.preview_picture import in_short, sentence
from app.handouts.handout_html import FEW, handout_page, language, share_blocks
from app.handouts.packing import data_url, dense_block
from app.local_models.page_files import (
    RUNTIME_FILE,
    WASM,
    described,
    licences,
    whole_worker_script,
)
from model.bundle.weights import CARD, TOKENIZER, WEIGHTS

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
    """Return the blocks of a model and of what runs it; kept beside the model."""
    worker = whole_worker_script().encode()
    glossary = (STATIC / GLOSSARY).read_bytes()
    version = sha256(worker + glossary).hexdigest()[:16]
    file = folder / f"packed-{version}.html"
    with FileLock(folder / "packed.lock"):  # packing takes a while: a second request waits for it
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
            for old in folder.glob("packed-*.html"):
                old.unlink()
            written = file.with_suffix(".part")
            written.write_text("".join(blocks), encoding="ascii")
            written.rename(file)
        return Markup(file.read_text(encoding="ascii"))

"""Pictures of one head for papers and slides: ``headlight.show(model, text).save("cat.svg")``.

The SVG is drawn without a browser. PDF and PNG are that drawing, printed by Chromium.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from app.engine.wire import Reply
from app.figures.card import Seen, heatmap, in_short, look, sentence
from app.figures.heatmap_svg import heatmap_svg
from app.figures.kinds import HandoutContent
from model.trace.attentions import AttentionInfo

BROWSERS = (
    "chromium",
    "chromium-browser",
    "chromium-headless-shell",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "msedge",
)
APPLICATIONS = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
    "C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe",
)
OPTIONS = ("--headless", "--disable-gpu", "--no-first-run", "--hide-scrollbars")
SECONDS = 60.0
SHARP = 2  # pixels of a PNG for one of the drawing
SIZE = re.compile(r'<svg [^>]*width="(\d+)" height="(\d+)"')
FIXED = 0.1  # what a head still tells that looks at a fixed distance


def browser() -> str | None:
    """Return the path of an installed Chromium, Chrome or Edge; None if there is none."""
    installed = (shutil.which(name) for name in BROWSERS)
    return next(filter(None, installed), None) or next(
        (path for path in APPLICATIONS if Path(path).is_file()), None
    )


def picture(content: HandoutContent, form: str) -> bytes:
    """Return the head that a figure opens on, as "svg", "pdf" or "png".

    Raises `RuntimeError` if Chromium is needed and not installed, or fails.
    """
    model = content.about["model"]
    selection = opened(content)
    name = f"{selection.place} · {selection.kind} · {model['name']}"
    drawing = heatmap_svg(heatmap(selection, content.trace.document), name, _texts(content))
    return drawing if form == "svg" else _printed(drawing, form)


def opened(content: HandoutContent) -> Seen:
    """Return the weights on which the page opens: those that are named, or the best of a block.

    That is the head which aligns best if the model says so, otherwise the most informative one.
    """
    state, model, trace = content.about["state"], content.about["model"], content.trace
    selection = look(state, model, trace)
    if state.get("layer") is not None or state.get("head") is not None:
        return selection
    block = selection.attention.block
    aligners = model.get("aligners") or []
    best = next((entry for entry in aligners if entry["rows"] == "writes"), None)
    if best and selection.attention.query != selection.attention.key:
        return look({**state, "layer": best["layer"], "head": best["head"]}, model, trace)
    table = [AttentionInfo(**fields) for fields in model["attentions"]]
    heads = [
        look({**state, "block": block, "layer": attention.layer, "head": head}, model, trace)
        for attention in table
        if attention.block == block and f"{attention.place}.weights" in trace.arrays
        for head in range(attention.heads)
    ]
    return max(heads, key=lambda head: _informativeness(head, trace), default=selection)


def _informativeness(selection: Seen, trace: Reply) -> float:
    """Return what the page ranks heads by (static/js/core/compute/attention-row.js)."""
    document, attention = trace.document, selection.attention
    read = document["tokens"]
    rows = document["output"]["tokens"] if selection.written else read[attention.query]
    same = attention.query == attention.key
    special = [token["special"] for token in read[attention.key]]
    if same and not any(special):
        special[0] = True  # a head that has nothing to look at looks there
    looks: list[tuple[int, int, float]] = []  # query, key, weight
    for query, (row, token) in enumerate(zip(selection.weights, rows, strict=False)):
        key = _most(row, selection.mask[query])
        if key is None or token["special"] or special[key] or (same and key == query):
            continue
        looks.append((query, key, float(row[key])))
    if not looks:
        return 0.0
    keys, distances = {key for _, key, _ in looks}, {key - query for query, key, _ in looks}
    varied = (len(distances) - 1) / (len(looks) - 1) if same and len(looks) > 1 else 1.0
    mean = sum(weight for *_, weight in looks) / len(rows)
    return mean * len(keys) / len(rows) * (FIXED + (1 - FIXED) * varied)


def _most(row: NDArray[np.float64], allowed: NDArray[np.bool_]) -> int | None:
    """Return the key with the largest weight of several; None if two print the same."""
    key = int(row.argmax())
    same = sum(f"{weight:.2f}" == f"{row[key]:.2f}" for weight in row)
    return key if row[key] > 0 and same == 1 and allowed.sum() > 1 else None


def _texts(content: HandoutContent) -> list[str]:
    """Return the text that was read, and what was written, in a line each."""
    written = content.trace.document.get("output", {}).get("text", "")
    return [in_short(text) for text in (sentence(content.about["state"]), written) if text]


def _printed(drawing: bytes, form: str) -> bytes:
    """Print a drawing with Chromium, on one page of its size."""
    program = browser()
    if program is None:
        raise RuntimeError(
            f"{form.upper()} is printed by Chromium, Chrome or Edge, and none is installed: "
            "install one, or save as .svg or .html, which need none"
        )
    width, height = SIZE.findall(drawing.decode())[0]
    page = (
        f"@page {{size: {width}px {height}px; margin: 0}} body {{margin: 0}} svg {{display: block}}"
    )
    with TemporaryDirectory(prefix="headlight-") as folder:
        source, target = Path(folder, "figure.html"), Path(folder, f"figure.{form}")
        source.write_bytes(
            f"<!doctype html><meta charset=utf-8><style>{page}</style>".encode() + drawing
        )
        kind = {
            "pdf": [f"--print-to-pdf={target}", "--no-pdf-header-footer"],
            "png": [
                f"--screenshot={target}",
                f"--window-size={width},{height}",
                f"--force-device-scale-factor={SHARP}",
            ],
        }[form]
        root = ["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else []
        command = [program, *OPTIONS, *root, f"--user-data-dir={folder}/profile", *kind]
        done = subprocess.run(
            [*command, source.as_uri()], capture_output=True, timeout=SECONDS, check=False
        )
        if not target.is_file():
            (*_, reason) = done.stderr.decode(errors="replace").splitlines() or ["no reason given"]
            raise RuntimeError(f"{program} made no {form.upper()}: {reason}")
        return target.read_bytes()

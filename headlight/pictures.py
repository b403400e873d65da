"""Pictures of one head for papers and slides: ``headlight.show(model, text).save("cat.svg")``.

The SVG is drawn without a browser. PDF and PNG are that drawing, printed by Chromium.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from app.figures.figure_kinds import HandoutContent
from app.figures.heatmap_svg import heatmap_svg
from app.figures.preview_picture import heatmap, in_short, sentence
from app.figures.sentence_figures import opened

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

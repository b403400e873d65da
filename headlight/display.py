"""Figures in a notebook, and pictures of one head: ``headlight.show(model, "Hello")``.

``headlight.show(model, text).save("cat.svg")`` is a picture for papers and slides.
"""

import os
import re
import shutil
import subprocess
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import numpy as np

from app.engine.reply_formats import trace_reply
from app.figures.figure_kinds import HandoutContent
from app.figures.heatmap_svg import heatmap_svg
from app.figures.preview_picture import heatmap, in_short, sentence
from app.figures.sentence_figures import opened
from app.handouts.handout_html import MANY, SELECT, handout
from app.handouts.packing import CHARSET, MAX_BYTES, rounded_file
from app.traces.interventions import stated
from app.traces.replies import ModelReply
from headlight.arrays import GivenAttention, given
from headlight.chosen_layers import ChosenLayers
from headlight.figure_notices import AttentionWarning
from headlight.models import is_wrapped, load, unwrap, wrap
from model.adapters.requests.adapter_interface import Adapter
from model.adapters.requests.request import Decode, Request
from model.adapters.requests.trace import Trace
from model.trace.tensor_names import present

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


FORMS = ("html", "svg", "pdf", "png")

LARGE_MB = 5  # above which `show` says before how large the file becomes

PAGE_BYTES = 200_000  # of a file besides its numbers, compressed

CODED = 4 / 3  # characters for a byte

HEIGHT = 760  # pixels: enough for a sentence's figure without scrolling


@dataclass(frozen=True)
class Shown:
    """A handout shown in a notebook; `save` writes it to a file that any browser opens."""

    html: bytes
    height: int = HEIGHT
    content: HandoutContent | None = field(default=None, repr=False)
    """What it shows, for pictures."""

    def _repr_html_(self) -> str:
        document = escape(self.html.decode(CHARSET), quote=True)
        return (
            f'<iframe title="Headlight" width="100%" height="{self.height}" '
            f'style="border: 0" srcdoc="{document}"></iframe>'
        )

    def __repr__(self) -> str:
        return f"Shown({len(self.html) / 1e6:.1f} MB of HTML)"

    def save(self, path: str | Path) -> Path:
        """Write a file and return its path.

        Its ending says what it is: .html is the figure, .svg, .pdf and .png are pictures of the
        head on which it opens. Raises `ValueError` for another ending, and `RuntimeError` if a PDF
        or PNG is needed and there is no Chromium to print it.
        """
        file = Path(path)
        form = file.suffix.lower().removeprefix(".")
        if form not in FORMS:
            raise ValueError(f"{file.name} must end in one of: .{', .'.join(FORMS)}")
        figure = self.html if form == "html" or not self.content else picture(self.content, form)
        file.write_bytes(figure)
        return file


def show(
    seen: Any,
    *about: Any,
    tokenizer: Any = None,
    scheme: str | None = None,
    layers: Sequence[int] | None = None,
    block: str | None = None,
    layer: int | None = None,
    head: int | None = None,
    lang: str = "en",
    theme: str | None = None,
    height: int = HEIGHT,
) -> Shown:
    """Show attention, opened at a head; by default at the most informative one.

    Three forms:

    - `show(model, "Hello")`: a model from `load` or `wrap`, or what `load` opens (`"en-zh"`,
      `"hf:owner/name"`), and a sentence, or a trace's `request`.
    - `show(model, tokenizer, "Hello")`: a model of `transformers`, which is not changed; a pipeline
      needs no tokenizer.
      Both forms take a second sentence for an encoder that reads pairs.
    - `show(attentions, tokens)`: arrays from anywhere, with `tokenizer` and `scheme` as described
      at `given`.

    `layers` are the layers to keep, from 0 (None: all), for a smaller file. `block` is "encoder",
    "decoder" or "cross"; `layer` and `head` count from 0, among the layers kept; `theme` is "light"
    or "dark" (None: the system's).

    Warns with an `AttentionWarning`, before it draws, of a file above 5 MB. Raises what `given`,
    `wrap` and `model.trace` raise, and `ValueError` for a block, layer or head that the model does
    not have, and `TypeError` for arguments of another form.
    """
    model, request = asked(
        seen, about, {"tokenizer": tokenizer, "scheme": scheme, "layers": layers}
    )
    place = {"block": block, "layer": layer, "head": head}
    check_place(model, block, layer, head)
    trace = traced(model, request)
    warn_if_large(trace)
    drawn = content(model, trace, {**place, "lang": lang})
    return Shown(handout(drawn, "", theme), height, drawn)


def check_place(
    model: Adapter, block: str | None = None, layer: int | None = None, head: int | None = None
) -> None:
    """Raise `ValueError` if a model has no such attention; another one is not shown in its place.

    Without a block, `layer` and `head` are those of the last one, on which a figure opens.
    """
    blocks = [attention.block for attention in model.info.attentions]
    if block is not None and block not in blocks:
        raise ValueError(f"block is {block!r}; known are {', '.join(dict.fromkeys(blocks))}")
    block = blocks[-1] if block is None else block
    rows = [attention for attention in model.info.attentions if attention.block == block]
    last = max(row.layer for row in rows)
    if layer is not None and layer not in range(last + 1):
        raise ValueError(f"layer is {layer}; the layers of {block} are 0 … {last}")
    heads = max(row.heads for row in rows)
    if head is not None and head not in range(heads):
        raise ValueError(f"head is {head}; the heads of {block} are 0 … {heads - 1}")


def traced(model: Adapter, request: str | Request) -> Trace:
    """Run a sentence and return what a handout draws."""
    return model.trace(request, select=present(SELECT, model.names), summarise="*")


def content(model: Adapter, trace: Trace, place: Mapping[str, Any]) -> HandoutContent:
    """Return the content of a handout, opened at a place; None in it stands for a default."""
    request = trace.request
    state = {model.info.texts[0]: request.source, "view": "attention"}
    place = {
        **place,
        "pair": request.pair,
        "direction": request.direction,
        "target": request.target,
        "decode": None if request.decode == Decode() else asdict(request.decode),
        "interventions": [stated(change) for change in request.interventions] or None,
        "pad_to": request.pad_to,
        "chat": request.chat or None,
    }
    lang = place.get("lang") or "en"
    described = ModelReply.model_validate(model.info).model_dump()
    if isinstance(model, GivenAttention):
        described["name"] = model.title.text(lang)
    share = {
        "state": state | {key: value for key, value in place.items() if value is not None},
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "model": described,
        "notices": [{"text": notice.text(lang), "doubt": notice.doubt} for notice in model.notices],
    }
    return HandoutContent(trace_reply(trace, "", model.info.id), share)


def asked(
    seen: Any, about: Sequence[Any], reading: Mapping[str, Any] | None = None
) -> tuple[Adapter, str | Request]:
    """Return the model and the sentence to run through it.

    `reading` are the arguments of `given`; a model takes only its `layers`.
    """
    reading = reading or {}
    if not (is_wrapped(seen) or isinstance(seen, str) or hasattr(seen, "info")):
        if len(about) > 1:
            raise TypeError(
                f"{_kind_of(seen)} is no model of transformers. Arrays take their tokens, and "
                "as names tokenizer, scheme and layers: "
                "show(attentions, tokens, tokenizer=…)"
            )
        given_model = given(seen, *about, **reading)
        return given_model, given_model.text
    layers = reading.get("layers")
    opened, text = _opened_model(seen, about, {**reading, "layers": None})
    if layers is None:
        return opened, text
    if isinstance(text, Request):  # of the whole model: it may change layers that are not kept
        changes, text = text.interventions, replace(text, interventions=())
        return ChosenLayers(opened, layers, changes), text
    return ChosenLayers(opened, layers), text


def _kind_of(value: Any) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__


def _opened_model(
    subject: Any, about: Sequence[Any], reading: Mapping[str, Any]
) -> tuple[Adapter, str | Request]:
    """Return the model that is given, wrapped or loaded, and the sentence."""
    if unused := [name for name, value in reading.items() if value is not None]:
        raise TypeError(f"{unused[0]} is for arrays; a model has its own")
    if len(about) > 1 and all(isinstance(text, str) for text in about[-2:]):
        about = (*about[:-2], Request(about[-2], pair=about[-1]))
    *before, text = about or (None,)
    if is_wrapped(subject):
        has_tokenizer = before or unwrap(subject).tokenizer is not None
        if not has_tokenizer or not isinstance(text, str | Request):
            raise TypeError("a model of transformers needs its tokenizer and a sentence")
        return wrap(subject, *before), text
    if isinstance(subject, str):
        subject = load(subject)
    if before:
        raise TypeError(f"{type(subject).__name__} takes no tokenizer")
    if not isinstance(text, str | Request):
        raise TypeError(f"a model needs a sentence or a Request, not {type(text).__name__}")
    return cast(Adapter, subject), text


def warn_if_large(trace: Trace) -> None:
    """Warn, before anything is drawn, that the file becomes large, and what it leaves out."""
    weights = {
        f"{attention.place}.weights": attention.layer for attention in trace.model.attentions
    }
    layers = [np.asarray(trace[name]) for name in weights if name in trace]
    count = sum(array.size for array in layers)
    if count <= MANY:
        return
    sample = layers[len(layers) // 2]
    (packed,) = rounded_file({"": sample}).layers.values()
    numbers = min(len(packed) / sample.size * count + sample[0].nbytes, MAX_BYTES)
    megabytes = (numbers + PAGE_BYTES) * CODED / 1e6
    if megabytes <= LARGE_MB:
        return
    warnings.warn(
        f"the figure will have about {megabytes:.0f} MB, for {count / 1e6:.1f} million weights in "
        f"{len(layers)} layers. It leaves digits out: only the weights of the head on which it "
        "opens are exact, all others are rounded to 8 bits. "
        f"layers=[0, {max(weights.values())}] makes it smaller",
        AttentionWarning,
        stacklevel=3,
    )

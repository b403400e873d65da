"""A handout: a page as one HTML file that opens from a disk, without a network.

The file has the page's own script, stylesheets and catalog, and the trace as the API sends it
(float32, so that every printed number is the model's), with a Content-Security-Policy that
lets it load nothing.
"""

import gzip
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from app.assets import bundles
from app.assets.files import STATIC
from app.assets.languages import SOURCE_LANGUAGE, languages, messages
from app.assets.self_contained import block, data_url, document, script, style
from app.assets.templates import environment, static_digest
from app.engine.wire import Reply
from app.preview.card import sentence

# The tensors that its views draw: attention, the candidates at each step, and the tensors from
# which the inspector computes a weight.
FEW = ("weights", "mask", "probabilities", "candidates")
PARTS = (*FEW, "q", "k", "v")
SELECT = [f"*.{part}" for part in PARTS]
MANY = 1_000_000  # numbers; if a sentence has more, only its attention is included


def handout(reply: Reply, about: Mapping[str, Any], home: str, theme: str | None = None) -> bytes:
    """Return the file.

    `about` is a share without its trace, `reply` that trace; `home` is the address of the server
    to link to ("" for none), `theme` "light" or "dark" (None: the system's).
    """
    lang = _language(about)
    reply = reply.only(PARTS)
    if reply.values > MANY:
        reply = reply.only(FEW)
    trace = gzip.compress(reply.safetensors(share=about), 9, mtime=0)
    frame = _frame("handout", lang, static_digest())
    page = environment(lang, static_digest()).get_template("handout.html")
    return page.render(
        **frame,
        lang=lang,
        theme=theme,
        home=home.rstrip("/"),
        share=about.get("id") or "",
        source=sentence(about["state"]),
        trace=block("trace", trace),
    ).encode()


def lab_handout(
    reply: Reply, about: Mapping[str, Any], home: str, theme: str | None = None
) -> bytes:
    """Return the file for the lab, as `handout` does; `reply` has the lab's steps."""
    lang = _language(about)
    page = environment(lang, static_digest()).get_template("lab-handout.html")
    return page.render(
        **_frame("lab-handout", lang, static_digest()),
        lang=lang,
        theme=theme,
        home=home.rstrip("/"),
        link=about["state"]["link"],
        share=document("share", {**about, "trace": orjson.loads(reply.json())}),
    ).encode()


def _language(about: Mapping[str, Any]) -> str:
    lang = about["state"].get("lang")
    return lang if lang in languages() else SOURCE_LANGUAGE


@cache
def _frame(name: str, lang: str, digest: str) -> dict[str, Any]:
    """Return the part that is equal in all handouts of a page and language.

    `digest` is that of the static files.
    """
    run = script(bundles.script(name))
    sheet = style(bundles.stylesheet(name))
    policy = [
        "default-src 'none'",
        f"script-src {run.source}",
        f"style-src {sheet.source}",
        "img-src data: blob:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return {
        "policy": "; ".join(policy),
        "sheet": sheet.element,
        "scripts": run.element,
        "messages": document("messages", messages(lang)),
        "mark": data_url(Path(STATIC / "img/mark.svg").read_bytes(), "image/svg+xml"),
    }

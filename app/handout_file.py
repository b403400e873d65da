"""A handout: a page as one HTML file that opens from a disk, without a network.

The file has the page's own script, stylesheets and catalog, and the trace as the API sends it
(float32, so that every printed number is the model's), all of it compressed, with a
Content-Security-Policy that lets it load nothing.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from app.assets import bundles
from app.assets.files import STATIC
from app.assets.languages import SOURCE_LANGUAGE, languages, messages
from app.assets.packing import CHARSET
from app.assets.self_contained import block, data_url, encoded, held, numbers, script, style
from app.assets.templates import environment, static_digest
from app.engine.wire import Reply
from app.preview.card import sentence

# The tensors that its views draw: attention, the candidates at each step, and the tensors from
# which the inspector computes a weight.
FEW = ("weights", "mask", "probabilities", "candidates")
PARTS = (*FEW, "q", "k", "v")
CONTEXT = "\x04"  # after which a message follows, in its key
ESCAPE = re.compile(r"\\u([0-9a-f]{4})", re.IGNORECASE)  # in JavaScript
JOINED = re.compile(r'"\s*\+\s*"')  # a string over several lines
LOADER = "handout-loader"
UNSTYLED = ".handout { visibility: hidden } noscript { visibility: visible }"
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
    about = {**about, "model": {**about["model"], "card": ""}}  # long, and not shown here
    return _page(
        "handout",
        lang,
        theme=theme,
        home=home.rstrip("/"),
        share=about.get("id") or "",
        source=sentence(about["state"]),
        trace=numbers("trace", reply.safetensors(share=about)),
    )


def lab_handout(
    reply: Reply, about: Mapping[str, Any], home: str, theme: str | None = None
) -> bytes:
    """Return the file for the lab, as `handout` does; `reply` has the lab's steps."""
    return _page(
        "lab-handout",
        _language(about),
        theme=theme,
        home=home.rstrip("/"),
        link=about["state"]["link"],
        share=block("share", orjson.dumps({**about, "trace": orjson.loads(reply.json())})),
    )


def _page(name: str, lang: str, **own: Any) -> bytes:
    page = environment(lang, static_digest()).get_template(f"{name}.html")
    return encoded(page.render(**_frame(name, lang, static_digest()), lang=lang, **own))


def _language(about: Mapping[str, Any]) -> str:
    lang = about["state"].get("lang")
    return lang if lang in languages() else SOURCE_LANGUAGE


@cache
def _frame(name: str, lang: str, digest: str) -> dict[str, Any]:
    """Return the part that is equal in all handouts of a page and language.

    `digest` is that of the static files.
    """
    loader = script(bundles.script(LOADER))
    code = bundles.script(name)
    own = held("script", code)
    sheet = held("sheet", bundles.stylesheet(name))
    before = style(UNSTYLED)
    policy = [
        "default-src 'none'",
        f"script-src {loader.source} {own.source}",
        f"style-src {before.source} {sheet.source}",
        "img-src data: blob:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return {
        "charset": CHARSET,
        "policy": "; ".join(policy),
        "before": before.element,
        "packed": [sheet.element, own.element, block("messages", orjson.dumps(said(code, lang)))],
        "loader": loader.element,
        "mark": data_url(Path(STATIC / "img/mark.svg").read_bytes(), "image/svg+xml"),
    }


def said(code: str, lang: str) -> dict[str, str | list[str]]:
    """Return the messages of a language that a script has."""
    whole = JOINED.sub("", code)
    plain = ESCAPE.sub(lambda found: chr(int(found[1], 16)), whole).replace('\\"', '"')
    known = messages(lang).items()
    return {key: text for key, text in known if key.rpartition(CONTEXT)[2] in plain}

"""A handout: a page as one HTML file that opens from a disk, without a network.

The file has the page's own script, stylesheets and catalog, and the trace as the API sends it
(float32, so that every printed number is the model's), all of it compressed, with a
Content-Security-Policy that lets it load nothing. If there are very many weights, only those of the
head on which it opens are float32, and it says so.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from html import unescape
from math import ceil, floor, log10
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from markupsafe import Markup
from numpy.typing import NDArray

from app.assets import bundles
from app.assets.languages import SOURCE_LANGUAGE, languages, messages
from app.assets.static_files import STATIC
from app.assets.templates import environment, static_digest
from app.engine.reply_formats import Reply
from app.figures.figure_kinds import HandoutContent
from app.figures.preview_picture import in_short, is_overview, sentence
from app.figures.sentence_figures import opened
from app.handouts.packing import (
    CHARSET,
    RoundedFile,
    block,
    compressed_block,
    data_url,
    held,
    numbers,
    rounded_file,
    script,
    style,
)

# The tensors that its views draw: attention, the candidates at each step, and the tensors from
# which the inspector computes a weight.
FEW = ("weights", "mask", "probabilities", "candidates")
PARTS = (*FEW, "q", "k", "v")
LEARNED = ("w", "b", "pi")  # parameters of scorings and positions, from which it does too
TERMS = ("parts",)  # of the score of a pair
TEXT = r'"(?:[^"\\\n]|\\.)*"'  # of JavaScript
MESSAGE = re.compile(rf"(?<![\w$])t\(\s*({TEXT}(?:\s*\+\s*{TEXT})*)")
JOINED = re.compile(r'"\s*\+\s*"')  # a text over several lines
POLICY = re.compile(rb'http-equiv="Content-Security-Policy" content="([^"]*)"')
LOADER = "handout-loader"
WASM = " 'wasm-unsafe-eval'"
UNSTYLED = ".handout, .living { visibility: hidden } noscript { visibility: visible }"
SELECT = [f"*.{part}" for part in PARTS]
# Of an item of a collection, where its texts do not say otherwise.
UNSAID = {
    "gone": False,
    "still": "",
    "about": "",
    "fits": True,
    "remark": "",
    "text": "",
    "question": "",
    "why": "",
    "left_out": False,
}
MANY = 1_000_000  # numbers; if a sentence has more, only its attention is included
DIGITS = 12  # binary ones of a number in a collection that would be larger: 1/8,000 of it
BLOCK = re.compile(r'<script type="application/gzip" id="([^"]+)">([^<]+)</script>')
COLLECTION_BYTES = 600_000  # of its file; while they last, figures have more than their attention


def handout(content: HandoutContent, home: str, theme: str | None = None, nonce: str = "") -> bytes:
    """Return the file.

    `home` is the address of the server to link to ("" for none), `theme` "light" or "dark" (None:
    the system's). With a nonce, it waits for the page around it, which must know the nonce, to
    connect it to a notebook's kernel.
    """
    content, packed = _with_rounded_weights(content)
    first, later = _rounded("trace", content, packed)
    return handout_page(
        "handout",
        language(content.about),
        bundle="widget" if nonce else _bundle(content),
        theme=theme,
        nonce=nonce,
        home=home.rstrip("/"),
        share=content.about.get("id") or "",
        source=in_short(sentence(content.about["state"])),
        notices=content.about.get("notices", ()),
        rounding=_digits(packed.error) if packed else "",
        trace=share_blocks("trace", content, MANY) + first,
        later=later,
    )


def _bundle(content: HandoutContent) -> str:
    """Return the page whose modules draw this: no more than it needs."""
    if is_overview(content.trace):
        return "long-handout"
    # A second model, and a score that is split.
    explained = any(
        {"described", "scores"} & answer.document.keys() for _, answer in content.answers
    )
    return "full-handout" if explained else "handout"


def lab_handout(
    reply: Reply, about: Mapping[str, Any], home: str, theme: str | None = None
) -> bytes:
    """Return the file for the lab, as `handout` does; `reply` has the lab's steps."""
    return handout_page(
        "lab-handout",
        language(about),
        theme=theme,
        home=home.rstrip("/"),
        link=about["state"]["link"],
        share=_steps("share", reply, about),
    )


def collection_handout(
    collection: Mapping[str, Any],
    items: Sequence[tuple[Mapping[str, Any], HandoutContent | None]],
    lang: str,
    home: str,
    theme: str | None = None,
) -> bytes:
    """Return the file for a collection: scripts and styles once, and the data of every item.

    So that it has at most `COLLECTION_BYTES`, figures have few digits and the last ones are left
    out, which the file says.

    `collection` is the collection with its address; an item is its texts, and what its figure shows
    (None: it has none).
    """
    entries: list[dict[str, Any]] = []
    for n, (texts, figure) in enumerate(items, 1):
        kind, script = "", Markup("")
        if figure is not None and "lab" in figure.about["state"]:
            kind, script = "lab", _steps(f"item-{n}-data", figure.trace, figure.about)
        elif figure is not None:
            kind, script = "workspace", share_blocks(f"item-{n}-data", figure, 0)
        entries.append({**UNSAID, **texts, "n": n, "page": kind, "held": script})
    drawn = [
        (entry, figure)
        for entry, (_, figure) in zip(entries, items, strict=True)
        if entry["page"] == "workspace" and figure is not None
    ]

    def page(rounded: bool) -> bytes:
        blocks = _once([entry["held"] for entry in entries])
        rendered = [{**entry, "held": part} for entry, part in zip(entries, blocks, strict=True)]
        return handout_page(
            "collection-handout",
            lang,
            theme=theme,
            home=home.rstrip("/"),
            told=collection,
            items=rendered,
            rounded=rounded,
        )

    file = page(rounded=False)
    if len(file) > COLLECTION_BYTES:
        for entry, figure in drawn:
            entry["held"] = share_blocks(f"item-{entry['n']}-data", _in_few_digits(figure), 0)
        return _in_bytes(COLLECTION_BYTES, entries, lambda: page(rounded=True))
    room = COLLECTION_BYTES - len(file)
    for entry, figure in drawn:
        whole = share_blocks(f"item-{entry['n']}-data", figure, MANY)
        if len(whole) - len(entry["held"]) <= room:
            room -= len(whole) - len(entry["held"])
            entry["held"] = whole
    return page(rounded=False)


def _in_bytes(limit: int, entries: Sequence[dict[str, Any]], page: Callable[[], bytes]) -> bytes:
    """Return a file of entries, of which the last figures are left out if it were too large."""
    file = page()
    for entry in reversed([entry for entry in entries if entry["page"]]):
        if len(file) <= limit:
            break
        entry |= {"held": Markup(""), "page": "", "remark": "", "left_out": True}
        file = page()
    return file


def _once(blocks: Sequence[Markup]) -> list[Markup]:
    """Return blocks of which equal ones are in the file once; the others refer to the first."""
    first: dict[str, str] = {}

    def shortened(block: re.Match[str]) -> str:
        identity, content = block[1], block[2]
        if identity == (same := first.setdefault(content, identity)):
            return block[0]
        return f'<script type="application/gzip" id="{identity}" data-same="{same}"></script>'

    return [Markup(BLOCK.sub(shortened, part)) for part in blocks]


def _in_few_digits(content: HandoutContent) -> HandoutContent:
    """Return the same with `DIGITS` binary digits in each number, which compress to two thirds."""
    trace = replace(
        content.trace, arrays={name: _few(a) for name, a in content.trace.arrays.items()}
    )
    answers = [
        (question, replace(answer, arrays={name: _few(a) for name, a in answer.arrays.items()}))
        for question, answer in content.answers
    ]
    return replace(content, trace=trace, answers=answers)


def _few(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype != np.float32:
        return array
    dropped = 24 - DIGITS
    bits = np.ascontiguousarray(array).view(np.uint32)
    return ((bits + (1 << dropped - 1)) >> dropped << dropped).astype(np.uint32).view(np.float32)


def share_blocks(identity: str, content: HandoutContent, max_numbers: int = MANY) -> Markup:
    """Return a share with its numbers; if there are more than `max_numbers`, only attention.

    Of a long text, which is drawn from pictures, everything is kept. Its replies are blocks of
    their own: `identity-ask-0` is that of the first of its `asks`.
    """
    drawn = [(question, _drawn(answer)) for question, answer in content.answers]
    with_numbers = [(question, answer) for question, answer in drawn if answer.arrays]
    long = is_overview(content.trace)
    whole = long or "rounded" in content.trace.document
    trace = content.trace if whole else content.trace.only(PARTS)
    if not whole and trace.values + sum(answer.values for _, answer in with_numbers) > max_numbers:
        trace = trace.only(FEW)
        with_numbers = [
            (question, answer.only((*FEW, *LEARNED, *TERMS))) for question, answer in with_numbers
        ]
    share = {
        **content.about,
        "asks": [question for question, _ in with_numbers],
        "model": {**content.about["model"], "card": ""},  # long, and not shown here
    }
    blocks = [numbers(identity, trace.safetensors(share=share))]
    blocks += [
        numbers(f"{identity}-ask-{n}", answer.safetensors())
        for n, (_, answer) in enumerate(with_numbers)
    ]
    return Markup("").join(blocks)


def _with_rounded_weights(content: HandoutContent) -> tuple[HandoutContent, RoundedFile | None]:
    """Take the weights out of a trace that has very many of them, and return them in 8 bits.

    Those of the head on which the page opens stay as they are. Weights that are compared with those
    of another run are never rounded.
    """
    trace, answers = content.trace, content.answers
    weights = {name: array for name, array in trace.arrays.items() if name.endswith(".weights")}
    if sum(array.size for array in weights.values()) <= MANY or is_overview(trace):
        return content, None
    if any(name.endswith(".weights") for _, answer in answers for name in answer.arrays):
        return content, None
    selection = opened(content)
    place, head = selection.attention, selection.head
    name = f"{place.place}.weights"
    packed = rounded_file(weights)
    document = trace.document
    entries = {tensor: document["tensors"][tensor] for tensor in weights}
    exact = {**entries[name], "dims": entries[name]["dims"][1:], "shape": weights[name].shape[1:]}
    others = trace.only([part for part in FEW if part != "weights"])
    key = f"{name}:{head}"
    rest = Reply(
        {
            **document,
            "tensors": {**others.document["tensors"], key: exact},
            "rounded": {
                "error": packed.error,
                "exact": {"name": name, "head": head},
                "tensors": entries,
            },
        },
        {**others.arrays, key: weights[name][head]},
    )
    state = {**content.about["state"], "block": place.block, "layer": place.layer, "head": head}
    return replace(content, trace=rest, about={**content.about, "state": state}), packed


def _rounded(
    identity: str, content: HandoutContent, packed: RoundedFile | None
) -> tuple[Markup, Markup]:
    """Return a block for each layer of rounded weights, which the page reads when it shows it.

    The first result is the layer on which it opens, which the first picture needs; the others may
    come after the script that draws it.
    """
    if packed is None:
        return Markup(""), Markup("")
    blocks = {
        name: compressed_block(f"{identity}-rounded-{n}", layer)
        for n, (name, layer) in enumerate(packed.layers.items())
    }
    first = blocks.pop(content.trace.document["rounded"]["exact"]["name"])
    return first, Markup("").join(blocks.values())


def _digits(error: float) -> str:
    """Return an error with two digits, never less than it is."""
    step: float = 10 ** (floor(log10(error)) - 1)
    return f"{ceil(error / step) * step:.2g}"


def _drawn(answer: Reply) -> Reply:
    """Return the part of a reply that the views of a handout draw."""
    if "described" in answer.document:
        described = {**answer.document["described"], "card": ""}
        answer = replace(answer, document={**answer.document, "described": described})
    return answer.only((*PARTS, *LEARNED, *TERMS))


def _steps(identity: str, reply: Reply, about: Mapping[str, Any]) -> Markup:
    """Return a share of the lab with its steps."""
    return block(identity, orjson.dumps({**about, "trace": orjson.loads(reply.json())}))


def handout_page(
    name: str, lang: str, bundle: str | None = None, runs: bool = False, **variables: Any
) -> bytes:
    """Return a page in one file; with `runs`, it may run WebAssembly in a worker of its own."""
    page = environment(lang, static_digest()).get_template(f"{name}.html")
    frame = _frame(bundle or name, lang, static_digest(), runs)
    return page.render(**frame, lang=lang, **variables).encode(CHARSET)


def policy_of(file: bytes) -> str:
    """Return the Content-Security-Policy of a handout, for a server that shows it."""
    policy = POLICY.search(file)
    assert policy, "every handout has one"
    return unescape(policy[1].decode(CHARSET))


def language(about: Mapping[str, Any]) -> str:
    """Return the language of a handout: that of its state."""
    lang = about["state"].get("lang")
    return lang if lang in languages() else SOURCE_LANGUAGE


@cache
def _frame(name: str, lang: str, digest: str, runs: bool) -> dict[str, Any]:
    """Return the part that is equal in all handouts of a page and language.

    `digest` is that of the static files.
    """
    loader = script(bundles.script(LOADER))
    code = translated(bundles.script(name), lang)
    element = held("script", code)
    sheet = held("sheet", bundles.stylesheet(name))
    before = style(UNSTYLED)
    policy = [
        "default-src 'none'",
        f"script-src {loader.source} {element.source}{WASM if runs else ''}",
        *(["worker-src blob:"] if runs else []),
        f"style-src {before.source} {sheet.source}",
        "img-src data: blob:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return {
        "charset": CHARSET,
        "policy": "; ".join(policy),
        "before": before.element,
        "packed": [sheet.element, element.element],
        "loader": loader.element,
        "mark": data_url(Path(STATIC / "img/mark.svg").read_bytes(), "image/svg+xml"),
    }


def translated(code: str, lang: str) -> str:
    """Return a script with its messages in a language, so that it needs no catalog.

    They are the texts in `t("…")`; one without a translation stays in English.
    """
    catalog = messages(lang)

    def translate(call: re.Match[str]) -> str:
        translation = catalog.get(orjson.loads(JOINED.sub("", call[1])))
        text = translation[0] if isinstance(translation, list) else translation
        return f"t({orjson.dumps(text).decode()}" if text else call[0]

    return MESSAGE.sub(translate, code)

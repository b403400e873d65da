"""A long text on the page: a random model that reads it, and what the map shows."""

import re
from typing import Any

import pytest
import torch
from numpy.typing import NDArray
from playwright.sync_api import Page, expect

from tests.browsing.page_settles import settle
from tests.browsing.workspace import Workspace
from tests.model.tiny_huggingface import GROUPED, TINY, build

LIMIT = 1024
LONG = {**GROUPED, "max_position_embeddings": LIMIT}

SENTENCES = [
    "The cat sat on the mat.",
    "A dog ran over the hill and saw it!",
    "Who was there in the rain?",
    "Nobody knew, and the river went on.",
]
TEXT = "\n\n".join(" ".join(SENTENCES[i % 4 :] + SENTENCES[: i % 4]) for i in range(12))
SHARP = ".long[data-waits=no] .long-map[data-drawn]"
LAYER, HEAD = 1, 2
# Where a unit of the map is, in pixels of the window.
CELL = """([row, col]) => {
    const map = document.querySelector(".long-map");
    const { frame, top, left, wide, high } = map.picture;
    const box = map.querySelector("canvas").getBoundingClientRect();
    const x = box.left + frame.left + (col + 0.5 - left) * wide;
    const y = box.top + frame.top + (row + 0.5 - top) * high;
    return [x, y];
}"""


def tiny() -> tuple[Any, Any]:
    """A random model whose rows look at a few tokens, and its tokenizer."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(TINY, "long", ("LlamaForCausalLM", "LlamaConfig", LONG, "bytes"))
        model, words = build("long")
    with torch.no_grad():
        for layer in model.model.layers:
            layer.self_attn.q_proj.weight.mul_(8)
    return model, words


class Run:
    """The same text by the library's own attention."""

    def __init__(self) -> None:
        model, words = tiny()
        model.set_attn_implementation("eager")
        encoded = words(TEXT, return_tensors="pt", return_offsets_mapping=True)
        with torch.no_grad():
            seen = model(encoded["input_ids"], output_attentions=True).attentions
        self.weights: NDArray[Any] = seen[LAYER][0, HEAD].numpy()
        self.spans = encoded["offset_mapping"][0].tolist()
        self.tokens = len(self.spans)

    def text(self, token: int) -> str:
        return TEXT[slice(*self.spans[token])]


def opened(there: Workspace, **link: object) -> Page:
    there.go(source=TEXT, view="attention", layer=LAYER, head=HEAD, **link)
    sharp(there.page)
    return there.page


def sharp(page: Page) -> None:
    """Wait until the map is sharp, and has been fitted to its column."""
    page.wait_for_selector(SHARP)
    settle(page)
    page.wait_for_selector(SHARP)


def hover(page: Page, row: int, col: int) -> str:
    page.mouse.move(0, 0)
    page.mouse.move(*page.evaluate(CELL, [row, col]))
    tip = page.locator(".long-map .tip")
    expect(tip).to_be_visible()
    return tip.inner_text()


def number(text: str) -> float:
    """The last number that a text says, be it a power of ten."""
    raised = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    found = re.findall(r"(\d+(?:\.\d+)?)(?: · 10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?", text)[-1]
    return float(found[0]) * 10.0 ** int(found[1].translate(raised) or 0)


def about(weight: float) -> Any:
    """Equal to three digits, and to two if the weight is printed as a power of ten."""
    return pytest.approx(weight, rel=0.008 if weight >= 1e-4 else 0.06)


def window(page: Page) -> list[list[int]]:
    found: dict[str, list[int]] = page.evaluate(
        "document.querySelector('.long-map').picture.window"
    )
    return [found["rows"], found["cols"]]

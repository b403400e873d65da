"""A long text: a map of pooled weights that becomes sharp, with the text beside it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from playwright.sync_api import Page, Route, expect

from tests.browser.axe import violations
from tests.browser.watch import Watch
from tests.browser.workspace import Workspace
from tests.model.tiny_huggingface import GROUPED, TINY, build
from tests.servers import AppServer, running_app

LIMIT = 1024
TINY["long"] = (
    "LlamaForCausalLM",
    "LlamaConfig",
    {**GROUPED, "max_position_embeddings": LIMIT},
    "bytes",
)
pytest.importorskip("transformers")

SENTENCES = [
    "The cat sat on the mat.",
    "A dog ran over the hill and saw it!",
    "Who was there in the rain?",
    "Nobody knew, and the river went on.",
]
TEXT = "\n\n".join(" ".join(SENTENCES[i % 4 :] + SENTENCES[: i % 4]) for i in range(12))
SHARP = ".long[data-waits=no] .long-map[data-drawn]"
LAYER, HEAD = 1, 2


def tiny() -> tuple[Any, Any]:
    """A random model whose rows look at a few tokens, and its tokenizer."""
    model, words = build("long")
    with torch.no_grad():
        for layer in model.model.layers:
            layer.self_attn.q_proj.weight.mul_(8)
    return model, words


# How light each token of the text is, 765 without a shade.
SHADES = """() => [...document.querySelectorAll(".long-text span")].map((span) =>
    (span.style.backgroundColor.match(/\\d+/g) ?? [255, 255, 255]).map(Number)
        .reduce((sum, one) => sum + one))"""
# Where a unit of the map is, in pixels of the window.
CELL = """([row, col]) => {
    const map = document.querySelector(".long-map");
    const { frame, top, left, scale } = map.picture;
    const box = map.querySelector("canvas").getBoundingClientRect();
    const x = box.left + frame.left + (col + 0.5 - left) * scale;
    const y = box.top + frame.top + (row + 0.5 - top) * scale;
    return [x, y];
}"""


@pytest.fixture(scope="module")
def served(
    tmp_path_factory: pytest.TempPathFactory, server_cache: Path
) -> Iterator[tuple[AppServer, Path]]:
    folder = tmp_path_factory.mktemp("long-model")
    for part in tiny():
        part.save_pretrained(folder)
    data = tmp_path_factory.mktemp("long-server")
    settings = {"models": f"tiny=hf:{folder}", "zoo": "false"}
    with running_app(data, settings, warm=True, cache=server_cache) as server:
        yield server, folder


@pytest.fixture
def there(page: Page, watch: Watch, served: tuple[AppServer, Path]) -> Workspace:
    page.set_default_timeout(60_000)
    return Workspace(page, served[0].url)


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


@pytest.fixture(scope="module")
def run() -> Run:
    return Run()


def opened(there: Workspace, **link: object) -> Page:
    there.go(source=TEXT, view="attention", layer=LAYER, head=HEAD, **link)
    there.page.wait_for_selector(SHARP)
    return there.page


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


def test_all_of_it_is_shown_pooled_and_says_so(there: Workspace, run: Run) -> None:
    assert 300 < run.tokens < LIMIT
    page = opened(there, query=100)
    assert window(page) == [[0, run.tokens], [0, run.tokens]]
    expect(page.locator("#source-tokens")).to_have_text(f"{run.tokens} tokens")
    side = 2 ** int(page.locator(".long-map").get_attribute("data-level") or 0)
    assert side > 1
    expect(page.locator(".long .notes")).to_contain_text(f"largest of {side} × {side} weights")
    for row, col in [(200, 100), (402, 16), (300, 292)]:
        rows, cols = row // side * side, col // side * side
        expected = run.weights[rows : rows + side, cols : cols + side].max()
        said = hover(page, row, col)
        assert f"largest of {side} × {side}" in said
        assert number(said) == about(expected)
    assert "masked" in hover(page, 50, 400)


def test_a_window_of_the_link_is_sharp_and_stays_in_it(there: Workspace, run: Run) -> None:
    page = opened(there, queries="200-220", keys="180-210", query=210, key=190)
    (top, bottom), (left, right) = window(page)
    assert max(top - 200, 220 - bottom, left - 180, 210 - right) <= 0
    assert bottom - top < 60
    for row, col in [(205, 185), (215, 200), (210, 190)]:
        said = hover(page, row, col)
        assert number(said) == about(run.weights[row, col])
        assert {f"{row + 1}", f"{col + 1}"} <= {*re.findall(r"\d+", said)}
    expect(page.locator(".long .notes")).to_have_text("Each cell is one weight.")
    page.locator(".zooms button", has_text="All").click()
    page.wait_for_function("() => !location.search.includes('queries=')")
    assert window(page) == [[0, run.tokens], [0, run.tokens]]
    page.locator(".zooms button").first.click()
    page.wait_for_function("() => location.search.includes('queries=')")
    zoomed = window(page)
    page.reload()
    page.wait_for_selector(SHARP)
    # The link counts whole tokens.
    assert np.abs(np.array(window(page)) - zoomed).max() <= 2


def test_the_pinned_row_is_told_and_shades_the_text(there: Workspace, run: Run) -> None:
    page = opened(there, query=300)
    top = int(run.weights[300].argmax())
    caption = page.locator("#caption")
    expect(caption).to_contain_text(f"Layer {LAYER + 1}, head {HEAD + 1}")
    expect(caption.locator(".as-query sub")).to_have_text("301")
    expect(caption.locator(".as-key sub").first).to_have_text(str(top + 1))
    expect(caption).to_contain_text(f"{run.weights[300, top]:.2f}")
    shades = page.evaluate(SHADES)
    assert len(shades) == run.tokens
    assert shades[top] < 765
    page.locator(".ways label", has_text="what looks at it").click()
    page.locator(".long-text span").nth(40).click()
    column = run.weights[:, 40]
    expect(page.locator(".reader .says")).to_contain_text(f"{column.max():.2f}")
    assert (there.link["key"], there.link["shade"]) == ("40", "column")
    darkest = int(np.argmin(page.evaluate(SHADES)))
    assert darkest == int(np.nanargmax(np.where(column > 0, column, np.nan)))


def test_keys_move_the_cell_and_zoom(there: Workspace, run: Run) -> None:
    page = opened(there, queries="200-220", keys="180-200", query=210, key=190)
    page.locator(".long-map").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert (there.link["query"], there.link["key"]) == ("211", "191")
    expect(page.locator("#announce")).to_contain_text("query")
    expect(page.locator("#announce")).to_contain_text("212")
    page.keyboard.press("Home")
    assert there.link["key"] == "0"
    page.keyboard.press("End")
    assert there.link["key"] == str(run.tokens - 1)
    expect(page.locator("#announce")).to_contain_text("masked")
    page.keyboard.press("0")
    page.wait_for_function("() => !location.search.includes('queries=')")
    page.keyboard.press("+")
    page.wait_for_function("() => location.search.includes('queries=')")
    page.keyboard.press("Escape")
    assert "query" not in there.link


def test_two_fingers_zoom_and_one_moves(there: Workspace) -> None:
    page = opened(there)
    fingers = page.context.new_cdp_session(page)
    fingers.send("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 2})
    x, y = page.evaluate(CELL, [400, 400])

    def touch(kind: str, *places: tuple[float, float]) -> None:
        points = [{"x": x + dx, "y": y + dy, "id": i} for i, (dx, dy) in enumerate(places)]
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    scale = page.evaluate("document.querySelector('.long-map').picture.scale")
    touch("touchStart", (-20, 0), (20, 0))
    for apart in (30, 40, 60, 80):
        touch("touchMove", (-apart, 0), (apart, 0))
    touch("touchEnd")
    page.wait_for_selector(SHARP)
    now = page.evaluate("document.querySelector('.long-map').picture.scale")
    assert now == pytest.approx(4 * scale, rel=0.05)
    before = window(page)
    touch("touchStart", (0, 0))
    for way in (10, 40, 80):
        touch("touchMove", (-way, -way))
    touch("touchEnd")
    page.wait_for_selector(SHARP)
    assert np.all(np.array(window(page)) > np.array(before))
    fingers.send("Emulation.setTouchEmulationEnabled", {"enabled": False})
    assert "query" not in there.link


def test_a_cell_can_be_a_sentence(there: Workspace, run: Run) -> None:
    page = opened(there, level="sentences")
    starts = [match.start() for match in re.finditer(r"(?<=[.!?])\s+(?=[A-Z])", TEXT)]
    middles = [(start + max(start, end - 1)) / 2 for start, end in run.spans]
    # White space belongs to the sentence before it.
    begins = [0, *[start + len(re.match(r"\s+", TEXT[start:])[0]) for start in starts]]  # type: ignore[index]
    of = np.searchsorted(begins, middles, side="right") - 1
    edges = [*np.searchsorted(of, range(len(begins))), run.tokens]
    assert window(page) == [[0, 48], [0, 48]]
    for row, col in [(10, 3), (20, 20), (23, 0)]:
        rows, cols = slice(edges[row], edges[row + 1]), slice(edges[col], edges[col + 1])
        expected = run.weights[rows, cols].sum(1).mean()
        assert number(hover(page, row, col)) == about(expected)
    expect(page.locator(".long .notes")).to_contain_text("summed over the column's tokens")
    page.locator(".ranges label", has_text="a paragraph").click()
    page.wait_for_selector(SHARP)
    assert window(page) == [[0, 12], [0, 12]]


def test_words_are_found(there: Workspace) -> None:
    page = opened(there)
    field = page.locator(".find input")
    field.fill("RIVER")
    expect(page.locator(".find output")).to_have_text("match 1 of 12")
    found = page.locator(".long-text .found")
    assert "".join(found.all_inner_texts()).strip() == "river"
    field.press("Enter")
    expect(page.locator(".find output")).to_have_text("match 2 of 12")
    field.fill("zebra")
    expect(page.locator(".find output")).to_have_text("not found")


def test_a_text_over_the_model_s_length_offers_to_be_cut(there: Workspace, watch: Watch) -> None:
    watch.expect("422")
    there.go(source="The cat sat.", view="attention", layer=0, head=0)
    there.drawn()
    page = there.page
    page.locator("#source").fill(TEXT * 3)
    cut = page.locator("#problem button", has_text=f"Cut to {LIMIT} tokens")
    expect(cut).to_be_visible()
    expect(page.locator("#view .matrix")).to_be_visible()
    cut.click()
    page.wait_for_selector(SHARP)
    expect(page.locator("#problem")).to_be_hidden()
    tokens = int((page.locator("#source-tokens").inner_text()).split()[0])
    assert LIMIT - 40 < tokens <= LIMIT
    assert (TEXT * 3).startswith(page.locator("#source").input_value())
    page.locator("#source").fill("The cat sat.")
    page.wait_for_selector("#view .matrix .chart[data-drawn]")
    expect(page.locator(".long")).to_have_count(0)


def test_views_that_cannot_show_it_are_not_offered(there: Workspace) -> None:
    page = there.page
    there.go(source=TEXT, view="lines", layer=LAYER, head=HEAD)
    page.wait_for_selector(SHARP)
    expect(page.locator(".not-offered")).to_contain_text("256 tokens")
    offered = [one.get_attribute("value") for one in page.locator("#views input").all()]
    assert offered == ["attention", "heads"]
    page.locator("#share").click()
    expect(page.locator("#shared-says")).to_contain_text("cannot be saved as a share")
    page.locator("#shared-close").click()
    page.locator("#source").fill("The cat sat.")
    page.wait_for_selector("#view .weave")
    assert there.link["view"] == "lines"


def test_only_what_is_in_sight_is_asked_for(there: Workspace) -> None:
    page = opened(there)
    asked: list[dict[str, Any]] = []
    held: list[Route] = []

    def hold(route: Route) -> None:
        asked.append(route.request.post_data_json or {})
        held.append(route)

    page.route("**/api/tile", hold)
    page.locator(".long-map").focus()
    page.keyboard.press("ArrowRight")
    for _ in range(8):
        page.keyboard.press("+")
    page.wait_for_timeout(800)
    left = [route for route in held if not route.request.failure]
    assert len(left) <= 2, "more are waiting than are asked for at once"
    for route in held:
        route.continue_()
    page.unroute("**/api/tile")
    page.wait_for_selector(SHARP)
    assert all(one["at"] == f"decoder.{LAYER}.self" and one["head"] == HEAD for one in asked)


def test_typing_has_one_overview_on_its_way(there: Workspace) -> None:
    page = opened(there)
    running: set[object] = set()
    most: list[int] = []

    def begun(request: Any) -> None:
        if request.url.endswith("/api/overview"):
            running.add(request)
            most.append(len(running))

    page.on("request", begun)
    page.on("requestfinished", lambda request: running.discard(request))
    page.on("requestfailed", lambda request: running.discard(request))
    box = page.locator("#source")
    box.focus()
    page.keyboard.press("Control+End")
    for word in [" And", " the", " cat", " sat", " there."]:
        page.keyboard.type(word, delay=20)
        page.wait_for_timeout(300)
    for _ in range(200):
        if most and not running:
            break
        page.wait_for_timeout(100)
    page.wait_for_selector(SHARP)
    assert max(most) == 1
    address = urlsplit(page.url)
    assert parse_qs(address.query)["source"][0].endswith("sat there.")


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("width", [1440, 390])
def test_nothing_is_in_the_way_of_anyone(there: Workspace, lang: str, width: int) -> None:
    page = there.page
    page.set_viewport_size({"width": width, "height": 844})
    opened(there, lang=lang, query=30, key=12)
    assert violations(page) == []
    if lang == "zh":
        expect(page.locator("#caption")).to_contain_text("第 2 层第 3 个头")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

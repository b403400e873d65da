"""Views in plain elements: three figures of three sources on one page."""

import re
from typing import Any

import pytest
import torch
from playwright.sync_api import Page, Route, expect

from app.http.security import HEADERS
from tests.browsing.api import client
from tests.browsing.axe import violations
from tests.browsing.watch import Watch
from tests.servers import ROOT, AppServer

STATE = {"source": "The cat sleeps.", "target": "猫睡了。", "block": "cross", "lang": "en"}
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Three figures</title>
<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">
<link rel="stylesheet" href="{css}"></head><body><main><h1>Three figures</h1>
<section><h2>Live</h2><div id="live-figure"></div></section>
<section><h2>A share</h2><p id="share-caption"></p><div id="share-figure"></div></section>
<section><h2>Given</h2><p id="given-caption"></p><div id="given-figure"></div></section>
</main><p id="live" class="hidden" aria-live="polite"></p></body></html>"""
MAKE = """async ([js, options]) => {
    const { three, counting } = await import("/figures.js");
    const { figureIn } = await import("/example.js");
    window.count = counting();
    window.figures = await three(js, figureIn, window.count, options);
}"""
LINKS = """() => Object.values(window.figures).map(({ context }) => {
    const { view, query, key } = context.store.get().link;
    return [view, query, key];
})"""
NAMES = (
    """(id) => [...document.querySelectorAll(`#${id} input[type=radio]`)].map(({ name }) => name)"""
)
IDS = "() => [...document.querySelectorAll('[id]')].map(({ id }) => id)"
READY = """() => Object.values(window.figures).every(({ context }) => {
    const { status, problem } = context.store.get();
    return status === "ready" && !problem;
})"""


def attention() -> torch.Tensor:
    """Return the unscaled self-attention weights of X = [[1, 0], [0, 1], [1, 1]]."""
    x = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    return (x @ x.T).softmax(-1)


def given() -> dict[str, Any]:
    tokens = [
        {"text": text, "id": at, "start": at, "end": at + 1, "special": False}
        for at, text in enumerate("abc")
    ]
    over = {"query": "text", "key": "text"}
    weights = attention().flatten().tolist()
    return {
        "model": {
            "id": "hand", "name": "By hand", "kind": "encoder", "digest": "0",
            "texts": ["text"], "attentions": [{
                "place": "encoder.0.self", "stack": "encoder", "layer": 0, "kind": "self",
                "query": "text", "key": "text", "heads": 1, "kv_heads": 1,
                "mask": "padding", "scoring": "dot",
            }],
            "layers": {"encoder": 1}, "heads": {"encoder": 1},
            "d_model": 2, "parameters": 0, "languages": ["en", "zh"], "max_tokens": 3,
            "capabilities": [],
        },
        "trace": {
            "id": "hand", "model": "hand", "direction": "",
            "tokens": {"text": tokens},
            "output": {"text": "", "tokens": [], "logprobs": [], "score": 0, "finished": True},
            "tensors": {
                "encoder.0.self.weights": {
                    "dims": ["head", "query", "key"], "over": over, "shape": [1, 3, 3],
                    "dtype": "float32", "data": weights,
                },
                "encoder.0.self.mask": {
                    "dims": ["query", "key"], "over": over, "shape": [3, 3],
                    "dtype": "float32", "data": [1.0] * 9,
                },
            },
        },
    }  # fmt: skip


def example(js: str) -> str:
    """Return the example of the docs, with the server's addresses of our modules."""
    docs = (ROOT / "docs/development.md").read_text()
    found = re.search(r"## A figure\n.*?```js\n(.*?)```", docs, re.DOTALL)
    assert found
    return found[1].replace('from "./', f'from "{js}/')


@pytest.fixture
def figures(page: Page, watch: Watch, live_server: AppServer) -> Page:
    """A third-party page on the live server, under the server's policy."""
    share = client.post(f"{live_server.url}/api/shares", json={"state": STATE})
    html = client.get(live_server.url).text
    [css] = re.findall(r'href="(/static/\w+/page/workspace\.css)"', html)
    [plotly] = re.findall(r'data-plotly="([^"]+)"', html)
    js = css.replace("page/workspace.css", "js")
    bodies = {
        "/three": (PAGE.replace("{css}", css), "text/html"),
        "/figures.js": ((ROOT / "tests/figures/figures.js").read_text(), "text/javascript"),
        "/example.js": (example(js), "text/javascript"),
    }

    def answer(route: Route) -> None:
        body, kind = bodies["/" + route.request.url.rsplit("/", 1)[1]]
        route.fulfill(body=body, content_type=f"{kind}; charset=utf-8", headers=HEADERS)

    page.route(re.compile(r"/(three|figures\.js|example\.js)$"), answer)
    page.goto(f"{live_server.url}/three")
    options = {"plotly": plotly, "share": share.json()["id"], "given": given()}
    page.evaluate(MAKE, [js, options])
    page.wait_for_function(READY)
    return page


def links(page: Page) -> list[Any]:
    found: list[Any] = page.evaluate(LINKS)
    return found


def test_three_figures_stand_on_one_page_each_its_own_and_leave_nothing_that_listens(
    figures: Page,
) -> None:
    page = figures
    assert links(page) == [["lines", None, None], ["heads", None, None], ["attention", None, None]]
    expect(page.locator("#live-figure")).to_contain_text("cat")
    expect(page.locator("#share-caption")).to_contain_text("heads do the same here")

    # Hovering a cell of one shows its number there, and highlights nothing in the others.
    shared = page.locator("#share-caption").inner_text()
    matrix = page.locator("#given-figure .matrix")
    matrix.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    _, query, key = links(page)[2]
    words = f"{attention()[query, key]:.2f}"
    expect(page.locator("#given-caption")).to_contain_text(words)
    expect(page.locator("#live")).to_contain_text(f"{attention()[query, key]:.4f}")
    assert links(page)[:2] == [["lines", None, None], ["heads", None, None]]
    assert page.locator("#share-caption").inner_text() == shared

    box = page.locator("#given-figure .chart").bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.6)
    expect(page.locator("#given-figure .tip")).to_be_visible()
    assert re.search(r"0\.(4223|1554|2119|5761)", page.locator("#given-figure .tip").inner_text())
    hovered = "() => Object.values(figures).map(({ context }) => context.store.hovered() !== null)"
    assert page.evaluate(hovered) == [False, False, True]

    # Escape unpins in the figure in which it is pressed.
    page.locator("#share-figure button").first.focus()
    page.keyboard.press("Escape")
    assert links(page)[2][1:] == [query, key]
    matrix.focus()
    page.keyboard.press("Escape")
    assert links(page)[2][1:] == [None, None]

    # One figure shows another share, and the others are unchanged.
    page.evaluate("figures.share.context.store.go({ view: 'attention' })")
    expect(page.locator("#share-figure .matrix")).to_be_visible()
    assert [view for view, *_ in links(page)] == ["lines", "attention", "attention"]
    page.evaluate("void count.store(figures.live.context.store)")
    standing = page.evaluate("count.now()")
    assert all(standing.values())
    for view in page.evaluate("figures.live.offer().map(({ id }) => id)"):
        page.evaluate("(view) => figures.live.context.store.go({ view })", view)
        page.wait_for_function(READY)
    page.evaluate("figures.live.context.store.go({ view: 'lines' })")
    assert page.evaluate("count.now()") == standing, "what a view listens to ends with it"
    page.evaluate("Object.values(figures).forEach((figure) => figure.destroy())")
    assert page.evaluate("count.now()") == {"page": 0, "sizes": 0, "stores": 0}
    for one in ("live", "share", "given"):
        left = "root => [root.childElementCount, root.className, root.getAttributeNames()]"
        found = page.locator(f"#{one}-figure").evaluate(left)
        assert found == [0, "", ["id", "class"]]


def test_three_figures_share_no_names_and_show_what_they_can(figures: Page) -> None:
    page = figures
    page.evaluate("figures.live.context.store.go({ view: 'attention' })")
    page.evaluate("figures.share.context.store.go({ view: 'attention' })")
    expect(page.locator(".matrix")).to_have_count(3)
    page.wait_for_function(READY)
    ids = page.evaluate(IDS)
    assert len(ids) == len(set(ids))
    names = [set(page.evaluate(NAMES, f"{one}-figure")) for one in ("live", "share", "given")]
    assert all(names)
    assert sum(map(len, names)) == len(set.union(*names))
    assert violations(page) == []
    offered = figures.evaluate("figures.given.offer().map(({ id }) => id)")
    assert "attention" in offered
    assert not {"decoding", "inside", "worksheet", "training"} & set(offered)
    figures.evaluate("figures.given.context.store.go({ view: 'worksheet' })")
    assert figures.evaluate("figures.given.context.store.get().unoffered") == "worksheet"
    assert links(figures)[2][0] in offered

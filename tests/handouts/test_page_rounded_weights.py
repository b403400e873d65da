"""A figure of very many weights on a disk: one head is exact, the others are close."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Page, expect

from headlight import Shown, show
from tests.browsing.watch import Watch
from tests.browsing.workspace import Workspace
from tests.package.test_arrays import weights

TOKENS, HEADS, LAYERS = 140, 12, 6
LAYER, HEAD = 4, 7
# The texts on the canvases of the figure.
WRITTEN = """(() => {
    window.written = [];
    const { fillText } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
        window.written.push(text);
        fillText.call(this, text, x, y);
    };
})()"""


@pytest.fixture(scope="module")
def layers() -> list[NDArray[np.float32]]:
    return [weights(HEADS, TOKENS, TOKENS, seed=number) for number in range(LAYERS)]


@pytest.fixture(scope="module")
def figure(layers: list[NDArray[np.float32]]) -> Shown:
    return show(layers, [f"w{n}" for n in range(TOKENS)], layer=LAYER, head=HEAD)


@pytest.fixture
def opened(
    page: Page, watch: Watch, workspace: Workspace, figure: Shown, tmp_path: Path
) -> Workspace:
    file = figure.save(tmp_path / "figure.html")
    watch.expect(f"request to elsewhere: {file.as_uri()}")
    page.goto(file.as_uri())
    workspace.drawn()
    return workspace


def drawn(workspace: Workspace) -> NDArray[np.float64]:
    return workspace.figure()[0]


def bound(workspace: Workspace) -> float:
    said = re.search(r"by at most ([\d.]+), so", workspace.find(".notices").inner_text())
    assert said
    return float(said[1])


def test_the_head_on_which_it_opens_is_exact(
    opened: Workspace, layers: list[NDArray[np.float32]]
) -> None:
    expect(opened.find("#caption")).to_contain_text(f"Layer {LAYER + 1}, head {HEAD + 1}")
    np.testing.assert_allclose(drawn(opened), layers[LAYER][HEAD], atol=1e-7)
    opened.page.mouse.click(*opened.cell(3, 2))
    weight = f"{layers[LAYER][HEAD][3, 2]:.4f}"
    expect(opened.find("#working")).to_contain_text(weight)


def test_another_head_is_as_close_as_it_says_and_its_numbers_have_fewer_digits(
    opened: Workspace, layers: list[NDArray[np.float32]]
) -> None:
    most = bound(opened)
    for layer in (LAYER, 0, LAYERS - 1):
        if layer != LAYER:
            opened.place("encoder", layer)
        opened.find("#heads label").nth(2).click()
        expect(opened.find("#caption")).to_contain_text(f"Layer {layer + 1}, head 3")
        opened.settled()
        seen, true = drawn(opened), layers[layer][2]
        assert 0 < np.abs(seen - true).max() <= most
        np.testing.assert_allclose(seen.sum(-1), 1, atol=1e-3)
    opened.page.mouse.click(*opened.cell(3, 2))
    expect(opened.find("#working")).to_contain_text(re.compile(r"≈ 0\.\d\d$|<0.01$"))
    expect(opened.find("#view .notes")).to_contain_text(re.compile(r"≈ 0\.\d\d on average"))


def test_every_view_draws_and_the_exact_head_stays_exact(
    opened: Workspace, watch: Watch, layers: list[NDArray[np.float32]]
) -> None:
    names = opened.find("#views label").all_inner_texts()
    assert {"Attention", "Lines", "Heads", "Compare"} <= set(names)
    for index, name in enumerate(names):
        opened.find("#views label").nth(index).click()
        opened.settled()
        picture = opened.find("#view").locator("canvas, svg").first
        expect(picture, f"{name} draws").to_be_attached()
        expect(opened.find(".not-frozen")).to_be_hidden()
        watch.check()
    opened.find("#views label").nth(names.index("Attention")).click()
    opened.settled()
    np.testing.assert_allclose(drawn(opened), layers[LAYER][HEAD], atol=1e-7)


def test_digits_in_cells_beside_rows_and_in_a_picture_say_that_they_are_rounded(
    page: Page, watch: Watch, workspace: Workspace, tmp_path: Path
) -> None:
    many = [weights(80, 12, 12, seed=number) for number in range(90)]
    words = ["[CLS]", *(f"w{n}" for n in range(11))]
    file = show(many, words, layer=LAYER, head=HEAD).save(tmp_path / "figure.html")
    watch.expect(f"request to elsewhere: {file.as_uri()}")
    page.add_init_script(WRITTEN)
    page.set_viewport_size({"width": 1600, "height": 1200})
    page.goto(file.as_uri())
    workspace.drawn()
    exact = page.evaluate("window.written.splice(0)")
    assert sum(re.fullmatch(r"[01]\.\d\d", text) is not None for text in exact) > 100
    assert not any("≈" in text for text in exact)
    workspace.find("#heads label").nth(2).click()
    expect(workspace.find("#caption")).to_contain_text("head 3")
    workspace.settled()
    rounded = page.evaluate("window.written.splice(0)")
    seen, true = drawn(workspace), many[LAYER][2]
    printed = [f"≈{value:.2f}" for value in seen.ravel() if value >= 0.005]
    bars = [f"≈{value:.2f}" for value in true[:, 0]]
    assert set(printed) <= set(rounded)
    assert set(bars) & set(rounded)
    assert not any(re.fullmatch(r"[01]\.\d\d", text) for text in rounded)
    page.mouse.move(*workspace.cell(3, int(seen[3].argmax())))
    expect(workspace.find(".tip")).to_contain_text(f"≈ {seen[3].max():.2f}")


@contextmanager
def halting(file: bytes, halt: int) -> Iterator[tuple[str, threading.Event]]:
    """Serve a file up to an offset, and the rest of it once the event is set."""
    rest = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(file)))
            self.end_headers()
            self.wfile.write(file[:halt])
            rest.wait(120)
            self.wfile.write(file[halt:])

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", rest
    finally:
        rest.set()
        server.shutdown()
        server.server_close()


def test_the_first_picture_is_drawn_before_the_whole_file_is_read(
    page: Page, workspace: Workspace, figure: Shown, layers: list[NDArray[np.float32]]
) -> None:
    halt = figure.html.index(b'id="trace-rounded-0"') + 5_000
    assert halt < len(figure.html) / 2
    with halting(figure.html, halt) as (address, rest):
        page.goto(address, wait_until="commit")
        workspace.drawn()
        assert page.evaluate("document.readyState") == "loading"
        np.testing.assert_allclose(drawn(workspace), layers[LAYER][HEAD], atol=1e-7)
        workspace.place("encoder", 0)  # its weights are half read
        rest.set()
        expect(workspace.find("#caption")).to_contain_text("Layer 1, head")
        workspace.settled()
        assert page.evaluate("document.readyState") != "loading"
    head = int(re.findall(r"head (\d+)", workspace.find("#caption").inner_text())[0]) - 1
    assert np.abs(drawn(workspace) - layers[0][head]).max() <= bound(workspace)

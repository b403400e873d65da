"""Shares can be framed by another site's page, and no other page can."""

import threading
from collections.abc import Callable, Iterator
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Frame, Page, expect

from tests.browsing.api import client
from tests.browsing.watch import Watch
from tests.browsing.workspace import CHARTS, DRAWN, Workspace
from tests.servers import AppServer

STATE: dict[str, Any] = {
    "source": 'The cat "sits" & sleeps.',
    "target": "猫睡了。",
    "view": "attention",
    "block": "cross",
    "layer": 1,
    "head": 2,
    "query": 1,
    "key": 2,
    "lang": "en",
}
Framing = Callable[[str], str]


@pytest.fixture(scope="module")
def framing() -> Iterator[Framing]:
    """Serve another site; yield a function that makes a page of HTML and returns its address."""
    pages: dict[str, str] = {}

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = pages.get(self.path, "").encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(
                b"<!doctype html><link rel=icon href=data:,><title>A blog</title>" + body
            )

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def frame(html: str) -> str:
        path = f"/{len(pages)}"
        pages[path] = html
        return f"http://127.0.0.1:{server.server_port}{path}"

    yield frame
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def share(live_server: AppServer) -> dict[str, Any]:
    """Return the API's reply about a share of `STATE`."""
    made = client.post(f"{live_server.url}/api/shares", json={"state": STATE})
    path = f"{live_server.url}/api/shares/{made.json()['id']}"
    document: dict[str, Any] = client.get(path).json()
    return document


def framed(page: Page, address: str) -> Frame:
    """Open another site's page, and return its frame."""
    page.goto(address)
    frame = page.frames[1]
    frame.wait_for_load_state()
    return frame


def weights(share: dict[str, Any], place: str, head: int) -> NDArray[Any]:
    """Compute a head's weights from the queries, keys and mask in the share."""
    tensors = share["trace"]["tensors"]
    q, k = (np.array(tensors[f"{place}.{name}"]["data"])[head] for name in ("q", "k"))
    mask = np.array(tensors[f"{place}.mask"]["data"], dtype=bool)
    scores = np.where(mask, np.exp(q @ k.T / np.sqrt(q.shape[-1])), 0)
    found: NDArray[Any] = scores / scores.sum(-1, keepdims=True)
    return found


def shows(frame: Frame, expected: NDArray[Any]) -> None:
    """Check that the figure shows these weights; a masked cell has none."""
    seen = np.array(frame.evaluate(CHARTS, "#view")[0]["values"], dtype=float)
    np.testing.assert_allclose(np.nan_to_num(seen), expected, atol=1e-4)


def test_a_share_is_seen_in_another_sites_page(
    page: Page, watch: Watch, live_server: AppServer, framing: Framing, share: dict[str, Any]
) -> None:
    url = f"{live_server.url}/embed/{share['id']}"
    address = framing(f'<iframe src="{url}" width="900" height="600"></iframe>')
    frame = framed(page, address)
    frame.wait_for_function(DRAWN)
    shows(frame, weights(share, "decoder.1.cross", STATE["head"]))
    expect(frame.locator("#caption")).to_contain_text("Layer 2, head 3")
    link = frame.get_by_role("link")
    expect(link).to_have_text('Headlight · The cat "sits" & sleeps. · open')
    assert link.get_attribute("href") == f"/s/{share['id']}?lang=en"
    assert (link.get_attribute("target"), link.get_attribute("rel")) == ("_blank", "noopener")
    for selector in ("#views", ".rail", "#inspector", "#theme", "header"):
        expect(frame.locator(selector).locator("visible=true")).to_have_count(0)
    width = frame.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert width[0] <= width[1]


def test_no_other_page_lets_itself_be_framed(
    page: Page, watch: Watch, live_server: AppServer, framing: Framing, share: dict[str, Any]
) -> None:
    watch.expect("frame-ancestors|X-Frame-Options")
    for path in ("/", f"/s/{share['id']}", "/docs"):
        frame = framed(page, framing(f'<iframe src="{live_server.url}{path}"></iframe>'))
        assert frame.url.startswith("chrome-error:"), path
        assert frame.locator("#workspace, #reference").count() == 0


def test_the_snippet_is_what_a_page_needs(
    workspace: Workspace, page: Page, framing: Framing
) -> None:
    workspace.open(**STATE)
    short = workspace.share()
    workspace.find("#embedding summary").click()
    snippet = workspace.find("#embed-code").input_value()
    src = f"{short.replace('/s/', '/embed/')}?lang=en"
    title = escape(f"Headlight: {STATE['source']}")
    assert snippet == (
        f'<iframe src="{src}" title="{title}" width="900" height="600" loading="lazy"></iframe>'
    )
    page.goto(framing(snippet))
    frame = page.frames[1]
    frame.wait_for_function(DRAWN)
    expect(page.locator("iframe")).to_have_attribute("title", f"Headlight: {STATE['source']}")


def test_its_reader_goes_to_another_head_by_keyboard_also_when_its_model_is_gone(
    page: Page, watch: Watch, live_server: AppServer, framing: Framing, share: dict[str, Any]
) -> None:
    width, height = 600, 400
    page.route("**/api/models", lambda route: route.fulfill(json=[]))
    url = f"{live_server.url}/embed/{share['id']}"
    size = f'width="{width}" height="{height}"'
    frame = framed(page, framing(f'<iframe src="{url}" {size} style="border:0"></iframe>'))
    frame.wait_for_function(DRAWN)
    expect(frame.locator("#caption")).to_contain_text("Layer 2, head 3")
    figure: Any = frame.locator("#view .matrix:visible").bounding_box()
    bar: Any = frame.locator(".place-bar").bounding_box()
    top: Any = page.locator("iframe").bounding_box()
    assert bar["height"] <= 40
    assert bar["y"] + bar["height"] <= figure["y"]
    assert figure["y"] + figure["height"] <= top["y"] + height, "the figure is not scrolled away"

    frame.locator("#kind").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(frame.locator("#caption")).to_contain_text("Layer 1, head 3")
    for _ in range(3):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(frame.locator("#caption")).to_contain_text("Layer 1, head 4")
    shows(frame, weights(share, "decoder.0.cross", 3))
    frame.get_by_label("Kind of attention").select_option("Encoder")
    expect(frame.locator("[data-of=head] output")).to_have_text("4")
    expect(frame.locator("#view .labels.rows").first).to_contain_text("cat")
    shows(frame, weights(share, "encoder.0.self", 3))
    link = frame.get_by_role("link").get_attribute("href") or ""
    assert link.endswith("?lang=en&block=encoder&layer=0&head=3")


def test_its_pickers_are_those_that_the_view_has_a_use_for(
    page: Page, watch: Watch, live_server: AppServer, framing: Framing
) -> None:
    for view, seen in {"lines": ["layer"], "heads": [], "qkv": ["layer", "head"]}.items():
        made = client.post(f"{live_server.url}/api/shares", json={"state": {**STATE, "view": view}})
        url = f"{live_server.url}/embed/{made.json()['id']}"
        frame = framed(page, framing(f'<iframe src="{url}" width="900" height="600"></iframe>'))
        frame.wait_for_function(DRAWN)
        steppers = frame.locator(".place-bar .stepper:visible")
        assert [one.get_attribute("data-of") for one in steppers.all()] == seen, view

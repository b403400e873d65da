"""A share in a frame of another site's page, and nothing else in one."""

import threading
from collections.abc import Callable, Iterator
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import numpy as np
import pytest
from playwright.sync_api import Frame, Page, expect

from tests.browser.watch import Watch
from tests.browser.workspace import CHARTS, DRAWN, Workspace
from tests.servers import AppServer

STATE: dict[str, Any] = {
    "source": 'The cat "sits" & sleeps.',
    "target": "猫睡了。",
    "view": "attention",
    "block": "cross",
    "layer": 1,
    "head": 3,
    "query": 1,
    "key": 2,
    "lang": "en",
}
Framing = Callable[[str], str]


@pytest.fixture(scope="module")
def framing() -> Iterator[Framing]:
    """Another site: make a page of it that holds this HTML, and return its address."""
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
    """Return what the API says of a share of `STATE`."""
    made = httpx.post(f"{live_server.url}/api/shares", json={"state": STATE}, trust_env=False)
    path = f"{live_server.url}/api/shares/{made.json()['id']}"
    document: dict[str, Any] = httpx.get(path, trust_env=False).json()
    return document


def framed(page: Page, address: str) -> Frame:
    """Open another site's page, and return what it holds in its frame."""
    page.goto(address)
    frame = page.frames[1]
    frame.wait_for_load_state()
    return frame


def test_a_share_is_seen_in_another_sites_page(
    page: Page, watch: Watch, live_server: AppServer, framing: Framing, share: dict[str, Any]
) -> None:
    url = f"{live_server.url}/embed/{share['id']}"
    address = framing(f'<iframe src="{url}" width="900" height="600"></iframe>')
    frame = framed(page, address)
    frame.wait_for_function(DRAWN)
    tensors = share["trace"]["tensors"]
    q, k = (
        np.array(tensors[f"decoder.1.cross.{name}"]["data"])[STATE["head"]] for name in ("q", "k")
    )
    scores = np.exp(q @ k.T / np.sqrt(q.shape[-1]))
    seen = np.array(frame.evaluate(CHARTS, "#view")[0]["values"], dtype=float)
    np.testing.assert_allclose(seen, scores / scores.sum(-1, keepdims=True), atol=1e-4)
    expect(frame.locator("#caption")).to_contain_text("Layer 2, head 4")
    link = frame.get_by_role("link")
    expect(link).to_have_text('Headlight · The cat "sits" & sleeps. · open')
    assert link.get_attribute("href") == f"/s/{share['id']}?lang=en"
    assert (link.get_attribute("target"), link.get_attribute("rel")) == ("_blank", "noopener")
    for selector in ("#views", ".rail", "#inspector", "#theme", "header"):
        expect(frame.locator(selector).locator("visible=true")).to_have_count(0)
    width = frame.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert width[0] <= width[1]


@pytest.mark.parametrize("path", ["/", "/s/{id}", "/docs"])
def test_no_other_page_lets_itself_be_framed(
    page: Page,
    watch: Watch,
    live_server: AppServer,
    framing: Framing,
    share: dict[str, Any],
    path: str,
) -> None:
    watch.expect("frame-ancestors|X-Frame-Options")
    url = live_server.url + path.format(id=share["id"])
    frame = framed(page, framing(f'<iframe src="{url}"></iframe>'))
    assert frame.url.startswith("chrome-error:")
    assert frame.locator("#workspace, #reference").count() == 0


def test_the_snippet_is_what_a_page_needs(
    workspace: Workspace, page: Page, framing: Framing
) -> None:
    workspace.open(**STATE)
    workspace.find("#share").click()
    expect(workspace.find("#shared-link")).to_be_visible()
    short = workspace.find("#shared-link").input_value()
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

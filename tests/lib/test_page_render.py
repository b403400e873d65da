"""The keyed renderer of the page changes any list to any other with the fewest operations."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Route

from app.http.security import HEADERS
from tests.browsing.api import client
from tests.browsing.watch import Watch
from tests.servers import ROOT, AppServer

RUN = """async ([js, name, root, ...more]) => {
    const [render, tests] = [await import(`${js}/lib/dom.js`), await import("/render-tests.js")];
    const places = {
        page: () => document.querySelector("main"),
        aside: () => document.createElement("div"),
        drawing: () => document.createElementNS("http://www.w3.org/2000/svg", "svg"),
        fragment: () => document.createDocumentFragment(),
    };
    return tests[name](render, places[root](), ...more);
}"""

Run = Callable[..., Any]


@pytest.fixture
def run(page: Page, watch: Watch, live_server: AppServer) -> Run:
    html = client.get(live_server.url).text
    [js] = re.findall(r'href="(/static/\w+/)page/workspace\.css"', html)
    bodies = {
        "/blank": (
            "<!doctype html><title>Blank</title><link rel=icon href=data:,><main></main>",
            "text/html",
        ),
        "/render-tests.js": ((ROOT / "tests/lib/render.js").read_text(), "text/javascript"),
    }

    def answer(route: Route) -> None:
        body, kind = bodies["/" + route.request.url.rsplit("/", 1)[1]]
        route.fulfill(body=body, content_type=f"{kind}; charset=utf-8", headers=HEADERS)

    page.route(re.compile(r"/(blank|render-tests\.js)$"), answer)
    page.goto(f"{live_server.url}/blank")
    return lambda name, root="page", *more: page.evaluate(RUN, [f"{js}js", name, root, *more])


def test_from_any_children_to_any_others(run: Run) -> None:
    for root in ["page", "drawing", "fragment"]:
        assert run("transitions", root, 400)[:1] == []


@pytest.mark.parametrize("old", [False, True], ids=["moved as it is", "taken out and put in"])
def test_what_is_written_in_and_scrolled_stays_so_wherever_it_goes(run: Run, old: bool) -> None:
    assert run("lasting", "page", old) == []


def test_only_what_changes_is_touched_and_moved(run: Run) -> None:
    assert run("untouched") == []
    assert run("moved") == ["a", "d", "ac", "ac"]
    drawing = "svg /svg,foreignObject /svg,p html,g /svg"
    assert run("details") == [
        *("first", "second", "b", "e", True, False),
        *(True, "describedafter", drawing),
    ]


def test_words_from_right_to_left_are_isolated_by_elements_or_by_marks(run: Run) -> None:
    html, kept = run("isolated")
    marked = "looks at \u2068ات\u2069 (0.62), \u2068مي\u2069"
    assert html == (
        f'<p title="{marked}">looks at <bdi>ات</bdi> (0.62), <bdi>مي</bdi></p>'
        f"<select><option>{marked}</option></select><svg><text>{marked}</text></svg>"
    )
    assert kept

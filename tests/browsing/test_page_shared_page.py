"""The page that tests share is as good as a new one."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page

from tests.browsing.shared_page import VIEWPORT, Keeper
from tests.browsing.workspace import Workspace
from tests.servers import AppServer

PLACE: dict[str, Any] = {"source": "The cat sits.", "target": "猫坐着。", "layer": 1, "head": 2}
ELSEWHERE: dict[str, Any] = {"source": "Dogs too.", "view": "heads", "layer": 0, "head": 1}


def look(workspace: Workspace) -> tuple[dict[str, str], str]:
    """Return the link and all text of the page, except announcements of changes."""
    workspace.settled()
    return workspace.link, workspace.find("main").inner_text()


def test_going_to_a_link_shows_what_loading_it_shows(workspace: Workspace) -> None:
    places = [
        PLACE | {"view": name, "block": "cross"} for name in ("attention", "flow", "decoding")
    ]
    places[0] |= {
        "query": 1,
        "key": 2,
        "words": 1,
        "interventions": [{"at": "source", "do": {"mask": 1}}],
    }
    workspace.load(**ELSEWHERE)
    workspace.page.evaluate("window.stays = true")
    moved = []
    for place in places:
        workspace.go(**place)
        moved.append(look(workspace))
    assert workspace.page.evaluate("window.stays"), "nothing was loaded"
    for place, seen in zip(places, moved, strict=True):
        workspace.page.goto(workspace.address(**place))
        assert look(workspace) == seen


def test_what_only_loading_shows_is_loaded(workspace: Workspace) -> None:
    links: list[dict[str, Any]] = [{"lang": "zh"}, {"layer": None, "head": None}]
    for link in links:
        workspace.load(**ELSEWHERE)
        workspace.page.evaluate("window.stays = true")
        workspace.go(**{key: it for key, it in (PLACE | link).items() if it is not None})
        assert workspace.page.evaluate("window.stays ?? null") is None
    workspace.load(**ELSEWHERE)
    workspace.menu("#help")
    workspace.open(**PLACE)
    assert not workspace.find("#help-panel").is_visible()


LASTING: list[Callable[[Page], object]] = [
    lambda page: page.add_init_script("window.mine = 1"),
    lambda page: page.evaluate("for (let n = 0; n < 50; n++) history.pushState(null, '')"),
    lambda page: page.close(),
]


@pytest.mark.parametrize("mark", LASTING)
def test_lasting_changes_need_a_new_page(
    context: BrowserContext, live_server: AppServer, mark: Callable[[Page], object]
) -> None:
    keeper = Keeper(context)
    with keeper.lent(lambda: True) as page:
        page.goto(f"{live_server.url}/static/nothing")
        page.set_viewport_size({"width": 320, "height": 320})
    with keeper.lent(lambda: True) as again:
        assert again is page
        assert again.viewport_size == VIEWPORT
        mark(again)
    assert keeper.kept is None


def test_what_can_be_taken_back_is_and_a_failed_test_gets_a_new_page(
    context: BrowserContext, live_server: AppServer
) -> None:
    keeper, asked = Keeper(context), []
    with keeper.lent(lambda: True) as page:
        Workspace(page, live_server.url).load(**ELSEWHERE)
        page.on("request", lambda request: asked.append(request.url))
        page.route("**/api/trace", lambda route: None)
        page.evaluate("localStorage.setItem('theme', 'dark')")
        page.evaluate("void fetch('/api/trace', { method: 'POST' })")
        page.evaluate("window.stays = true")
    before = len(asked)
    with keeper.lent(lambda: True) as again:
        assert again is page
        Workspace(again, live_server.url).open(**ELSEWHERE)
        assert again.evaluate("[window.stays, localStorage.length]") == [None, 0]
    assert len(asked) == before
    with keeper.lent(lambda: False):
        pass
    assert keeper.kept is None

"""Shares and handouts of a long text's map, opened after the model is gone."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browsing.watch import Watch
from tests.browsing.workspace import Workspace
from tests.long_texts.reading import (
    SHARP,
    TEXT,
    Run,
    about,
    hover,
    number,
    opened,
    sharp,
    window,
)
from tests.servers import AppServer, running_app
from tests.workspace.test_page_export import save

PIXELS = "document.querySelector('.long-map canvas').toDataURL()"
NOTES = ".long .notes"
UNSAVED = "Finer cells than these were not saved here."
UNSAVED_LINE = "The weights of this row or column were not saved here."


@pytest.fixture(scope="module")
def without(served: AppServer, server_cache: Path) -> Iterator[AppServer]:
    """A server with the same shares that does not serve the model."""
    with running_app(served.data_dir, {"zoo": "false"}, warm=True, cache=server_cache) as server:
        yield server


def share(there: Workspace) -> str:
    """Share what is shown; return the path of the share."""
    address = there.share()
    there.find("#shared-close").click()
    return "/s/" + address.rpartition("/s/")[2]


def shown(page: Page) -> str:
    page.mouse.move(0, 0)
    sharp(page)
    return str(page.evaluate(PIXELS))


@pytest.mark.parametrize(
    "link",
    [
        {"level": "sentences"},
        {"queries": "200-220", "keys": "180-210", "query": 210, "key": 190, "scale": "log"},
    ],
    ids=["sentences", "window"],
)
def test_it_opens_the_same_without_the_model(
    there: Workspace, without: AppServer, watch: Watch, link: dict[str, object]
) -> None:
    """Both are pages of the share, since its line above the map makes the map smaller."""
    page = opened(there, **link)
    path = share(there)
    page.goto(there.url + path)
    before = shown(page)
    said, sight = page.locator("#caption").inner_text(), window(page)
    watch.requests.clear()
    page.goto(without.url + path)
    assert shown(page) == before
    assert (page.locator("#caption").inner_text(), window(page)) == (said, sight)
    expect(page.locator(NOTES)).not_to_contain_text("not saved")
    expect(page.locator(".not-frozen")).to_be_hidden()
    assert not [one for one in watch.requests if "/api/tile" in one or "/api/overview" in one]


def test_what_was_not_saved_is_said(there: Workspace, without: AppServer, run: Run) -> None:
    page = opened(there, queries="0-330", keys="0-330", query=310)
    page.goto(without.url + share(there))
    page.wait_for_selector(SHARP)
    assert number(hover(page, 310, 20)) == about(run.weights[310, 20])
    expect(page.locator(NOTES)).not_to_contain_text("not saved")
    page.locator(".long-map").focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator(NOTES)).to_have_text(UNSAVED_LINE)
    # Other heads are thumbnails without the model.
    opened(there)
    path = share(there)
    page.goto(f"{without.url}{path}?layer=0&head=1")
    page.wait_for_selector(".long-map[data-drawn='0 1']")
    page.wait_for_selector(SHARP)
    expect(page.locator(NOTES)).to_contain_text(UNSAVED)
    page.goto(f"{there.url}{path}?layer=0&head=1")
    page.wait_for_selector(SHARP)
    expect(page.locator(NOTES)).to_contain_text("largest of")


def test_a_handout_shows_the_map_without_a_server(
    there: Workspace, watch: Watch, run: Run, tmp_path: Path
) -> None:
    page = opened(there, queries="200-220", keys="180-210", query=210, key=190)
    file = save(there, "HTML", tmp_path)
    watch.expect(f"request to elsewhere: {file.as_uri()}")
    page.goto(file.as_uri())
    page.wait_for_selector(SHARP)
    for row, col in [(205, 185), (215, 200)]:
        assert number(hover(page, row, col)) == about(run.weights[row, col])
    expect(page.locator(NOTES)).to_have_text("Each cell is one weight.")
    expect(page.locator("#source")).to_contain_text(TEXT[:40])
    expect(page.locator(".inspector")).to_be_hidden()
    page.locator(".zooms button", has_text="All").click()
    page.wait_for_selector(SHARP)

"""Running a long text: what is requested, and what is refused."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Request, Route, expect

from tests.browsing.page_settles import settle
from tests.browsing.watch import Watch
from tests.browsing.workspace import Workspace
from tests.long_texts.reading import HEAD, LAYER, LIMIT, SHARP, TEXT, opened, window

# All requests that wait for a pause have been made.
NOTHING_DUE = "() => !window.timersDue.size"


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
    # Views that cannot show it are not offered.
    there.go(source=TEXT, view="lines", layer=LAYER, head=HEAD)
    page.wait_for_selector(SHARP)
    expect(page.locator(".not-offered")).to_contain_text("256 tokens")
    offered = [one.get_attribute("value") for one in page.locator("#views input").all()]
    assert offered == ["attention", "heads"]
    page.locator("#source").fill("The cat sat.")
    page.wait_for_selector("#view .weave")
    assert there.link["view"] == "lines"


def test_only_what_is_in_sight_is_asked_for(there: Workspace) -> None:
    page = opened(there)
    asked: list[dict[str, Any]] = []
    held: list[Route] = []

    def listen(request: Request) -> None:
        if request.url.endswith("/api/tile"):
            asked.append(request.post_data_json or {})

    page.on("request", listen)
    page.route("**/api/tile", lambda route: held.append(route))
    page.locator(".long-map").focus()
    page.keyboard.press("ArrowRight")
    for _ in range(8):
        page.keyboard.press("+")
    page.wait_for_function(NOTHING_DUE)
    left = [route for route in held if not route.request.failure]
    assert 1 <= len(left) <= 2, "more are waiting than are asked for at once"
    for route in held:
        route.continue_()
    page.unroute("**/api/tile")
    page.wait_for_selector(SHARP)
    page.remove_listener("request", listen)
    assert all(one["at"] == f"decoder.{LAYER}.self" and one["head"] == HEAD for one in asked)
    tiles = [one for one in asked if "cells" in one]
    assert tiles, "beside the row and the column of the cell"
    for sight, side in zip(window(page), ("query", "key"), strict=True):
        assert all(one[side][0] < sight[1] and sight[0] < one[side][1] for one in tiles)


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
        page.wait_for_function(NOTHING_DUE)
    settle(page)
    page.wait_for_selector(SHARP)
    assert max(most) == 1
    address = urlsplit(page.url)
    assert parse_qs(address.query)["source"][0].endswith("sat there.")

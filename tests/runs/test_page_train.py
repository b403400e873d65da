"""Watch a model learn: train, look back, pause, fork, keep, and open the kept model."""

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

from tests.browsing.api import client
from tests.browsing.axe import violations
from tests.browsing.fixtures import PATIENCE_MS
from tests.browsing.network_cut import Cable
from tests.browsing.page_settles import settle
from tests.browsing.watch import Watch
from tests.servers import AppServer

TINY = "task=copy&longest=3&steps=20&d_model=16&batch=200"
LONG = "task=copy&longest=3&steps=5000&d_model=16&batch=200"
LONGEST_MS = 4 * PATIENCE_MS


@pytest.fixture
def train(page: Page) -> Page:
    page.set_default_timeout(LONGEST_MS)
    return page


def start(page: Page, server: AppServer, options: str) -> None:
    page.goto(f"{server.url}/train?{options}")
    page.get_by_role("button", name="Train", exact=True).click()
    expect(page.locator("#timeline")).to_be_visible(timeout=LONGEST_MS)


def expect_state(page: Page, state: str) -> None:
    expect(page.locator("#status strong")).to_have_text(state, timeout=LONGEST_MS)


def picture(page: Page) -> str:
    """Return the figure's picture, once it shows a trace."""
    expect(page.locator("#stage")).to_have_attribute("data-picture", "drawn", timeout=LONGEST_MS)
    made: str = page.locator("#view canvas").first.evaluate("(canvas) => canvas.toDataURL()")
    return made


def test_a_run_is_looked_back_at_and_watched_by_who_has_the_link(
    train: Page, live_server: AppServer
) -> None:
    start(train, live_server, TINY)
    expect_state(train, "Finished")
    now = train.locator("#timeline output")
    expect(now).to_contain_text("Step 20")
    expect(train.locator("#timeline .where")).to_have_text("snapshot 21 of 21")
    last = picture(train)
    slider = train.get_by_role("slider", name="Step of the training")
    slider.press("Home")
    expect(now).to_have_text("Step 0before training")
    train.wait_for_function(
        "(last) => document.querySelector('#view canvas').toDataURL() !== last", arg=last
    )
    assert "step=0" in train.url
    train.reload()
    expect(now).to_have_text("Step 0before training", timeout=LONGEST_MS)
    expect(train.locator("#timeline .where")).to_have_text("snapshot 1 of 21")
    train.get_by_role("button", name="Newest").click()
    expect(now).to_contain_text("Step 20")
    assert "step=" not in train.url
    assert violations(train) == []
    train.evaluate("localStorage.clear()")
    train.goto(train.url)
    expect(train.locator("#timeline")).to_be_visible(timeout=LONGEST_MS)
    expect(train.get_by_text("You are watching")).to_be_visible()
    expect(train.get_by_role("button", name="Stop training")).to_have_count(0)


def test_pause_rate_fork_keep_and_open(train: Page, live_server: AppServer) -> None:
    start(train, live_server, LONG)
    train.get_by_role("button", name="Pause training").click()
    expect_state(train, "Paused")
    train.reload()  # the key is kept
    rate = train.locator("#commands input[name=factor]")
    rate.fill("much")
    expect(train.get_by_role("button", name="Set", exact=True)).to_be_disabled()
    rate.fill("0.1")
    train.get_by_role("button", name="Set", exact=True).click()
    expect(rate).to_have_value("0.1")
    train.get_by_role("button", name="Resume training").click()
    expect_state(train, "Training now")
    train.get_by_role("button", name="Stop training").click()
    expect_state(train, "Stopped")
    train.get_by_role("slider", name="Step of the training").press("Home")
    train.get_by_role("button", name="Fork from step 0…").click()
    train.locator("#choices input[name=heads]").fill("3")
    train.get_by_role("button", name="Fork from step 0", exact=True).click()
    expect(train.locator(".why")).to_have_text("16 channels cannot be shared by 3 heads")
    train.locator("#choices input[name=heads]").fill("1")
    train.locator("#choices input[name=steps]").fill("10")
    train.get_by_role("button", name="Fork from step 0", exact=True).click()
    expect_state(train, "Finished")
    expect(train.locator("#status")).to_contain_text("forked at step 0")
    train.get_by_role("button", name="Keep the model of step 10").click()
    train.get_by_role("link", name="Open the kept model in the workspace").click()
    expect(train.locator("#view canvas").first).to_be_visible(timeout=LONGEST_MS)
    assert "model=kept-" in train.url
    train.locator("#views").get_by_text("Training", exact=True).click()
    slider = train.get_by_role("slider", name="Step of the training")
    expect(slider).to_have_attribute("max", "10")
    expect(train.locator("#view .measured")).to_contain_text("Right answers")
    slider.press("Home")
    expect(train.locator("#view .step-now")).to_contain_text("Step 0")
    train.goto(f"{live_server.url}/train")
    train.get_by_role("button", name="Delete…").click()
    train.get_by_role("button", name="Cancel").click()
    train.get_by_role("button", name="Delete…").click()
    train.get_by_role("button", name="Delete the model").click()
    expect(train.locator("#kept")).to_be_hidden()
    train.reload()
    expect(train.locator("#kept")).to_be_hidden()


def test_a_run_survives_a_cut_network(train: Page, watch: Watch, live_server: AppServer) -> None:
    """The run continues without the page; when the network is back, the page catches up."""
    watch.expect("ERR_|Failed to load resource")
    cable = Cable(live_server.url)
    train.goto(f"{cable.url}/train?{LONG}")
    train.get_by_role("button", name="Train", exact=True).click()
    expect(train.locator("#timeline")).to_be_visible(timeout=LONGEST_MS)
    run = httpx.URL(train.url).params["run"]
    count = "Number(document.querySelector('#timeline .where').textContent.match(/of (\\d+)/)[1])"

    def snapshots() -> int:
        return len(client.get(f"{live_server.url}/api/runs/{run}").json()["snapshots"])

    with cable.pulled(train.context):
        expect(train.locator(".problem")).to_be_visible(timeout=LONGEST_MS)
        settle(train)  # the events received before are drawn
        cut: int = train.evaluate(count)
        for _ in range(LONGEST_MS // 100):
            if snapshots() >= cut + 3:
                break
            train.wait_for_timeout(100)
        missed = snapshots()
        assert missed >= cut + 3
        assert train.evaluate(count) == cut
    train.wait_for_function(f"(missed) => {count} >= missed", arg=missed, timeout=LONGEST_MS)
    expect(train.locator(".problem")).to_be_hidden()
    train.get_by_role("button", name="Stop training").click()
    expect_state(train, "Stopped")
    expect(train.locator("#timeline .where")).to_contain_text(f"of {snapshots()}")
    train.goto("about:blank")
    cable.close()


def test_bad_numbers_are_told_and_the_keyboard_starts_one_run(
    train: Page, live_server: AppServer
) -> None:
    train.goto(f"{live_server.url}/train?{TINY}")
    steps = train.locator("#choices input[name=steps]")
    steps.fill("9000000")
    train.get_by_role("button", name="Train", exact=True).click()
    expect(train.locator(".why")).to_have_text("A whole number from 10 to 5000")
    expect(steps).to_have_value("9000000")
    expect(steps).to_be_focused()
    assert violations(train) == []
    asked: list[str] = []

    def slowly(route: Route) -> None:
        asked.append(route.request.method)
        expect(button).to_have_attribute("aria-disabled", "true")
        expect(button).to_be_focused()
        train.keyboard.press("Enter")
        route.continue_()

    train.goto(f"{live_server.url}/train?{TINY}")
    train.route("**/api/runs", slowly)
    button = train.get_by_role("button", name="Train", exact=True)
    button.press("Enter")
    expect(train.locator("#timeline")).to_be_visible(timeout=LONGEST_MS)
    expect(train.get_by_role("button", name="New run…")).to_be_focused()
    assert asked == ["POST"]

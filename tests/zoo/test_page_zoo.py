"""The zoo: models side by side on the same input, results, and a link with the whole state."""

from urllib.parse import parse_qs

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browsing.axe import violations
from tests.browsing.legible import overflow
from tests.browsing.watch import Watch
from tests.browsing.workspace import QUERY
from tests.servers import AppServer


class Zoo:
    """Helpers for the page of the zoo."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url

    def open(self, query: str = "") -> None:
        self.page.goto(f"{self.url}/zoo{query}")
        self.drawn()

    def drawn(self) -> None:
        expect(self.page.locator(".one-model .says[data-right]").first).to_be_visible()

    def panel(self, name: str) -> Locator:
        return self.page.locator(".one-model").filter(
            has=self.page.get_by_role("heading", name=name, exact=True)
        )

    def answers(self, name: str, text: str, right: bool) -> None:
        says = self.panel(name).locator(".says")
        expect(says).to_have_attribute("data-right", str(right).lower())
        expect(says.locator(".answer")).to_have_text(text)

    @property
    def link(self) -> dict[str, str]:
        return {key: one[0] for key, one in parse_qs(self.page.evaluate(QUERY)).items()}


@pytest.fixture
def zoo(page: Page, live_server: AppServer) -> Zoo:
    return Zoo(page, live_server.url)


def test_models_stand_side_by_side_and_the_link_holds_them(zoo: Zoo) -> None:
    zoo.open("?task=sort&models=sort,sort-no-warm-up&source=d+a+c")
    zoo.answers("plain", "a c d", right=True)
    expect(zoo.panel("no warm-up").locator(".says")).to_have_attribute("data-right", "false")
    zoo.page.locator("#choices").get_by_text("1 head", exact=True).click()
    zoo.answers("1 head", "a c d", right=True)
    assert zoo.link["models"] == "sort,sort-1-head,sort-no-warm-up"
    head = zoo.panel("1 head").get_by_label("Head")
    head.select_option("decoder.0.cross.0")
    assert zoo.link["at"] == "sort-1-head:decoder.0.cross.0"
    expect(zoo.panel("1 head").locator(".note")).to_contain_text("3 of 3 rows")
    zoo.page.reload()
    zoo.drawn()
    expect(zoo.page.locator(".one-model")).to_have_count(3)
    expect(zoo.panel("1 head").get_by_label("Head")).to_have_value("decoder.0.cross.0")
    expect(zoo.panel("plain").get_by_label("Head")).to_have_value("")


def test_what_is_typed_or_drawn_is_answered_and_what_is_no_input_stays_there(
    zoo: Zoo, watch: Watch
) -> None:
    zoo.open("?task=reverse")
    box = zoo.page.get_by_label("Input")
    box.fill("xyz")
    zoo.answers("plain", "z y x", right=True)
    assert zoo.link["source"] == "x y z"
    expect(box).to_have_value("xyz")
    watch.expect("422")
    box.fill("x1")
    expect(zoo.page.locator("#source-says")).to_have_text("Type letters from a to z, at most 32.")
    expect(box).to_have_value("x1")
    zoo.answers("plain", "z y x", right=True)  # the previous answers stay
    box.fill("xy")
    zoo.answers("plain", "y x", right=True)
    zoo.open("?task=copy")
    zoo.page.get_by_label("Letters").select_option("16")
    zoo.page.get_by_role("button", name="Draw an example").click()
    expect(zoo.panel("plain").locator(".says")).to_have_attribute("data-right", "false")
    assert len(zoo.link["source"].split()) == 16
    expect(zoo.page.locator("#source-says")).to_contain_text("No model was trained on this input.")
    zoo.page.locator("#choices").get_by_text("Who is it?").click()
    zoo.answers("plain", "animal", right=True)
    assert zoo.link["task"] == "who"
    curves = zoo.page.locator("#charts svg").first.locator("[data-curve]")
    expect(curves).to_have_count(zoo.page.locator(".one-model").count())


def test_what_was_measured_is_told_and_the_workspace_opens_on_the_same(zoo: Zoo) -> None:
    zoo.open("?task=reverse&models=reverse,reverse-none")
    told = zoo.page.request.get(f"{zoo.url}/api/zoo").json()["models"]
    (none,) = [one for one in told if one["name"] == "reverse-none"]
    zoo.page.get_by_text("Right answers by length").first.click()
    row = zoo.page.locator("#charts tbody tr").filter(has_text="no positions").locator("td")
    seeds = none["seeds"]
    lengths = sorted(map(int, seeds[0]["accuracy"]))
    means = [sum(one["accuracy"][str(n)] for one in seeds) / len(seeds) for n in lengths]
    expect(row).to_have_text([str(len(seeds)), *(f"{100 * one + 1e-9:.0f}" for one in means)])
    expect(zoo.page.locator("#charts rect.band")).to_have_count(1)
    zoo.page.get_by_label("Input").fill("abc")
    zoo.answers("plain", "c b a", right=True)
    zoo.panel("plain").get_by_role("link").click()
    expect(zoo.page.locator("#output")).to_contain_text("c b a")
    assert zoo.link["model"] == "zoo-reverse"


def test_it_can_be_reached_and_read(zoo: Zoo) -> None:
    zoo.open("?task=who&lang=zh")
    assert not violations(zoo.page)
    zoo.page.locator("#more").click()
    zoo.page.get_by_role("button", name="深色").click()
    zoo.page.keyboard.press("Escape")
    zoo.drawn()
    assert not violations(zoo.page)
    for width in (320, 1440):
        zoo.page.set_viewport_size({"width": width, "height": 800})
        assert not overflow(zoo.page, width)


def test_it_looks_at_another_noun_when_the_property_changes(zoo: Zoo) -> None:
    text = "The animal didn't cross the street because it was too {}."
    zoo.open("?task=who&models=who-3-layers")
    panel = zoo.panel("3 encoder layers")
    for word, noun in (("tired", "animal"), ("wide", "street")):
        zoo.page.get_by_label("Input").fill(text.format(word))
        zoo.answers("3 encoder layers", noun, right=True)
        expect(panel.locator(".caption")).to_contain_text(f"it looks most at {noun}")
        expect(panel.locator(".note")).to_have_text("It looks most at the right token.")
    band = zoo.page.locator("#charts rect.band").bounding_box()
    axis = zoo.page.locator("#charts svg").first.locator("path").first.bounding_box()
    assert band
    assert axis
    assert band["x"] + band["width"] <= axis["x"] + axis["width"] + 1

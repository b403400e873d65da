"""Five tasks of a newcomer (docs/first-minute.md), each in at most four clicks from `/`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Locator, expect

from tests.browsing.workspace import Workspace

WIDE, PHONE = (1440, 900), (390, 844)
MOST = 4


@dataclass
class Newcomer:
    """A first-time visitor, who counts clicks."""

    workspace: Workspace
    lang: str
    phone: bool
    clicks: list[str] = field(default_factory=list)

    def click(self, selector: str) -> None:
        self.clicks.append(selector)
        self.workspace.find(selector).first.click()

    def click_cell(self) -> None:
        """Click the darkest cell of the second row, which is visible on every screen."""
        self.clicks.append("a cell")
        self.workspace.settled()
        values, _ = self.workspace.figure()
        self.workspace.page.mouse.click(*self.workspace.cell(1, int(values[1].argmax())))

    def sees(self, selector: str) -> Locator:
        found = self.workspace.find(selector).first
        expect(found).to_be_visible()
        return found


@pytest.fixture(params=[("en", WIDE), ("zh", PHONE)], ids=["wide", "phone"])
def newcomer(workspace: Workspace, request: pytest.FixtureRequest) -> Iterator[Newcomer]:
    lang, (width, height) = request.param
    workspace.page.set_viewport_size({"width": width, "height": height})
    workspace.page.goto(f"{workspace.url}/?lang={lang}")
    one = Newcomer(workspace, lang, width == PHONE[0])
    workspace.drawn()
    one.sees("#opening-says")
    yield one
    assert len(one.clicks) <= MOST, one.clicks


def test_say_what_a_head_is(newcomer: Newcomer) -> None:
    newcomer.click("#door-explore")
    if newcomer.phone:
        newcomer.click("#rail-open")
    newcomer.click(".strip [data-term=head]")
    words = {"en": "queries, keys and values of its own", "zh": "一组独立的查询、键和值"}
    expect(newcomer.sees("#explained")).to_contain_text(words[newcomer.lang])


def test_find_the_source_word(newcomer: Newcomer) -> None:
    written, source = {"en": ("买", "bought"), "zh": ("bought", "买")}[newcomer.lang]
    if newcomer.lang == "zh":
        newcomer.click(f".words.to button:has-text('{written}')")
    expect(newcomer.sees("#opening-says .as-query")).to_have_text(written)
    expect(newcomer.sees("#opening-says .as-key")).to_have_text(source)


def test_check_a_weight_by_hand(newcomer: Newcomer) -> None:
    newcomer.click("#door-explore")
    newcomer.click_cell()
    newcomer.click("#check-cell")
    said = newcomer.sees("#caption").inner_text()
    assert re.search(r"0\.\d{4}|1\.0000", said), said
    expect(newcomer.sees(".worksheet .contents")).to_be_visible()


def test_switch_a_head_off(newcomer: Newcomer) -> None:
    newcomer.click("#door-explore")
    newcomer.click_cell()
    newcomer.click("#switch-head")
    expect(newcomer.sees("#changes .change-chip")).to_contain_text(re.compile("off|关"))
    newcomer.workspace.drawn()
    newcomer.sees("#band-open .to" if newcomer.phone else "#output")


def test_send_it_to_a_friend(newcomer: Newcomer) -> None:
    newcomer.click("#share")
    expect(newcomer.sees("#shared-link")).to_have_value(re.compile(r"/s/\w+$"))

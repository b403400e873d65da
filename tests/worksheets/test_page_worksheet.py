"""The page of a worksheet: what is ticked is printed, and its key with it."""

import pytest
from playwright.sync_api import Page, expect

from tests.servers import AppServer

LINK = "/worksheet?lang=en&link=/%3Fsource%3DThe%2Bcat%2Bsat.%26view%3Dattention"


@pytest.fixture
def sheet(page: Page, live_server: AppServer) -> Page:
    page.goto(live_server.url + LINK)
    expect(page.locator("#key")).to_be_visible()
    return page


def test_what_is_not_ticked_is_not_printed_and_neither_is_its_answer(sheet: Page) -> None:
    task, answer = sheet.locator("[data-task='2']"), sheet.locator("[data-answers='2']")
    task.locator(".choice input").uncheck()
    expect(task).to_have_attribute("data-off", "")
    sheet.emulate_media(media="print")
    for hidden in (task, answer, sheet.locator(".settings"), sheet.locator(".choice").first):
        expect(hidden).to_be_hidden()
    for printed in (sheet.locator("[data-task='1']"), sheet.locator("[data-answers='1']")):
        expect(printed).to_be_visible()


def test_the_key_is_left_out_and_other_blanks_keep_the_sentence(sheet: Page) -> None:
    sheet.get_by_label("with the answer key").uncheck()
    sheet.emulate_media(media="print")
    expect(sheet.locator("#key")).to_be_hidden()
    expect(sheet.locator("#sheet")).to_be_visible()
    sheet.emulate_media(media="screen")
    sheet.locator("[name=sentence]").fill("Birds sing.")
    sheet.get_by_role("button", name="Make the worksheet").click()
    expect(sheet.locator("#sheet .subject").first).to_contain_text("Birds sing.")
    blanks = "[...document.querySelectorAll('#sheet td')].map((cell) => cell.className)"
    before = sheet.evaluate(blanks)
    sheet.get_by_role("link", name="Other blanks").click()
    sheet.wait_for_url("**seed=1**")
    expect(sheet.locator("#sheet .subject").first).to_contain_text("Birds sing.")
    assert sheet.evaluate(blanks) != before


COVERED = """() => [...document.querySelectorAll("#sheet .choice")].filter((choice) => {
    const tick = choice.getBoundingClientRect();
    return [...choice.parentElement.querySelectorAll("p")].some((words) => {
        const range = document.createRange();
        range.selectNodeContents(words);
        return [...range.getClientRects()].some((line) => line.right > tick.left
            && line.left < tick.right && line.bottom > tick.top && line.top < tick.bottom);
    });
}).length"""


@pytest.mark.parametrize("width", [1440, 390])
def test_a_tick_covers_no_words(sheet: Page, width: int) -> None:
    sheet.set_viewport_size({"width": width, "height": 900})
    assert sheet.evaluate(COVERED) == 0

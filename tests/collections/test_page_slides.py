"""A collection as slides, on a phone, a tablet and a projector: nothing is cut off or covered."""

import pytest
from playwright.sync_api import Browser, expect

from tests.browsing.legible import overflow
from tests.browsing.page_settles import settle
from tests.collections.collecting_page import collection
from tests.collections.test_page_collections import SENTENCE
from tests.rooms.classroom_page import code_of, reader
from tests.servers import AppServer

EYE = "1_0_0*0_1_0*0_0_1"
BY_HAND = f"/lab?tokens=the%0Acat%0Asits&x={EYE}&w_q={EYE}&w_k={EYE}&w_v={EYE}"
# What ends right of its slide, or of its matrix.
CUT = """() => {
  const slide = document.querySelector("[data-current]");
  const right = (one) => one.getBoundingClientRect().right;
  const cut = (one) => right(one) > right(one.closest(".matrix-box") ?? slide) + 1;
  const parts = ".own-sentence > .button, .step-by, .lab-body > *, .matrix-box input";
  return [...slide.querySelectorAll(parts)]
    .filter((one) => one.checkVisibility() && cut(one))
    .map((one) => one.outerHTML.slice(0, 80));
}"""
COVERED = """() => {
  scrollTo(0, document.documentElement.scrollHeight);
  const bottom = document.querySelector("[data-current]").getBoundingClientRect().bottom;
  return bottom > document.querySelector(".presenting").getBoundingClientRect().top;
}"""


@pytest.mark.parametrize("width", [390, 1280])
def test_a_slide_is_whole(browser: Browser, live_server: AppServer, width: int) -> None:
    with reader(browser, width) as teacher:
        made = collection(live_server, SENTENCE, BY_HAND)
        teacher.goto(f"{made['url']}?lang=en")
        teacher.click("[data-present]")
        code_of(teacher)
        teacher.goto(f"{made['url']}?lang=en&projector=1")
        for n, inside in ((1, ".own-sentence"), (2, ".matrix-box")):
            teacher.keyboard.press("PageDown")
            expect(teacher.locator(f"#item-{n}[data-current] {inside}").first).to_be_visible()
            settle(teacher)
            assert teacher.evaluate(CUT) == []
            assert not teacher.evaluate(COVERED)
            assert not overflow(teacher, width)

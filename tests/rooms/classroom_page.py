"""What the tests of rooms share: readers with their own browsers, and a teacher who presents."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from playwright.sync_api import Browser, Page, expect

from tests.browsing.page_settles import observe
from tests.servers import AppServer

LINK = "/?source=The+cat+sleeps.&view=attention&block=cross&layer=1&head=3"


class Classroom(NamedTuple):
    """The pages of a class, each in a browser of its own, and the code of its room."""

    teacher: Page
    phone: Page
    laptop: Page
    code: str


OpenClass = Callable[..., Classroom]  # called with the link that is presented


@contextmanager
def reader(browser: Browser, width: int = 1280, lang: str = "en-US") -> Iterator[Page]:
    """Open a browser of another person."""
    context = browser.new_context(
        viewport={"width": width, "height": 800}, locale=lang, reduced_motion="reduce"
    )
    observe(context)
    try:
        yield context.new_page()
    finally:
        context.close()


def present(teacher: Page, server: AppServer, link: str = LINK) -> str:
    """Open a room with what the link shows; return its code."""
    teacher.goto(server.url + link)
    expect(teacher.locator("[data-status=ready]").first).to_be_visible()
    teacher.click("#more")
    teacher.click("#more-panel [data-present]")
    return code_of(teacher)


def code_of(teacher: Page) -> str:
    """Read the code that the teacher's page shows, and close it."""
    code = teacher.locator(".room-code .code").text_content() or ""
    teacher.click(".room-code .button")
    return code.replace(" ", "").lower()


def from_menu(teacher: Page, words: str) -> None:
    """Choose from the room's menu."""
    teacher.click(".room-bar .disclosure > .button")
    teacher.click(f".room-bar .drop >> text={words}")

"""The page that tests share: a new one only where the last test has left what cannot be undone."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import BrowserContext, Error, Page, ViewportSize

VIEWPORT: ViewportSize = {"width": 1440, "height": 900}
# What is never taken back from a page.
LASTING = (
    "add_init_script",
    "add_locator_handler",
    "expose_binding",
    "expose_function",
    "on",
    "route",
)
# The way back is at most 50 long, and a test that counts its steps must see it grow.
KEPT = """() => {
    try { return history.length < 40 && !localStorage.length && !sessionStorage.length; }
    catch { return false; }  // a page without an origin of its own
}"""


class Keeper:
    """Lends the page of a context to one test after the other."""

    def __init__(self, context: BrowserContext) -> None:
        self.context = context
        self.kept: Page | None = None

    @contextmanager
    def lent(self, sound: Callable[[], bool]) -> Iterator[Page]:
        """The page; it is kept where the test was ``sound`` and did nothing to it that lasts."""
        page = self.kept or self.context.new_page()
        self.kept = None
        marks: list[str] = []
        for name in LASTING:
            setattr(page, name, marking(getattr(type(page), name), page, marks))
        yield page
        if sound() and not marks and pristine(page):
            self.kept = page


def marking(method: Callable[..., Any], page: Page, marks: list[str]) -> Callable[..., Any]:
    """The method, which is noted when it is called."""

    def marked(*args: Any, **options: Any) -> Any:
        marks.append(method.__name__)
        return method(page, *args, **options)

    return marked


def pristine(page: Page) -> bool:
    """Bring the page back to what a test begins with; return whether that is so."""
    try:
        page.mouse.move(0, 0)
        if page.viewport_size != VIEWPORT:
            page.set_viewport_size(VIEWPORT)
        page.emulate_media(
            media="null", color_scheme="light", reduced_motion="reduce", forced_colors="null"
        )
        return bool(page.evaluate(KEPT))
    except Error:  # it has gone, or is in the middle of going elsewhere
        return False

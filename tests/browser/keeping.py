"""The page that tests share: a new one only where the last test has left what cannot be undone."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import BrowserContext, Error, Page, ViewportSize

VIEWPORT: ViewportSize = {"width": 1440, "height": 900}
# What is never taken back from a page.
LASTING = ("add_init_script", "add_locator_handler", "expose_binding", "expose_function")
# The way back is at most 50 long, and a test that counts its steps must see it grow. What a page
# remembers of its storage, or still waits for, ends when it is loaded anew: see MOVE.
TIDY = """(spent) => {
    try {
        if (localStorage.length || sessionStorage.length) spent = true;
        localStorage.clear();
        sessionStorage.clear();
    } catch {
        return false;  // a page without an origin of its own
    }
    if (spent) window.spent = true;
    return history.length < 40;
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
        calls: list[tuple[str, Any]] = []
        for name in (*LASTING, "on", "route"):
            setattr(page, name, noting(getattr(type(page), name), page, calls))
        yield page
        lasting = any(name in LASTING for name, _ in calls)
        if sound() and not lasting and pristine(page, calls):
            self.kept = page


def noting(
    method: Callable[..., Any], page: Page, calls: list[tuple[str, Any]]
) -> Callable[..., Any]:
    """The method, whose calls are noted."""

    def noted(*args: Any, **options: Any) -> Any:
        calls.append((method.__name__, args))
        return method(page, *args, **options)

    return noted


def pristine(page: Page, calls: list[tuple[str, Any]]) -> bool:
    """Bring the page back to what a test begins with; return whether that is so."""
    try:
        for name, args in calls:
            if name == "on":
                page.remove_listener(*args)
        routed = any(name == "route" for name, _ in calls)
        if routed:
            page.unroute_all(behavior="ignoreErrors")
        page.mouse.move(0, 0)
        if page.viewport_size != VIEWPORT:
            page.set_viewport_size(VIEWPORT)
        page.emulate_media(
            media="null", color_scheme="light", reduced_motion="reduce", forced_colors="null"
        )
        return bool(page.evaluate(TIDY, routed))
    except Error:  # it has gone, or is in the middle of going elsewhere
        return False

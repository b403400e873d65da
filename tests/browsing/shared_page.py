"""The page that tests share; a new one only if the last test left changes that last."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import BrowserContext, Error, Page, ViewportSize

VIEWPORT: ViewportSize = {"width": 1440, "height": 900}
# Methods whose effect on a page cannot be undone.
LASTING = ("add_init_script", "add_locator_handler", "expose_binding", "expose_function")
# The history has at most 50 entries, and a test that counts them must see it grow. What a page
# caches of its storage, or still waits for, ends when it is reloaded: see MOVE.
TIDY = """(spent) => {
    try {
        const own = ["client", "visited"];  // of every page, and read only while it loads
        const keys = [...Object.keys(localStorage), ...Object.keys(sessionStorage)];
        if (keys.some((key) => !own.includes(key))) spent = true;
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
        """Yield the page; keep it if the test was ``sound`` and made no lasting changes."""
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
    """Return the method with its calls recorded."""

    def noted(*args: Any, **options: Any) -> Any:
        calls.append((method.__name__, args))
        return method(page, *args, **options)

    return noted


def pristine(page: Page, calls: list[tuple[str, Any]]) -> bool:
    """Reset the page for the next test; return whether that succeeded."""
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
    except Error:  # it is closed, or navigating
        return False

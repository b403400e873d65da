"""Screenshots of every step of docs/first-minute.md: ``python -m tests.pages.first_minute``.

The pictures are taken while the tests of ``test_first_minute.py`` walk through the five tasks, so
they cannot show another way than the tests check. They are small WebP files in
``docs/images/first-minute``, which has nothing else in it.
"""

import io
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from tests.browsing.chromium import ARGS, EXECUTABLE
from tests.browsing.workspace import Workspace
from tests.pages import test_page_first_minute as tasks
from tests.servers import ROOT, running_app

FOLDER = ROOT / "docs/images/first-minute"
TASKS: dict[str, Callable[[tasks.Newcomer], None]] = {
    "head": tasks.test_say_what_a_head_is,
    "source": tasks.test_find_the_source_word,
    "check": tasks.test_check_a_weight_by_hand,
    "off": tasks.test_switch_a_head_off,
    "send": tasks.test_send_it_to_a_friend,
}
SCREENS = {"wide": tasks.WIDE, "phone": tasks.PHONE}
WIDTHS = {"wide": 800, "phone": 320}  # widths of the pictures
QUALITY = 55


class Visitor(tasks.Newcomer):
    """A newcomer who takes a screenshot before each click and at the end."""

    name: str
    shown: int = 0

    def picture(self) -> None:
        """Save a screenshot."""
        page = self.workspace.page
        self.workspace.settled()
        page.wait_for_timeout(300)
        screen = "phone" if self.phone else "wide"
        width = WIDTHS[screen]
        image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        image = image.resize((width, image.height * width // image.width), Image.Resampling.LANCZOS)
        self.shown += 1
        name = f"{self.name}-{self.shown}-{self.lang}-{screen}.webp"
        image.save(FOLDER / name, quality=QUALITY, method=6)

    def click(self, selector: str) -> None:
        if self.clicks:  # the first screen is the same in all tasks
            self.picture()
        super().click(selector)

    def click_cell(self) -> None:
        self.picture()
        super().click_cell()


def walk(browser: Browser, url: str, name: str, lang: str, screen: str) -> None:
    """Walk through a task and save its steps."""
    width, height = SCREENS[screen]
    phone = screen == "phone"
    context = browser.new_context(viewport={"width": width, "height": height}, has_touch=phone)
    page = context.new_page()
    page.set_default_timeout(120_000)
    workspace = Workspace(page, url)
    page.goto(f"{url}/?lang={lang}")
    workspace.drawn()
    page.locator("#opening-says").wait_for()
    visitor = Visitor(workspace, lang, phone)
    visitor.name = name
    TASKS[name](visitor)
    visitor.picture()
    context.close()


def main() -> int:
    """Take all screenshots."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.iterdir():
        old.unlink()
    with (
        tempfile.TemporaryDirectory() as data,
        running_app(Path(data)) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=EXECUTABLE, args=ARGS)
        for name in TASKS:
            for lang in ("en", "zh"):
                for screen in SCREENS:
                    walk(browser, server.url, name, lang, screen)
        browser.close()
    pictures = list(FOLDER.iterdir())
    size = sum(picture.stat().st_size for picture in pictures)
    print(f"{len(pictures)} pictures, {size / 1e6:.2f} MB in {FOLDER.relative_to(ROOT)}/")
    return 0


if __name__ == "__main__":
    sys.exit(main())

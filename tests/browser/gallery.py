"""Pictures of the page at every size, theme and language: ``make gallery``.

They lie in ``gallery/`` for someone to look at. What a program can see it checks itself: the run
fails where a page is wider than its window or a label is smaller than 13 px.
"""

import sys
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Literal, NamedTuple

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.chromium import ARGS, EXECUTABLE
from tests.browser.legible import SMALL_LABELS
from tests.browser.workspace import Workspace
from tests.servers import ROOT, running_app

GALLERY = ROOT / "gallery"
SIZES = {1440: 900, 1024: 768, 390: 844}
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
LANGUAGES = ("en", "zh")
SCENES: dict[str, dict[str, object]] = {
    "opening": {},
    "encoder": {"block": "encoder", "query": 3, "key": 2},
    "decoder": {"block": "decoder", "query": 3, "key": 1},
    "attention-words": {"block": "encoder", "pool": "mean", "words": 1, "special": "hide"},
    "attention-log": {"block": "decoder", "scale": "log", "top": 40, "pad_to": 16},
    "compare": {"view": "compare"},
    "compare-direction": {"view": "compare", "other": "direction", "layer": 2, "head": 3},
    "heads": {"view": "heads"},
    "heads-sorted": {"view": "heads", "block": "decoder", "sort": "entropy", "query": 4},
    "lines": {"view": "lines"},
    "lines-token": {"view": "lines", "heads": "2,3,6", "numbers": 1, "query": 3},
    "alignment": {"view": "alignment"},
    "alignment-all": {"view": "alignment", "of": "all", "query": 3},
    "worksheet": {"view": "worksheet", "step": "score"},
    "worksheet-row": {"view": "worksheet", "block": "decoder", "step": "softmax", "query": 4},
    "worksheet-all": {"view": "worksheet", "block": "encoder", "step": "all", "query": 3},
    "qkv": {"view": "qkv"},
    "space": {"view": "space"},
    "positions": {"view": "positions"},
    "positions-likeness": {"view": "positions", "part": "likeness", "length": 64},
    "positions-shuffle": {"view": "positions", "part": "shuffle"},
}


class Shot(NamedTuple):
    """One picture to take."""

    scene: str
    width: int
    theme: Literal["light", "dark"]
    lang: str

    @property
    def name(self) -> str:
        return f"{self.scene}-{self.width}-{self.theme}-{self.lang}"


def shots() -> Iterator[Shot]:
    """All of them, a scene at a time."""
    for scene, width, theme, lang in product(SCENES, SIZES, THEMES, LANGUAGES):
        yield Shot(scene, width, theme, lang)


def take(browser: Browser, url: str, shot: Shot) -> list[str]:
    """Take a picture and return what is wrong with it."""
    context = browser.new_context(
        viewport={"width": shot.width, "height": SIZES[shot.width]},
        color_scheme=shot.theme,
        device_scale_factor=2 if shot.width < 600 else 1,
    )
    try:
        page = context.new_page()
        page.set_default_timeout(120_000)
        workspace = Workspace(page, url)
        workspace.open(**SCENES[shot.scene], lang=shot.lang)
        workspace.settled()
        page.screenshot(path=GALLERY / f"{shot.name}.png")
        return [f"{shot.name}: {fault}" for fault in faults(page, shot.width)]
    finally:
        context.close()


def faults(page: Page, width: int) -> Iterator[str]:
    """What a program can see to be wrong."""
    if (found := page.evaluate("document.documentElement.scrollWidth")) > width:
        yield f"{found} px wide in a window of {width} px"
    for label in page.evaluate(SMALL_LABELS):
        yield f"a label under 13 px: {label}"


def main() -> int:
    """Take all pictures whose name has one of the arguments in it; all without arguments."""
    GALLERY.mkdir(exist_ok=True)
    wanted = [s for s in shots() if not sys.argv[1:] or any(a in s.name for a in sys.argv[1:])]
    wrong: list[str] = []
    with (
        tempfile.TemporaryDirectory() as data,
        running_app(Path(data)) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=EXECUTABLE, args=ARGS)
        for shot in wanted:
            wrong += take(browser, server.url, shot)
            print(".", end="", flush=True)
        browser.close()
    print(f"\n{len(wanted)} pictures in {GALLERY.relative_to(ROOT)}/", *wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

"""Screenshots of the page at every size, theme and language: ``make gallery``.

The screenshots in ``gallery/`` are for human review. Some defects are found automatically: the run
fails where a page is wider than its window, a label is smaller than 13 px or cut off, or the
console has something to say.

A page is loaded once for its pictures in both themes and at several widths; all that differs is
told to it as a reader would, by resizing the window and by the system's choice of theme.
"""

import json
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby, product
from pathlib import Path
from typing import Literal, NamedTuple

from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from tests.browsing.chromium import ARGS, EXECUTABLE
from tests.browsing.legible import CUT_OFF, SMALL_LABELS
from tests.browsing.watch import Watch
from tests.browsing.workspace import Workspace
from tests.servers import ROOT, running_app

GALLERY = ROOT / "gallery"
SIZES = {1440: 900, 1024: 768, 390: 844, 320: 640}
PROJECTORS = {1920: 1080, 1280: 720}
PHONE = 600  # narrower windows have two device pixels per CSS pixel
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
LANGUAGES = ("en", "zh")
CHANGES = json.dumps(
    [
        {"at": "encoder.1.self", "head": 2, "do": "zero"},
        {"at": "source", "do": {"mask": 2}},
        {"at": "source.position", "do": {"shuffle": 3}},
    ]
)
SCENES: dict[str, dict[str, object]] = {
    "opening": {"opening": 1},
    "workspace": {"view": "attention"},
    "tour": {"tour": 4, "view": "attention", "layer": 2, "head": 0, "query": 4, "key": 3},
    "decoding": {"view": "decoding"},
    "decoding-beam": {"view": "decoding", "decode": '{"method":"beam"}', "query": 4},
    "decoding-sample": {
        "view": "decoding",
        "decode": '{"method":"sample","temperature":1.5,"top_k":8,"seed":7}',
        "query": 2,
    },
    "decoding-scored": {
        "view": "decoding",
        "source": "My mother bought a new book yesterday.",
        "target": "我母亲昨天买了新书。",
        "query": 1,
    },
    "encoder": {"block": "encoder", "query": 3, "key": 2},
    "decoder": {"block": "decoder", "query": 3, "key": 1},
    "attention-words": {"block": "encoder", "pool": "mean", "words": 1, "special": "hide"},
    "attention-log": {"block": "decoder", "scale": "log", "top": 40, "pad_to": 16},
    "compare": {"view": "compare"},
    "compare-direction": {"view": "compare", "other": "direction", "layer": 2, "head": 3},
    "heads": {"view": "heads"},
    "heads-sorted": {"view": "heads", "block": "decoder", "sort": "entropy", "query": 4},
    "lines": {"view": "lines"},
    "lines-all": {"view": "lines", "heads": "0,1,2,3,4,5,6,7"},
    "lines-token": {"view": "lines", "heads": "2,3,6", "numbers": 1, "query": 3},
    "alignment": {"view": "alignment"},
    "alignment-all": {"view": "alignment", "of": "all", "query": 3},
    "worksheet": {"view": "worksheet", "step": "score"},
    "worksheet-row": {"view": "worksheet", "block": "decoder", "step": "softmax", "query": 4},
    "worksheet-all": {"view": "worksheet", "block": "encoder", "step": "all", "query": 3},
    "inside": {"view": "inside", "query": 3},
    "inside-contrast": {
        "view": "inside",
        "source": "My father is a teacher.",
        "layer": 2,
        "query": 1,
        "contrast": "runner-up",
    },
    "inside-decoder": {"view": "inside", "block": "decoder", "layer": 2, "head": 5, "query": 5},
    "qkv": {"view": "qkv"},
    "qkv-score": {"view": "qkv", "block": "decoder", "query": 4, "key": 1, "terms": 1},
    "space": {"view": "space"},
    "positions": {"view": "positions"},
    "positions-likeness": {"view": "positions", "part": "likeness", "length": 64},
    "positions-turn": {"view": "positions", "part": "turn", "by": 3},
    "positions-shuffle": {"view": "positions", "part": "shuffle"},
    "flow": {"view": "flow", "block": "encoder", "layer": 2},
    "flow-cross": {"view": "flow", "block": "cross", "layer": 2},
    "training": {"view": "training"},
    "training-start": {"view": "training", "block": "decoder", "example": 2, "snapshot": 0},
    "whatif": {"view": "whatif"},
    "whatif-tokens": {"view": "whatif", "effect": "tokens", "interventions": CHANGES},
    "whatif-attention": {"view": "whatif", "effect": "attention", "interventions": CHANGES},
    "changed": {"block": "encoder", "layer": 1, "head": 2, "interventions": CHANGES},
}
# Panels that open over the page, and the buttons that open them.
PANELS = {
    "help": ["#more", "#help"],
    "share": ["#share"],
    "qr": ["#more", "#qr-open"],
    "menu": ["#more"],
}


class Shot(NamedTuple):
    """A screenshot to take."""

    scene: str
    lang: str
    width: int
    theme: Literal["light", "dark"]

    @property
    def name(self) -> str:
        return f"{self.scene}-{self.width}-{self.theme}-{self.lang}"

    @property
    def visit(self) -> tuple[str, str, bool]:
        """The page to load: scene, language, and whether it is a phone's."""
        return self.scene, self.lang, self.width < PHONE


def shots() -> Iterator[Shot]:
    """Yield all screenshots, grouped by the page to load."""
    for scene, lang in product([*SCENES, *PANELS], LANGUAGES):
        for width, theme in product(SIZES, THEMES):
            if scene != "qr" or width >= 900:  # on a phone, it is in the share panel
                yield Shot(scene, lang, width, theme)
    for scene, lang in product(SCENES, LANGUAGES):
        for width in PROJECTORS:  # only light: a projector in a lit room needs no dark theme
            yield Shot(f"projector-{scene}", lang, width, "light")


def take(browser: Browser, url: str, wanted: Sequence[Shot]) -> list[str]:
    """Take the screenshots of one loaded page; return the defects."""
    scene, lang, phone = wanted[0].visit
    with opened(browser, url, phone) as (workspace, watch):
        page = workspace.page
        page.set_viewport_size(size(wanted[0]))
        name = scene.removeprefix("projector-")
        link = SCENES.get(name, {}) | ({"projector": 1} if name != scene else {})
        workspace.load(**link, lang=lang)
        if scene in PANELS:
            for button in PANELS[scene]:
                page.locator(button).click()
        wrong = []
        for shot in wanted:
            page.emulate_media(color_scheme=shot.theme)
            page.set_viewport_size(size(shot))
            workspace.settled()
            page.screenshot(path=GALLERY / f"{shot.name}.png")
            wrong += [f"{shot.name}: {fault}" for fault in faults(page, shot.width)]
        return wrong + [f"{scene}-{lang}: {fault}" for fault in watch.faults]


@contextmanager
def opened(browser: Browser, url: str, phone: bool) -> Iterator[tuple[Workspace, Watch]]:
    """Yield a workspace in its own window, and its watch."""
    context = browser.new_context(device_scale_factor=2 if phone else 1)
    try:
        watch = Watch(context)
        page = context.new_page()
        page.set_default_timeout(120_000)
        yield Workspace(page, url), watch
    finally:
        context.close()


def size(shot: Shot) -> ViewportSize:
    """Return the size of a screenshot's window."""
    return {"width": shot.width, "height": (SIZES | PROJECTORS)[shot.width]}


def faults(page: Page, width: int) -> Iterator[str]:
    """Yield the defects that a program can detect."""
    if (found := page.evaluate("document.documentElement.scrollWidth")) > width:
        yield f"{found} px wide in a window of {width} px"
    for label in page.evaluate(SMALL_LABELS):
        yield f"a label under 13 px: {label}"
    for label in page.evaluate(CUT_OFF):
        yield f"cut off: {label}"


def main() -> int:
    """Take all screenshots whose name matches one of the arguments; all if there are none."""
    GALLERY.mkdir(exist_ok=True)
    patterns = sys.argv[1:] or [""]
    wanted = [shot for shot in shots() if any(re.search(one, shot.name) for one in patterns)]
    wrong: list[str] = []
    with (
        tempfile.TemporaryDirectory() as data,
        running_app(Path(data)) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=EXECUTABLE, args=ARGS)
        for _, together in groupby(wanted, key=lambda shot: shot.visit):
            wrong += take(browser, server.url, list(together))
            print(".", end="", flush=True)
        browser.close()
    print(f"\n{len(wanted)} pictures in {GALLERY.relative_to(ROOT)}/", *wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

"""`python -m bench.page_long`: frames of a long text's map while it is moved and zoomed.

The text is read by a small random model that is made for it (`requirements-hf.txt`), so that the
page is what is measured: how far apart frames are, and how much work the main thread has in each.
A frame lasts 1/60 s.
"""

import argparse
import statistics
import tempfile
from contextlib import ExitStack
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

from playwright.sync_api import Page, sync_playwright

from bench.__main__ import machine
from bench.browser import WORDS, opened
from bench.page import tasks
from tests.browsing.chromium import ARGS, EXECUTABLE
from tests.model.tiny_huggingface import GROUPED, TINY, make
from tests.servers import running_app

FRAME_MS = 1000 / 60
LONG_MS = 50
SHARP = ".long[data-waits=no] .long-map[data-drawn]"
# Drags the map by a few pixels a frame, or turns the wheel, and takes down when frames begin.
MOVE = """async ([how, frames]) => {
    const map = document.querySelector(".long-map");
    const box = map.getBoundingClientRect();
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    const mouse = { pointerId: 1, pointerType: "mouse", button: 0, bubbles: true };
    const point = (type, dx, dy) => map.dispatchEvent(
        new PointerEvent(type, { ...mouse, clientX: x + dx, clientY: y + dy }));
    const wheel = (deltaY) => map.dispatchEvent(
        new WheelEvent("wheel",
            { deltaY, clientX: x, clientY: y, bubbles: true, cancelable: true }));
    map.setPointerCapture = () => {};
    const times = [];
    if (how === "drag") point("pointerdown", 0, 0);
    for (let i = 0; i < frames; i++) {
        const begun = await new Promise(requestAnimationFrame);
        times.push(begun);
        const way = Math.sin(i / 20);
        if (how === "drag") point("pointermove", 150 * way, 100 * Math.sin(i / 13));
        else wheel(-40 * way);
    }
    if (how === "drag") point("pointerup", 0, 0);
    return times.slice(1).map((time, i) => time - times[i]);
}"""


class Moved(NamedTuple):
    """Frames of one gesture, in milliseconds."""

    apart: list[float]
    work: list[float]


def main() -> None:
    """Start a server and a browser, measure, print."""
    parser = argparse.ArgumentParser(prog="python -m bench.page_long", description=__doc__)
    parser.add_argument("--tokens", type=int, nargs="+", default=[1_024, 4_096])
    parser.add_argument("--frames", type=int, default=240, help="of each gesture (240)")
    parsed = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        longest = 2 * max(parsed.tokens)
        options = {**GROUPED, "max_position_embeddings": longest}
        TINY["long"] = ("LlamaForCausalLM", "LlamaConfig", options, "bytes")
        served = {"models": f"tiny=hf:{make('long', folder / 'model')}", "zoo": "false"}
        url = stack.enter_context(running_app(folder / "data", served)).url
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=EXECUTABLE, args=ARGS)
        print(f"{machine()}; Chromium {browser.version}, headless, without a GPU\n")
        print("| Tokens | gesture | apart, median | 90 % within | work a frame | longest task |")
        print("|--:|---|--:|--:|--:|--:|")
        for tokens in parsed.tokens:
            with opened(browser) as page:
                show(page, url, tokens)
                for gesture in ("drag", "wheel"):
                    line(tokens, gesture, moved(page, gesture, parsed.frames))
                keys, spent = typing(page)
                long = sum(milliseconds > LONG_MS for milliseconds in spent)
                print(f"| {tokens} | {keys} keys | | | | {max(spent):.0f} ms, {long} over 50 ms |")
        browser.close()


def show(page: Page, url: str, tokens: int) -> None:
    """Open a text of about so many tokens, zoomed in to a quarter of it."""
    words = " ".join(islice(cycle(WORDS), tokens))[:tokens]
    link = {"view": "attention", "layer": 0, "head": 0, "query": tokens // 3}
    part = f"{tokens // 4}-{tokens // 2}"
    window = {"rows": part, "columns": part}
    page.goto(f"{url}/?{urlencode({**link, **window})}#{urlencode({'source': words})}")
    page.wait_for_selector(SHARP)


def moved(page: Page, gesture: str, frames: int) -> Moved:
    """Move the map for so many frames, twice; the first time fetches what comes into sight."""
    page.evaluate(MOVE, [gesture, frames])
    page.wait_for_selector(SHARP)
    with tasks(page) as spent:
        apart = page.evaluate(MOVE, [gesture, frames])
    return Moved(apart, spent)


def line(tokens: int, gesture: str, result: Moved) -> None:
    """Print a line of the table."""
    apart = sorted(result.apart)
    work = sum(result.work) / len(apart)
    p90 = apart[int(0.9 * len(apart))]
    print(
        f"| {tokens} | {gesture} | {statistics.median(apart):.1f} ms | {p90:.1f} ms "
        f"| {work:.1f} ms, {work / FRAME_MS:.2f} frames | {max(result.work):.0f} ms |",
        flush=True,
    )


def typing(page: Page) -> tuple[int, list[float]]:
    """How many keys were pressed in the text, and the work of each task meanwhile."""
    word = " now and then"
    page.locator("#source").focus()
    page.keyboard.press("Control+End")
    with tasks(page) as spent:
        page.keyboard.type(word, delay=80)
    return len(word), spent


if __name__ == "__main__":
    main()

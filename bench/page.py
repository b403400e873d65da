"""`python -m bench.page`: prints what the page costs in the browser, as a table.

Work is what the page's main thread does, script, style, layout and paint, from a change until the
frame that shows it has been handed over; a frame lasts 1/60 s.
"""

import argparse
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import httpx
from playwright.sync_api import Browser, Page, sync_playwright

from bench.__main__ import machine
from bench.many_heads import serve
from tests.browser.chromium import ARGS, EXECUTABLE
from tests.servers import running_app

FRAME_MS = 1000 / 60
PROBES = Path(__file__).with_name("probes.js")
WORDS = ("the", "old", "cat", "sat", "on", "a", "mat", "and", "saw", "dog", "run", "to", "it")
DRAWN = """() => document.documentElement.dataset.status === "ready"
    && document.querySelector("#view canvas, #view svg") && !document.querySelector(".sketched")"""


class Row(NamedTuple):
    """One line of the table."""

    what: str
    times: Sequence[float]  # milliseconds
    goal: float  # milliseconds, for the median

    def __str__(self) -> str:
        middle, most = statistics.median(self.times), statistics.quantiles(self.times, n=10)[-1]
        verdict = "met" if middle <= self.goal else "missed"
        return (
            f"| {self.what} | {middle:.1f} ms | {most:.1f} ms | **{middle / FRAME_MS:.2f}** "
            f"| {self.goal:.0f} ms: {verdict} |"
        )


def main() -> None:
    """Starts a server and a browser, measures, prints."""
    parser = argparse.ArgumentParser(prog="python -m bench.page", description=__doc__)
    parser.add_argument("--rounds", type=int, default=40, help="changes for each line (40)")
    rounds = parser.parse_args().rounds
    with browser_and_server() as (browser, url):
        print(f"{machine()}; Chromium {browser.version}, headless, without a GPU\n")
        print("| What, until it is on the screen | median | 90 % within | in frames | goal |")
        print("|---|--:|--:|--:|---|")
        for tokens, frames in ((64, 1), (128, 3)):
            times = another_head(browser, url, tokens, rounds)
            print(Row(f"another head, {tokens} tokens", times, frames * FRAME_MS), flush=True)
        times = all_heads(browser, url, max(5, rounds // 4))
        print(Row("144 heads × 128 tokens, from the data's arrival", times, 150.0), flush=True)
        keys, long = typing(browser, url, max(3, rounds // 4))
    verdict = "met" if not long else "missed"
    longest = f", the longest {max(long):.0f} ms" if long else ""
    print(f"\nTyping, 32 tokens: {len(long)} tasks over 50 ms in {keys} keys{longest}; ", end="")
    print(f"goal none: {verdict}")


@contextmanager
def browser_and_server() -> Iterator[tuple[Browser, str]]:
    """Yields a browser and the address of a server, both our own."""
    with (
        tempfile.TemporaryDirectory() as data,
        running_app(Path(data)) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=EXECUTABLE, args=ARGS)
        yield browser, server.url
        browser.close()


def another_head(browser: Browser, url: str, tokens: int, rounds: int) -> list[float]:
    """Milliseconds of work to show the next head's attention."""
    with opened(browser) as page:
        visit(page, url, source=sentence(url, tokens), block="encoder", layer=0, view="attention")
        times: list[float] = page.evaluate("(rounds) => probes.heads(rounds)", rounds)
        return times


def all_heads(browser: Browser, url: str, rounds: int) -> list[float]:
    """Milliseconds from the arrival of all weights of a large model to their picture.

    The page is the real one; its server says that it has 12 × 12 heads, and answers so.
    """
    source, times = sentence(url, 128), []
    for _ in range(rounds):
        with opened(browser) as page:
            serve(page, layers=12, heads=12)
            visit(page, url, source=source, block="encoder", layer=0, head=0, view="heads")
            page.wait_for_function("() => probes.arrivals.length")
            times.append(page.evaluate("() => probes.arrivals.at(-1)"))
    return times


def typing(browser: Browser, url: str, rounds: int) -> tuple[int, list[float]]:
    """How many keys were pressed, and the milliseconds of each task over 50 ms meanwhile.

    Pauses are long enough for a trace to be asked for, to come and to be drawn.
    """
    word, keys = " now", 0
    with opened(browser) as page:
        visit(page, url, source=sentence(url, 32), block="encoder", view="attention")
        page.locator("#source").focus()
        page.keyboard.press("End")
        page.evaluate("() => probes.watch()")
        for _ in range(rounds):
            page.keyboard.type(word, delay=90)
            page.wait_for_timeout(700)
            for _ in word:
                page.keyboard.press("Backspace", delay=40)
            page.wait_for_timeout(700)
            keys += 2 * len(word)
        long: list[float] = page.evaluate("() => probes.long")
        return keys, long


@contextmanager
def opened(browser: Browser) -> Iterator[Page]:
    """Yields a page with the probes in it."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.add_init_script(path=PROBES)
    yield page
    context.close()


def visit(page: Page, url: str, **link: object) -> None:
    """Goes to a link and waits until it is drawn and nothing moves."""
    page.goto(f"{url}/?{urlencode(link)}")
    page.wait_for_function(DRAWN)
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(500)


def sentence(url: str, tokens: int) -> str:
    """A sentence that the model reads as just so many tokens, special ones included."""
    said = ""
    for word in cycle(WORDS):
        said = f"{said} {word}".strip()
        asked: dict[str, Any] = {"source": said, "target": "a", "direction": "en-zh", "select": []}
        reply = httpx.post(f"{url}/api/trace", json=asked, timeout=60, trust_env=False)
        found = len(reply.raise_for_status().json()["tokens"]["source"])
        if found >= tokens:
            assert found == tokens, f"{found} tokens instead of {tokens}"
            break
    return said


if __name__ == "__main__":
    main()

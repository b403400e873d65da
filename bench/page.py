"""`python -m bench.page`: prints what the page costs in the browser, as a table.

Work is the processor time of the page's main thread, for script, style, layout and paint: "drawing"
from a change until the frame that shows it has been handed over, "all of it" in the half second
after the change, whatever else it brings about; without what the thread does where nothing changes.
It hardly depends on what else the machine does. A frame lasts 1/60 s. With `--against DIR` another
checkout serves beside this one, and both are measured in turns.
"""

import argparse
import statistics
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import httpx
from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from bench.__main__ import machine
from bench.many_heads import serve
from tests.browser.chromium import ARGS, EXECUTABLE
from tests.servers import ROOT, running_app

FRAME_MS = 1000 / 60
REST_MS = 500
LONG_MS = 50
PROBES = Path(__file__).with_name("probes.js")
WORDS = ("the", "old", "cat", "sat", "on", "a", "mat", "and", "saw", "dog", "run", "to", "it")
DRAWN = """() => document.documentElement.dataset.status === "ready"
    && document.querySelector("#view canvas, #view svg") && !document.querySelector(".sketched")"""
VIEWS = ("flow", "compare", "inside", "alignment", "lines")


class Work(NamedTuple):
    """Milliseconds of a processor that one change takes on the main thread."""

    drawing: float
    whole: float


# Milliseconds that are aimed at, by what is done.
GOALS: dict[str, tuple[Callable[[Work], float], float]] = {
    "another head, 64 tokens": (lambda work: work.whole, FRAME_MS),
    "another head, 128 tokens": (lambda work: work.whole, 1.2 * FRAME_MS),
    "to flow, 64 tokens": (lambda work: work.drawing, 60.0),
}


Times = dict[str, list[list[Work]]]  # by what is done: a list for each checkout


def main() -> None:
    """Starts servers and a browser, measures, prints."""
    parser = argparse.ArgumentParser(prog="python -m bench.page", description=__doc__)
    parser.add_argument("--rounds", type=int, default=40, help="changes for each line (40)")
    parser.add_argument("--against", type=Path, help="another checkout's folder")
    parser.add_argument("--only", choices=["heads", "views", "many", "typing"], help="one part")
    asked = parser.parse_args()
    roots = [ROOT, *([asked.against.resolve()] if asked.against else [])]
    with browser_and_servers(roots) as (browser, urls):
        print(f"{machine()}; Chromium {browser.version}, headless, without a GPU\n")
        times: Times = {}
        if asked.only in (None, "heads"):
            for tokens in (64, 128):
                times |= another_head(browser, urls, tokens, asked.rounds)
        if asked.only in (None, "views"):
            times |= other_views(browser, urls, max(5, asked.rounds // 4))
        if times:
            print_table(times)
        if asked.only in (None, "many"):
            for url in urls:
                many = all_heads(browser, url, max(5, asked.rounds // 4))
                print(f"144 heads × 128 tokens: {statistics.median(many):.1f} ms; goal 150 ms")
        if asked.only in (None, "typing"):
            for url in urls:
                keys, spent = typing(browser, url, max(3, asked.rounds // 4))
                long = sum(one > LONG_MS for one in spent)
                print(
                    f"Typing, 32 tokens: {long} tasks over {LONG_MS} ms in {keys} keys, "
                    f"the longest {max(spent):.0f} ms"
                )


def print_table(times: Times) -> None:
    """Prints a line for each thing that is done: this checkout, the other, their ratios."""
    print("| What | drawing | 90 % within | all of it | in frames | goal | this / other |")
    print("|---|--:|--:|--:|--:|---|---|")
    for what, (own, *others) in times.items():
        for works in (own, *others):
            drawing = [work.drawing for work in works]
            middle, most = statistics.median(drawing), statistics.quantiles(drawing, n=10)[-1]
            whole = statistics.median(work.whole for work in works)
            aim = aimed(what, works)
            said = f"{quartiles(own, others[0])}" if others and works is own else ""
            print(
                f"| {what if works is own else '… in the other'} | {middle:.1f} ms | {most:.1f} ms "
                f"| {whole:.1f} ms | **{whole / FRAME_MS:.2f}** | {aim} | {said} |",
                flush=True,
            )


def aimed(what: str, works: Sequence[Work]) -> str:
    """The goal, and whether it is met."""
    if what not in GOALS:
        return ""
    pick, goal = GOALS[what]
    which = "drawing" if pick(Work(1, 0)) else "all of it"
    met = statistics.median(map(pick, works)) <= goal
    return f"{which} {goal:.0f} ms: {'met' if met else 'missed'}"


def quartiles(own: Sequence[Work], other: Sequence[Work]) -> str:
    """The ratios of each turn, of drawing and of all work."""

    def said(pick: Callable[[Work], float]) -> str:
        ratios = [pick(a) / pick(b) for a, b in zip(own, other, strict=True)]
        low, middle, high = statistics.quantiles(ratios, n=4)
        return f"**{middle:.2f}** ({low:.2f} to {high:.2f})"

    return f"{said(lambda work: work.drawing)}; all {said(lambda work: work.whole)}"


@contextmanager
def browser_and_servers(roots: Sequence[Path]) -> Iterator[tuple[Browser, list[str]]]:
    """Yields a browser and the address of a server for each checkout, all our own."""
    with ExitStack() as stack:
        urls = []
        for root in roots:
            data = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            urls.append(stack.enter_context(running_app(data, root=root)).url)
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=EXECUTABLE, args=ARGS)
        yield browser, urls
        browser.close()


def another_head(browser: Browser, urls: Sequence[str], tokens: int, rounds: int) -> Times:
    """Shows the next head's attention, in turns."""
    with ExitStack() as stack:
        pages = [stack.enter_context(opened(browser)) for _ in urls]
        clocks = [page.context.new_cdp_session(page) for page in pages]
        for page, url in zip(pages, urls, strict=True):
            link = {"block": "encoder", "layer": 0, "view": "attention"}
            visit(page, url, source=sentence(url, tokens), **link)
        works = in_turns(pages, clocks, "() => probes.head()", rounds)
    return {f"another head, {tokens} tokens": works}


def other_views(browser: Browser, urls: Sequence[str], rounds: int) -> Times:
    """Goes to other views whose numbers are there, in turns."""
    found: Times = {}
    with ExitStack() as stack:
        pages = [stack.enter_context(opened(browser)) for _ in urls]
        clocks = [page.context.new_cdp_session(page) for page in pages]
        for page, url in zip(pages, urls, strict=True):
            source = sentence(url, 64)
            for view in (*VIEWS, "attention"):
                visit(page, url, source=source, block="cross", layer=1, head=2, view=view)
        for view in VIEWS:

            def back(page: Page) -> None:
                page.evaluate("() => probes.view('attention')")
                page.wait_for_timeout(REST_MS)

            there = f"() => probes.view('{view}')"
            found[f"to {view}, 64 tokens"] = in_turns(pages, clocks, there, rounds, back)
    return found


def in_turns(
    pages: Sequence[Page],
    clocks: Sequence[CDPSession],
    change: str,
    rounds: int,
    back: Callable[[Page], None] = lambda page: None,
) -> list[list[Work]]:
    """The work of a change, a function of the page's, in each page; the first ones warm up."""
    works: list[list[Work]] = [[] for _ in pages]
    for clock in clocks:
        clock.send("Performance.enable", {"timeDomain": "threadTicks"})
    for n in range(rounds + 3):
        order = range(len(pages)) if n % 2 else reversed(range(len(pages)))
        for i in order:
            pages[i].bring_to_front()
            idle = work_of(pages[i], clocks[i], None)
            work = work_of(pages[i], clocks[i], change)
            if n >= 3:
                works[i].append(Work(work.drawing - idle.drawing, work.whole - idle.whole))
            back(pages[i])
    return works


def work_of(page: Page, clock: CDPSession, change: str | None) -> Work:
    """The work of a change, or of none; looking at pictures is not counted."""
    page.evaluate("() => probes.note()")
    start = busy(clock)
    page.evaluate(f"() => probes.drawn({change or ''})")
    drawing = busy(clock) - start
    looking = 0.0
    for _ in range(120 if change else 0):
        before = busy(clock)
        changed = page.evaluate("() => probes.changed()")
        looking += busy(clock) - before
        if changed:
            break
        page.evaluate("() => probes.drawn()")
        drawing = busy(clock) - start - looking
    else:
        assert not change, "the picture did not change"
    page.wait_for_timeout(REST_MS)
    return Work(drawing, busy(clock) - start - looking)


def busy(clock: CDPSession) -> float:
    """Milliseconds of a processor that the main thread has taken so far."""
    metrics = clock.send("Performance.getMetrics")["metrics"]
    taken: float = next(one["value"] for one in metrics if one["name"] == "TaskDuration")
    return 1000 * taken


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
    """How many keys were pressed, and the processor time of each task meanwhile.

    Pauses are long enough for a trace to be asked for, to come and to be drawn.
    """
    word, keys = " now", 0
    with opened(browser) as page:
        visit(page, url, source=sentence(url, 32), block="encoder", view="attention")
        page.locator("#source").focus()
        page.keyboard.press("End")
        with tasks(page) as spent:
            for _ in range(rounds):
                page.keyboard.type(word, delay=90)
                page.wait_for_timeout(700)
                for _ in word:
                    page.keyboard.press("Backspace", delay=40)
                page.wait_for_timeout(700)
                keys += 2 * len(word)
    return keys, spent


@contextmanager
def tasks(page: Page) -> Iterator[list[float]]:
    """Yields a list that has, in the end, each task's milliseconds of a processor.

    They are those of the page's main thread: the one that has frames of the page's own.
    """
    client = page.context.new_cdp_session(page)
    events: list[dict[str, Any]] = []
    ended: list[bool] = []
    client.on("Tracing.dataCollected", lambda data: events.extend(data["value"]))
    client.on("Tracing.tracingComplete", lambda _: ended.append(True))
    categories = ["devtools.timeline", "disabled-by-default-devtools.timeline", "blink.user_timing"]
    client.send("Tracing.start", {"traceConfig": {"includedCategories": categories}})
    page.evaluate("() => performance.mark('bench')")
    spent: list[float] = []
    yield spent
    client.send("Tracing.end")
    while not ended:
        page.wait_for_timeout(50)
    mark = next(one for one in events if one["name"] == "bench")
    thread = (mark["pid"], mark["tid"])
    spent += [
        one["tdur"] / 1000
        for one in events
        if one["name"] == "RunTask" and (one["pid"], one["tid"]) == thread and "tdur" in one
    ]


@contextmanager
def opened(browser: Browser) -> Iterator[Page]:
    """Yields a page with the probes in it, in a browser of its own.

    Its profile is one that is kept, as a reader's is: without one, Chromium loads and draws the
    page's icon again after every change of the address.
    """
    with tempfile.TemporaryDirectory() as profile:
        context = browser.browser_type.launch_persistent_context(
            profile, executable_path=EXECUTABLE, args=ARGS, viewport={"width": 1440, "height": 900}
        )
        (page,) = context.pages
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

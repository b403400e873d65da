"""`python -m bench.page`: print the page's costs in the browser, as a table.

Work is the processor time of the page's main thread for script, style, layout and paint, minus that
of an idle page. "drawing" is the time from a change until its frame is presented; "all of it" is
all work in the half second after the change. It hardly depends on the load of the machine. A frame
lasts 1/60 s. With `--against DIR`, another checkout is measured in turns with this one.

A model with many heads is simulated: real replies with made-up weights.
"""

import argparse
import json
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from playwright.sync_api import Browser, CDPSession, Page, Route
from safetensors.numpy import load, save

from bench.__main__ import machine
from bench.browser import browser_and_servers, opened, sentence, visit
from tests.servers import ROOT

Header = dict[str, Any]

COARSE = ":uint8"  # suffix of tensors requested in 8 bits

KINDS = ("weights", "mask")

MASK = "encoder.0.self.mask"


def serve(page: Page, *, layers: int, heads: int) -> None:
    """Change replies so that every model has so many layers and heads in its encoder.

    Tensors requested in 8 bits are made up for all heads; the others are the server's.
    """

    def models(route: Route) -> None:
        served = route.fetch().json()
        for model in served:
            model["layers"]["encoder"] = layers
            model["heads"]["encoder"] = heads
            if "attentions" in model:  # older checkouts have only the counts
                model["attentions"] = _table(model["attentions"], layers, heads)
        route.fulfill(json=served)

    def trace(route: Route) -> None:
        body = json.loads(route.request.post_data or "{}")
        names = [name for name in body.get("select", ()) if name.startswith("encoder.")]
        if body.get("dtype") == "uint8":  # older checkouts request the dtype for all tensors
            names = [f"encoder.{n}.self.{kind}" for n in range(layers) for kind in KINDS]
        if not any(COARSE in name or body.get("dtype") for name in names):
            return route.continue_()
        unchanged = [name for name in body["select"] if name not in names]
        summarise = ["encoder.0.self"] if body.get("summarise") else []
        sent = {**body, "dtype": "float32", "select": unchanged or [MASK], "summarise": summarise}
        reply = route.fetch(post_data=json.dumps(sent))
        return route.fulfill(
            body=_grown(reply.body(), names, body.get("summarise") or [], heads),
            headers={"Content-Type": "application/octet-stream"},
        )

    page.route("**/api/models", models)
    page.route("**/api/trace", trace)


def _table(attentions: list[dict[str, Any]], layers: int, heads: int) -> list[dict[str, Any]]:
    """Return the table with so many encoder layers and heads."""
    (first, *_) = attentions
    counts = {"heads": heads, "kv_heads": heads}
    attentions_added = [
        {**first, **counts, "place": f"encoder.{layer}.self", "layer": layer}
        for layer in range(layers)
    ]
    return attentions_added + [
        attention for attention in attentions if attention["stack"] != "encoder"
    ]


def _grown(reply: bytes, names: list[str], summarised: list[str], heads: int) -> bytes:
    """Return the reply with made-up tensors, and with the first summary for all places."""
    length = int.from_bytes(reply[:8], "little")
    document: Header = json.loads(json.loads(reply[8 : 8 + length])["__metadata__"]["trace"])
    tensors: dict[str, NDArray[Any]] = dict(load(reply))
    size = len(document["tokens"]["source"])
    for name in names:
        grown, dims = np.ones((size, size), dtype=bool), ["query", "key"]
        if ".weights" in name:
            layer = int(name.split(".")[1])
            grown, dims = _weights(layer, heads, size), ["head", *dims]
        tensors[name] = grown
        document["tensors"][name] = {
            "dims": dims,
            "over": {"query": "source", "key": "source"},
            "shape": list(grown.shape),
            "dtype": grown.dtype.name,
        }
    if summaries := document.get("summaries"):
        (first, *_) = summaries.values()
        repeated = {key: (values * heads)[:heads] for key, values in first.items()}
        document["summaries"] = dict.fromkeys(summarised, repeated)
    return save(tensors, {"trace": json.dumps(document)})


def _weights(layer: int, heads: int, size: int) -> NDArray[np.uint8]:
    """Make up weights (head, query, key): each head attends to a different distance back."""
    random = np.random.default_rng(layer)
    back = random.integers(0, size // 4, (heads, 1, 1))
    distance = np.arange(size)[:, None] - np.arange(size) - back
    scores = -np.abs(distance) / random.uniform(0.5, 8, (heads, 1, 1)) + random.normal(
        0, 0.5, (heads, size, size)
    )
    exponentials = np.exp(scores - scores.max(-1, keepdims=True))
    weights = exponentials / exponentials.sum(-1, keepdims=True)
    coded: NDArray[np.uint8] = np.round(weights * 255).astype(np.uint8)
    return coded


REST_MS = 500


class Work(NamedTuple):
    """Processor time in milliseconds that one change takes on the main thread."""

    drawing: float
    whole: float


def in_turns(
    pages: Sequence[Page],
    clocks: Sequence[CDPSession],
    change: str,
    rounds: int,
    back: Callable[[Page], None] = lambda page: None,
) -> list[list[Work]]:
    """Measure a change, a function of the page, in each page in turns, after a warm-up."""
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
    """Measure a change, or no change; comparing pictures is not counted."""
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
    """Return the processor time of the main thread so far, in milliseconds."""
    metrics = clock.send("Performance.getMetrics")["metrics"]
    duration: float = next(
        metric["value"] for metric in metrics if metric["name"] == "TaskDuration"
    )
    return 1000 * duration


@contextmanager
def tasks(page: Page) -> Iterator[list[float]]:
    """Yield a list that gets the processor time of each task, in milliseconds, at the end.

    Only tasks of the page's main thread are counted: the thread that has the page's frames.
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
    mark = next(event for event in events if event["name"] == "bench")
    thread = (mark["pid"], mark["tid"])
    spent += [
        event["tdur"] / 1000
        for event in events
        if event["name"] == "RunTask" and (event["pid"], event["tid"]) == thread and "tdur" in event
    ]


FRAME_MS = 1000 / 60

LONG_MS = 50

VIEWS = ("flow", "compare", "inside", "alignment", "lines")

# Goals in milliseconds, by change.
GOALS: dict[str, tuple[Callable[[Work], float], float]] = {
    "another head, 64 tokens": (lambda work: work.whole, FRAME_MS),
    "another head, 128 tokens": (lambda work: work.whole, 1.2 * FRAME_MS),
    "to flow, 64 tokens": (lambda work: work.drawing, 60.0),
}

Times = dict[str, list[list[Work]]]  # by change: a list for each checkout


def main() -> None:
    """Start servers and a browser, measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.page", description=__doc__)
    parser.add_argument("--rounds", type=int, default=40, help="changes for each line (40)")
    parser.add_argument("--against", type=Path, help="another checkout's folder")
    parser.add_argument("--only", choices=["heads", "views", "many", "typing"], help="one part")
    parser.add_argument("--view", choices=VIEWS, help="measure only this view")
    options = parser.parse_args()
    only = "views" if options.view else options.only
    views = [options.view] if options.view else VIEWS
    roots = [ROOT, *([options.against.resolve()] if options.against else [])]
    with browser_and_servers(roots) as (browser, urls):
        print(f"{machine()}; Chromium {browser.version}, headless, without a GPU\n")
        times: Times = {}
        if only in (None, "heads"):
            for tokens in (64, 128):
                times |= another_head(browser, urls, tokens, options.rounds)
        if only in (None, "views"):
            times |= other_views(browser, urls, views, max(5, options.rounds // 4))
        if times:
            print_table(times)
        if only in (None, "many"):
            for url in urls:
                durations = all_heads(browser, url, max(5, options.rounds // 4))
                print(f"144 heads × 128 tokens: {statistics.median(durations):.1f} ms; goal 150 ms")
        if only in (None, "typing"):
            for url in urls:
                keys, spent = typing(browser, url, max(3, options.rounds // 4))
                long = sum(milliseconds > LONG_MS for milliseconds in spent)
                print(
                    f"Typing, 32 tokens: {long} tasks over {LONG_MS} ms in {keys} keys, "
                    f"the longest {max(spent):.0f} ms"
                )


def print_table(times: Times) -> None:
    """Print a row for each change: this checkout, the other, and their ratios."""
    print("| What | drawing | 90 % within | all of it | in frames | goal | this / other |")
    print("|---|--:|--:|--:|--:|---|---|")
    for case, (works_now, *works_before) in times.items():
        for works in (works_now, *works_before):
            drawing = [work.drawing for work in works]
            middle, p90 = (
                statistics.median(drawing),
                statistics.quantiles(drawing, n=10)[-1],
            )
            whole = statistics.median(work.whole for work in works)
            aim = aimed(case, works)
            ratio = (
                f"{quartiles(works_now, works_before[0])}"
                if works_before and works is works_now
                else ""
            )
            name = case if works is works_now else "… in the other"
            print(
                f"| {name} | {middle:.1f} ms | {p90:.1f} ms "
                f"| {whole:.1f} ms | **{whole / FRAME_MS:.2f}** | {aim} | {ratio} |",
                flush=True,
            )


def aimed(label: str, works: Sequence[Work]) -> str:
    """Return the goal, and whether it is met."""
    if label not in GOALS:
        return ""
    pick, goal = GOALS[label]
    part = "drawing" if pick(Work(1, 0)) else "all of it"
    met = statistics.median(map(pick, works)) <= goal
    return f"{part} {goal:.0f} ms: {'met' if met else 'missed'}"


def quartiles(works: Sequence[Work], works_before: Sequence[Work]) -> str:
    """Return the median and quartiles of the ratios, of drawing and of all work."""

    def quartile(pick: Callable[[Work], float]) -> str:
        ratios = [pick(a) / pick(b) for a, b in zip(works, works_before, strict=True)]
        low, middle, high = statistics.quantiles(ratios, n=4)
        return f"**{middle:.2f}** ({low:.2f} to {high:.2f})"

    return f"{quartile(lambda work: work.drawing)}; all {quartile(lambda work: work.whole)}"


def another_head(browser: Browser, urls: Sequence[str], tokens: int, rounds: int) -> Times:
    """Measure showing the next head's attention, in turns."""
    with ExitStack() as stack:
        pages = [stack.enter_context(opened(browser)) for _ in urls]
        clocks = [page.context.new_cdp_session(page) for page in pages]
        for page, url in zip(pages, urls, strict=True):
            link = {"block": "encoder", "layer": 0, "view": "attention"}
            visit(page, url, source=sentence(url, tokens), **link)
        works = in_turns(pages, clocks, "() => probes.head()", rounds)
    return {f"another head, {tokens} tokens": works}


def other_views(browser: Browser, urls: Sequence[str], views: Sequence[str], rounds: int) -> Times:
    """Measure switching to other views whose data is loaded, in turns."""
    times: Times = {}
    with ExitStack() as stack:
        pages = [stack.enter_context(opened(browser)) for _ in urls]
        clocks = [page.context.new_cdp_session(page) for page in pages]
        for page, url in zip(pages, urls, strict=True):
            source = sentence(url, 64)
            for view in (*views, "attention"):
                visit(page, url, source=source, block="cross", layer=1, head=2, view=view)
        for view in views:

            def back(page: Page) -> None:
                page.evaluate("() => probes.view('attention')")
                page.wait_for_timeout(REST_MS)

            script = f"() => probes.view('{view}')"
            times[f"to {view}, 64 tokens"] = in_turns(pages, clocks, script, rounds, back)
    return times


def all_heads(browser: Browser, url: str, rounds: int) -> list[float]:
    """Return the milliseconds from the arrival of a large model's weights to their picture.

    The page is the real one; replies are changed so that the model has 12 × 12 heads.
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
    """Type; return the number of keys, and the processor time of each task.

    Pauses are long enough to request, receive and draw a trace.
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


if __name__ == "__main__":
    main()

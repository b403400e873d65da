"""Measures the processor time of a page's main thread, per change or per task."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from playwright.sync_api import CDPSession, Page

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

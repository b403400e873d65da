"""When a page has nothing left to do: no request, no timer, no transition, for a few frames.

A test that waits for a time waits too long on a fast machine and too short on a slow one. So every
page counts its timers and requests, from before its first script on.
"""

from itertools import count
from weakref import WeakKeyDictionary

from playwright.sync_api import BrowserContext, Page, Request

# Timers of a second or more are retries, polls and clean-ups: nothing that is seen waits for them.
# A reply that the network has finished may still be on its way to the script, so the page counts
# replies too, until their body has been read; except the streams of rooms, which do not end.
COUNT = """(() => {
    const [start, stop, due] = [window.setTimeout, window.clearTimeout, new Map()];
    window.setTimeout = (task, wait = 0, ...values) => {
        const timer = start.call(window, () => {
            due.delete(timer);
            task(...values);
        }, wait);
        if (wait < 1000) due.set(timer, wait);
        return timer;
    };
    window.clearTimeout = (timer) => {
        due.delete(timer);
        stop.call(window, timer);
    };
    const [repeat, cease, beats] = [window.setInterval, window.clearInterval, new Set()];
    window.setInterval = (...how) => {
        const beat = repeat.apply(window, how);
        beats.add(beat);
        return beat;
    };
    window.clearInterval = (beat) => {
        beats.delete(beat);
        cease.call(window, beat);
    };
    const replies = new Set();
    const counted = (reply) => {
        replies.add(reply);
        reply.catch(() => {}).finally(() => replies.delete(reply));
        return reply;
    };
    const ask = window.fetch;
    window.fetch = (...how) => {
        const endless = new Headers(how[1]?.headers).get("accept")?.includes("event-stream");
        const reply = ask.apply(window, how);
        return endless ? reply : counted(reply);
    };
    for (const form of ["arrayBuffer", "blob", "json", "text"]) {
        const read = Response.prototype[form];
        Response.prototype[form] = function () {
            return counted(read.call(this));
        };
    }
    Object.assign(window, { timersDue: due, beats, replies });
})()"""
# The progress line moves for ever; all other animations end.
RESTING = """(began) => {
    const still = ({ playState, effect }) =>
        playState !== "running" || effect.getComputedTiming().endTime === Infinity;
    const busy = document.querySelector("[aria-busy='true'], [data-status=waiting]");
    const due = window.timersDue?.size || window.replies?.size;
    const rests = !busy && !due && document.getAnimations().every(still);
    if (window.rest?.began !== began) window.rest = { began, frames: 0 };
    window.rest.frames = rests ? window.rest.frames + 1 : 0;
    return window.rest.frames > 3;
}"""

PLAYING = "window.beats.size > 0"

waits = count()
counted: WeakKeyDictionary[BrowserContext, "Requests"] = WeakKeyDictionary()


class Requests:
    """The requests that the pages of a context wait for."""

    def __init__(self, context: BrowserContext) -> None:
        self.begun = 0
        self.open: set[Request] = set()
        context.on("request", self._begun)
        context.on("requestfinished", self._ended)
        context.on("requestfailed", self._ended)

    def _begun(self, request: Request) -> None:
        endless = "event-stream" in request.headers.get("accept", "")
        if request.resource_type in ("fetch", "script", "stylesheet") and not endless:
            self.begun += 1
            self.open.add(request)

    def _ended(self, request: Request) -> None:
        self.open.discard(request)

    def of(self, page: Page) -> list[Request]:
        return [request for request in self.open if request.frame.page == page]


def observe(context: BrowserContext) -> Requests:
    """Count the timers and requests of all pages that the context opens from now on."""
    if context not in counted:
        context.add_init_script(COUNT)
        counted[context] = Requests(context)
    return counted[context]


def settle(page: Page) -> None:
    """Wait until a page is at rest, and nothing that it asked for is on its way."""
    requests = observe(page.context)
    while True:
        before, waiting = requests.begun, requests.of(page)
        page.wait_for_function(RESTING, arg=next(waits))
        if requests.of(page):
            page.wait_for_timeout(10)
        elif requests.begun == before and not waiting:
            return

"""`python -m bench.first_load --against DIR`: time to the first picture in two checkouts.

Both checkouts serve at the same time, and a browser opens their pages in turns. The browser
simulates a school's network: 40 ms round trip and 10 Mbit/s. Cold: the cache is empty. Warm: the
same browser opens the page again.
"""

import argparse
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser

from bench.__main__ import machine
from bench.browser import browser_and_servers
from tests.servers import ROOT

LATENCY_MS = 40
BYTES_PER_SECOND = 10e6 / 8
# Whether the first matrix is drawn, as a canvas in the view.
PICTURE = """() => document.documentElement.dataset.status === "ready"
    && !!document.querySelector("#view canvas")"""


class Load(NamedTuple):
    """One opening of the page."""

    seconds: float
    requests: int
    kilobytes: float  # received, compressed


def main() -> None:
    """Start both servers and a browser, measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.first_load", description=__doc__)
    parser.add_argument("--against", type=Path, required=True, help="another checkout's folder")
    parser.add_argument("--rounds", type=int, default=7, help="openings of each (7)")
    options = parser.parse_args()
    with browser_and_servers([ROOT, options.against.resolve()]) as (browser, urls):
        for url in urls:
            opening(browser, url)  # so that the servers build their files
        print(f"{machine()}; Chromium {browser.version}, {LATENCY_MS} ms, 10 Mbit/s\n")
        print("| Until the first picture | this checkout | the other | this / other (quartiles) |")
        print("|---|--:|--:|--:|")
        pairs = [[opening(browser, url) for url in urls] for _ in range(options.rounds)]
        for name, index in (("cold", 0), ("warm", 1)):
            print(_line(name, [[loads[index] for loads in pair] for pair in pairs]))


def opening(browser: Browser, url: str) -> list[Load]:
    """Open the page twice in a new browser: cold, then warm."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.set_default_timeout(120_000)
    network = context.new_cdp_session(page)
    network.send("Network.enable")
    network.send(
        "Network.emulateNetworkConditions",
        {
            "offline": False,
            "latency": LATENCY_MS,
            "downloadThroughput": BYTES_PER_SECOND,
            "uploadThroughput": BYTES_PER_SECOND,
        },
    )
    received: list[float] = []
    network.on("Network.loadingFinished", lambda event: received.append(event["encodedDataLength"]))
    loads = []
    for _ in range(2):
        received.clear()
        page.goto(f"{url}/", wait_until="commit")
        page.wait_for_function(PICTURE)
        seconds = page.evaluate("() => performance.now() / 1000")
        page.wait_for_load_state("networkidle")
        page.wait_for_timeout(300)
        loads.append(Load(seconds, len(received), sum(received) / 1000))
    context.close()
    return loads


def _line(name: str, pairs: list[list[Load]]) -> str:
    low, middle, high = statistics.quantiles([a.seconds / b.seconds for a, b in pairs], n=4)

    def quartile(index: int) -> str:
        def median(pick: Callable[[Load], float]) -> float:
            return statistics.median(pick(pair[index]) for pair in pairs)

        return (
            f"{median(lambda load: load.seconds):.2f} s, "
            f"{median(lambda load: load.requests):.0f} requests, "
            f"{median(lambda load: load.kilobytes):,.0f} kB"
        )

    return (
        f"| {name} | {quartile(0)} | {quartile(1)} | **{middle:.2f}** ({low:.2f} to {high:.2f}) |"
    )


if __name__ == "__main__":
    main()

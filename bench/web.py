"""`python -m bench.web SITE`: a sentence traced in the browser and by the server, in one run.

SITE is a folder that `make site` wrote. A plain host serves it; a Headlight server runs beside it,
and both are asked in turns for the same traces, with all attention weights: the page's worker by
messages, the server by `POST /api/trace`. Before each, another sentence is asked for, so that
neither reply is cached. Then the page is opened: cold and, from the cache, warm, at 10 Mbit/s and
without a limit. Its first picture is the opening's; the model runs later.
"""

import argparse
import json
import statistics
import time
from functools import partial
from pathlib import Path

import httpx
from playwright.sync_api import Browser

from bench.__main__ import machine
from bench.browser import browser_and_servers
from bench.first_load import BYTES_PER_SECOND, LATENCY_MS
from tests.servers import ROOT
from tests.site.page_model import BLANK_PAGE, PageModel, with_cores
from tests.site.static_host import static_host

# Twelve words each; no two share their beginning.
SENTENCES = [
    "My father said that the old house near the river was sold.",
    "She wants to know why the train to the city is late.",
    "We have never seen so many birds in this garden in winter.",
    "They will buy a new table when they move to the north.",
    "If it rains tomorrow the children will stay at home and read.",
]
SELECT = ["*.weights"]
PATIENCE_MS = 300_000
RUNS = "#runs-here:has-text('runs in this page')"


def main() -> None:
    """Start a host, a server and a browser, measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.web", description=__doc__)
    parser.add_argument("site", type=Path, help="the folder of a site")
    parser.add_argument("--rounds", type=int, default=5, help="of all sentences (5)")
    parser.add_argument("--threads", type=int, help="only compare so many threads with one")
    options = parser.parse_args()
    if options.threads:
        _threads(options.site, options.threads, options.rounds)
        return
    with browser_and_servers([ROOT]) as (browser, [url]), static_host(options.site) as host:
        print(f"{machine()}; Chromium {browser.version}\n")
        page = browser.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.goto(host + BLANK_PAGE)
        began = time.perf_counter()
        in_page = PageModel(page.evaluate, "en-zh/")
        print(f"The model is open after {time.perf_counter() - began:.1f} s.\n")
        names = json.loads((options.site / "models.json").read_text())[0]["attentions"]
        weights = [f"{attention['place']}.weights" for attention in names]
        pairs = [
            (_in_page(in_page, round_, sentence, weights), _by_server(url, round_, sentence))
            for round_ in range(options.rounds + 1)
            for sentence in SENTENCES
        ][len(SENTENCES) :]  # the first round warms both up
        _print(pairs)
        page.close()
        for name, speed in (("10 Mbit/s", BYTES_PER_SECOND), ("no limit", -1)):
            for visit, (picture, model) in zip(
                ("cold", "warm"), _openings(browser, host, speed), strict=True
            ):
                print(f"{name}, {visit}: first picture {picture:.1f} s, model {model:.1f} s.")


def _threads(site: Path, threads: int, rounds: int) -> None:
    """Ask pages with one thread and with more in turns; a page uses half of the cores it sees."""
    names = json.loads((site / "models.json").read_text())[0]["attentions"]
    weights = [f"{attention['place']}.weights" for attention in names]
    with browser_and_servers([]) as (browser, _), static_host(site, isolated=True) as host:
        models = []
        for cores in (2, 2 * threads):
            page = browser.new_page()
            page.set_default_timeout(PATIENCE_MS)
            page.goto(host + BLANK_PAGE)
            page.route("**/model-worker.js", partial(with_cores, cores))
            models.append(PageModel(page.evaluate, "en-zh/"))
        times = [
            [_in_page(model, round_, sentence, weights) for model in models]
            for round_ in range(rounds + 1)
            for sentence in SENTENCES
        ][len(SENTENCES) :]
    single, several = (statistics.median(seconds) * 1000 for seconds in zip(*times, strict=True))
    ratio = statistics.median(more / less for less, more in times)
    print(f"{threads} threads {several:.0f} ms, one {single:.0f} ms: {ratio:.2f} turn by turn.")


def _in_page(model: PageModel, round_: int, sentence: str, weights: list[str]) -> float:
    """Return the seconds of a trace in the page; `round_` makes it a sentence of its own."""
    request = {"source": f"{sentence[:-1]} {round_}.", "select": weights}
    seconds: float = model.trace(request)["ms"] / 1000
    return seconds


def _by_server(url: str, round_: int, sentence: str) -> float:
    body = {"source": f"{sentence[:-1]} {round_}.", "select": SELECT}
    began = time.perf_counter()
    headers = {"Accept": "application/octet-stream"}
    reply = httpx.post(f"{url}/api/trace", json=body, headers=headers, timeout=60)
    reply.raise_for_status()
    return time.perf_counter() - began


def _print(pairs: list[tuple[float, float]]) -> None:
    here, there = (statistics.median(times) for times in zip(*pairs, strict=True))
    ratios = statistics.quantiles([page / server for page, server in pairs], n=4)
    print("| A sentence of 12 words | in the page | by the server | page / server (quartiles) |")
    print("|---|--:|--:|--:|")
    quartiles = f"{ratios[1]:.2f} ({ratios[0]:.2f} to {ratios[2]:.2f})"
    print(f"| traced, ms | {here * 1000:.0f} | {there * 1000:.0f} | {quartiles} |\n")


def _openings(browser: Browser, host: str, speed: float) -> list[tuple[float, float]]:
    """Return the seconds until the first picture and until the model runs: cold, then warm."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, service_workers="block")
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    network = context.new_cdp_session(page)
    network.send("Network.enable")
    limits = {"offline": False, "latency": LATENCY_MS if speed > 0 else 0}
    network.send(
        "Network.emulateNetworkConditions",
        {**limits, "downloadThroughput": speed, "uploadThroughput": speed},
    )
    seconds = []
    for _ in range(2):
        began = time.perf_counter()
        page.goto(host)
        page.wait_for_selector("#opening svg path", state="attached")
        picture = time.perf_counter() - began
        page.wait_for_selector(RUNS)
        seconds.append((picture, time.perf_counter() - began))
    context.close()
    return seconds


if __name__ == "__main__":
    main()

"""`python -m bench.lab`: time from a key press to the screen in the lab while a class types.

A page in Chromium types numbers into cells like a person: bursts of 2 to 6 keys, 5 per second, with
pauses of 0.5 to 2 seconds. At the same time, other users type in the same way, simulated by
programs that send the requests of their pages. All request a layer with a loss at 8 × 8, over
loopback, with the server's default limits.
"""

import argparse
import asyncio
import os
import random
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import orjson
from playwright.async_api import Page, async_playwright

from bench.__main__ import machine
from bench.load import Seen, client_of
from tests.browsing.chromium import ARGS, SHELL
from tests.servers import AppServer, running_app

EVERY = 0.2  # seconds between two keys of a burst
BURST = (2, 6)  # keys
PAUSE = (0.5, 2.0)  # seconds
WITHIN = 100.0  # milliseconds
SIDE = 8
IDLE = 0.05  # processor seconds per second
# Records, in the page, the time from each key to the frame that shows its numbers, and whether the
# steps ever disappeared or faded in between.
WATCH = """() => {
    const list = document.querySelector(".worked");
    let pressed = null;
    const seen = (window.seen = { times: [], least: Infinity, faint: 1 });
    const typed = ({ key }) => /^[0-9]$/.test(key) && (pressed ??= performance.now());
    addEventListener("keydown", typed, true);
    new MutationObserver(() => {
        const since = pressed;
        if (since === null) return;
        pressed = null;
        requestAnimationFrame(() => seen.times.push(performance.now() - since));
    }).observe(list, { subtree: true, childList: true, characterData: true });
    const frame = () => {
        seen.least = Math.min(seen.least, list.children.length);
        seen.faint = Math.min(seen.faint, Number(getComputedStyle(list).opacity));
        requestAnimationFrame(frame);
    };
    frame();
}"""


def drawn(rows: int = SIDE, cols: int = SIDE) -> list[list[float]]:
    """Draw a matrix of numbers with one decimal."""
    return [[round(random.uniform(-1, 1), 1) for _ in range(cols)] for _ in range(rows)]


def layer() -> dict[str, Any]:
    """Return a request for a layer with a loss, at 8 × 8."""
    names = ("x", "w_q", "w_k", "w_v", "w_o", "w_1", "w_2", "w_vocab")
    return {name: drawn() for name in names} | {
        "heads": 2,
        "mask": "causal",
        "norm": "post",
        "targets": list(range(SIDE)),
        "label_smoothing": 0.1,
    }


def link(request: dict[str, Any]) -> str:
    """Return the page's address for a request."""
    rows = {name: value for name, value in request.items() if isinstance(value, list)}
    cells = {
        name: "*".join("_".join(map(str, row)) for row in (value if name != "targets" else [value]))
        for name, value in rows.items()
    }
    parameters = {"heads": "2", "mask": "causal", "norm": "post", "smoothing": "0.1", "lang": "en"}
    return urlencode(cells | parameters)


async def keys(until: float) -> AsyncIterator[bool]:
    """Yield whenever a key is due, and whether it is the first of a burst."""
    while True:
        for n in range(random.randint(*BURST)):
            if time.perf_counter() >= until:
                return
            yield n == 0
            await asyncio.sleep(EVERY * random.uniform(0.7, 1.3))
        await asyncio.sleep(random.uniform(*PAUSE))


async def type_beside(client: httpx.AsyncClient, name: str, observed: Seen, until: float) -> None:
    """Simulate another user who types: send a request for each key."""
    request = layer()
    headers = {"Headlight-Client": name, "Content-Type": "application/json"}
    await asyncio.sleep(random.uniform(0, 2))
    async for _ in keys(until):
        request["x"][0][0] = round(random.uniform(-1, 1), 1)
        start = time.perf_counter()
        response = await client.post("/api/lab", content=orjson.dumps(request), headers=headers)
        if response.status_code == 200:
            observed.times.append(time.perf_counter() - start)
        else:
            observed.refused += 1


async def type_in_page(page: Page, until: float) -> dict[str, Any]:
    """Type in the page; return the measurements."""
    await page.evaluate(WATCH)
    await page.locator('[data-of=x] input[data-at="0,0"]').click()
    n, bursts, last = 0, 0, 0
    async for first in keys(until):
        if first:  # select another cell, to replace its number
            bursts += 1
            await page.keyboard.press("ArrowRight" if bursts % 2 else "ArrowLeft")
        last = random.choice([digit for digit in range(1, 10) if digit != last])
        await page.keyboard.press(str(last))
        n += 1
    await asyncio.sleep(0.5)
    observed: dict[str, Any] = await page.evaluate("window.seen")
    return observed | {"keys": n}


def cpu_seconds(pid: int) -> float:
    """Return the processor time of a process and its living children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    process_seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return process_seconds + sum(cpu_seconds(int(child)) for child in children)


async def settled(pid: int) -> None:
    """Wait until a server has finished its work at startup, such as compressing files."""
    for _ in range(60):
        before = cpu_seconds(pid)
        await asyncio.sleep(1)
        if cpu_seconds(pid) - before < IDLE:
            return


async def measure(server: AppServer, clients: int, seconds: float) -> None:
    """Print a row for the page alone, and one with other users."""
    print("\n| others | keys per second | keys shown | p50 | p95 | within 100 ms | ", end="")
    print("others' p95 | server |")
    print("|--:|--:|--:|--:|--:|--:|--:|--:|")
    async with async_playwright() as playwright, client_of(server.url) as client:
        browser = await playwright.chromium.launch(executable_path=SHELL, args=ARGS)
        page = await browser.new_page(viewport={"width": 1440, "height": 900})
        await settled(server.process.pid)
        for count in (0, clients):
            await page.goto(f"{server.url}/lab?{link(layer())}")
            await page.locator(".worked li").last.wait_for()
            beside, before = Seen(), cpu_seconds(server.process.pid)
            start = time.perf_counter()
            until = start + seconds
            page_times, *_ = await asyncio.gather(
                type_in_page(page, until),
                *(type_beside(client, str(n), beside, until) for n in range(count)),
            )
            used = cpu_seconds(server.process.pid) - before
            print(row(count, page_times, beside, used, time.perf_counter() - start), flush=True)
        await browser.close()


def row(count: int, page_times: dict[str, Any], beside: Seen, used: float, took: float) -> str:
    """Return a row of the table."""
    page_observed = replace(
        beside, times=[milliseconds / 1e3 for milliseconds in page_times["times"]] or [float("inf")]
    )
    within = sum(milliseconds <= WITHIN for milliseconds in page_times["times"]) / max(
        1, len(page_times["times"])
    )
    requests = len(beside.times) + page_times["keys"]
    theirs = f"{beside.at(0.95):.0f} ms, {beside.refused} refused" if beside.times else "–"
    typed = f"{requests / took:.0f} | {len(page_times['times'])} of {page_times['keys']}"
    return (
        f"| {count} | {typed} | {page_observed.at(0.5):.0f} ms | {page_observed.at(0.95):.0f} ms "
        f"| **{100 * within:.0f} %** | {theirs} | {1e3 * used / requests:.1f} ms/request; steps "
        f"never fewer than {page_times['least']}, opacity never under {page_times['faint']:.2f} |"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Start a server, type and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.lab", description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="time for each row (20)")
    parser.add_argument("--others", type=int, default=40, help="number of other users (40)")
    options = parser.parse_args(arguments)
    print(
        f"{machine()}; load {', '.join(f'{load_average:.1f}' for load_average in os.getloadavg())}"
    )
    with tempfile.TemporaryDirectory() as folder, running_app(Path(folder)) as server:
        asyncio.run(measure(server, options.others, options.seconds))
    print(f"\nload afterwards {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()

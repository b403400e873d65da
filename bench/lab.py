"""`python -m bench.lab`: time from a key press to the screen in the lab while a class types.

A page in Chromium types a number into a cell four times a second. Beside it others type as fast,
each as a program that sends what their pages would; all of them ask for a layer with a loss at
8 × 8. Over loopback, for so many seconds, with the server's own limits.
"""

import argparse
import asyncio
import os
import random
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
from playwright.async_api import Page, async_playwright

from bench.__main__ import machine
from bench.load import Seen, client_of
from tests.browser.chromium import ARGS, SHELL
from tests.servers import AppServer, running_app

EVERY = 0.25  # seconds between two keys
WITHIN = 100.0  # milliseconds
SIDE = 8
# In the page: the time from each key to the frame that shows its numbers, and whether the steps
# were ever gone or faded in between.
WATCH = """() => {
    const list = document.querySelector(".worked");
    let pressed = null;
    const seen = (window.seen = { times: [], least: Infinity, faint: 1 });
    addEventListener("keydown", () => (pressed ??= performance.now()), true);
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
    """A matrix of numbers with one decimal."""
    return [[round(random.uniform(-1, 1), 1) for _ in range(cols)] for _ in range(rows)]


def layer() -> dict[str, Any]:
    """A request for a layer with a loss, at 8 × 8."""
    names = ("x", "w_q", "w_k", "w_v", "w_o", "w_1", "w_2", "w_vocab")
    return {name: drawn() for name in names} | {
        "heads": 2,
        "mask": "causal",
        "norm": "post",
        "targets": list(range(SIDE)),
        "label_smoothing": 0.1,
    }


def link(asked: dict[str, Any]) -> str:
    """The same as the page's address."""
    rows = {name: value for name, value in asked.items() if isinstance(value, list)}
    cells = {
        name: "*".join("_".join(map(str, row)) for row in (value if name != "targets" else [value]))
        for name, value in rows.items()
    }
    said = {"heads": "2", "mask": "causal", "norm": "post", "smoothing": "0.1", "lang": "en"}
    return urlencode(cells | said)


async def type_beside(client: httpx.AsyncClient, name: str, seen: Seen, until: float) -> None:
    """One who types elsewhere: a request for each key."""
    asked, due = layer(), time.perf_counter() + EVERY * random.random()
    while (now := time.perf_counter()) < until:
        if now < due:
            await asyncio.sleep(due - now)
        due += EVERY
        asked["x"][0][0] = round(random.uniform(-1, 1), 1)
        start = time.perf_counter()
        response = await client.post("/api/lab", json=asked, headers={"Headlight-Client": name})
        if response.status_code == 200:
            seen.times.append(time.perf_counter() - start)
        else:
            seen.refused += 1


async def type_in_page(page: Page, until: float) -> dict[str, Any]:
    """The page's own typing, and what it saw."""
    await page.evaluate(WATCH)
    await page.locator('[data-of=x] input[data-at="0,0"]').click()
    n = 0
    while time.perf_counter() < until:
        n += 1
        await page.keyboard.press(str(n % 10))
        await asyncio.sleep(EVERY)
        if n % 3 == 0:  # a number of three digits, and the next
            await page.keyboard.press("Control+a")
    seen: dict[str, Any] = await page.evaluate("window.seen")
    return seen


def cpu_seconds(pid: int) -> float:
    """Processor time of a process and of those that it has started and that live."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    own = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return own + sum(cpu_seconds(int(child)) for child in children)


async def measure(server: AppServer, others: int, seconds: float) -> None:
    """Prints a row for one who types alone, and one beside the others."""
    print("\n| others | keys shown | p50 | p95 | within 100 ms | others' p95 | server |")
    print("|--:|--:|--:|--:|--:|--:|--:|")
    async with async_playwright() as playwright, client_of(server.url) as client:
        browser = await playwright.chromium.launch(executable_path=SHELL, args=ARGS)
        page = await browser.new_page(viewport={"width": 1440, "height": 900})
        for count in (0, others):
            await page.goto(f"{server.url}/lab?{link(layer())}")
            await page.locator(".worked li").last.wait_for()
            beside, before = Seen(), cpu_seconds(server.process.pid)
            until = time.perf_counter() + seconds
            shown, *_ = await asyncio.gather(
                type_in_page(page, until),
                *(type_beside(client, str(n), beside, until) for n in range(count)),
            )
            used = cpu_seconds(server.process.pid) - before
            print(row(count, shown, beside, used), flush=True)
        await browser.close()


def row(count: int, shown: dict[str, Any], beside: Seen, used: float) -> str:
    """A line of the table."""
    own = replace(beside, times=[one / 1e3 for one in shown["times"]])
    within = sum(one <= WITHIN for one in shown["times"]) / len(shown["times"])
    requests = len(beside.times) + len(shown["times"])
    theirs = f"{beside.at(0.95):.0f} ms, {beside.refused} refused" if beside.times else "–"
    return (
        f"| {count} | {len(shown['times'])} | {own.at(0.5):.0f} ms | {own.at(0.95):.0f} ms "
        f"| **{100 * within:.0f} %** | {theirs} | {1e3 * used / requests:.1f} ms a request; steps "
        f"never fewer than {shown['least']}, opacity never under {shown['faint']:.2f} |"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Starts a server, types, prints."""
    parser = argparse.ArgumentParser(prog="python -m bench.lab", description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="time for each row (20)")
    parser.add_argument("--others", type=int, default=40, help="who type beside it (40)")
    asked = parser.parse_args(arguments)
    print(f"{machine()}; load {', '.join(f'{one:.1f}' for one in os.getloadavg())}")
    with tempfile.TemporaryDirectory() as folder, running_app(Path(folder)) as server:
        asyncio.run(measure(server, asked.others, asked.seconds))
    print(f"\nload afterwards {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()

"""A browser and a server for each checkout, with probes in the pages."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browsing.chromium import ARGS, EXECUTABLE
from tests.servers import running_app

PROBES = Path(__file__).with_name("probes.js")
WORDS = ("the", "old", "cat", "sat", "on", "a", "mat", "and", "saw", "dog", "run", "to", "it")
DRAWN = """() => document.documentElement.dataset.status === "ready"
    && document.querySelector("#view canvas, #view svg") && !document.querySelector(".sketched")"""


@contextmanager
def browser_and_servers(roots: Sequence[Path]) -> Iterator[tuple[Browser, list[str]]]:
    """Yield a browser and the address of a new server for each checkout."""
    with ExitStack() as stack:
        urls = []
        for root in roots:
            data = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            urls.append(stack.enter_context(running_app(data, root=root)).url)
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=EXECUTABLE, args=ARGS)
        yield browser, urls
        browser.close()


@contextmanager
def opened(browser: Browser) -> Iterator[Page]:
    """Yield a page with the probes in it, in its own browser.

    The browser has a persistent profile, like a reader's: without one, Chromium loads and draws the
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
    """Go to a link and wait until it is drawn and nothing moves."""
    page.goto(f"{url}/?{urlencode(link)}")
    page.wait_for_function(DRAWN)
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(500)


def sentence(url: str, tokens: int) -> str:
    """Return a sentence of exactly so many tokens, including special ones."""
    text = ""
    for word in cycle(WORDS):
        text = f"{text} {word}".strip()
        body: dict[str, Any] = {"source": text, "target": "a", "direction": "en-zh", "select": []}
        reply = httpx.post(f"{url}/api/trace", json=body, timeout=60, trust_env=False)
        length = len(reply.raise_for_status().json()["tokens"]["source"])
        if length >= tokens:
            assert length == tokens, f"{length} tokens instead of {tokens}"
            break
    return text

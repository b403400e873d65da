"""`python -m bench.peers --peers PYTHON --libraries FOLDER`: all heads, beside other tools.

All draw the heads of the same random model of 6 layers and 12 heads over 128 tokens, in turns in
one browser with an empty cache: Headlight's Heads view by its server, the file of `headlight.show`,
and the pages that BertViz, CircuitsVis and attnview write. PYTHON is an interpreter with these and
Transformers. BertViz's pages load libraries from another host; they are served from FOLDER instead,
which `npm install d3@5.7.0 jquery@2 requirejs@2.3.6` has filled. TransformerLens draws nothing
itself (its notebooks use CircuitsVis); `bench.trace_cost` measures its recording.
"""

import argparse
import json
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

import httpx
import torch
import transformers
from playwright.sync_api import Browser, Page, Route, sync_playwright

import headlight as headlight_package
from bench.__main__ import machine
from bench.browser import DRAWN, WORDS
from tests.browsing.chromium import ARGS, EXECUTABLE
from tests.model.tiny_tokenizers import tokenizer
from tests.servers import running_app

LAYERS, HEADS, TOKENS = 6, 12, 128
WRITER = Path(__file__).with_name("peer_page.py")
LIBRARIES = {
    "require.min.js": "requirejs/require.js",
    "d3.min.js": "d3/dist/d3.min.js",
    "jquery.min.js": "jquery/dist/jquery.min.js",
}
# Tools by the name that `bench/peer_page.py` has for them, and their titles.
PEERS = {
    "head_view": "BertViz {} `head_view`",
    "model_view": "BertViz {} `model_view`",
    "neuron_view": "BertViz {} `neuron_view`",
    "circuitsvis": "CircuitsVis {}",
    "attnview": "attnview {}",
}
LINES = "() => document.querySelector('svg line, svg path')"  # BertViz draws in one task
FINISHED = {
    "head_view": LINES,
    "model_view": LINES,
    "neuron_view": LINES,
    "circuitsvis": "() => document.querySelectorAll('canvas, img').length > 0",
    "attnview": "() => document.querySelector('table, svg, button, .token')",
}


class Opening(NamedTuple):
    """One opening of a page, until its picture is drawn and the main thread is free again."""

    seconds: float
    received: float  # MB


class Written(NamedTuple):
    """A page as a file."""

    title: str
    file: Path
    seconds: float  # from text to page
    finished: str  # JavaScript that says whether the picture is drawn


def main() -> None:
    """Start a server and a browser, measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description=__doc__)
    parser.add_argument("--peers", required=True, help="an interpreter that has the other tools")
    parser.add_argument("--libraries", type=Path, required=True, help="folder of node_modules")
    parser.add_argument("--rounds", type=int, default=3, help="openings of each (3)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        model = random_model(Path(place) / "model")
        served = {"models": f"bert=hf:{model}", "zoo": "false"}
        browser = playwright.chromium.launch(executable_path=EXECUTABLE, args=ARGS)
        with running_app(Path(place) / "data", served) as server:
            text = of_length(server.url)
            link = urlencode({"source": text, "view": "heads", "layer": 0, "head": 0})
            pages = [Written("Headlight, a file by `show`", *own_page(model, text, Path(place)))]
            for tool, title in PEERS.items():
                page = Path(place) / f"{tool}.html"
                line = [options.peers, WRITER, tool, model, text, page]
                ended = subprocess.run(line, check=True, capture_output=True, text=True)
                told = json.loads(ended.stdout.splitlines()[-1])
                title = title.format(told["version"])
                pages.append(Written(title, page, told["seconds"], FINISHED[tool]))
            openings: dict[str, Callable[[], Opening]] = {
                "Headlight, its server": lambda: headlight(browser, f"{server.url}/?{link}")
            }
            for written in pages:
                openings[written.title] = partial(open_page, browser, written, options.libraries)
            headlight(browser, f"{server.url}/")  # so that the server builds its files
            by_tool: dict[str, list[Opening]] = {name: [] for name in openings}
            for _ in range(options.rounds):
                for name, opening in openings.items():
                    by_tool[name].append(opening())
        print(f"{machine()}; Chromium {browser.version}\n")
        print(f"| {LAYERS} × {HEADS} heads, {TOKENS} tokens | text to page | picture | received |")
        print("|---|--:|--:|--:|")
        seconds = {page.title: page.seconds for page in pages}
        for name, observations in by_tool.items():
            print(row(name, seconds.get(name), observations))
        browser.close()


def own_page(model: Path, text: str, place: Path) -> tuple[Path, float, str]:
    """Write the file of `headlight.show`; return it, the seconds it took, and when it is drawn."""
    loaded = headlight_package.load(f"hf:{model}")
    headlight_package.show(loaded, text)
    start = time.perf_counter()
    page = headlight_package.show(loaded, text).save(place / "headlight.html")
    return page, time.perf_counter() - start, DRAWN


def random_model(folder: Path) -> Path:
    """Write a random model whose heads look at different tokens."""
    torch.manual_seed(0)
    config = transformers.BertConfig(num_hidden_layers=LAYERS, num_attention_heads=HEADS)
    model = transformers.BertModel(config)
    with torch.no_grad():
        for layer in model.encoder.layer:
            layer.attention.self.query.weight.mul_(8)
    words = tokenizer("wordpiece")
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def of_length(url: str) -> str:
    """Return a text of `TOKENS` tokens."""

    def tokens(text: str) -> list[dict[str, int]]:
        body = {"text": text, "select": []}
        reply = httpx.post(f"{url}/api/overview", json=body, timeout=60, trust_env=False)
        tokens_read: list[dict[str, int]] = reply.raise_for_status().json()["tokens"]["text"]
        return tokens_read

    text = " ".join(islice(cycle(WORDS), TOKENS))
    cut = text[: tokens(text)[TOKENS - 2]["end"]]  # the first and the last token are special
    assert len(tokens(cut)) == TOKENS
    return cut


@contextmanager
def fresh(browser: Browser) -> Iterator[tuple[Page, dict[str, float]]]:
    """Yield a page of a browser with an empty cache, and the bytes that it receives by address."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.set_default_timeout(300_000)
    network = context.new_cdp_session(page)
    network.send("Network.enable")
    names, received = dict[str, str](), dict[str, float]()

    def begun(event: dict[str, object]) -> None:
        names[str(event["requestId"])] = str(event["request"]["url"])  # type: ignore[index]

    def ended(event: dict[str, float]) -> None:
        name = names[str(event["requestId"])]
        received[name] = received.get(name, 0.0) + event["encodedDataLength"]

    network.on("Network.requestWillBeSent", begun)
    network.on("Network.loadingFinished", ended)
    yield page, received
    context.close()


def observed(page: Page, received: dict[str, float]) -> Opening:
    """Measure a page whose picture is there."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    seconds = page.evaluate("() => performance.now() / 1000")
    page.wait_for_load_state("networkidle")
    return Opening(seconds, sum(received.values()) / 1e6)


def headlight(browser: Browser, url: str) -> Opening:
    """Open Headlight's page of a running server."""
    with fresh(browser) as (page, received):
        page.goto(url, wait_until="commit")
        page.wait_for_function(DRAWN)
        return observed(page, received)


def open_page(browser: Browser, written: Written, libraries: Path) -> Opening:
    """Open a page; its own bytes count as if it were served without compression."""

    def library(route: Route) -> None:
        name = LIBRARIES[route.request.url.rpartition("/")[2]]
        route.fulfill(path=libraries / name, headers={"Access-Control-Allow-Origin": "*"})

    with fresh(browser) as (page, received):
        page.route("https://cdnjs.cloudflare.com/**", library)
        page.goto(written.file.as_uri(), wait_until="commit")
        page.wait_for_function(written.finished)
        received[written.file.as_uri()] = written.file.stat().st_size
        return observed(page, received)


def row(name: str, written: float | None, observations: list[Opening]) -> str:
    """Return a row of the table: medians."""
    seconds, received = (statistics.median(column) for column in zip(*observations, strict=True))
    writing = "–" if written is None else f"{written:.2f} s"
    return f"| {name} | {writing} | {seconds:.1f} s | {received:.2f} MB |"


if __name__ == "__main__":
    main()

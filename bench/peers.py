"""`python -m bench.peers --bertviz PYTHON --libraries FOLDER`: all heads, beside BertViz.

Both draw every head of the same random model of 6 layers and 12 heads over 128 tokens, in turns in
one browser with an empty cache: Headlight's Heads view, and the page that BertViz's `model_view`
writes. PYTHON is an interpreter with BertViz and Transformers. BertViz's page loads its libraries
from another host; they are served from FOLDER instead, which
`npm install d3@5.7.0 jquery@2 requirejs@2.3.6` has filled.
"""

import argparse
import gzip
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

import httpx
import torch
import transformers
from playwright.sync_api import Browser, Page, Route, sync_playwright

from bench.__main__ import machine
from bench.browser import DRAWN, WORDS
from tests.browsing.chromium import ARGS, EXECUTABLE
from tests.model.tiny_tokenizers import tokenizer
from tests.servers import running_app

LAYERS, HEADS, TOKENS = 6, 12, 128
WRITER = Path(__file__).with_name("bertviz_page.py")
LIBRARIES = {
    "require.min.js": "requirejs/require.js",
    "d3.min.js": "d3/dist/d3.min.js",
    "jquery.min.js": "jquery/dist/jquery.min.js",
}
# BertViz draws all heads in one task, with a line for every weight.
FINISHED = "() => document.querySelector('#vis svg line')"


class Seen(NamedTuple):
    """One opening of a page, until all heads are drawn and the main thread is free again."""

    seconds: float
    weights: float  # MB received with the weights
    all: float  # MB received
    nodes: int


def main() -> None:
    """Start a server and a browser, measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description=__doc__)
    parser.add_argument("--bertviz", required=True, help="an interpreter that has BertViz")
    parser.add_argument("--libraries", type=Path, required=True, help="folder of node_modules")
    parser.add_argument("--rounds", type=int, default=3, help="openings of each (3)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        model = random_model(Path(place) / "model")
        served = {"models": f"bert=hf:{model}", "zoo": "false"}
        browser = playwright.chromium.launch(executable_path=EXECUTABLE, args=ARGS)
        with running_app(Path(place) / "data", served) as server:
            text = of_length(server.url)
            page = Path(place) / "bertviz.html"
            subprocess.run([options.bertviz, WRITER, model, text, page], check=True)
            link = urlencode({"source": text, "view": "heads", "layer": 0, "head": 0})
            ways: dict[str, Callable[[], Seen]] = {
                "Headlight": lambda: headlight(browser, f"{server.url}/?{link}"),
                "BertViz": lambda: bertviz(browser, page, options.libraries),
            }
            headlight(browser, f"{server.url}/")  # so that the server builds its files
            by_tool: dict[str, list[Seen]] = {name: [] for name in ways}
            for _ in range(options.rounds):
                for name, way in ways.items():
                    by_tool[name].append(way())
        print(f"{machine()}; Chromium {browser.version}\n")
        print(f"| {LAYERS} × {HEADS} heads, {TOKENS} tokens | picture | weights | all | elements |")
        print("|---|--:|--:|--:|--:|")
        for name, observations in by_tool.items():
            print(line(name, observations))
        whole = page.read_bytes()
        print(f"\nBertViz's page compressed with gzip: {len(gzip.compress(whole)) / 1e6:.1f} MB")
        browser.close()


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


def seen(page: Page, received: dict[str, float], weights: Callable[[str], bool]) -> Seen:
    """Measure a page whose picture is there."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    seconds = page.evaluate("() => performance.now() / 1000")
    page.wait_for_load_state("networkidle")
    nodes = page.evaluate("() => document.querySelectorAll('*').length")
    weight_bytes = sum(size for name, size in received.items() if weights(name))
    return Seen(seconds, weight_bytes / 1e6, sum(received.values()) / 1e6, nodes)


def headlight(browser: Browser, url: str) -> Seen:
    """Open Headlight."""
    with fresh(browser) as (page, received):
        page.goto(url, wait_until="commit")
        page.wait_for_function(DRAWN)
        return seen(page, received, lambda name: name.endswith("/api/trace"))


def bertviz(browser: Browser, written: Path, libraries: Path) -> Seen:
    """Open a page of BertViz; its own bytes count as if it were served without compression."""

    def library(route: Route) -> None:
        name = LIBRARIES[route.request.url.rpartition("/")[2]]
        route.fulfill(path=libraries / name, headers={"Access-Control-Allow-Origin": "*"})

    with fresh(browser) as (page, received):
        page.route("https://cdnjs.cloudflare.com/**", library)
        page.goto(written.as_uri(), wait_until="commit")
        page.wait_for_function(FINISHED)
        received[written.as_uri()] = written.stat().st_size
        return seen(page, received, lambda name: name == written.as_uri())


def line(name: str, observations: list[Seen]) -> str:
    """Return a line of the table: medians."""
    seconds, weight_bytes, whole, nodes = (
        statistics.median(column) for column in zip(*observations, strict=True)
    )
    return f"| {name} | {seconds:.1f} s | {weight_bytes:.2f} MB | {whole:.2f} MB | {nodes:,.0f} |"


if __name__ == "__main__":
    main()

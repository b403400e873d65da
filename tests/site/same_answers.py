"""`python -m tests.site.same_answers SITE`: a site's model and the server's, sentence by sentence.

Sentences are sampled from those that were written for this project, in both languages; every tenth
is decoded by beam search, every tenth sampled. The requests of the golden traces are asked as well.
Ids have to be the same, attention weights to 1e-4, log-probabilities to 1e-3.
"""

import argparse
import random
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, sync_playwright

from app.engine.reply_formats import Reply, trace_reply
from app.traces.schemas import TraceRequest
from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder, load
from tests.browsing.chromium import ARGS, SHELL
from tests.model.test_numpy_golden import REQUESTS
from tests.site.firefox import firefox
from tests.site.page_model import BLANK_PAGE, Json, PageModel
from tests.site.static_host import static_host
from tests.source_files import ROOT

WRITTEN = ROOT / "model/train/written"
SEED = 41
WEIGHTS, LOGPROBS = 1e-4, 1e-3  # how near they have to be
DECODES: dict[int, Json] = {
    3: {"method": "beam", "beam": 4, "length_penalty": 0.6},
    7: {"method": "sample", "seed": 7},
}
OF_ATTENTION = re.compile(r"(encoder|decoder)\.\d+\.(self|cross)\.weights")
GOLDEN = ("layer", "bytes", "changed", "beam", "sample")  # the others need more than a page has


@dataclass
class Differences:
    """How far the replies of a page are from others, at most, and where something else differs."""

    weights: float = 0.0
    logprobs: float = 0.0
    asked: int = 0
    cells: int = 0
    tokens: int = 0
    other: list[str] = field(default_factory=list)

    def compare(self, what: str, mine: Json, theirs: Reply) -> None:
        """Add a reply of the page, and the one that it has to be."""
        self.asked += 1
        if "output" not in mine:
            self.other.append(f"{what}: {mine}")
            return
        document: Mapping[str, Any] = theirs.document
        outputs = mine["output"], document["output"]
        texts = [(mine["tokens"][text], tokens) for text, tokens in document["tokens"].items()]
        texts.append((outputs[0]["tokens"], outputs[1]["tokens"]))
        if any(_placed(one) != _placed(other) for one, other in texts):
            self.other.append(f"{what}: other tokens, {outputs[0]['text']} / {outputs[1]['text']}")
            return
        here, there = ([*output["logprobs"], output["score"]] for output in outputs)
        self.logprobs = max(self.logprobs, float(np.abs(np.subtract(here, there)).max()))
        self.tokens += len(outputs[0]["tokens"])
        for name, array in _weights(theirs).items():
            near = np.abs(mine["arrays"][name].astype(float) - array.astype(float))
            scale = 255 if array.dtype == np.uint8 else 1  # 8 bits may round to the next step
            far = float(near.max()) / scale
            if scale == 1 or far > 1 / scale:
                self.weights = max(self.weights, far)
            self.cells += array.size

    @property
    def small(self) -> bool:
        """Return whether the model is the same."""
        return not self.other and self.weights <= WEIGHTS and self.logprobs <= LOGPROBS

    def __str__(self) -> str:
        return (
            f"{self.asked} requests, {self.tokens:,} tokens written, {self.cells:,} weights: "
            f"{len(self.other)} differ in tokens; weights differ by at most {self.weights:.1e}, "
            f"log-probabilities by {self.logprobs:.1e}"
        )


def sentences(number: int) -> list[str]:
    """Return sentences of both languages in turns; the first of more are the same."""
    lines = [
        line.split("\t")
        for path in sorted(WRITTEN.glob("*.tsv"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    random.Random(SEED).shuffle(lines)
    return [line[index % 2] for index, line in enumerate(lines[:number])]


def traces_of(texts: Iterable[str]) -> list[Json]:
    """Return a request for a trace of each sentence."""
    return [
        {"source": sentence, **({"decode": DECODES[index % 10]} if index % 10 in DECODES else {})}
        for index, sentence in enumerate(texts)
    ]


def golden_requests() -> list[Json]:
    """Return the requests of the golden traces."""
    left_out = ("select", "summarise", "dtype")
    return [
        {key: value for key, value in REQUESTS[name].items() if key not in left_out}
        for name in GOLDEN
    ]


def compare_with_server(
    page: PageModel, served: EncoderDecoder, requests: Iterable[Json]
) -> Differences:
    """Ask the page and the server's model for traces."""
    differences = Differences()
    places = [f"{attention.place}.weights" for attention in served.info.attentions]
    for request in requests:
        body = {**request, "select": places}
        [trace] = served.run([TraceRequest.model_validate(body).request(places, [])])
        reply = trace_reply(trace, "id", served.info.id)
        differences.compare(str(request), page.trace(body), reply)
    return differences


@contextmanager
def page_of(browser: Browser, address: str) -> Iterator[tuple[Callable[[str], str], str]]:
    """Open a page of a site in a Chromium; yield what evaluates in it, and the browser's name."""
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(address + BLANK_PAGE)
        yield page.evaluate, f"Chromium {browser.version}"


@contextmanager
def chromium_page(address: str) -> Iterator[tuple[Callable[[str], str], str]]:
    """Open a page of a site in a Chromium of its own, likewise."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=SHELL, args=ARGS)
        with page_of(browser, address) as opened:
            yield opened
        browser.close()


@contextmanager
def firefox_page(address: str) -> Iterator[tuple[Callable[[str], str], str]]:
    """Open a page of a site in Debian's Firefox, likewise."""
    with firefox() as browser:
        browser.goto(address + BLANK_PAGE)
        yield browser.evaluate, f"Firefox {browser.version}"


BROWSERS = {"chromium": chromium_page, "firefox": firefox_page}


def main() -> None:
    """Compare and print; fail if something differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.site.same_answers", description=__doc__)
    parser.add_argument("site", type=Path, help="the folder of a site")
    parser.add_argument("--browser", choices=BROWSERS, action="append", help="both")
    parser.add_argument("--sentences", type=int, default=500, help="(500)")
    options = parser.parse_args()
    served = load("en-zh", "cpu")
    small = True
    with static_host(options.site) as host:
        for name in options.browser or BROWSERS:
            with BROWSERS[name](host) as (evaluate, browser):
                page = PageModel(evaluate, "en-zh/")
                for what, requests in (
                    ("golden traces", golden_requests()),
                    ("sentences", traces_of(sentences(options.sentences))),
                ):
                    differences = compare_with_server(page, served, requests)
                    print(
                        f"{browser}, {what}: {differences}.",
                        *differences.other,
                        sep="\n  ",
                        flush=True,
                    )
                    small &= differences.small
    sys.exit(not small)


def _placed(tokens: Any) -> list[tuple[int, int, int]]:
    return [(token["id"], token["start"], token["end"]) for token in tokens]


def _weights(reply: Reply) -> dict[str, Any]:
    return {name: array for name, array in reply.arrays.items() if OF_ATTENTION.match(name)}


if __name__ == "__main__":
    main()

"""`python -m bench.large_figure`: time to the first picture of a file of 12 × 12 heads.

The weights are softmaxes of normal random scores, which compress worst. In Chromium, the
clock runs from the navigation until the first cell is painted; processor time is that of the page's
main thread.
"""

import argparse
import os
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from playwright.sync_api import Browser, sync_playwright

import headlight
from tests.browsing.chromium import ARGS, EXECUTABLE

HEADS = LAYERS = 12
LENGTHS = (197, 512)  # tokens: an image of 14 × 14 patches, and the longest text of BERT
# Notes the time of the first thing that is painted on a canvas of the view.
NOTE_FIRST = """for (const name of ["putImageData", "drawImage", "fillRect"]) {
  const paint = CanvasRenderingContext2D.prototype[name];
  CanvasRenderingContext2D.prototype[name] = function (...values) {
    if (this.canvas.closest?.("#view")) window.firstPicture ??= performance.now();
    return paint.apply(this, values);
  };
}"""


def weights(tokens: int) -> NDArray[np.float32]:
    """Return the weights of a layer: (heads, tokens, tokens)."""
    scores = np.exp(np.random.default_rng(0).normal(size=(HEADS, tokens, tokens)))
    rows: NDArray[np.float64] = scores / scores.sum(-1, keepdims=True)
    return rows.astype(np.float32)


def opened(browser: Browser, file: Path) -> tuple[float, float]:
    """Open a file; return the ms until its first picture, by the clock and of the main thread."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.add_init_script(NOTE_FIRST)
    page.goto(file.as_uri(), wait_until="commit")
    while page.evaluate("window.firstPicture ?? null") is None:  # a file allows no eval
        page.wait_for_timeout(50)
    metrics = session.send("Performance.getMetrics")["metrics"]
    [busy] = [metric["value"] for metric in metrics if metric["name"] == "TaskDuration"]
    milliseconds: float = page.evaluate("window.firstPicture")
    page.close()
    return milliseconds, 1000 * busy


def main() -> None:
    """Print a line for each opening."""
    parser = argparse.ArgumentParser(prog="python -m bench.large_figure", description=__doc__)
    parser.add_argument("--rounds", type=int, default=4, help="(4)")
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=EXECUTABLE, args=ARGS)
        for tokens in LENGTHS:
            words = [f"w{index}" for index in range(tokens)]
            figure = headlight.show([weights(tokens)] * LAYERS, words, layer=0, head=0)
            file = Path(folder) / f"{tokens}.html"
            figure.save(file)
            for _ in range(rounds):
                clock, busy = opened(browser, file)
                load = os.getloadavg()[0]
                print(
                    f"{tokens} tokens: {clock:.0f} ms, main thread {busy:.0f} ms, load {load:.1f}"
                )
        browser.close()


if __name__ == "__main__":
    main()

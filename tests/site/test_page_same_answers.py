"""The models of a site have the server's answers, in Chromium and in Firefox."""

from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder, load
from tests.site.firefox import is_installed
from tests.site.page_model import BLANK_PAGE, PageModel, with_cores
from tests.site.same_answers import (
    BROWSERS,
    compare_with_server,
    golden_requests,
    page_of,
    sentences,
    traces_of,
)
from tests.site.static_host import static_host

SENTENCES = 20  # `make same` compares 500
ZOO = {
    "who-3-layers": [
        "The animal didn't cross the street because it was too tired.",
        "They forgot the lamb and the bag because it was too full.",
    ],
    "reverse": ["d a c b", "z", "q w e r t y", "unknown words ✓", "d ab c"],
}


@pytest.mark.parametrize("name", BROWSERS)
def test_a_browser_has_the_server_s_answers(
    name: str, site: Path, served: EncoderDecoder, browser: Browser
) -> None:
    if name == "firefox" and not is_installed():
        pytest.skip("run `make same`, which installs Firefox")
    opened = partial(page_of, browser) if name == "chromium" else BROWSERS[name]
    with static_host(site) as host, opened(f"{host}headlight/") as (evaluate, _):
        page = PageModel(evaluate, "en-zh/")
        for requests in (golden_requests(), traces_of(sentences(SENTENCES))):
            differences = compare_with_server(page, served, requests)
            assert differences.small, (str(differences), differences.other)
            assert differences.cells > 5_000
        for folder, texts in ZOO.items():
            of_zoo = load(f"zoo/{folder}", "cpu")
            differences = compare_with_server(
                PageModel(evaluate, f"zoo-{folder}/"), of_zoo, traces_of(texts)
            )
            assert differences.small, (str(differences), differences.other)
            assert differences.asked == len(texts)


def test_threads_have_the_same_answers(
    site: Path, served: EncoderDecoder, browser: Browser
) -> None:
    """A page that a host isolates from others runs the model on half of the cores."""
    with static_host(site, isolated=True) as host, browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{host}headlight/{BLANK_PAGE}")
        page.route("**/model-worker.js", partial(with_cores, 6))
        model = PageModel(page.evaluate, "en-zh/")
        assert page.workers[0].evaluate("ort.env.wasm.numThreads") == 3
        differences = compare_with_server(model, served, traces_of(sentences(SENTENCES)))
    assert differences.small, (str(differences), differences.other)

"""The model of a site has the server's answers, in Chromium and in Firefox."""

from pathlib import Path

import pytest

from model.adapters.encoder_decoder.adapter import EncoderDecoder
from tests.site.firefox import is_installed
from tests.site.page_model import PageModel
from tests.site.same_answers import BROWSERS, compare_with_golden, compare_with_server
from tests.site.static_host import static_host

SENTENCES = 20  # `make same` compares 500


@pytest.mark.parametrize("name", BROWSERS)
def test_a_browser_has_the_server_s_answers(name: str, site: Path, served: EncoderDecoder) -> None:
    if name == "firefox" and not is_installed():
        pytest.skip("run `make same`, which installs Firefox")
    with static_host(site) as host, BROWSERS[name](f"{host}headlight/") as (evaluate, _):
        page = PageModel(evaluate, "en-zh/")
        for found in (
            compare_with_golden(page),
            compare_with_server(page, served, SENTENCES),
        ):
            assert found.small, (str(found), found.other)
            assert found.cells > 10_000

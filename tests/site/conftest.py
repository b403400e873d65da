"""A site that is written once for all tests, and pages of it from a plain host under a path."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock
from playwright.sync_api import Browser

from model.adapters.encoder_decoder.adapter import EncoderDecoder, load
from tests.site.opened_site import Opened
from tests.site.static_host import static_host
from tests.source_files import ROOT


@pytest.fixture(scope="session")
def site(common: Path) -> Path:
    pytest.importorskip("onnxscript")
    from app.site.site_files import write_site

    if not (ROOT / "node_modules/onnxruntime-web").is_dir():
        pytest.skip("run `make` to install what a site loads")
    folder = common / "site"
    with FileLock(common / "site.lock"):
        if not (folder / "headlight/offline.js").exists():
            list(write_site("en-zh", folder / "headlight"))
    return folder


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with static_host(site) as host:
        yield f"{host}headlight/"


@pytest.fixture
def opened(browser: Browser, address: str) -> Iterator[Opened]:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, locale="en-GB")
    yield Opened(context, address)
    context.close()


@pytest.fixture
def routed(browser: Browser, address: str) -> Iterator[Opened]:
    """A page whose requests can be held or answered: no service worker sends them."""
    context = browser.new_context(locale="en-GB", service_workers="block")
    yield Opened(context, address)
    context.close()


@pytest.fixture(scope="module")
def served() -> EncoderDecoder:
    return load("en-zh", "cpu")

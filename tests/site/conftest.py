"""A site that is written once for all tests, and pages of it from a plain host under a path."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock
from playwright.sync_api import Browser, BrowserContext

from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder, load
from model.bundle.weights import digest_of
from tests.site.opened_site import Opened
from tests.site.static_host import static_host
from tests.source_files import ROOT

# The graphs of what is computed from a run take half of an export. The other models of the zoo are
# only run, and have none here.
INSPECTED = "reverse"


@pytest.fixture(scope="session")
def site(exported: Path, exported_lab: Path, common: Path) -> Path:
    from app.site import write_site
    from model.web.export import GRAPHS, export_for_web

    def copied(bundle: Path, into: Path, id_: str) -> Iterator[Path]:
        """Export as the site does; what was exported before is copied."""
        kept = exported
        if bundle.name != exported.name:  # of the zoo
            kept = exported.parent / f"{id_}-{digest_of(bundle)[:16]}"
            if not (kept / GRAPHS).exists():
                with pytest.MonkeyPatch.context() as patch:
                    if bundle.name != INSPECTED:
                        patch.setattr("model.web.export.derived_graphs", lambda *_: ())
                    list(export_for_web(bundle, kept, id_))
        into.mkdir(parents=True, exist_ok=True)
        for file in kept.iterdir():
            if not file.name.startswith("packed"):  # for handouts
                yield Path(shutil.copyfile(file, into / file.name))

    def copied_lab(into: Path) -> Iterator[Path]:
        shutil.copytree(exported_lab, into)
        yield from sorted(into.iterdir())

    if not (ROOT / "node_modules/onnxruntime-web").is_dir():
        pytest.skip("run `make` to install what a site loads")
    folder = common / "site"
    with FileLock(common / "site.lock"):
        if not (folder / "headlight/offline.js").exists():
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("model.web.export.export_for_web", copied)
                patch.setattr("model.web.lab_graphs.write_lab", copied_lab)
                list(write_site("en-zh", folder / "headlight"))
    return folder


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with static_host(site) as host:
        yield f"{host}headlight/"


@pytest.fixture(scope="module")
def visited(browser: Browser, address: str) -> Iterator[BrowserContext]:
    """A browser that keeps the site's files, as for a reader who comes back."""
    context = browser.new_context(
        viewport={"width": 1440, "height": 900}, locale="en-GB", reduced_motion="reduce"
    )
    yield context
    context.close()


@pytest.fixture
def opened(visited: BrowserContext, address: str) -> Iterator[Opened]:
    opened = Opened(visited, address)
    yield opened
    opened.close()


@pytest.fixture
def routed(browser: Browser, address: str) -> Iterator[Opened]:
    """A page whose requests can be held or answered: no service worker sends them."""
    context = browser.new_context(locale="en-GB", service_workers="block")
    yield Opened(context, address)
    context.close()


@pytest.fixture(scope="module")
def served() -> EncoderDecoder:
    return load("en-zh", "cpu")

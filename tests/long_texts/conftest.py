"""A server whose model reads long texts."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browsing.fixtures import PATIENCE_MS
from tests.browsing.watch import Watch
from tests.browsing.workspace import Workspace
from tests.long_texts.reading import Run, tiny
from tests.servers import AppServer, running_app


@pytest.fixture(scope="package")
def served(tmp_path_factory: pytest.TempPathFactory, server_cache: Path) -> Iterator[AppServer]:
    pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("long-model")
    for part in tiny():
        part.save_pretrained(folder)
    data = tmp_path_factory.mktemp("long-server")
    settings = {"models": f"tiny=hf:{folder}", "zoo": "false"}
    with running_app(data, settings, warm=True, cache=server_cache) as server:
        yield server


@pytest.fixture
def there(page: Page, watch: Watch, served: AppServer) -> Workspace:
    page.set_default_timeout(PATIENCE_MS)
    return Workspace(page, served.url)


@pytest.fixture(scope="package")
def run(served: AppServer) -> Run:
    return Run()

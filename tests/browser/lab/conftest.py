"""The page of the lab, on the server of all tests."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext

from tests.browser.lab.by_hand import Lab
from tests.browser.watch import Watch
from tests.servers import AppServer


@pytest.fixture
def lab(context: BrowserContext, watch: Watch, live_server: AppServer) -> Iterator[Lab]:
    page = context.new_page()
    yield Lab(page, live_server.url)
    page.close()

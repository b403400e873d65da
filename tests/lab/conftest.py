"""The page of the lab, on the server of all tests."""

import pytest
from playwright.sync_api import Page

from tests.lab.by_hand import Lab
from tests.servers import AppServer


@pytest.fixture
def lab(page: Page, live_server: AppServer) -> Lab:
    return Lab(page, live_server.url)

"""A real Chromium with no way out: every host but this machine is unresolvable."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, BrowserType, Page, expect

from tests.browser.chromium import ARGS, EXECUTABLE
from tests.browser.watch import Watch
from tests.browser.workspace import Workspace
from tests.servers import AppServer

# Plotly takes seconds to parse where something else has the processors.
PATIENCE_MS = 60_000
expect.set_options(timeout=PATIENCE_MS / 3)


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    return {"executable_path": EXECUTABLE, "args": ARGS}


@pytest.fixture(scope="session")
def profile(
    browser_type: BrowserType, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BrowserContext]:
    """One for all tests: only on a disk does the browser keep the code that it has compiled."""
    context = browser_type.launch_persistent_context(
        tmp_path_factory.mktemp("profile"),
        executable_path=EXECUTABLE,
        args=ARGS,
        viewport={"width": 1440, "height": 900},
        color_scheme="light",
        locale="en-GB",
    )
    yield context
    context.close()


@pytest.fixture
def context(profile: BrowserContext, live_server: AppServer) -> Iterator[BrowserContext]:
    """The profile as one who has never been here finds it."""
    blank = profile.pages[0]  # without a page the browser ends
    yield profile
    for page in profile.pages:
        if page != blank:
            page.close()
    storage = {"origin": live_server.url, "storageTypes": "all"}
    profile.new_cdp_session(blank).send("Storage.clearDataForOrigin", storage)
    profile.clear_cookies()


@pytest.fixture
def watch(context: BrowserContext) -> Iterator[Watch]:
    """What went wrong in the browser; a test fails on anything that it did not expect."""
    watching = Watch(context)
    yield watching
    watching.end()
    watching.check()


@pytest.fixture
def workspace(page: Page, watch: Watch, live_server: AppServer) -> Workspace:
    page.set_default_timeout(PATIENCE_MS)
    return Workspace(page, live_server.url)

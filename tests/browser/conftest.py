"""A real Chromium with no way out: every host but this machine is unresolvable."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

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


@pytest.fixture
def browser_context_args() -> dict[str, Any]:
    return {"viewport": {"width": 1440, "height": 900}, "color_scheme": "light", "locale": "en-GB"}


@pytest.fixture
def watch(context: BrowserContext) -> Iterator[Watch]:
    """What went wrong in the browser; a test fails on anything that it did not expect."""
    watching = Watch(context)
    yield watching
    watching.check()


@pytest.fixture
def workspace(page: Page, watch: Watch, live_server: AppServer) -> Workspace:
    page.set_default_timeout(PATIENCE_MS)
    return Workspace(page, live_server.url)

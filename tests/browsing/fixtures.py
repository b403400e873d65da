"""A real Chromium in which every host other than this machine is unresolvable."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, BrowserType, Page, expect

from tests.browsing.chromium import ARGS, SHELL
from tests.browsing.page_settles import observe
from tests.browsing.shared_page import VIEWPORT, Keeper
from tests.browsing.watch import Watch
from tests.browsing.workspace import Workspace
from tests.lessons.lesson_reader import Reader
from tests.servers import AppServer

# A limit only: on a machine that is busy or slow, parsing Plotly takes seconds.
PATIENCE_MS = 60_000
expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    return {"executable_path": SHELL, "args": ARGS}


@pytest.fixture(scope="session")
def profile(
    browser_type: BrowserType, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BrowserContext]:
    """A profile for all tests: only with one on disk, the browser caches compiled code."""
    context = browser_type.launch_persistent_context(
        tmp_path_factory.mktemp("profile"),
        executable_path=SHELL,
        args=ARGS,
        viewport=VIEWPORT,
        color_scheme="light",
        reduced_motion="reduce",
        locale="en-GB",
    )
    observe(context)
    yield context
    context.close()


@pytest.fixture(scope="session")
def keeper(profile: BrowserContext) -> Keeper:
    return Keeper(profile)


@pytest.fixture
def context(
    profile: BrowserContext, keeper: Keeper, live_server: AppServer
) -> Iterator[BrowserContext]:
    """The profile in the state of a first visit."""
    blank = profile.pages[0]  # without any page, the browser exits
    yield profile
    for page in profile.pages:
        if page not in (blank, keeper.kept):
            page.close()
    storage = {"origin": live_server.url, "storageTypes": "all"}
    profile.new_cdp_session(blank).send("Storage.clearDataForOrigin", storage)
    profile.clear_cookies()


@pytest.fixture
def watch(context: BrowserContext) -> Iterator[Watch]:
    """Watches for errors in the browser; a test fails on unexpected ones."""
    watching = Watch(context)
    yield watching
    watching.end()
    watching.check()


@pytest.fixture
def page(keeper: Keeper, watch: Watch, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The page of the previous test if it left no traces, else a new one."""
    failed = request.session.testsfailed
    with keeper.lent(lambda: not watch.faults and request.session.testsfailed == failed) as page:
        yield page


@pytest.fixture
def workspace(page: Page, watch: Watch, live_server: AppServer) -> Workspace:
    page.set_default_timeout(PATIENCE_MS)
    return Workspace(page, live_server.url)


@pytest.fixture
def new_page(context: BrowserContext, watch: Watch) -> Iterator[Page]:
    """A page without a history: `page` may be that of an earlier test."""
    page = context.new_page()
    yield page
    page.close()


@pytest.fixture
def other(browser: Browser) -> Iterator[Page]:
    """A page of a second browser, which knows no keys."""
    context = browser.new_context(locale="en-GB", reduced_motion="reduce")
    yield context.new_page()
    context.close()


@pytest.fixture
def lesson(page: Page, live_server: AppServer) -> Reader:
    return Reader(page, live_server.url)

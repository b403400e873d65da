"""What every room's tests may ask for: a running Headlight, a running PostgreSQL."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.servers import AppServer, own_environment, running_app, running_postgres

# A developer's own settings must neither change a result nor let a test near their data.
for _name in os.environ.keys() - own_environment().keys():
    del os.environ[_name]

# Small models gain nothing from threads, and lose much where a browser wants the other core.
os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run browser tests last: Playwright keeps an event loop that asyncio tests cannot share."""
    items.sort(key=lambda item: "browser" in item.path.relative_to(item.config.rootpath).parts)


@pytest.fixture(scope="session")
def common(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all processes that share this run of the tests."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture(scope="session")
def server_cache(common: Path) -> Path:
    """What every server would make for itself, made by the first."""
    folder = common / "server-cache"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def live_server(
    tmp_path_factory: pytest.TempPathFactory, server_cache: Path
) -> Iterator[AppServer]:
    """One Headlight for all tests that only talk to it; leave it as it was found."""
    data_dir = tmp_path_factory.mktemp("live-server")
    with running_app(data_dir, warm=True, cache=server_cache) as server:
        yield server


@pytest.fixture
def launch(tmp_path: Path, server_cache: Path) -> Iterator[Callable[..., AppServer]]:
    """Start a Headlight of the test's own: ``launch(data_dir=…, database_url=…)``.

    Without ``data_dir`` all of a test's servers share one folder, so that a second one finds what
    the first one kept.
    """
    with ExitStack() as servers:

        def start(data_dir: Path = tmp_path / "data", **settings: str) -> AppServer:
            server = running_app(data_dir, settings, warm=True, cache=server_cache)
            return servers.enter_context(server)

        yield start


@pytest.fixture(scope="session")
def postgres() -> Iterator[Callable[[str], str]]:
    """Make a database in a PostgreSQL of our own and return its URL: ``postgres("shares")``."""
    with running_postgres() as create:
        yield create

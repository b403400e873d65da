"""Models for lessons, each opened once, and a server of all that they name."""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from app.settings import Settings
from model import Adapter, load
from tests.servers import AppServer, running_app

Models = Callable[[str | None], Adapter]


def opened(name: str | None) -> Adapter:
    """Return a model by the id that a link names; None is the default."""
    folder = (name or "en-zh").replace("zoo-", "zoo/", 1)
    return load(folder, "cpu")


@pytest.fixture(scope="session")
def models() -> Models:
    return cache(opened)


@pytest.fixture(scope="session")
def live_server(
    tmp_path_factory: pytest.TempPathFactory, server_cache: Path
) -> Iterator[AppServer]:
    """One server for all tests of lessons, with both translators, since lessons compare them."""
    settings = {"models": Settings().models, "run_nice": "0"}
    data_dir = tmp_path_factory.mktemp("live-server")
    with running_app(data_dir, settings, warm=True, cache=server_cache) as server:
        yield server

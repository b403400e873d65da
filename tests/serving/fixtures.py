"""The server in this process: a real app on the real model, without a socket."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from copy import copy
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource
from redis import Redis

from app.assets.static_files import Vendor, vendored
from app.engine import start_processes
from app.engine.model_catalog import Catalog
from app.main import create_app
from app.settings import Settings
from app.store.store import open_store
from tests.scale.stores import running_redis
from tests.serving.blocking import client_of
from tests.serving.live import Live, running
from tests.serving.training import EAGER

# Every training run of its own imports this for a second and a half; here they are forked with it.
start_processes.PRELOADED.append("torch._dynamo")

Serving = Callable[..., AbstractAsyncContextManager[httpx.AsyncClient]]


class Chosen(Settings):
    """Settings of arguments alone; looking for each in the environment takes longer than an app."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        *_: PydanticBaseSettingsSource,
        **__: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (init_settings,)


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    """The model that ships with Headlight, loaded once."""
    return Catalog.load({"en-zh": "en-zh"}, "cpu")


@pytest.fixture(scope="session")
def digested() -> Vendor:
    """The vendored files, 6 MB, read once."""
    return Vendor(vendored(), Path())


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty, migrated database, to copy and not to open."""
    settings = Settings(data_dir=tmp_path_factory.mktemp("empty"))

    async def make() -> None:
        async with open_store(settings.database):
            pass

    asyncio.run(make())
    return settings.data_dir / "headlight.db"


def keep_vendored(patch: pytest.MonkeyPatch, digested: Vendor) -> None:
    """Let apps that start have the files that were read before, uncompressed."""

    def vendor(_: Mapping[str, Path], cache: Path) -> Vendor:
        made = copy(digested)
        made.cache = cache
        return made

    patch.setattr("app.main.Vendor", vendor)
    patch.setattr(Vendor, "compress", lambda _: None)


@pytest.fixture(scope="session")
def shared_app(
    catalog: Catalog, digested: Vendor, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx.Client]:
    """A client of one app for all tests, without limits per minute."""
    chosen = Chosen(
        data_dir=tmp_path_factory.mktemp("shared"),
        max_shares_per_minute=10_000,
        work_per_second=1e9,
    )
    with ExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:
            keep_vendored(patch, digested)
            client = stack.enter_context(client_of(create_app(chosen, catalog)))
        yield client


@pytest.fixture
def reader(shared_app: httpx.Client) -> httpx.Client:
    """A client for tests that change nothing; opening an app takes longer than most of them."""
    shared_app.cookies.clear()
    return shared_app


@pytest.fixture
def serving(
    catalog: Catalog, digested: Vendor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Serving:
    """Run the app with other settings: ``async with serving(max_queue=1) as client``."""
    keep_vendored(monkeypatch, digested)

    @asynccontextmanager
    async def serve(
        catalog: Catalog = catalog, **settings: Any
    ) -> AsyncIterator[httpx.AsyncClient]:
        chosen = Chosen(**{"data_dir": tmp_path, **EAGER, **settings})
        app = create_app(chosen, None if chosen.engines else catalog)
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://headlight") as client,
        ):
            yield client

    return serve


@pytest.fixture
async def client(
    serving: Serving, empty_database: Path, tmp_path: Path
) -> AsyncIterator[httpx.AsyncClient]:
    """A client of an app with the default settings and a database for this test only."""
    shutil.copy(empty_database, tmp_path)
    async with serving() as client:
        yield client


@pytest.fixture
async def runs(serving: Serving) -> AsyncIterator[httpx.AsyncClient]:
    """A server that trains one run at a time and runs no model."""
    async with serving() as client:
        yield client


@pytest.fixture
async def live(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Live]:
    """A server with a slow model on a socket."""
    monkeypatch.setattr(Vendor, "compress", lambda _: None)
    async with running(tmp_path) as live:
        yield live


@pytest.fixture(scope="session")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a Redis."""
    with running_redis(tmp_path_factory.mktemp("redis")) as (url, _):
        yield url


@pytest.fixture(params=["memory", "redis"])
def rooms_url(request: pytest.FixtureRequest) -> str | None:
    """Where rooms are stored: None for the server's memory, or the URL of an empty Redis."""
    if request.param == "memory":
        return None
    url: str = request.getfixturevalue("redis")
    with Redis.from_url(url) as client:
        client.flushall()
    return url

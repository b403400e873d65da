"""The server in this process: a real app on the real model, without a socket."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.assets.files import Vendor
from app.engine.catalog import Catalog
from app.main import create_app
from app.settings import Settings
from tests.app.live import Live, running

Serving = Callable[..., AbstractAsyncContextManager[httpx.AsyncClient]]


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    """The model that ships with Headlight, loaded once."""
    return Catalog.load({"en-zh": "en-zh"}, "cpu")


@pytest.fixture
def serving(catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Serving:
    """Run the app with other settings: ``async with serving(max_queue=1) as client``."""
    monkeypatch.setattr(Vendor, "compress", lambda _: None)

    @asynccontextmanager
    async def serve(
        catalog: Catalog = catalog, **settings: Any
    ) -> AsyncIterator[httpx.AsyncClient]:
        chosen = Settings(**{"data_dir": tmp_path, **settings})
        app = create_app(chosen, None if chosen.engines else catalog)
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://headlight") as client,
        ):
            yield client

    return serve


@pytest.fixture
async def client(serving: Serving) -> AsyncIterator[httpx.AsyncClient]:
    """Speak to an app with the default settings and a database of the test's own."""
    async with serving() as client:
        yield client


@pytest.fixture
async def live(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Live]:
    """Speak to a slow model through a socket."""
    monkeypatch.setattr(Vendor, "compress", lambda _: None)
    async with running(tmp_path) as live:
        yield live

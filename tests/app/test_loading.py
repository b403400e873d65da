"""Models in memory: the limit, eviction of the least recently used, and concurrent loads."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import httpx
import pytest

from app.engine.catalog import Catalog
from model.errors import FileError
from tests.app.conftest import Serving
from tests.app.slow import Slow


class Shelf:
    """Loaders of models that record when they are called."""

    def __init__(self, *names: str) -> None:
        self.loaded: list[str] = []
        self.loaders = {name: partial(self.load, name) for name in names}

    def load(self, name: str) -> Slow:
        self.loaded.append(name)
        time.sleep(0.02)
        model = Slow()
        model.go.set()
        return model

    def catalog(self, max_models: int, *small: str) -> Catalog:
        """Open a catalog, and clear the record of loads."""
        catalog = Catalog(self.loaders, max_models, small)
        assert sorted(self.loaded) == sorted(self.loaders)  # each once
        self.loaded.clear()
        return catalog


def test_the_default_model_stays_and_the_limit_holds() -> None:
    catalog = Shelf("a", "b", "c").catalog(2)
    assert catalog.loaded[-1] == catalog.listing.pick(None) == "a"
    assert len(catalog.loaded) == 2
    assert list(catalog) == ["a", "b", "c"]


def test_the_least_recently_used_model_is_unloaded() -> None:
    shelf = Shelf("a", "b", "c")
    catalog = shelf.catalog(2)
    for name in ("b", "a", "c", "a", "b"):
        assert catalog[name]
    assert shelf.loaded == ["c", "b"]
    assert catalog.loaded == ["a", "b"]


def test_a_model_in_use_stays_loaded() -> None:
    shelf = Shelf("a", "b", "c")
    catalog = shelf.catalog(1)
    with catalog.using("a"), catalog.using("b"):
        assert catalog["c"]
        assert set(catalog.loaded) >= {"a", "b"}
    assert len(catalog.loaded) == 1


def test_small_models_stay_loaded_and_do_not_count() -> None:
    shelf = Shelf("a", "b", "x", "y")
    catalog = shelf.catalog(1, "x", "y")
    assert catalog.loaded == ["a"]  # none of the small ones is kept from the start
    for name in ("x", "y", "b", "x", "a"):
        assert catalog[name]
    assert shelf.loaded == ["x", "y", "b", "a"]  # x, once: loading b and a let no small one go
    assert sorted(catalog.loaded) == ["a", "x", "y"]


def test_a_description_needs_no_weights() -> None:
    shelf = Shelf("a", "b")
    catalog = shelf.catalog(1)
    assert [catalog.listing.describe(name).id for name in catalog] == ["a", "b"]
    assert not shelf.loaded


def test_concurrent_first_uses_load_once() -> None:
    shelf = Shelf("a", "b")
    catalog = shelf.catalog(1)
    ready = threading.Barrier(8)

    def use(_: int) -> int:
        ready.wait()
        with catalog.using("b") as model:
            return id(model)

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(use, range(8)))) == 1
    assert shelf.loaded == ["b"]


def test_a_broken_bundle_is_reported_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="not a model bundle"):
        Catalog.load({"en-zh": "en-zh", "mine": str(tmp_path)}, "cpu", 1)


async def test_an_unloaded_model_is_loaded_again(serving: Serving) -> None:
    shelf = Shelf("a", "b")

    async def ask(client: httpx.AsyncClient, model: str) -> None:
        body = {"source": "hi", "model": model, "select": []}
        reply = (await client.post("/api/trace", json=body)).json()
        assert (reply["model"], reply["output"]["text"]) == (model, "hi")

    async with serving(catalog=shelf.catalog(1), max_cache_bytes=0) as client:
        for model in ("a", "b", "b", "a"):
            await ask(client, model)
        assert shelf.loaded == ["b", "a"]
        assert [one["id"] for one in (await client.get("/api/models")).json()] == ["a", "b"]
        assert shelf.loaded == ["b", "a"]

"""Models in memory: the limit, eviction of the least recently used, and concurrent loads."""

import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import httpx
import pytest

from app.engine.model_catalog import Catalog, NoModelError
from app.engine.model_listing import Listing
from app.pages import health
from model.adapters import open_model
from model.adapters.requests.request import Request
from model.adapters.requests.trace import Trace
from model.errors import FileError
from tests.serving.fixtures import Serving
from tests.serving.problem import hold
from tests.serving.slow import Slow


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


class Failing(Slow):
    """A model that opens, and fails at every run."""

    def run(self, requests: Sequence[Request]) -> list[Trace]:
        raise IndexError("shape mismatch")


def damaged(why: str) -> Slow:
    raise FileError(Path("/srv/models/mine/config.json"), why)


def test_without_any_model_the_start_names_each(tmp_path: Path) -> None:
    """Those of the zoo do not count."""
    bad = {"mine": str(tmp_path), "other": str(tmp_path / "gone"), "hf": f"hf:{tmp_path}"}
    with pytest.raises(NoModelError) as refused:
        Catalog.load(bad, "cpu", 1, small={"zoo-copy": "zoo/copy"})
    first, *lines = str(refused.value).splitlines()
    assert first == "no model can be opened"
    for (name, path), line in zip(bad.items(), lines, strict=True):
        assert line.startswith(f"{name}: {path.removeprefix('hf:')}: it is not a model")


def test_a_model_that_opens_and_cannot_run_is_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_model, "load", lambda *_, **__: Failing())
    with pytest.raises(FileError, match=f"{tmp_path}: IndexError: shape mismatch"):
        open_model.open_model(str(tmp_path), "cpu")


def test_what_one_process_cannot_open_is_served_by_none() -> None:
    both, fewer = Shelf("a", "b").catalog(2).listing, Shelf("b").catalog(2).listing
    fewer.unopened["a"] = "why"
    for listings in ([both, fewer], [fewer, both]):
        common = Listing.common(listings)
        assert ([*common], common.unopened, common.pick(None)) == (["b"], {"a": "why"}, "b")


@pytest.mark.parametrize("order", [("bad", "good", "zoo-bad"), ("good", "zoo-bad", "bad")])
async def test_a_broken_model_takes_nothing_from_the_others(
    serving: Serving, order: tuple[str, ...]
) -> None:
    """It and the reason are named, without the folders of the server."""
    shelf, why = Shelf("good"), "d_model must be at most 65536, not 99999"
    loaders = {name: shelf.loaders.get(name, partial(damaged, why)) for name in order}
    small = [name for name in order if name.startswith("zoo")]
    async with serving(catalog=Catalog(loaders, 1, small)) as client:
        health = (await client.get("/api/health")).json()
        assert health["models"] == ["good"]
        assert health["unopened"] == dict.fromkeys(("bad", "zoo-bad"), f"config.json: {why}")
        assert [one["id"] for one in (await client.get("/api/models")).json()] == ["good"]
        assert (await client.get("/api/ready")).status_code == 200
        body = {"source": "hi", "select": []}
        assert (await client.post("/api/trace", json=body)).json()["model"] == "good"
        refused = await client.post("/api/trace", json={**body, "model": "bad"})
        told = hold(refused, 422, "unknown-model", "model")["detail"]
        assert told == (
            f"model: this model cannot be opened: config.json: {why}; model must be one of: good"
        )
        path = "/api/models/bad/parameters"
        assert why in hold(await client.get(path), 404, "unknown-model", "id")["detail"]


async def test_readiness_is_that_of_a_model_that_works(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "KEPT_SECONDS", 0.0)
    good = Slow()
    good.go.set()
    async with serving(catalog=Catalog.of({"failing": Failing(), "good": good})) as client:
        assert (await client.get("/api/ready")).status_code == 200
    async with serving(catalog=Catalog.of({"failing": Failing()})) as client:
        hold(await client.get("/api/ready"), 503, "not-ready", None)


async def test_a_file_that_is_damaged_later_is_named(serving: Serving) -> None:
    shelf = Shelf("a", "b")
    catalog = Catalog(shelf.loaders, 1)
    async with serving(catalog=catalog, max_cache_bytes=0) as client:
        catalog._loaders["b"] = partial(damaged, "it is not a file")
        body = {"source": "hi", "model": "b", "select": []}
        for _ in range(2):
            problem = hold(await client.post("/api/trace", json=body), 503, "unreadable-file", None)
            assert problem["detail"] == "config.json: it is not a file"
        assert (await client.post("/api/trace", json={**body, "model": "a"})).status_code == 200
        catalog._loaders["b"] = shelf.loaders["b"]  # put back
        assert (await client.post("/api/trace", json=body)).status_code == 200


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

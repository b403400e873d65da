"""Passes over long texts: kept by their bytes, found again, and looked at beside other work."""

import asyncio
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from app.engine.engine import Bounds, BusyError, Engine
from app.engine.fair_queue import Client, asking
from app.engine.jobs import Encoding
from app.engine.long_text_pictures import LongJob, Overview, Passes, Tile
from app.engine.model_catalog import Catalog
from app.engine.runners import CachedPassRunners, Runners, Threads
from app.http.file_formats import JSON
from model.adapters.requests.request import Request
from model.adapters.requests.trace import LongPass
from model.long.flash_kernels import Rule, Scored
from model.long.long_attention import LongAttention, Stored
from model.progress import go_on
from tests.model.tiny_huggingface import make
from tests.servers import PATIENCE

pytest.importorskip("transformers")

ENCODING = Encoding(JSON, 1_000_000)


def some_pass(tokens: int) -> LongPass:
    q, sums = Stored(torch.zeros(1, tokens, 2), None), torch.zeros(1, tokens)
    rule = Rule.all(tokens, tokens, sums.device)
    return LongPass({}, {"a": LongAttention(q, q, sums, Scored(rule, 1.0), {})})  # 20 bytes each


def test_the_least_recently_seen_pass_goes_first() -> None:
    passes, made = Passes(100), list[str]()

    def find(key: str, tokens: int = 2) -> LongPass:
        def make_it() -> LongPass:
            made.append(key)
            return some_pass(tokens)

        return passes.find(key, make_it)

    first = find("a")
    find("b")
    assert find("a") is first
    assert passes.bytes == 80
    find("c")
    assert passes.keys == {"a", "c"}
    find("large", 50)
    assert passes.keys == {"large"}  # it alone is too large, but needed for the next look
    find("a")
    assert made == ["a", "b", "c", "large", "a"]


def test_a_failed_run_is_not_kept() -> None:
    passes = Passes()
    with pytest.raises(RuntimeError):
        passes.find("a", lambda: (_ for _ in ()).throw(RuntimeError()))
    assert not passes.keys


def test_a_runner_is_known_by_what_it_tells() -> None:
    one, other = (Threads.__new__(Threads) for _ in range(2))
    homes = CachedPassRunners()
    assert homes.home("a") is None
    homes.start("a", one)
    assert (homes.home("a"), homes.is_kept("a")) == (one, False)  # it is being made
    homes.end("a", one, frozenset({"a"}))
    assert (homes.home("a"), homes.is_kept("a")) == (one, True)
    homes.end("b", other, frozenset({"b"}))
    homes.end("c", one, frozenset({"c"}))  # and it has dropped the first one
    assert (homes.home("a"), homes.home("b"), homes.home("c")) == (None, other, one)
    homes.start("d", one)
    homes.lose(one)
    assert (homes.home("c"), homes.home("d"), homes.is_kept("b")) == (None, None, True)
    homes.start("e", other)
    homes.end("e", other, None)  # it failed
    assert homes.home("e") is None


def test_a_cluster_tells_of_one_replica_at_a_time() -> None:
    slot = Threads.__new__(Threads)
    slot.many = True
    homes = CachedPassRunners()
    homes.end("a", slot, frozenset({"a", "x"}))
    homes.end("b", slot, frozenset({"b"}))  # on another replica, which does not have the first one
    assert [homes.is_kept(key) for key in ("a", "b", "x")] == [True, True, False]
    homes.end("a", slot, frozenset())  # it was too large to be kept
    assert [homes.is_kept(key) for key in ("a", "b")] == [False, True]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make("gpt2", tmp_path_factory.mktemp("models") / "gpt2")


class Slowly:
    """Makes passes over "slow …" only when told, stopping between two layers as models do."""

    def __init__(self, catalog: Catalog) -> None:
        self.begun, self.go = threading.Event(), threading.Event()
        self.ran: list[str] = []
        self.adapter = catalog["gpt2"]
        self.read = self.adapter.read_long

    def __call__(self, request: Request, dtype: Any) -> LongPass:
        self.ran.append(request.source)
        if request.source.startswith("slow"):
            self.begun.set()
            until = time.monotonic() + PATIENCE
            while not self.go.is_set() and time.monotonic() < until:
                go_on()
                time.sleep(0.005)
        return self.read(request, dtype)


@pytest.fixture
def slowly(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Slowly]:
    made = Slowly(Catalog.load({"gpt2": f"hf:{folder}"}, "cpu"))
    monkeypatch.setattr(made.adapter, "read_long", made)
    yield made
    made.go.set()


def look(text: str, cells: int | None = None, head: int = 0) -> LongJob:
    view = Tile("decoder.0.self", head, None, None, None, None, 10_000)
    seen = Overview(("*",), cells) if cells else view
    return LongJob("gpt2", Request(text), text, seen, f"{text} {seen}", ENCODING)


def engine_of(*slow: Slowly, **bounds: Any) -> Engine:
    catalogs = [Catalog.of({"gpt2": one.adapter}) for one in slow]
    models = Runners(catalogs[0].listing, [Threads(one) for one in catalogs])
    return Engine(models, Bounds(**bounds))


async def test_a_look_at_a_kept_text_passes_by_a_running_one(slowly: Slowly) -> None:
    async with engine_of(slowly) as engine:
        asking.set(Client("a", 1))
        await engine.run(look("The cat sat on the mat.", 8))
        asking.set(Client("a", 2))
        running = asyncio.create_task(engine.run(look("slow " * 20, 8)))
        await asyncio.to_thread(slowly.begun.wait, PATIENCE)
        asking.set(Client("a", 1))
        async with asyncio.timeout(PATIENCE):
            tile = await engine.run(look("The cat sat on the mat."))
        assert tile.values > 0
        assert not running.done()
        slowly.go.set()
        await running
    assert len(slowly.ran) == 2


async def test_a_look_costs_little_once_the_text_is_kept(slowly: Slowly) -> None:
    async with engine_of(slowly) as engine:
        text = "The cat sat on the mat. " * 5
        before = engine._price(look(text))
        await engine.run(look(text, 8))
        after = engine._price(look(text))
        assert after < before
        assert engine._price(look(text, 9)) < before + after
        assert engine._price(look(text, 9)) > after


async def test_a_look_goes_where_the_text_is_kept(
    slowly: Slowly, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Slowly(Catalog.load({"gpt2": f"hf:{folder}"}, "cpu"))
    monkeypatch.setattr(other.adapter, "read_long", other)
    texts = [f"The cat sat {n} times." for n in range(4)]
    async with engine_of(slowly, other) as engine:
        await asyncio.gather(*(engine.run(look(text, 8)) for text in texts))
        looks = [engine.run(look(text, head=head)) for text in texts for head in range(3)]
        await asyncio.gather(*looks)
    assert sorted(slowly.ran + other.ran) == texts
    assert slowly.ran
    assert other.ran


async def test_a_text_that_no_one_waits_for_is_given_up(slowly: Slowly) -> None:
    async with engine_of(slowly) as engine:
        running = asyncio.create_task(engine.run(look("slow text", 8)))
        await asyncio.to_thread(slowly.begun.wait, PATIENCE)
        running.cancel()
        async with asyncio.timeout(PATIENCE):  # it stops between two layers and leaves its place
            await engine.run(look("The cat.", 8))
        assert not slowly.go.is_set()


async def test_a_long_text_may_take_longer_than_a_sentence(slowly: Slowly) -> None:
    async with engine_of(slowly, max_wait_seconds=0.01, max_long_seconds=0.3) as engine:
        start = time.monotonic()
        with pytest.raises(BusyError, match=r"0\.3 seconds"):
            await engine.run(look("slow text", 8))
        assert time.monotonic() - start >= 0.3
        slowly.go.set()

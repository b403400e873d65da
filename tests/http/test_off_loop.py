"""Nothing slow runs on the event loop: large replies are encoded and compressed elsewhere."""

import asyncio
import gc
import gzip
import threading
import time
from collections.abc import Iterator

import httpx
import numpy as np
import orjson
import pytest

from app.engine.reply_formats import NUMBERS, numbers
from app.http import replies
from app.http import tasks_and_caches as pools
from app.http.tasks_and_caches import LARGE, SMALL, ByteCache, off_loop
from tests.servers import PATIENCE
from tests.serving.fixtures import Serving

POSITIONS = "/api/positions?length=1024&d_model=1024"  # 20 MB of JSON
PARAMETERS = "/api/models/en-zh/parameters?select=encoder.*"


@pytest.fixture
def without_collections() -> Iterator[None]:
    """Postpone collecting what other tests left: it may run on any thread, and takes its time."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("without_collections")
@pytest.mark.parametrize("accept", ["application/json", "application/octet-stream"])
@pytest.mark.parametrize("path", [POSITIONS, PARAMETERS])
async def test_large_replies_do_not_block_the_loop(
    serving: Serving, path: str, accept: str
) -> None:
    headers = {"Accept-Encoding": "gzip", "Accept": accept}
    async with serving(max_cache_bytes=0) as client:
        on_loop, everywhere = time.thread_time(), time.process_time()
        for _ in range(2):
            assert (await client.get(path, headers=headers)).status_code == 200
        on_loop, everywhere = time.thread_time() - on_loop, time.process_time() - everywhere
        # Encoding or compressing on the loop would be half of the processor time.
        assert on_loop < 0.25 * everywhere, (on_loop, everywhere)


async def test_replies_with_an_etag_are_compressed_once(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []

    def counted(body: bytes) -> bytes:
        calls.append(len(body))
        return gzip.compress(body, 1)

    monkeypatch.setitem(replies.ENCODERS, "gzip", counted)
    get = [client.get(PARAMETERS, headers={"Accept-Encoding": "gzip"}) for _ in range(4)]
    first, *others = await asyncio.gather(*get)
    assert [one.content for one in others] == [first.content] * 3
    assert first.headers["content-encoding"] == "gzip"
    assert first.headers["etag"]
    assert len(calls) == 1
    await client.get(f"{PARAMETERS},decoder.0.self.W_q", headers={"Accept-Encoding": "gzip"})
    assert len(calls) == 2


async def test_the_same_with_and_without_compression(client: httpx.AsyncClient) -> None:
    plain = await client.get(PARAMETERS, headers={"Accept-Encoding": "identity"})
    for encoding in ("gzip", "br", "zstd"):
        packed = await client.get(PARAMETERS, headers={"Accept-Encoding": encoding})
        assert packed.headers["content-encoding"] == encoding
        assert packed.content == plain.content
        assert packed.headers["etag"] == plain.headers["etag"]
        assert "Accept-Encoding" in packed.headers["vary"]


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0), (3, 2), (2, NUMBERS, 2), (NUMBERS + 1,)])
def test_numbers_in_parts_are_the_same_json(shape: tuple[int, ...]) -> None:
    array = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    if array.size > 2:
        array.flat[1] = np.nan
    whole = orjson.dumps(array if shape else float(array), option=orjson.OPT_SERIALIZE_NUMPY)
    written = orjson.dumps(numbers(array)) if shape else orjson.dumps(float(array))
    assert orjson.loads(written) == orjson.loads(whole)


async def test_short_work_does_not_wait_behind_long_work() -> None:
    """Long work occupies only its own threads."""
    release = threading.Event()
    long = [asyncio.create_task(off_loop(release.wait, PATIENCE)) for _ in range(8)]
    await asyncio.sleep(0)
    async with asyncio.timeout(PATIENCE / 2):
        await off_loop(len, b"", size=LARGE)
    assert not any(task.done() for task in long)
    release.set()
    await asyncio.gather(*long)


async def test_small_work_stays_on_its_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "_short", None)
    monkeypatch.setattr(pools, "_long", None)
    assert await off_loop(len, b"abc", size=SMALL) == 3


async def test_a_cache_is_bounded_by_bytes() -> None:
    cache = ByteCache[bytes](1000, len)
    for n in range(10):
        cache.keep(n, bytes(200))
    assert cache.bytes <= 1000
    assert cache.get(9)
    assert cache.get(0) is None
    cache.keep("large", bytes(900))
    assert cache.get("large") is None
    assert cache.get(9)


async def test_concurrent_requests_compute_once() -> None:
    cache = ByteCache[bytes](1000, len)
    made: list[int] = []
    go = asyncio.Event()

    async def make() -> bytes:
        made.append(1)
        await go.wait()
        return b"made"

    asking = [asyncio.create_task(cache.find("key", make)) for _ in range(5)]
    await asyncio.sleep(0)
    asking[0].cancel()  # who leaves takes nothing from the others
    await asyncio.sleep(0)
    go.set()
    assert await asyncio.gather(*asking[1:]) == [b"made"] * 4
    assert len(made) == 1


async def test_a_failure_is_reported_and_not_cached() -> None:
    cache = ByteCache[bytes](1000, len)

    async def fail() -> bytes:
        raise ValueError("bitter")

    async def make() -> bytes:
        return b"made"

    with pytest.raises(ValueError, match="bitter"):
        await cache.find("key", fail)
    assert await cache.find("key", make) == b"made"

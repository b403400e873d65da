"""The cache in memory: limited in bytes, with each value made once."""

import asyncio
import gc

import pytest

from app.http.tasks_and_caches import ByteCache


class Maker:
    """Makes a value on request, and counts how often."""

    def __init__(self, value: bytes = b"value") -> None:
        self.value, self.made, self.go = value, 0, asyncio.Event()

    async def __call__(self) -> bytes:
        self.made += 1
        await self.go.wait()
        if not self.value:
            raise ValueError("nothing")
        return self.value


async def test_it_is_limited_in_bytes_and_evicts_the_least_recently_used() -> None:
    cache = ByteCache[bytes](100, len)
    for key in "abcd":
        cache.keep(key, bytes(25))
    assert cache.bytes == 100
    assert cache.get("a")
    cache.keep("e", bytes(20))
    assert [key for key in "abcde" if cache.get(key)] == ["a", "c", "d", "e"]
    assert cache.bytes == 95


async def test_a_value_larger_than_a_quarter_is_not_cached() -> None:
    cache = ByteCache[bytes](100, len)
    cache.keep("fits", bytes(25))
    cache.keep("does not", bytes(26))
    assert cache.get("fits")
    assert cache.get("does not") is None
    none = ByteCache[bytes](0, len)
    none.keep("a", b"a")
    assert none.get("a") is None


async def test_concurrent_callers_share_one_computation() -> None:
    told = list[bool]()
    cache, make = ByteCache[bytes](100, len, told.append), Maker()
    asking = [asyncio.create_task(cache.find("a", make)) for _ in range(3)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    asking[0].cancel()
    await asyncio.gather(asking[0], return_exceptions=True)
    make.go.set()
    assert await asyncio.gather(*asking[1:]) == [b"value"] * 2
    assert await cache.find("a", make) == b"value"
    assert make.made == 1
    assert told == [False, True, True, True]
    cache.drop("a")
    cache.drop("a")
    assert cache.get("a") is None
    assert await cache.find("a", make) == b"value"
    assert make.made == 2


async def test_a_failure_reaches_all_callers_and_is_not_cached() -> None:
    cache, make = ByteCache[bytes](100, len), Maker(b"")
    make.go.set()
    told = await asyncio.gather(*(cache.find("a", make) for _ in range(2)), return_exceptions=True)
    assert [type(one) for one in told] == [ValueError, ValueError]
    make.value = b"value"
    assert await cache.find("a", make) == b"value"
    assert make.made == 2


async def test_a_failure_without_callers_is_not_reported() -> None:
    complaints = list[object]()
    asyncio.get_running_loop().set_exception_handler(lambda _, told: complaints.append(told))
    cache, make = ByteCache[bytes](100, len), Maker(b"")
    left = asyncio.create_task(cache.find("a", make))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    left.cancel()
    with pytest.raises(asyncio.CancelledError):
        await left
    make.go.set()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    del left
    gc.collect()
    assert not complaints

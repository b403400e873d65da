"""Rooms in Redis, for several servers. Scripts make each change atomic."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError

from app.rooms.bus import IDLE_SECONDS, FullError
from app.store.storage_errors import UNAVAILABLE, StorageError, log

SECONDS = 2.0  # timeout of a reply
ROOMS = "headlight:rooms"  # codes, by the time at which they expire

CREATE = """
local now = tonumber(redis.call('TIME')[1])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
if redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[4]) then return -1 end
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'EX', ARGV[2]) then return 0 end
redis.call('ZADD', KEYS[2], now + tonumber(ARGV[2]), ARGV[3])
return 1
"""
REPLACE = """
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3])
for _, part in ipairs(redis.call('SMEMBERS', KEYS[3])) do redis.call('EXPIRE', part, ARGV[3]) end
redis.call('EXPIRE', KEYS[3], ARGV[3])
local now = tonumber(redis.call('TIME')[1])
redis.call('ZADD', KEYS[2], now + tonumber(ARGV[3]), ARGV[4])
redis.call('PUBLISH', KEYS[1], ARGV[2])
return 1
"""
PUT = """
local document = redis.call('GET', KEYS[1])
if not document or (ARGV[1] ~= '' and document ~= ARGV[1]) then return 0 end
if ARGV[4] ~= '' and redis.call('HEXISTS', KEYS[2], ARGV[2]) == 0
    and redis.call('HLEN', KEYS[2]) >= tonumber(ARGV[4]) then return 0 end
local seconds = redis.call('TTL', KEYS[1])
redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
redis.call('EXPIRE', KEYS[2], seconds)
redis.call('SADD', KEYS[3], KEYS[2])
redis.call('EXPIRE', KEYS[3], seconds)
return 1
"""


class RedisBus:
    """The rooms of all servers that use one Redis."""

    def __init__(self, url: str) -> None:
        self._redis: Any = Redis.from_url(
            url, socket_timeout=SECONDS, socket_connect_timeout=SECONDS
        )
        self._create = self._redis.register_script(CREATE)
        self._replace = self._redis.register_script(REPLACE)
        self._put = self._redis.register_script(PUT)

    async def create(self, code: str, document: bytes, seconds: float, most: int) -> bool:
        with _translated():
            made = await self._create(
                keys=[_room(code), ROOMS], args=[document, _whole(seconds), code, most]
            )
        if made == -1:
            raise FullError
        return bool(made)

    async def read(self, code: str) -> bytes | None:
        with _translated():
            found: bytes | None = await self._redis.get(_room(code))
        return found

    async def replace(self, code: str, old: bytes, new: bytes, seconds: float) -> bool:
        with _translated():
            keys = [_room(code), ROOMS, _parts(code)]
            return bool(await self._replace(keys=keys, args=[old, new, _whole(seconds), code]))

    async def put(self, code: str, document: bytes, part: str, name: str, value: bytes) -> bool:
        return await self._set(code, document, part, name, value, "")

    async def write(self, code: str, part: str, name: str, value: bytes) -> bool:
        return await self._set(code, b"", part, name, value, "")

    async def admit(self, code: str, part: str, name: str, value: bytes, most: int) -> bool:
        return await self._set(code, b"", part, name, value, most)

    async def _set(
        self, code: str, document: bytes, part: str, name: str, value: bytes, most: int | str
    ) -> bool:
        with _translated():
            keys = [_room(code), _part(code, part), _parts(code)]
            return bool(await self._put(keys=keys, args=[document, name, value, most]))

    async def fields(self, code: str, part: str) -> dict[str, bytes]:
        with _translated():
            found: dict[bytes, bytes] = await self._redis.hgetall(_part(code, part))
        return {name.decode(): value for name, value in found.items()}

    async def count(self, code: str, part: str) -> int:
        with _translated():
            return int(await self._redis.hlen(_part(code, part)))

    async def remove(self, code: str, part: str, name: str) -> None:
        with _translated():
            await self._redis.hdel(_part(code, part), name)

    @asynccontextmanager
    async def listen(self, code: str) -> AsyncIterator[AsyncIterator[bytes | None]]:
        listening = self._redis.pubsub(ignore_subscribe_messages=True)
        try:
            with _translated():
                await listening.subscribe(_room(code))
            yield _documents(listening)
        finally:
            await listening.aclose()

    async def close(self) -> None:
        await self._redis.aclose()


async def _documents(listening: Any) -> AsyncIterator[bytes | None]:
    while True:
        with _translated():
            message = await listening.get_message(timeout=IDLE_SECONDS)
        yield message["data"] if message else None


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except RedisError as error:
        log.error("%s: Redis failed: %s", UNAVAILABLE, type(error).__name__)
        raise StorageError(UNAVAILABLE) from None


# The braces put all keys of a room into the same slot of a Redis cluster.
def _room(code: str) -> str:
    return f"headlight:room:{{{code}}}"


def _part(code: str, part: str) -> str:
    return f"{_room(code)}:{part}"


def _parts(code: str) -> str:
    return f"{_room(code)}::parts"


def _whole(seconds: float) -> int:
    return max(1, round(seconds))

"""Rooms in Redis, for several servers. Scripts make each change atomic.

A field is stored as its holder, a space and its value. The bytes that each holder has in a room are
counted in a hash of their own.
"""

from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError

from app.rooms.rooms_across_servers import IDLE_SECONDS, ROOM_BYTES, FullError, Limited
from app.store.disk_files import UNAVAILABLE
from app.store.storage_errors import StorageError, log

SECONDS = 2.0  # timeout of a reply
ROOMS = "headlight:rooms"  # codes, by the time at which they expire
HOLDERS = "headlight:rooms:holders"  # of rooms, by code
STORED = 1
UNCOUNTED = "-"  # holder of what a server notes about itself
LIMITED: dict[int, Limited] = {-1: "rooms", -2: "fields", -3: "bytes"}

# `app.rooms.rooms_across_servers.share_of`, and whether a holder of some of `others` has its share.
SHARES = """
local function share(holder, most, others)
  local free = math.max(0, most - others)
  return holder == '' and free or math.floor((free + 1) / 2)
end
local function count(held, holder)
  local mine, others = 0, 0
  for _, one in ipairs(held) do
    if string.match(one, '^%S*') == holder then mine = mine + 1 else others = others + 1 end
  end
  return mine, others
end
"""
CREATE = (
    SHARES
    + """
local now = tonumber(redis.call('TIME')[1])
for _, code in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now)) do
  redis.call('ZREM', KEYS[2], code)
  redis.call('HDEL', KEYS[3], code)
end
local mine, others = count(redis.call('HVALS', KEYS[3]), ARGV[5])
if mine + 1 > share(ARGV[5], tonumber(ARGV[4]), others) then return {-1, mine, others} end
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'EX', ARGV[2]) then return {0} end
redis.call('ZADD', KEYS[2], now + tonumber(ARGV[2]), ARGV[3])
redis.call('HSET', KEYS[3], ARGV[3], ARGV[5])
return {1}
"""
)
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
# Of a room's document, a part, the set of its parts and its counted bytes.
PUT = (
    SHARES
    + """
local document, name, value, holder = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local most, bytes = tonumber(ARGV[5]), tonumber(ARGV[6])
local present = redis.call('GET', KEYS[1])
if not present or (document ~= '' and present ~= document) then return {0} end
local before = redis.call('HGET', KEYS[2], name)
if most then
  if before then return {1} end
  local mine, others = count(redis.call('HVALS', KEYS[2]), holder)
  if mine + 1 > share(holder, most, others) then return {-2, mine, others} end
end
if bytes then
  local size, old, owner = #name + #value, 0, ''
  if before then owner = string.match(before, '^%S*') end
  if before and owner ~= '-' then old = #name + #before - #owner - 1 end
  local had = tonumber(redis.call('HGET', KEYS[4], holder) or 0)
  local mine, others = had, tonumber(redis.call('HGET', KEYS[4], 'total') or 0) - had
  if before and owner == holder then mine = mine - old elseif before then others = others - old end
  local grown = mine + size
  if grown > had and grown > share(holder, bytes, others) then return {-3, mine, others} end
  if old > 0 then redis.call('HINCRBY', KEYS[4], owner, -old) end
  redis.call('HINCRBY', KEYS[4], holder, size)
  redis.call('HINCRBY', KEYS[4], 'total', size - old)
end
local seconds = redis.call('TTL', KEYS[1])
redis.call('HSET', KEYS[2], name, holder .. ' ' .. value)
redis.call('SADD', KEYS[3], KEYS[2], KEYS[4])
for n = 2, 4 do redis.call('EXPIRE', KEYS[n], seconds) end
return {1}
"""
)
REMOVE = """
for n = 1, #ARGV do
  local before = redis.call('HGET', KEYS[1], ARGV[n])
  if before then
    local owner = string.match(before, '^%S*')
    local old = #ARGV[n] + #before - #owner - 1
    redis.call('HDEL', KEYS[1], ARGV[n])
    if owner ~= '-' then
      redis.call('HINCRBY', KEYS[2], owner, -old)
      redis.call('HINCRBY', KEYS[2], 'total', -old)
    end
  end
end
"""


class RedisBus:
    """The rooms of all servers that use one Redis."""

    def __init__(self, url: str, room_bytes: int = ROOM_BYTES) -> None:
        self._redis: Any = Redis.from_url(
            url, socket_timeout=SECONDS, socket_connect_timeout=SECONDS
        )
        self._bytes = room_bytes
        self._create = self._redis.register_script(CREATE)
        self._replace = self._redis.register_script(REPLACE)
        self._put = self._redis.register_script(PUT)
        self._remove = self._redis.register_script(REMOVE)

    async def create(
        self, code: str, document: bytes, seconds: float, limit: int, holder: str = ""
    ) -> bool:
        with _translated():
            keys = [_room(code), ROOMS, HOLDERS]
            args: list[bytes | str | int] = [document, _whole(seconds), code, limit, holder]
            return _done(await self._create(keys=keys, args=args))

    async def read(self, code: str) -> bytes | None:
        with _translated():
            document: bytes | None = await self._redis.get(_room(code))
        return document

    async def replace(self, code: str, old: bytes, new: bytes, seconds: float) -> bool:
        with _translated():
            keys = [_room(code), ROOMS, _parts(code)]
            return bool(await self._replace(keys=keys, args=[old, new, _whole(seconds), code]))

    async def put(
        self,
        code: str,
        part: str,
        name: str,
        value: bytes,
        *,
        holder: str = "",
        document: bytes | None = None,
    ) -> bool:
        return await self._set(code, part, name, value, holder, "", self._bytes, document or b"")

    async def admit(
        self, code: str, part: str, name: str, value: bytes, limit: int, holder: str = ""
    ) -> bool:
        return await self._set(code, part, name, value, holder, limit, self._bytes)

    async def write(self, code: str, part: str, name: str, value: bytes) -> bool:
        return await self._set(code, part, name, value, UNCOUNTED, "", "")

    async def _set(
        self,
        code: str,
        part: str,
        name: str,
        value: bytes,
        holder: str,
        limit: int | str,
        room_bytes: int | str,
        document: bytes = b"",
    ) -> bool:
        with _translated():
            keys = [_room(code), _part(code, part), _parts(code), _held(code)]
            args: list[bytes | str | int] = [document, name, value, holder, limit, room_bytes]
            return _done(await self._put(keys=keys, args=args))

    async def fields(self, code: str, part: str) -> dict[str, bytes]:
        return {name: value for name, (_, value) in (await self._split(code, part)).items()}

    async def holders(self, code: str, part: str) -> dict[str, str]:
        return {name: holder for name, (holder, _) in (await self._split(code, part)).items()}

    async def _split(self, code: str, part: str) -> dict[str, tuple[str, bytes]]:
        with _translated():
            fields: dict[bytes, bytes] = await self._redis.hgetall(_part(code, part))
        split = {name: stored.partition(b" ") for name, stored in fields.items()}
        return {name.decode(): (parts[0].decode(), parts[2]) for name, parts in split.items()}

    async def count(self, code: str, part: str) -> int:
        with _translated():
            return int(await self._redis.hlen(_part(code, part)))

    async def remove(self, code: str, part: str, names: Iterable[str]) -> None:
        with _translated():
            await self._remove(keys=[_part(code, part), _held(code)], args=[*names])

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


def _done(reply: list[int]) -> bool:
    """Return whether a script has stored something. Raises FullError if a share is used up."""
    outcome, *amounts = reply
    if outcome in LIMITED:
        raise FullError(LIMITED[outcome], *amounts)
    return outcome == STORED


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


def _held(code: str) -> str:
    return f"{_room(code)}::held"


def _whole(seconds: float) -> int:
    return max(1, round(seconds))

"""The store: shares in SQLite or PostgreSQL.

A share that `add` returned from is on the disk. Everything here raises StorageError where the
database cannot do it now.
"""

import asyncio
import hmac
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
from sqlalchemy import ColumnElement, delete, func, insert, select, true, update
from sqlalchemy.ext.asyncio import AsyncConnection

from app.off_loop import off_loop
from app.store.content_by_digest import checked, digest_of, digests_of, drop, lacking, put
from app.store.database import Database, open_database
from app.store.ids import is_id, new_id
from app.store.quota import Limits, check_room, used
from app.store.storage_errors import DamagedError, StorageError
from app.store.tables import answers, contents, secrets, shares

ADDRESS_KEY = "address"
UNLIMITED = Limits()
AT_ONCE = 100  # shares deleted in one transaction
PRUNING_SECONDS = 3600


@dataclass(frozen=True)
class Answer:
    """A further question of a share, and its answer: a compressed file."""

    question: dict[str, Any]
    answer: bytes


@dataclass(frozen=True)
class Share:
    """A state, the model's description, and the trace that was seen: a compressed file.

    `format` says what they mean (`app.store.share_formats`); `asks` are the further questions whose
    answers are kept beside it.
    """

    id: str
    format: int
    created: datetime
    state: dict[str, Any]
    model: dict[str, Any]
    trace: bytes
    asks: tuple[dict[str, Any], ...] = ()


class Store:
    """Shares by id. Made by `open_store`."""

    def __init__(self, database: Database, limits: Limits, address_key: bytes) -> None:
        self.database = database
        self.limits = limits
        self._address_key = address_key

    async def add(
        self,
        written: int,
        state: dict[str, Any],
        model: dict[str, Any],
        trace: bytes,
        more: Sequence[Answer] = (),
        *,
        address: str | None = None,
        edit_key: str | None = None,
    ) -> Share:
        """Keeps a share written in a format; durable, with all its answers, when this returns.

        `address` is where it comes from, `edit_key` deletes it; neither is kept as it is. Raises
        StorageError beyond the limits.
        """
        asks = tuple(answer.question for answer in more)
        share = Share(new_id(), written, datetime.now(UTC), state, model, trace, asks)
        owner = None if address is None else self._keyed(address)
        key = None if edit_key is None else digest_of(edit_key.encode())
        await self.put(share, more, owner, key, limited=True)
        return share

    async def put(
        self,
        share: Share,
        more: Sequence[Answer],
        owner: bytes | None,
        edit_key: bytes | None,
        *,
        limited: bool,
    ) -> bool:
        """Keeps a share under its id; durable when this returns. False where the id is known."""
        held = [share.trace, *(one.answer for one in more)]
        digests = await off_loop(digests_of, held, size=sum(map(len, held)))
        documents = len(orjson.dumps([share.state, share.model, share.asks]))
        size = documents + sum(map(len, held))
        row = {name: getattr(share, name) for name in ("id", "format", "created", "state", "model")}
        row |= {"digest": digests[0], "documents": documents, "size": size}
        row |= {"edit_key": edit_key, "address": owner}
        rows = [
            {"share": share.id, "n": n, "question": one.question, "digest": digest}
            for n, (one, digest) in enumerate(zip(more, digests[1:], strict=True))
        ]
        known = select(shares.c.id).where(shares.c.id == share.id)
        async with self.database.writing() as connection:
            if await connection.scalar(known) is not None:
                return False
            new = await lacking(connection, dict(zip(digests, held, strict=True)))
            if limited:
                grows = documents + sum(map(len, new.values()))
                await check_room(connection, self.limits, owner, grows, size)
            await put(connection, new)
            await connection.execute(insert(shares).values(row))
            if rows:
                await connection.execute(insert(answers), rows)
        return True

    async def check_room(self, address: str) -> None:
        """Raises StorageError where an address cannot keep another share, however small."""
        async with self.database.reading() as connection:
            await check_room(connection, self.limits, self._keyed(address), 1, 1)

    async def check_write(self) -> None:
        """Returns once the database has taken a write that changes nothing."""
        same = update(secrets).where(secrets.c.name == ADDRESS_KEY).values(value=secrets.c.value)
        async with self.database.writing() as connection:
            await connection.execute(same)

    async def totals(self) -> tuple[int, int]:
        """How many shares there are, and how many bytes they take in all."""
        wanted = select(select(func.count()).select_from(shares).scalar_subquery(), used())
        async with self.database.reading() as connection:
            number, size = (await connection.execute(wanted)).one()
        return number, int(size)

    async def has(self, share_id: str) -> bool:
        """Whether there is a share of this id, in either case."""
        wanted = select(shares.c.id).where(self._is(share_id))
        async with self.database.reading() as connection:
            return await connection.scalar(wanted) is not None

    async def find(self, share_id: str) -> Share | None:
        """The share of an id in either case; None if there is none.

        Raises DamagedError for one that cannot be read.
        """
        own = [shares.c[name] for name in ("id", "format", "created", "state", "model", "digest")]
        wanted = select(*own, contents.c.content).where(self._is(share_id))
        joined = wanted.outerjoin_from(shares, contents, shares.c.digest == contents.c.digest)
        questions = select(answers.c.question).where(answers.c.share == share_id.lower())
        try:
            async with self.database.reading() as connection:
                row = (await connection.execute(joined)).one_or_none()
                if row is None:
                    return None
                asks = tuple((await connection.scalars(questions.order_by(answers.c.n))).all())
        except ValueError as error:  # no JSON any more
            raise DamagedError from error
        trace = await off_loop(checked, row.digest, row.content, size=len(row.content or b""))
        created: datetime = row.created  # SQLite forgets the zone
        created = created.replace(tzinfo=created.tzinfo or UTC)
        return Share(row.id, row.format, created, row.state, row.model, trace, asks)

    async def find_answer(self, share_id: str, n: int) -> tuple[int, bytes] | None:
        """The format of a share and the answer to its n-th question; None if there is none.

        Raises DamagedError for one that cannot be read.
        """
        if not 0 <= n < 1 << 31:
            return None
        wanted = (
            select(shares.c.format, answers.c.digest, contents.c.content)
            .join_from(answers, shares)
            .outerjoin(contents, answers.c.digest == contents.c.digest)
            .where(self._is(share_id), answers.c.n == n)
        )
        async with self.database.reading() as connection:
            found = (await connection.execute(wanted)).one_or_none()
        if found is None:
            return None
        size = len(found.content or b"")
        return found.format, await off_loop(checked, found.digest, found.content, size=size)

    async def delete(self, share_id: str, edit_key: str) -> bool | None:
        """Deletes a share; False where this is not its edit key, None if there is no such share."""
        wanted = select(shares.c.id, shares.c.edit_key).where(self._is(share_id))
        async with self.database.writing() as connection:
            row = (await connection.execute(wanted)).one_or_none()
            if row is None:
                return None
            given = digest_of(edit_key.strip().lower().encode())
            if row.edit_key is None or not hmac.compare_digest(row.edit_key, given):
                return False
            await _delete(connection, [row.id])
            return True

    async def remove(self, share_id: str) -> bool:
        """Deletes a share without its key; False if there is none."""
        async with self.database.writing() as connection:
            found = await connection.scalar(select(shares.c.id).where(shares.c.id == share_id))
            if found is not None:
                await _delete(connection, [found])
            return found is not None

    async def prune(self, days: float | None = None) -> int:
        """Deletes shares that are older than `days`, or than the limits say; returns how many."""
        days = self.limits.days if days is None else days
        if days is None:
            return 0
        old = select(shares.c.id).where(shares.c.created < _since(days)).limit(AT_ONCE)
        deleted = 0
        while True:
            async with self.database.writing() as connection:
                found = list(await connection.scalars(old))
                await _delete(connection, found)
            deleted += len(found)
            if len(found) < AT_ONCE:
                return deleted

    async def keep_pruning(self, seconds: float = PRUNING_SECONDS) -> None:
        """Deletes shares as they expire, until it is cancelled."""
        while self.limits.days is not None:
            with suppress(StorageError):  # it is logged; the next time may go better
                await self.prune()
            await asyncio.sleep(seconds)

    def _is(self, share_id: str) -> ColumnElement[bool]:
        """The share of an id in either case, unless it is older than the limits say."""
        mine = shares.c.id == (share_id.lower() if is_id(share_id.lower()) else "")
        days = self.limits.days
        return mine & (true() if days is None else shares.c.created >= _since(days))

    def _keyed(self, address: str) -> bytes:
        return hmac.digest(self._address_key, address.encode(), "sha256")


async def _delete(connection: AsyncConnection, ids: Sequence[str]) -> None:
    mine, theirs = shares.c.id.in_(ids), answers.c.share.in_(ids)
    held = list(await connection.scalars(select(shares.c.digest).where(mine)))
    held += list(await connection.scalars(select(answers.c.digest).where(theirs)))
    await connection.execute(delete(answers).where(theirs))
    await connection.execute(delete(shares).where(mine))
    await drop(connection, held)


def _since(days: float) -> datetime:
    return datetime.now(UTC) - timedelta(days=days)


@asynccontextmanager
async def open_store(url: str, limits: Limits = UNLIMITED) -> AsyncIterator[Store]:
    """Opens the database, after bringing its tables up to date.

    Raises what `open_database` raises.
    """
    async with open_database(url) as database:
        yield Store(database, limits, await _address_key(database))


async def _address_key(database: Database) -> bytes:
    """What addresses are digested with: made once for a database, so that servers agree."""
    wanted = select(secrets.c.value).where(secrets.c.name == ADDRESS_KEY)
    async with database.writing() as connection:
        found: bytes | None = await connection.scalar(wanted)
        if found is None:
            found = os.urandom(32)
            await connection.execute(insert(secrets).values(name=ADDRESS_KEY, value=found))
        return found

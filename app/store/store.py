"""The store: shares in SQLite or PostgreSQL.

When `add` returns, the share is on disk. All methods raise StorageError if the database cannot be
used now.
"""

import hmac
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Row, delete, func, insert, null, select, true, update
from sqlalchemy.ext.asyncio import AsyncConnection

from app.off_loop import off_loop
from app.store.content_by_digest import checked, digests_of, drop, lacking, put
from app.store.database import Database, open_database
from app.store.documents import dumped
from app.store.ids import is_id, key_digest, new_id, opens
from app.store.quota import Limits, check_room, used
from app.store.seals import in_utc
from app.store.share import Answer, Share, check_share, seal
from app.store.storage_errors import DamagedError, StorageError
from app.store.tables import answers, contents, secrets, shares
from model.errors import FileError

ADDRESS_KEY = "address"
UNLIMITED = Limits()
OWN = ("id", "format", "created", "state", "model", "digest", "about", "seal")


class Store:
    """Shares by id; created by `open_store`."""

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
        about: dict[str, str] | None = None,
        address: str | None = None,
        edit_key: str | None = None,
        request: str | None = None,
    ) -> Share:
        """Store a share written in a format; it is durable, with all its replies, on return.

        `address` is the author's, `edit_key` deletes the share, and `request` finds it again
        (`find_request`); only their digests are stored. Raises StorageError beyond the limits.
        """
        asks = tuple(answer.question for answer in more)
        share = Share(new_id(), written, datetime.now(UTC), state, model, trace, asks, about)
        owner = None if address is None else self.keyed(address)
        key = None if edit_key is None else key_digest(edit_key)
        asked = None if request is None else self.keyed(request)
        await self.put(share, more, owner, key, asked, limited=True)
        return share

    async def put(
        self,
        share: Share,
        more: Sequence[Answer],
        owner: bytes | None,
        edit_key: bytes | None,
        request: bytes | None = None,
        *,
        limited: bool,
    ) -> bool:
        """Store a share under its id; durable on return. Return False if the id is already used."""
        held = [share.trace, *(one.answer for one in more)]
        digests = await off_loop(digests_of, held, size=sum(map(len, held)))
        documents = len(dumped([share.state, share.model, [*share.asks], share.about]))
        size = documents + sum(map(len, held))
        row = {name: getattr(share, name) for name in ("id", "format", "created", "state", "model")}
        row |= {"digest": digests[0], "documents": documents, "size": size}
        row |= {"edit_key": edit_key, "address": owner, "request": request}
        row |= {"about": share.about or null()}
        rows = [
            {"share": share.id, "n": n, "question": one.question, "digest": digest}
            for n, (one, digest) in enumerate(zip(more, digests[1:], strict=True))
        ]
        row["seal"] = seal(share, digests[0], rows)
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
        """Raise StorageError if an address cannot store another share, however small."""
        async with self.database.reading() as connection:
            await check_room(connection, self.limits, self.keyed(address), 1, 1)

    async def check_write(self) -> None:
        """Make a write that changes nothing. Raises StorageError if the database refuses it."""
        same = update(secrets).where(secrets.c.name == ADDRESS_KEY).values(value=secrets.c.value)
        async with self.database.writing() as connection:
            await connection.execute(same)

    async def totals(self) -> tuple[int, int]:
        """Return the number of shares, and the bytes that they take in total."""
        wanted = select(select(func.count()).select_from(shares).scalar_subquery(), used())
        async with self.database.reading() as connection:
            number, size = (await connection.execute(wanted)).one()
        return number, int(size)

    async def has(self, share_id: str) -> bool:
        """Return whether a share with this id exists, in either case."""
        wanted = select(shares.c.id).where(self._is(share_id))
        async with self.database.reading() as connection:
            return await connection.scalar(wanted) is not None

    async def find(self, share_id: str) -> Share | None:
        """Return the share with this id, in either case; None if there is none.

        Raises DamagedError if it cannot be read.
        """
        async with self.database.reading() as connection:
            found = await self._read(connection, share_id)
            if found is None:
                return None
            row, asked = found
            content = await _content(connection, row.digest)
        trace = await off_loop(checked, row.digest, content, size=len(content or b""))
        asks = tuple(one.question for one in asked)
        created = in_utc(row.created)
        return Share(row.id, row.format, created, row.state, row.model, trace, asks, row.about)

    async def brief(self, share_id: str) -> tuple[dict[str, Any], dict[str, str]] | None:
        """Return the state and the author's texts of a share, without its contents; or None."""
        async with self.database.reading() as connection:
            found = await self._read(connection, share_id)
        return None if found is None else (found[0].state, found[0].about or {})

    async def _read(
        self, connection: AsyncConnection, share_id: str
    ) -> tuple[Row[Any], Sequence[Row[Any]]] | None:
        """Return a share without its contents, and its additional requests; None if there is none.

        Raises DamagedError if they are not as they were stored, or if the share is missing and the
        table damaged.
        """
        wanted = select(*(shares.c[name] for name in OWN)).where(self._is(share_id))
        row = (await connection.execute(wanted)).one_or_none()
        if row is None:
            await self.database.check_absent("shares", share_id, "share")
            return None
        asked = select(answers.c.n, answers.c.question, answers.c.digest)
        mine = asked.where(answers.c.share == share_id.lower()).order_by(answers.c.n)
        rows: list[Row[Any]] = [*await connection.execute(mine)]
        check_share(row, rows)
        return row, rows

    async def find_request(self, request: str) -> tuple[str, datetime] | None:
        """Return the id and the time of the newest share that `add` was given `request` for."""
        mine = (shares.c.request == self.keyed(request)) & self._lasts()
        wanted = select(shares.c.id, shares.c.created).where(mine)
        async with self.database.reading() as connection:
            row = (await connection.execute(wanted.order_by(shares.c.created.desc()))).first()
        return None if row is None else (row.id, in_utc(row.created))

    async def find_answer(self, share_id: str, n: int) -> tuple[int, bytes] | None:
        """Return the format of a share and the reply to its n-th request; None if there is none.

        Raises DamagedError if it cannot be read.
        """
        async with self.database.reading() as connection:
            found = await self._read(connection, share_id)
            if found is None:
                return None
            row, asked = found
            digest = next((one.digest for one in asked if one.n == n), None)
            if digest is None:
                return None
            content = await _content(connection, digest)
        return row.format, await off_loop(checked, digest, content, size=len(content or b""))

    async def delete(self, share_id: str, edit_key: str) -> bool | None:
        """Delete a share; return False for a wrong edit key, None if there is no such share."""
        wanted = select(shares.c.id, shares.c.edit_key).where(self._is(share_id))
        async with self.database.writing() as connection:
            row = (await connection.execute(wanted)).one_or_none()
            if row is None:
                return None
            if not opens(edit_key, row.edit_key):
                return False
            await delete_shares(connection, [row.id])
            return True

    async def remove(self, share_id: str) -> bool:
        """Delete a share without its key; return False if there is none."""
        async with self.database.writing() as connection:
            found = await connection.scalar(select(shares.c.id).where(shares.c.id == share_id))
            if found is not None:
                await delete_shares(connection, [found])
            return found is not None

    def _is(self, share_id: str) -> ColumnElement[bool]:
        """Match a share by its id in either case, unless it is older than the limits allow."""
        share_id = share_id.lower()
        return (shares.c.id == (share_id if is_id(share_id) else "")) & self._lasts()

    def _lasts(self) -> ColumnElement[bool]:
        days = self.limits.days
        return true() if days is None else shares.c.created >= since(days)

    def keyed(self, text: str) -> bytes:
        """Return the keyed digest of an address, or of another text that is not to be stored."""
        return hmac.digest(self._address_key, text.encode(), "sha256")

    def owner(self, address: str) -> str:
        """Return what of an address is stored outside the database."""
        return self.keyed(address).hex()


async def _content(connection: AsyncConnection, digest: bytes) -> bytes | None:
    wanted = select(contents.c.content).where(contents.c.digest == digest)
    content: bytes | None = await connection.scalar(wanted)
    return content


async def delete_shares(connection: AsyncConnection, ids: Sequence[str]) -> None:
    """Delete shares with their replies, and contents that no other share uses."""
    mine, theirs = shares.c.id.in_(ids), answers.c.share.in_(ids)
    held = list(await connection.scalars(select(shares.c.digest).where(mine)))
    held += list(await connection.scalars(select(answers.c.digest).where(theirs)))
    await connection.execute(delete(answers).where(theirs))
    await connection.execute(delete(shares).where(mine))
    await drop(connection, held)


def since(days: float) -> datetime:
    """Return the time that was so many days ago."""
    return datetime.now(UTC) - timedelta(days=days)


@asynccontextmanager
async def open_store(url: str, limits: Limits = UNLIMITED) -> AsyncIterator[Store]:
    """Open the database, after running its migrations.

    Raises what `open_database` raises.
    """
    async with open_database(url) as database:
        try:
            key = await _address_key(database)
        except StorageError as error:
            if not isinstance(error.__cause__, DamagedError) or database.file is None:
                raise
            raise FileError(database.file, "it is damaged") from error
        yield Store(database, limits, key)


async def _address_key(database: Database) -> bytes:
    """Return the key for digests of addresses, created once per database so that servers agree."""
    wanted = select(secrets.c.value).where(secrets.c.name == ADDRESS_KEY)
    async with database.writing() as connection:
        found: bytes | None = await connection.scalar(wanted)
        if found is None:
            found = os.urandom(32)
            await connection.execute(insert(secrets).values(name=ADDRESS_KEY, value=found))
        return found

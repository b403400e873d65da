"""Assignments in the database of the shares: questions with a link, answered in one's own time.

When `add` or `submit` returns, it is on disk. All methods raise StorageError if the database cannot
be used now.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

import orjson
from sqlalchemy import ColumnElement, Row, delete, func, insert, select, true, update
from sqlalchemy.ext.asyncio import AsyncConnection

from app.store.ids import is_id, key_digest, new_edit_key, new_id, opens
from app.store.quota import check_room
from app.store.store import Store, in_utc, since
from app.store.tables import assignments, submissions

Refusal = Literal["unknown", "wrong key", "full"]
MEMBER_LENGTH = 12  # of a member's name in tables: 48 bits


@dataclass(frozen=True)
class Assignment:
    """A document that never changes; `changed` is the time of the last submission."""

    id: str
    created: datetime
    changed: datetime
    document: dict[str, Any]


@dataclass(frozen=True)
class Submission:
    """What one member sent last; `member` identifies it within the assignment only."""

    member: str
    sent: datetime
    document: dict[str, Any]


class Assignments:
    """Assignments by id, in the database of a store and within its limits."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.database = store.database

    async def add(self, document: dict[str, Any], address: str) -> tuple[Assignment, str]:
        """Store an assignment; return it and its owner's key.

        Only digests of the key and the address are stored.
        """
        now, key = datetime.now(UTC), new_edit_key()
        made = Assignment(new_id(), now, now, document)
        owner = self.store.keyed(address)
        size = len(orjson.dumps(document))
        async with self.database.writing() as connection:
            await check_room(connection, self.store.limits, owner, size, size)
            new = vars(made) | {"size": size, "owner_key": key_digest(key), "address": owner}
            await connection.execute(insert(assignments).values(new))
        return made, key

    async def find(self, assignment_id: str) -> Assignment | None:
        """Return the assignment with this id, in either case; None if there is none."""
        async with self.database.reading() as connection:
            row = await self._row(connection, assignment_id)
        if row is None:
            return None
        return Assignment(row.id, in_utc(row.created), in_utc(row.changed), row.document)

    async def check_key(self, assignment_id: str, key: str) -> Refusal | None:
        """Return why a key is not that of an assignment's owner; None if it is."""
        async with self.database.reading() as connection:
            return _refused(await self._row(connection, assignment_id), key)

    async def submit(
        self, assignment_id: str, member: str, document: dict[str, Any], most: int
    ) -> Refusal | None:
        """Store what a member answered, instead of what it sent before; return why not.

        `most` is the largest number of members. Only a digest of `member` is stored. The bytes
        count for the author of the assignment.
        """
        size = len(orjson.dumps(document))
        async with self.database.writing() as connection:
            row = await self._row(connection, assignment_id)
            if row is None:
                return "unknown"
            token = self._token(row.id, member)
            mine = (submissions.c.assignment == row.id) & (submissions.c.member == token)
            before = await connection.scalar(select(submissions.c.size).where(mine))
            if before is None and await _count(connection, row.id) >= most:
                return "full"
            grows = size - (before or 0)
            if grows > 0:
                await check_room(connection, self.store.limits, row.address, grows, grows)
            now = datetime.now(UTC)
            new = {"sent": now, "document": document, "size": size}
            await connection.execute(
                insert(submissions).values(new | {"assignment": row.id, "member": token})
                if before is None
                else update(submissions).where(mine).values(new)
            )
            whole = {"changed": now, "size": row.size + grows}
            await connection.execute(
                update(assignments).where(assignments.c.id == row.id).values(whole)
            )
        return None

    async def submissions(self, assignment_id: str) -> Sequence[Submission]:
        """Return what all members sent, the earliest first."""
        wanted = select(submissions).where(submissions.c.assignment == assignment_id.lower())
        async with self.database.reading() as connection:
            rows = await connection.execute(wanted.order_by(submissions.c.sent))
            return [_read(row) for row in rows]

    async def own(self, assignment_id: str, member: str) -> Submission | None:
        """Return what a member sent; None if it sent nothing."""
        identity = assignment_id.lower()
        mine = submissions.c.assignment == identity
        mine &= submissions.c.member == self._token(identity, member)
        async with self.database.reading() as connection:
            row = (await connection.execute(select(submissions).where(mine))).one_or_none()
        return None if row is None else _read(row)

    async def delete(self, assignment_id: str, key: str) -> Refusal | None:
        """Delete an assignment with all answers; return why not, or None if it was deleted."""
        async with self.database.writing() as connection:
            row = await self._row(connection, assignment_id)
            refused = _refused(row, key)
            if row is not None and not refused:
                await delete_assignments(connection, assignments.c.id == row.id)
        return refused

    async def _row(self, connection: AsyncConnection, assignment_id: str) -> Row[Any] | None:
        wanted = assignment_id.lower()
        mine = assignments.c.id == (wanted if is_id(wanted) else "")
        found = await connection.execute(select(assignments).where(mine & self._lasts()))
        return found.one_or_none()

    def _lasts(self) -> ColumnElement[bool]:
        days = self.store.limits.assignment_days
        if days is None:
            return true()
        return assignments.c.changed >= since(days)

    def _token(self, assignment_id: str, member: str) -> bytes:
        return self.store.keyed(f"{assignment_id} {member}")


async def delete_assignments(connection: AsyncConnection, which: ColumnElement[bool]) -> None:
    """Delete assignments with all answers to them."""
    found = select(assignments.c.id).where(which)
    await connection.execute(delete(submissions).where(submissions.c.assignment.in_(found)))
    await connection.execute(delete(assignments).where(which))


async def _count(connection: AsyncConnection, assignment_id: str) -> int:
    wanted = select(func.count()).select_from(submissions)
    counted = await connection.scalar(wanted.where(submissions.c.assignment == assignment_id))
    return int(counted or 0)


def _refused(row: Row[Any] | None, key: str) -> Refusal | None:
    if row is None:
        return "unknown"
    return None if opens(key, row.owner_key) else "wrong key"


def _read(row: Row[Any]) -> Submission:
    return Submission(row.member.hex()[:MEMBER_LENGTH], in_utc(row.sent), row.document)

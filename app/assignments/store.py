"""Assignments in the database of the shares: questions with a link, answered in one's own time.

Studies are in the same tables, as another kind: `Assignments` sees only those of its own kind.

When `add` or `submit` returns, it is on disk. All methods raise StorageError if the database cannot
be used now; those that read raise DamagedError for what is not as it was stored.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    ColumnElement,
    DateTime,
    ForeignKey,
    Index,
    LargeBinary,
    Row,
    String,
    Table,
    delete,
    func,
    insert,
    select,
    true,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from app.http.route_dependencies import Services
from app.store.archive_file import ArchivedRow, ArchiveFile, Entries
from app.store.documents import (
    ID_LENGTH,
    check_seal,
    dumped,
    in_utc,
    is_id,
    key_digest,
    new_edit_key,
    new_id,
    opens,
    sealed,
)
from app.store.storage_errors import Stored
from app.store.store import Store, StoredKind, insert_row, metadata, since

Refusal = Literal["unknown", "wrong key"]
# Says why a member is not admitted, given how many came from its address and from all others.
Places = Callable[[int, int], str | None]
# Makes what is stored of a member from what is stored already, and from the number of members.
Change = Callable[["Submission | None", int], dict[str, Any]]
assignments = Table(
    "assignments",
    metadata,
    Column("id", String(ID_LENGTH), primary_key=True),
    Column("created", DateTime(timezone=True), nullable=False),
    Column("changed", DateTime(timezone=True), nullable=False),  # by the last submission
    Column("document", JSON, nullable=False),  # title, note, questions
    Column("size", BigInteger, nullable=False),  # bytes, with all submissions
    Column("owner_key", LargeBinary, nullable=False),  # SHA-256
    Column("address", LargeBinary),  # keyed digest of the author's address
    Column("seal", LargeBinary),  # SHA-256 of what a reader gets; older rows have none
    Column("kind", String(16), nullable=False, server_default="assignment"),
    Index("ix_assignments_changed", "changed"),
    Index("ix_assignments_address", "address", "size"),
)
submissions = Table(
    "submissions",
    metadata,
    Column("assignment", String(ID_LENGTH), ForeignKey("assignments.id"), primary_key=True),
    Column("member", LargeBinary, primary_key=True),  # keyed digest of the token
    Column("sent", DateTime(timezone=True), nullable=False),
    Column("document", JSON, nullable=False),  # nickname, answers
    Column("size", BigInteger, nullable=False),  # bytes of the document
    Column("address", LargeBinary),  # keyed digest of the address that first sent it
    Column("seal", LargeBinary),  # SHA-256 of what the author gets; older rows have none
)
# What is needed of an assignment to change it, even if its document is damaged.
CONTROL = (assignments.c.id, assignments.c.size, assignments.c.owner_key, assignments.c.address)
MEMBER_LENGTH = 12  # of a member's name in tables: 48 bits


class FullError(Exception):
    """There is no place for another member; the message says why."""


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

    kind: Stored = "assignment"

    def __init__(self, store: Store) -> None:
        self.store = store
        self.database = store.database

    async def add(self, document: dict[str, Any], address: str) -> tuple[Assignment, str]:
        """Store an assignment; return it and its owner's key.

        Only digests of the key and the address are stored.
        """
        now, key = datetime.now(UTC), new_edit_key()
        assignment = Assignment(new_id(), now, now, document)
        owner = self.store.keyed(address)
        size = len(dumped(document))
        async with self.database.writing() as connection:
            await self.store.check_room(connection, owner, size, size)
            new = vars(assignment) | {"size": size, "owner_key": key_digest(key), "address": owner}
            new |= {"seal": seal_of_assignment(assignment), "kind": self.kind}
            await connection.execute(insert(assignments).values(new))
        return assignment, key

    async def find(self, assignment_id: str) -> Assignment | None:
        """Return the assignment with this id, in either case; None if there is none."""
        async with self.database.reading(self.kind) as connection:
            row = await self._row(connection, assignment_id, list(assignments.c))
        if row is None:
            await self.database.check_absent("assignments", assignment_id, self.kind)
            return None
        return read_assignment(row, self.kind)

    async def check_key(self, assignment_id: str, key: str) -> Refusal | None:
        """Return why a key is not that of an assignment's owner; None if it is."""
        async with self.database.reading(self.kind) as connection:
            return _refused(await self._row(connection, assignment_id), key)

    async def submit(
        self,
        assignment_id: str,
        member: str,
        document: dict[str, Any] | Change,
        address: str = "",
        places: Places = lambda _, __: None,
    ) -> Refusal | None:
        """Store what a member answered, instead of what it sent before; return why not.

        Raises FullError if `places` refuses a new member, and what a change raises. Only digests of
        `member` and of the address are stored. The bytes count for the author of the assignment.
        """
        async with self.database.writing() as connection:
            row = await self._row(connection, assignment_id)
            if row is None:
                return "unknown"
            token, sender = self._token(row.id, member), self._sender(row.id, address)
            mine = (submissions.c.assignment == row.id) & (submissions.c.member == token)
            before = await connection.scalar(select(submissions.c.size).where(mine))
            counts = (0, 0) if before is not None else await _count(connection, row.id, sender)
            if before is None and (why := places(*counts)):
                raise FullError(why)
            if not isinstance(document, dict):
                document = document(await self._find_submission(connection, mine), sum(counts))
            size = len(dumped(document))
            grows = size - (before or 0)
            if grows > 0:
                await self.store.check_room(connection, row.address, grows, grows)
            now = datetime.now(UTC)
            new = {"sent": now, "document": document, "size": size}
            new |= {"seal": seal_of_submission(row.id, token, now, document)}
            first = {"assignment": row.id, "member": token, "address": sender}
            await connection.execute(
                insert(submissions).values(new | first)
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
        query = select(submissions).where(submissions.c.assignment == assignment_id.lower())
        async with self.database.reading(self.kind) as connection:
            rows = await connection.execute(query.order_by(submissions.c.sent))
            return [read_submission(row, self.kind) for row in rows]

    async def own(self, assignment_id: str, member: str) -> Submission | None:
        """Return what a member sent; None if it sent nothing."""
        identity = assignment_id.lower()
        mine = submissions.c.assignment == identity
        mine &= submissions.c.member == self._token(identity, member)
        async with self.database.reading(self.kind) as connection:
            return await self._find_submission(connection, mine)

    async def delete(self, assignment_id: str, key: str) -> Refusal | None:
        """Delete an assignment with all answers; return why not, or None if it was deleted."""
        async with self.database.writing() as connection:
            row = await self._row(connection, assignment_id)
            refused = _refused(row, key)
            if row is not None and not refused:
                await delete_assignments(connection, assignments.c.id == row.id)
        return refused

    async def _row(
        self, connection: AsyncConnection, assignment_id: str, columns: Sequence[Any] = CONTROL
    ) -> Row[Any] | None:
        lowercase_id = assignment_id.lower()
        mine = assignments.c.id == (lowercase_id if is_id(lowercase_id) else "")
        mine &= assignments.c.kind == self.kind
        result = await connection.execute(select(*columns).where(mine & self._lasts()))
        return result.one_or_none()

    async def _find_submission(
        self, connection: AsyncConnection, condition: ColumnElement[bool]
    ) -> Submission | None:
        row = (await connection.execute(select(submissions).where(condition))).one_or_none()
        return None if row is None else read_submission(row, self.kind)

    def _lasts(self) -> ColumnElement[bool]:
        days = self.store.limits.assignment_days
        if days is None:
            return true()
        return assignments.c.changed >= since(days)

    def _sender(self, _assignment_id: str, address: str) -> bytes:
        return self.store.keyed(address)

    def _token(self, assignment_id: str, member: str) -> bytes:
        return self.store.keyed(f"{assignment_id} {member}")


@asynccontextmanager
async def open_assignments(services: Services) -> AsyncIterator[None]:
    """Open the assignments of a server."""
    services.add(Assignments(services[Store]))
    yield


async def delete_assignments(connection: AsyncConnection, condition: ColumnElement[bool]) -> int:
    """Delete assignments with all answers to them; return their number."""
    ids = select(assignments.c.id).where(condition)
    await connection.execute(delete(submissions).where(submissions.c.assignment.in_(ids)))
    return (await connection.execute(delete(assignments).where(condition))).rowcount


def read_assignment(row: Row[Any], kind: Stored = "assignment") -> Assignment:
    """Return the assignment in a row. Raises DamagedError."""
    check_seal(kind, row.seal, lambda: seal_of_assignment(row))
    return Assignment(row.id, in_utc(row.created), in_utc(row.changed), row.document)


def seal_of_submission(
    assignment_id: str, token: bytes, sent: datetime, document: dict[str, Any]
) -> bytes:
    """Return the seal of what a member sent; `token` identifies it within the assignment."""
    return sealed(assignment_id, token, sent, document)


async def _count(connection: AsyncConnection, assignment_id: str, sender: bytes) -> tuple[int, int]:
    """Return how many members first answered from an address, and from all others."""
    condition = submissions.c.assignment == assignment_id
    mine = func.count().filter(submissions.c.address == sender)
    counted = await connection.execute(select(mine, func.count()).where(condition))
    (count, total) = counted.one()
    return count, total - count


def seal_of_assignment(assignment: Any) -> bytes:
    """Return the seal of an assignment or its row."""
    return sealed(assignment.id, assignment.created, assignment.document)


def _refused(row: Row[Any] | None, key: str) -> Refusal | None:
    if row is None:
        return "unknown"
    return None if opens(key, row.owner_key) else "wrong key"


def read_submission(row: Row[Any], kind: Stored = "assignment") -> Submission:
    """Return the submission in a row. Raises DamagedError."""
    check_seal(
        kind,
        row.seal,
        lambda: seal_of_submission(row.assignment, row.member, row.sent, row.document),
    )
    return Submission(row.member.hex()[:MEMBER_LENGTH], in_utc(row.sent), row.document)


class ArchivedSubmission(BaseModel):
    """What one member answered."""

    model_config = ConfigDict(extra="forbid")

    member: str
    sent: datetime
    document: dict[str, Any]


class ArchivedAssignment(ArchivedRow):
    """An assignment with the answers to it."""

    created: datetime
    changed: datetime
    document: dict[str, Any]
    owner_key: str
    submissions: list[ArchivedSubmission]
    kind: Literal["assignment", "study"] = Field(
        default="assignment", exclude_if=lambda kind: kind == "assignment"
    )


async def _write(store: Store, archive: ArchiveFile, row_id: str) -> None:
    async with store.database.reading() as connection:
        mine = select(assignments).where(assignments.c.id == row_id)
        row = (await connection.execute(mine)).one_or_none()
        theirs = select(submissions).where(submissions.c.assignment == row_id)
        sent = list(await connection.execute(theirs))
    if row is not None:
        submission_documents = [
            vars(read_submission(submission, row.kind)) | {"member": submission.member.hex()}
            for submission in sent
        ]
        assignment_document = vars(read_assignment(row, row.kind))
        assignment_document |= {"owner_key": row.owner_key.hex(), "kind": row.kind}
        document = ArchivedAssignment.model_validate(
            assignment_document | {"submissions": submission_documents}
        )
        archive.add(ASSIGNMENTS, row_id, document)


async def _read(store: Store, entries: Entries, name: str) -> bool:
    """Store one assignment with its answers; return False if its id is already used."""
    read = entries.document(name, ArchivedAssignment)
    sent = []
    for submission in read.submissions:
        token = entries.from_hex(name, submission.member)
        seal = seal_of_submission(read.id, token, submission.sent, submission.document)
        size = len(dumped(submission.document))
        sent.append(
            vars(submission) | {"assignment": read.id, "member": token, "size": size, "seal": seal}
        )
    row = read.model_dump(exclude={"submissions"})
    row |= {"owner_key": entries.from_hex(name, read.owner_key)}
    row |= {
        "size": len(dumped(read.document)) + sum(int(submission["size"]) for submission in sent)
    }
    row |= {"seal": seal_of_assignment(read)}
    return await insert_row(store, assignments, row, (submissions, sent))


async def _prune(store: Store, days: float | None) -> int:
    """Delete those that nobody has answered for longer than the limits allow, whatever `days`."""
    max_days = store.limits.assignment_days
    if max_days is None:
        return 0
    async with store.database.writing() as connection:
        return await delete_assignments(connection, assignments.c.changed < since(max_days))


ASSIGNMENTS = "assignments"
STORED = StoredKind(
    ASSIGNMENTS, assignments, (assignments.c.size,), prune=_prune, write=_write, read=_read
)

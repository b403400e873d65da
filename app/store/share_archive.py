"""Exports all that is stored to a file and imports it: a backup, or for another database.

    shares.zip
    ├── contents/{sha256}    a compressed file, stored once for all shares that use it
    ├── shares/{id}.json     the rest of a share; `trace` and `asks` name contents
    ├── collections/{id}.json
    └── assignments/{id}.json    with the answers to it

Addresses are left out, since their digests have another key in another database. So have those of
the members who answered: in another database, a student who answers again is another member.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, TypeVar
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from sqlalchemy import Table, insert, select

from app.store.assignments import (
    read_assignment,
    read_submission,
    seal_of_assignment,
    seal_of_submission,
)
from app.store.collections import read_collection, seal_of_collection
from app.store.content_by_digest import MOST_BYTES, checked
from app.store.documents import dumped
from app.store.ids import ALPHABET
from app.store.seals import in_utc
from app.store.share import Answer, Share, check_share
from app.store.storage_errors import DamagedError
from app.store.store import Store
from app.store.tables import (
    ID_LENGTH,
    answers,
    assignments,
    collections,
    contents,
    shares,
    submissions,
)
from model.errors import FileError, InputError
from model.files import JSON_BYTES, reading

SHARES, COLLECTIONS, CONTENTS, JSON = "shares/", "collections/", "contents/", ".json"
ASSIGNMENTS = "assignments/"


ID = rf"[{ALPHABET}]{{{ID_LENGTH}}}"
ENTRY = re.compile(rf"(contents/[0-9a-f]{{64}}|(shares|collections|assignments)/{ID}\.json)")
FOLDERS = {SHARES, COLLECTIONS, CONTENTS, ASSIGNMENTS}  # which other programs put into a ZIP


class ArchivedAnswer(BaseModel):
    """An additional request, and the digest of its reply."""

    model_config = ConfigDict(extra="forbid")

    question: dict[str, Any]
    answer: str


class ArchivedShare(BaseModel):
    """A share, without its contents."""

    model_config = ConfigDict(extra="forbid")

    id: str
    format: Annotated[int, Field(ge=1, le=1_000_000)]
    created: datetime
    state: dict[str, Any]
    model: dict[str, Any]
    trace: str
    asks: list[ArchivedAnswer]
    edit_key: str | None
    about: dict[str, str] | None = None  # missing in older archives


class ArchivedCollection(BaseModel):
    """A collection."""

    model_config = ConfigDict(extra="forbid")

    id: str
    created: datetime
    changed: datetime
    version: int
    document: dict[str, Any]
    edit_key: str


class ArchivedSubmission(BaseModel):
    """What one member answered."""

    model_config = ConfigDict(extra="forbid")

    member: str
    sent: datetime
    document: dict[str, Any]


class ArchivedAssignment(BaseModel):
    """An assignment with the answers to it."""

    model_config = ConfigDict(extra="forbid")

    id: str
    created: datetime
    changed: datetime
    document: dict[str, Any]
    owner_key: str
    submissions: list[ArchivedSubmission]


Archived = TypeVar("Archived", ArchivedShare, ArchivedCollection, ArchivedAssignment)


@dataclass(frozen=True)
class Counted:
    """Numbers of shares that were transferred and skipped, and of what else was transferred.

    Of an export, `left` counts everything that is damaged.
    """

    taken: int
    left: int
    collections: int = 0
    assignments: int = 0


class Entries:
    """The entries of an archive that others may have written: names and sizes are checked first.

    Nothing is unpacked to the disk. All methods raise FileError.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with reading(path):
            self._zip = ZipFile(path)
            entries = [one for one in self._zip.infolist() if one.filename not in FOLDERS]
        self._sizes = {one.filename: one.file_size for one in entries}
        for name, number in Counter(one.filename for one in entries).items():
            if not ENTRY.fullmatch(name):
                raise self.error(f"{name[:100]!r}", "it is no entry of an export")
            if number > 1:
                raise self.error(name, f"it is there {number} times")

    def under(self, folder: str) -> list[str]:
        """Return the names of the entries in a folder."""
        return sorted(name for name in self._sizes if name.startswith(folder))

    def read(self, names: Sequence[str], most: int) -> list[bytes]:
        """Return the contents of entries, which have at most so many bytes together.

        An entry that has more bytes than it states is damaged.
        """
        for name in names:
            if name not in self._sizes:
                raise self.error(name, "it is missing")
        if (size := sum(self._sizes[name] for name in names)) > most:
            raise self.error(names[0], f"it has {size:,} bytes; at most {most:,} are read")
        with reading(self.path):
            return [self._zip.read(name) for name in names]

    def document(self, name: str, kind: type[Archived]) -> Archived:
        """Return the document in an entry that has the name of its id."""
        (content,) = self.read([name], JSON_BYTES)
        try:
            read = kind.model_validate_json(content)
        except ValidationError as error:
            raise self.error(name, "it is damaged") from error
        if not name.endswith(f"/{read.id}{JSON}"):
            raise self.error(name, "it is another one")
        return read

    def error(self, name: str, what: str) -> FileError:
        """Return the error for what is wrong with an entry."""
        return FileError(self.path, f"{name}: {what}")

    def close(self) -> None:
        """Close the file."""
        self._zip.close()


async def write_archive(store: Store, path: Path) -> Counted:
    """Write everything to a file, readable only by its owner; what is damaged is skipped.

    An incomplete file is never left. Raises StorageError and OSError.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        counted = await _write_all(store, part)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return counted


async def _write_all(store: Store, path: Path) -> Counted:
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), "w+b") as file:
        with ZipFile(file, "w", ZIP_STORED) as archive:
            written: set[str] = set()
            works: list[tuple[Table, Callable[[str], Awaitable[None]]]] = [
                (shares, lambda row_id: _write_share(store, archive, written, row_id)),
                (collections, lambda row_id: _write_collection(store, archive, row_id)),
                (assignments, lambda row_id: _write_assignment(store, archive, row_id)),
            ]
            counts = [await _each(store, table, write) for table, write in works]
        file.flush()
        os.fsync(file.fileno())
    (taken, lists, tasks), damaged = zip(*counts, strict=True)
    return Counted(taken, sum(damaged), lists, tasks)


async def _each(
    store: Store, table: Table, write: Callable[[str], Awaitable[None]]
) -> tuple[int, int]:
    """Write each row of a table, by its id; return how many were written and are damaged."""
    async with store.database.reading() as connection:
        ids = list(await connection.scalars(select(table.c.id).order_by(table.c.id)))
    damaged = 0
    for row_id in ids:
        try:
            await write(row_id)
        except DamagedError:
            damaged += 1
    return len(ids) - damaged, damaged


async def read_archive(store: Store, path: Path) -> Counted:
    """Store what is in a file under its ids, regardless of limits; known ids are skipped.

    Raises FileError, StorageError and OSError; what was read before the error is kept.
    """
    with closing(Entries(path)) as entries:
        counts = [
            [await _taken(take(store, entries, name), entries, name) for name in names]
            for names, take in (
                (entries.under(SHARES), _take_share),
                (entries.under(COLLECTIONS), _take_collection),
                (entries.under(ASSIGNMENTS), _take_assignment),
            )
        ]
    taken, lists, tasks = map(sum, counts)
    return Counted(taken, len(counts[0]) - taken, lists, tasks)


async def _taken(take: Awaitable[bool], entries: Entries, name: str) -> bool:
    """Await what an entry became. Raises FileError if it would not load from the database."""
    try:
        return await take
    except InputError as error:
        raise entries.error(name, str(error)) from error


def _add(archive: ZipFile, name: str, document: BaseModel) -> None:
    told = json.dumps(document.model_dump(mode="json"), ensure_ascii=False)
    archive.writestr(f"{name}{JSON}", told, ZIP_DEFLATED)


async def _write_share(store: Store, archive: ZipFile, written: set[str], row_id: str) -> None:
    """Write a share, and what it freezes unless that is written already."""
    joined = select(shares, contents.c.content).outerjoin(
        contents, shares.c.digest == contents.c.digest
    )
    asked = select(answers, contents.c.content).outerjoin(
        contents, answers.c.digest == contents.c.digest
    )
    async with store.database.reading() as connection:
        share = (await connection.execute(joined.where(shares.c.id == row_id))).one_or_none()
        mine = asked.where(answers.c.share == row_id).order_by(answers.c.n)
        more = list(await connection.execute(mine))
    if share is None:  # deleted meanwhile
        return
    check_share(share, more)
    held = {row.digest.hex(): checked(row.digest, row.content) for row in (share, *more)}
    for digest in held.keys() - written:
        archive.writestr(CONTENTS + digest, held[digest])
        written.add(digest)
    document = ArchivedShare(
        id=share.id,
        format=share.format,
        created=in_utc(share.created),
        state=share.state,
        model=share.model,
        trace=share.digest.hex(),
        asks=[ArchivedAnswer(question=one.question, answer=one.digest.hex()) for one in more],
        edit_key=share.edit_key.hex() if share.edit_key else None,
        about=share.about,
    )
    _add(archive, SHARES + row_id, document)


async def _take_share(store: Store, entries: Entries, name: str) -> bool:
    """Store one share; return False if its id is already used."""
    read = entries.document(name, ArchivedShare)
    digests = [read.trace, *(one.answer for one in read.asks)]
    content = entries.read([CONTENTS + digest for digest in digests], MOST_BYTES)
    try:
        key = None if read.edit_key is None else bytes.fromhex(read.edit_key)
        trace, *found = map(checked, map(bytes.fromhex, digests), content)
    except (ValueError, DamagedError) as error:
        raise entries.error(name, "it is damaged") from error
    asks = tuple(one.question for one in read.asks)
    share = Share(
        read.id, read.format, read.created, read.state, read.model, trace, asks, read.about
    )
    more = [Answer(ask, answer) for ask, answer in zip(asks, found, strict=True)]
    return await store.put(share, more, None, key, limited=False)


async def _write_collection(store: Store, archive: ZipFile, row_id: str) -> None:
    async with store.database.reading() as connection:
        mine = select(collections).where(collections.c.id == row_id)
        row = (await connection.execute(mine)).one_or_none()
    if row is not None:
        found = vars(read_collection(row)) | {"edit_key": row.edit_key.hex()}
        _add(archive, COLLECTIONS + row_id, ArchivedCollection(**found))


async def _take_collection(store: Store, entries: Entries, name: str) -> bool:
    """Store one collection; return False if its id is already used."""
    read = entries.document(name, ArchivedCollection)
    key = _digest(entries, name, read.edit_key)
    row = read.model_dump() | {"edit_key": key, "size": len(dumped(read.document))}
    return await _insert(store, collections, row | {"seal": seal_of_collection(read)})


async def _write_assignment(store: Store, archive: ZipFile, row_id: str) -> None:
    async with store.database.reading() as connection:
        mine = select(assignments).where(assignments.c.id == row_id)
        row = (await connection.execute(mine)).one_or_none()
        theirs = select(submissions).where(submissions.c.assignment == row_id)
        sent = list(await connection.execute(theirs))
    if row is not None:
        given = [vars(read_submission(one)) | {"member": one.member.hex()} for one in sent]
        found = vars(read_assignment(row)) | {"owner_key": row.owner_key.hex()}
        document = ArchivedAssignment.model_validate(found | {"submissions": given})
        _add(archive, ASSIGNMENTS + row_id, document)


async def _take_assignment(store: Store, entries: Entries, name: str) -> bool:
    """Store one assignment with its answers; return False if its id is already used."""
    read = entries.document(name, ArchivedAssignment)
    sent = []
    for one in read.submissions:
        token = _digest(entries, name, one.member)
        seal = seal_of_submission(read.id, token, one.sent, one.document)
        size = len(dumped(one.document))
        sent.append(
            vars(one) | {"assignment": read.id, "member": token, "size": size, "seal": seal}
        )
    row = read.model_dump(exclude={"submissions"})
    row |= {"owner_key": _digest(entries, name, read.owner_key)}
    row |= {"size": len(dumped(read.document)) + sum(int(one["size"]) for one in sent)}
    return await _insert(store, assignments, row | {"seal": seal_of_assignment(read)}, sent)


async def _insert(
    store: Store, table: Table, row: dict[str, Any], sent: Sequence[dict[str, Any]] = ()
) -> bool:
    """Insert a row, with what was sent to it; return False if its id is already used."""
    async with store.database.writing() as connection:
        known = select(table.c.id).where(table.c.id == row["id"])
        if await connection.scalar(known) is not None:
            return False
        await connection.execute(insert(table).values(row))
        if sent:
            await connection.execute(insert(submissions), sent)
    return True


def _digest(entries: Entries, name: str, text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError as error:
        raise entries.error(name, "it is damaged") from error

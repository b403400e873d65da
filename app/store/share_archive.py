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
import zlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from sqlalchemy import Row, insert, select

from app.store.content_by_digest import checked
from app.store.ids import is_id
from app.store.seals import in_utc
from app.store.share import Answer, Share, check_share
from app.store.storage_errors import DamagedError
from app.store.store import Store
from app.store.tables import answers, assignments, collections, contents, shares, submissions

SHARES, COLLECTIONS, CONTENTS, JSON = "shares/", "collections/", "contents/", ".json"
ASSIGNMENTS = "assignments/"


# What zipfile raises for damaged, encrypted and unknown entries.
UNREADABLE = (BadZipFile, EOFError, NotImplementedError, OverflowError, RuntimeError)


class ArchiveError(Exception):
    """The file is not an archive of shares, or is damaged."""


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


@dataclass(frozen=True)
class Counted:
    """Numbers of shares that were transferred and skipped, and of what else was transferred."""

    taken: int
    left: int
    collections: int = 0
    assignments: int = 0


async def write_archive(store: Store, path: Path) -> Counted:
    """Write all shares to a file, readable only by its owner; damaged ones are skipped.

    An incomplete file is never left. Raises StorageError and OSError.
    """
    part = path.with_name(f".{path.name}.part")
    taken = left = 0
    with os.fdopen(os.open(part, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), "w+b") as file:
        with ZipFile(file, "w", ZIP_STORED) as archive:
            written: set[str] = set()
            async for share in _kept(store):
                try:
                    _write(archive, written, *share)
                    taken += 1
                except DamagedError:
                    left += 1
            lists = await _write_collections(store, archive)
            tasks = await _write_assignments(store, archive)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    return Counted(taken, left, lists, tasks)


async def read_archive(store: Store, path: Path) -> Counted:
    """Store the shares of a file under their ids, regardless of limits; known ids are skipped.

    Raises ArchiveError, StorageError and OSError; shares read before the error are kept.
    """
    try:
        with ZipFile(path) as archive:
            names = sorted(set(archive.namelist()))
            found = [name for name in names if name.startswith(SHARES) and name.endswith(JSON)]
            taken = sum([await _take(store, archive, name) for name in found])
            lists = [name for name in names if name.startswith(COLLECTIONS)]
            listed = sum([await _take_collection(store, archive, name) for name in lists])
            tasks = [name for name in names if name.startswith(ASSIGNMENTS)]
            assigned = sum([await _take_assignment(store, archive, name) for name in tasks])
            return Counted(taken, len(found) - taken, listed, assigned)
    except UNREADABLE as error:
        raise ArchiveError(f"{path} is damaged, or not an archive of shares") from error


async def _kept(store: Store) -> AsyncIterator[tuple[Row[Any], list[Row[Any]]]]:
    """Yield each share with its trace, and the rows of its replies."""
    joined = select(shares, contents.c.content).outerjoin(
        contents, shares.c.digest == contents.c.digest
    )
    asked = select(answers, contents.c.content).outerjoin(
        contents, answers.c.digest == contents.c.digest
    )
    last = ""
    while True:
        async with store.database.reading() as connection:
            following = joined.where(shares.c.id > last).order_by(shares.c.id).limit(1)
            share = (await connection.execute(following)).one_or_none()
            if share is None:
                return
            mine = asked.where(answers.c.share == share.id).order_by(answers.c.n)
            more = list(await connection.execute(mine))
        last = share.id
        yield share, more


def _write(archive: ZipFile, written: set[str], share: Row[Any], more: list[Row[Any]]) -> None:
    check_share(share, more)
    held = {row.digest.hex(): checked(row.digest, row.content) for row in (share, *more)}
    for digest in held.keys() - written:
        archive.writestr(CONTENTS + digest, held[digest])
        written.add(digest)
    document = ArchivedShare(
        id=share.id,
        format=share.format,
        created=share.created.replace(tzinfo=share.created.tzinfo or UTC),
        state=share.state,
        model=share.model,
        trace=share.digest.hex(),
        asks=[ArchivedAnswer(question=one.question, answer=one.digest.hex()) for one in more],
        edit_key=share.edit_key.hex() if share.edit_key else None,
        about=share.about,
    )
    told = json.dumps(document.model_dump(mode="json"), ensure_ascii=False)
    archive.writestr(f"{SHARES}{share.id}{JSON}", told, ZIP_DEFLATED)


async def _take(store: Store, archive: ZipFile, name: str) -> bool:
    """Store one share; return False if its id is already used."""
    try:
        read = ArchivedShare.model_validate_json(archive.read(name))
        key = None if read.edit_key is None else bytes.fromhex(read.edit_key)
        trace, *found = (
            checked(bytes.fromhex(digest), archive.read(CONTENTS + digest))
            for digest in (read.trace, *(one.answer for one in read.asks))
        )
    except (ValidationError, ValueError, KeyError, zlib.error, DamagedError) as error:
        raise ArchiveError(f"{name} of the archive is damaged") from error
    if name != f"{SHARES}{read.id}{JSON}" or not is_id(read.id):
        raise ArchiveError(f"{name} of the archive contains another share")
    asks = tuple(one.question for one in read.asks)
    share = Share(
        read.id, read.format, read.created, read.state, read.model, trace, asks, read.about
    )
    more = [Answer(ask, answer) for ask, answer in zip(asks, found, strict=True)]
    return await store.put(share, more, None, key, limited=False)


async def _write_collections(store: Store, archive: ZipFile) -> int:
    async with store.database.reading() as connection:
        found = list(await connection.execute(select(collections)))
    for row in found:
        document = ArchivedCollection(
            id=row.id,
            created=in_utc(row.created),
            changed=in_utc(row.changed),
            version=row.version,
            document=row.document,
            edit_key=row.edit_key.hex(),
        )
        told = json.dumps(document.model_dump(mode="json"), ensure_ascii=False)
        archive.writestr(f"{COLLECTIONS}{row.id}{JSON}", told, ZIP_DEFLATED)
    return len(found)


async def _take_collection(store: Store, archive: ZipFile, name: str) -> bool:
    """Store one collection; return False if its id is already used."""
    try:
        read = ArchivedCollection.model_validate_json(archive.read(name))
        key = bytes.fromhex(read.edit_key)
    except (ValidationError, ValueError, zlib.error) as error:
        raise ArchiveError(f"{name} of the archive is damaged") from error
    if name != f"{COLLECTIONS}{read.id}{JSON}" or not is_id(read.id):
        raise ArchiveError(f"{name} of the archive contains another collection")
    row = read.model_dump() | {"edit_key": key, "size": len(orjson.dumps(read.document))}
    async with store.database.writing() as connection:
        known = select(collections.c.id).where(collections.c.id == read.id)
        if await connection.scalar(known) is not None:
            return False
        await connection.execute(insert(collections).values(row))
    return True


async def _write_assignments(store: Store, archive: ZipFile) -> int:
    async with store.database.reading() as connection:
        found = list(await connection.execute(select(assignments)))
        sent = list(await connection.execute(select(submissions)))
    for row in found:
        document = ArchivedAssignment(
            id=row.id,
            created=in_utc(row.created),
            changed=in_utc(row.changed),
            document=row.document,
            owner_key=row.owner_key.hex(),
            submissions=[
                ArchivedSubmission(
                    member=one.member.hex(), sent=in_utc(one.sent), document=one.document
                )
                for one in sent
                if one.assignment == row.id
            ],
        )
        told = json.dumps(document.model_dump(mode="json"), ensure_ascii=False)
        archive.writestr(f"{ASSIGNMENTS}{row.id}{JSON}", told, ZIP_DEFLATED)
    return len(found)


async def _take_assignment(store: Store, archive: ZipFile, name: str) -> bool:
    """Store one assignment with its answers; return False if its id is already used."""
    try:
        read = ArchivedAssignment.model_validate_json(archive.read(name))
        key = bytes.fromhex(read.owner_key)
        sent = [
            {
                "assignment": read.id,
                "member": bytes.fromhex(one.member),
                "sent": one.sent,
                "document": one.document,
                "size": len(orjson.dumps(one.document)),
            }
            for one in read.submissions
        ]
    except (ValidationError, ValueError, zlib.error) as error:
        raise ArchiveError(f"{name} of the archive is damaged") from error
    if name != f"{ASSIGNMENTS}{read.id}{JSON}" or not is_id(read.id):
        raise ArchiveError(f"{name} of the archive contains another assignment")
    size = len(orjson.dumps(read.document)) + sum(int(str(one["size"])) for one in sent)
    row = read.model_dump(exclude={"submissions"}) | {"owner_key": key, "size": size}
    async with store.database.writing() as connection:
        known = select(assignments.c.id).where(assignments.c.id == read.id)
        if await connection.scalar(known) is not None:
            return False
        await connection.execute(insert(assignments).values(row))
        if sent:
            await connection.execute(insert(submissions), sent)
    return True

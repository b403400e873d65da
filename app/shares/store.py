"""Shares in the database, with their contents: files, each stored once, by its SHA-256.

When `add` returns, the share is on disk. All methods raise StorageError if the database cannot be
used now. Contents change in the same transaction as the shares that refer to them, one writer at a
time, so that no content is missing or unused.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    ColumnElement,
    DateTime,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    Row,
    String,
    Table,
    delete,
    func,
    insert,
    null,
    select,
    true,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from app.http.tasks_and_caches import off_loop
from app.shares.formats import MOST_BYTES, Answer, Share, check_share, seal
from app.store.archive_file import ArchivedRow, ArchiveFile, Entries
from app.store.documents import (
    ID_LENGTH,
    digest_of,
    dumped,
    in_utc,
    is_id,
    key_digest,
    new_id,
    opens,
)
from app.store.storage_errors import DamagedError
from app.store.store import Store, StoredKind, metadata, since

OWN = ("id", "format", "created", "state", "model", "digest", "about", "seal")
AT_ONCE = 100  # shares deleted in one transaction

shares = Table(
    "shares",
    metadata,
    Column("id", String(ID_LENGTH), primary_key=True),
    Column("format", Integer, nullable=False, server_default="1"),
    Column("created", DateTime(timezone=True), nullable=False),
    Column("state", JSON, nullable=False),
    Column("model", JSON, nullable=False),
    Column("digest", LargeBinary, nullable=False),  # of the trace, in `contents`
    Column("documents", BigInteger, nullable=False, server_default="0"),  # bytes of JSON
    Column("size", BigInteger, nullable=False, server_default="0"),  # bytes, with all contents
    Column("edit_key", LargeBinary),  # SHA-256; older shares have none
    Column("address", LargeBinary),  # keyed digest of the author's address
    Column("about", JSON),  # the author's texts for readers; null: none
    Column("request", LargeBinary),  # keyed digest of the request and the client
    Column("seal", LargeBinary),  # SHA-256 of what a reader gets; older shares have none
    Index("ix_shares_created", "created"),
    Index("ix_shares_digest", "digest"),
    Index("ix_shares_documents", "documents"),
    Index("ix_shares_address", "address", "size"),
    Index("ix_shares_request", "request"),
)
answers = Table(
    "answers",
    metadata,
    Column("share", String(ID_LENGTH), ForeignKey("shares.id"), primary_key=True),
    Column("n", Integer, primary_key=True, autoincrement=False),
    Column("question", JSON, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Index("ix_answers_digest", "digest"),
)
contents = Table(
    "contents",
    metadata,
    Column("digest", LargeBinary, primary_key=True),  # SHA-256 of the content
    Column("size", BigInteger, nullable=False),
    Column("content", LargeBinary, nullable=False),
    Index("ix_contents_size", "size"),
)


class Shares:
    """Shares by id, in the database of a store and within its limits."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.database = store.database

    async def add(
        self,
        written: int,
        state: dict[str, Any],
        model: dict[str, Any],
        trace: bytes,
        frozen_answers: Sequence[Answer] = (),
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
        asks = tuple(answer.question for answer in frozen_answers)
        share = Share(new_id(), written, datetime.now(UTC), state, model, trace, asks, about)
        owner = None if address is None else self.store.keyed(address)
        key = None if edit_key is None else key_digest(edit_key)
        request_key = None if request is None else self.store.keyed(request)
        await self.put(share, frozen_answers, owner, key, request_key, limited=True)
        return share

    async def put(
        self,
        share: Share,
        frozen_answers: Sequence[Answer],
        owner: bytes | None,
        edit_key: bytes | None,
        request: bytes | None = None,
        *,
        limited: bool,
    ) -> bool:
        """Store a share under its id; durable on return. Return False if the id is already used."""
        contents_held = [share.trace, *(frozen.answer for frozen in frozen_answers)]
        digests = await off_loop(digests_of, contents_held, size=sum(map(len, contents_held)))
        documents = len(dumped([share.state, share.model, [*share.asks], share.about]))
        size = documents + sum(map(len, contents_held))
        row = {name: getattr(share, name) for name in ("id", "format", "created", "state", "model")}
        row |= {"digest": digests[0], "documents": documents, "size": size}
        row |= {"edit_key": edit_key, "address": owner, "request": request}
        row |= {"about": share.about or null()}
        rows = [
            {"share": share.id, "n": n, "question": frozen.question, "digest": digest}
            for n, (frozen, digest) in enumerate(zip(frozen_answers, digests[1:], strict=True))
        ]
        row["seal"] = seal(share, digests[0], rows)
        existing = select(shares.c.id).where(shares.c.id == share.id)
        async with self.database.writing() as connection:
            if await connection.scalar(existing) is not None:
                return False
            new = await lacking(connection, dict(zip(digests, contents_held, strict=True)))
            if limited:
                grows = documents + sum(map(len, new.values()))
                await self.store.check_room(connection, owner, grows, size)
            await put(connection, new)
            await connection.execute(insert(shares).values(row))
            if rows:
                await connection.execute(insert(answers), rows)
        return True

    async def check_room(self, address: str) -> None:
        """Raise StorageError if an address cannot store another share, however small."""
        async with self.database.reading() as connection:
            await self.store.check_room(connection, self.store.keyed(address), 1, 1)

    async def totals(self) -> tuple[int, int]:
        """Return the number of shares, and the bytes that they take in total."""
        query = select(
            select(func.count()).select_from(shares).scalar_subquery(), self.store.used()
        )
        async with self.database.reading() as connection:
            number, size = (await connection.execute(query)).one()
        return number, int(size)

    async def has(self, share_id: str) -> bool:
        """Return whether a share with this id exists, in either case."""
        query = select(shares.c.id).where(self._is(share_id))
        async with self.database.reading() as connection:
            return await connection.scalar(query) is not None

    async def find(self, share_id: str) -> Share | None:
        """Return the share with this id, in either case; None if there is none.

        Raises DamagedError if it cannot be read.
        """
        async with self.database.reading() as connection:
            rows = await self._read(connection, share_id)
            if rows is None:
                return None
            row, questions = rows
            content = await _content(connection, row.digest)
        trace = await off_loop(checked, row.digest, content, size=len(content or b""))
        asks = tuple(question.question for question in questions)
        created = in_utc(row.created)
        return Share(row.id, row.format, created, row.state, row.model, trace, asks, row.about)

    async def brief(self, share_id: str) -> tuple[dict[str, Any], dict[str, str]] | None:
        """Return the state and the author's texts of a share, without its contents; or None."""
        async with self.database.reading() as connection:
            rows = await self._read(connection, share_id)
        return None if rows is None else (rows[0].state, rows[0].about or {})

    async def _read(
        self, connection: AsyncConnection, share_id: str
    ) -> tuple[Row[Any], Sequence[Row[Any]]] | None:
        """Return a share without its contents, and its additional requests; None if there is none.

        Raises DamagedError if they are not as they were stored, or if the share is missing and the
        table damaged.
        """
        query = select(*(shares.c[name] for name in OWN)).where(self._is(share_id))
        row = (await connection.execute(query)).one_or_none()
        if row is None:
            await self.database.check_absent("shares", share_id, "share")
            return None
        questions = select(answers.c.n, answers.c.question, answers.c.digest)
        mine = questions.where(answers.c.share == share_id.lower()).order_by(answers.c.n)
        rows: list[Row[Any]] = [*await connection.execute(mine)]
        check_share(row, rows)
        return row, rows

    async def find_request(self, request: str) -> tuple[str, datetime] | None:
        """Return the id and the time of the newest share that `add` was given `request` for."""
        mine = (shares.c.request == self.store.keyed(request)) & self._lasts()
        query = select(shares.c.id, shares.c.created).where(mine)
        async with self.database.reading() as connection:
            row = (await connection.execute(query.order_by(shares.c.created.desc()))).first()
        return None if row is None else (row.id, in_utc(row.created))

    async def find_answer(self, share_id: str, n: int) -> tuple[int, bytes] | None:
        """Return the format of a share and the reply to its n-th request; None if there is none.

        Raises DamagedError if it cannot be read.
        """
        async with self.database.reading() as connection:
            rows = await self._read(connection, share_id)
            if rows is None:
                return None
            row, questions = rows
            digest = next((question.digest for question in questions if question.n == n), None)
            if digest is None:
                return None
            content = await _content(connection, digest)
        return row.format, await off_loop(checked, digest, content, size=len(content or b""))

    async def delete(self, share_id: str, edit_key: str) -> bool | None:
        """Delete a share; return False for a wrong edit key, None if there is no such share."""
        query = select(shares.c.id, shares.c.edit_key).where(self._is(share_id))
        async with self.database.writing() as connection:
            row = (await connection.execute(query)).one_or_none()
            if row is None:
                return None
            if not opens(edit_key, row.edit_key):
                return False
            await delete_shares(connection, [row.id])
            return True

    async def remove(self, share_id: str) -> bool:
        """Delete a share without its key; return False if there is none."""
        async with self.database.writing() as connection:
            existing = await connection.scalar(select(shares.c.id).where(shares.c.id == share_id))
            if existing is not None:
                await delete_shares(connection, [existing])
            return existing is not None

    def _is(self, share_id: str) -> ColumnElement[bool]:
        """Match a share by its id in either case, unless it is older than the limits allow."""
        share_id = share_id.lower()
        return (shares.c.id == (share_id if is_id(share_id) else "")) & self._lasts()

    def _lasts(self) -> ColumnElement[bool]:
        days = self.store.limits.days
        return true() if days is None else shares.c.created >= since(days)


async def _content(connection: AsyncConnection, digest: bytes) -> bytes | None:
    query = select(contents.c.content).where(contents.c.digest == digest)
    content: bytes | None = await connection.scalar(query)
    return content


async def delete_shares(connection: AsyncConnection, ids: Sequence[str]) -> None:
    """Delete shares with their replies, and contents that no other share uses."""
    mine, theirs = shares.c.id.in_(ids), answers.c.share.in_(ids)
    digests = list(await connection.scalars(select(shares.c.digest).where(mine)))
    digests += list(await connection.scalars(select(answers.c.digest).where(theirs)))
    await connection.execute(delete(answers).where(theirs))
    await connection.execute(delete(shares).where(mine))
    await drop(connection, digests)


def digests_of(files: Sequence[bytes]) -> list[bytes]:
    """Return the digest of each file. Blocks."""
    return [digest_of(file) for file in files]


def checked(digest: bytes, content: bytes | None) -> bytes:
    """Return the content if it matches its digest. Blocks.

    Raises DamagedError otherwise.
    """
    if content is None or digest_of(content) != digest:
        raise DamagedError
    return content


async def lacking(connection: AsyncConnection, files: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """Return the files, by digest, that are not stored yet."""
    result = await connection.scalars(
        select(contents.c.digest).where(contents.c.digest.in_(list(files)))
    )
    stored = set(result)
    return {digest: content for digest, content in files.items() if digest not in stored}


async def put(connection: AsyncConnection, files: Mapping[bytes, bytes]) -> None:
    """Store files that are not stored yet."""
    rows = [
        {"digest": digest, "size": len(content), "content": content}
        for digest, content in files.items()
    ]
    if rows:
        await connection.execute(insert(contents), rows)


async def drop(connection: AsyncConnection, digests: Iterable[bytes]) -> None:
    """Delete the contents that no share refers to any more."""
    references = (
        select(table.c.digest).where(table.c.digest == contents.c.digest).exists()
        for table in (shares, answers)
    )
    unheld = [~reference for reference in references]
    for digest in set(digests):
        await connection.execute(delete(contents).where(contents.c.digest == digest, *unheld))


class ArchivedAnswer(BaseModel):
    """An additional request, and the digest of its reply."""

    model_config = ConfigDict(extra="forbid")

    question: dict[str, Any]
    answer: str


class ArchivedShare(ArchivedRow):
    """A share, without its contents."""

    format: Annotated[int, Field(ge=1, le=1_000_000)]
    created: datetime
    state: dict[str, Any]
    model: dict[str, Any]
    trace: str
    asks: list[ArchivedAnswer]
    edit_key: str | None
    about: dict[str, str] | None = None  # missing in older archives


async def _write(store: Store, archive: ArchiveFile, row_id: str) -> None:
    """Write a share, and what it freezes."""
    joined = select(shares, contents.c.content).outerjoin(
        contents, shares.c.digest == contents.c.digest
    )
    query = select(answers, contents.c.content).outerjoin(
        contents, answers.c.digest == contents.c.digest
    )
    async with store.database.reading() as connection:
        share = (await connection.execute(joined.where(shares.c.id == row_id))).one_or_none()
        mine = query.where(answers.c.share == row_id).order_by(answers.c.n)
        answer_rows = list(await connection.execute(mine))
    if share is None:  # deleted meanwhile
        return
    check_share(share, answer_rows)
    for row in (share, *answer_rows):
        archive.add_content(row.digest, checked(row.digest, row.content))
    document = ArchivedShare(
        id=share.id,
        format=share.format,
        created=in_utc(share.created),
        state=share.state,
        model=share.model,
        trace=share.digest.hex(),
        asks=[
            ArchivedAnswer(question=answer.question, answer=answer.digest.hex())
            for answer in answer_rows
        ],
        edit_key=share.edit_key.hex() if share.edit_key else None,
        about=share.about,
    )
    archive.add(SHARES, document.id, document)


async def _read(store: Store, entries: Entries, name: str) -> bool:
    """Store one share; return False if its id is already used."""
    read = entries.document(name, ArchivedShare)
    digests = [read.trace, *(answer.answer for answer in read.asks)]
    content = entries.contents(digests, MOST_BYTES)
    try:
        key = None if read.edit_key is None else bytes.fromhex(read.edit_key)
        trace, *answer_contents = map(checked, map(bytes.fromhex, digests), content)
    except (ValueError, DamagedError) as error:
        raise entries.error(name, "it is damaged") from error
    asks = tuple(answer.question for answer in read.asks)
    share = Share(
        read.id, read.format, read.created, read.state, read.model, trace, asks, read.about
    )
    frozen_answers = [
        Answer(ask, answer) for ask, answer in zip(asks, answer_contents, strict=True)
    ]
    return await Shares(store).put(share, frozen_answers, None, key, limited=False)


async def _prune(store: Store, days: float | None) -> int:
    days = store.limits.days if days is None else days
    if days is None:
        return 0
    old = select(shares.c.id).where(shares.c.created < since(days)).limit(AT_ONCE)
    deleted = 0
    while True:
        async with store.database.writing() as connection:
            ids = list(await connection.scalars(old))
            await delete_shares(connection, ids)
        deleted += len(ids)
        if len(ids) < AT_ONCE:
            return deleted


SHARES = "shares"
STORED = StoredKind(
    SHARES, shares, (shares.c.documents, contents.c.size), prune=_prune, write=_write, read=_read
)

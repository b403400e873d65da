"""Collections in the database of the shares: ordered lists of links that their owners can change.

When `add` or `change` returns, the collection is on disk. All methods raise StorageError if the
database cannot be used now; those that read raise DamagedError for what is not as it was stored.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import not_
from typing import Any, Literal

from pydantic import Field
from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    ColumnElement,
    DateTime,
    Index,
    Integer,
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
    key_from,
    new_edit_key,
    new_id,
    opens,
    sealed,
)
from app.store.store import Store, StoredKind, insert_row, metadata, since

Refusal = Literal["unknown", "wrong key", "changed"]
# Of the column `listing`: not listed, or the languages; or that the operator allows it no more.
UNLISTED, WITHDRAWN = "", "withdrawn"
LISTING = r"^(withdrawn|en|zh|en zh)?$"
FIRST = 1
collections = Table(
    "collections",
    metadata,
    Column("id", String(ID_LENGTH), primary_key=True),
    Column("created", DateTime(timezone=True), nullable=False),
    Column("changed", DateTime(timezone=True), nullable=False),
    Column("version", Integer, nullable=False),  # 1, then one more with each change
    Column("document", JSON, nullable=False),  # title, note, items
    Column("size", BigInteger, nullable=False),  # bytes of the document
    Column("edit_key", LargeBinary, nullable=False),  # SHA-256
    Column("address", LargeBinary),  # keyed digest of the author's address
    Column("request", LargeBinary),  # keyed digest of the request and the client
    Column("seal", LargeBinary),  # SHA-256 of what a reader gets; older rows have none
    Column("listing", String(16), nullable=False, server_default=UNLISTED),  # languages
    Index("ix_collections_changed", "changed"),
    Index("ix_collections_listing", "listing", "changed"),
    Index("ix_collections_address", "address", "size"),
    Index("ix_collections_request", "request"),
)
# What is needed of a collection to change it, even if its document is damaged.
CONTROL = tuple(column for column in collections.c if column.name != "document")


@dataclass(frozen=True)
class Collection:
    """A document, and its version: one more with each change."""

    id: str
    created: datetime
    changed: datetime
    version: int
    document: dict[str, Any]
    listing: str = UNLISTED

    @property
    def languages(self) -> list[Any]:
        """The languages for which it is listed; none: it is not."""
        return [] if self.listing == WITHDRAWN else self.listing.split()


SEALED = ("id", "created", "changed", "version", "document")


class Collections:
    """Collections by id, in the database of a store and within its limits."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.database = store.database

    async def add(
        self, document: dict[str, Any], address: str, request: str | None = None
    ) -> tuple[Collection, str, bool]:
        """Store a collection; return it, its edit key, and whether it is new.

        The same `request` again returns the same collection and key, as long as it is unchanged.
        Only digests of the key, the address and the request are stored; the key can be computed
        again only from the request.
        """
        now = datetime.now(UTC)
        collection = Collection(new_id(), now, now, FIRST, document)
        owner = self.store.keyed(address)
        request_key = None if request is None else self.store.keyed(request)
        size = len(dumped(document))
        async with self.database.writing() as connection:
            row = None if request is None else await self._repeated(connection, request_key)
            if row is None:
                await self.store.check_room(connection, owner, size, size)
                key = new_edit_key() if request is None else self._key(collection.id, request)
                new = vars(collection) | {
                    "size": size,
                    "edit_key": key_digest(key),
                    "seal": seal_of_collection(collection),
                }
                await connection.execute(
                    insert(collections).values(new | {"address": owner, "request": request_key})
                )
                return collection, key, True
        assert request is not None
        return read_collection(row), self._key(row.id, request), False

    async def find(self, collection_id: str) -> Collection | None:
        """Return the collection with this id, in either case; None if there is none."""
        async with self.database.reading("collection") as connection:
            row = await self._row(connection, collection_id, list(collections.c))
        if row is None:
            await self.database.check_absent("collections", collection_id, "collection")
            return None
        return read_collection(row)

    async def check_key(self, collection_id: str, edit_key: str) -> Refusal | None:
        """Return why an edit key does not open a collection; None if it does."""
        async with self.database.reading("collection") as connection:
            return _refused(await self._row(connection, collection_id), edit_key)

    async def change(
        self, collection_id: str, document: dict[str, Any], edit_key: str, version: int | None
    ) -> Collection | Refusal:
        """Replace the document of a version (None: of any); return the changed collection.

        Returns "changed" if the collection has another version.
        """
        size = len(dumped(document))
        async with self.database.writing() as connection:
            row = await self._row(connection, collection_id)
            if refused := _refused(row, edit_key):
                return refused
            assert row is not None
            if version not in (None, row.version):
                return "changed"
            grows = size - row.size
            if grows > 0:
                await self.store.check_room(connection, row.address, grows, grows)
            created, now = in_utc(row.created), datetime.now(UTC)
            changed = Collection(row.id, created, now, row.version + 1, document, row.listing)
            new = vars(changed) | {"size": size, "seal": seal_of_collection(changed)}
            mine = collections.c.id == row.id
            await connection.execute(update(collections).where(mine).values(new))
        return changed

    async def delete(self, collection_id: str, edit_key: str) -> Refusal | None:
        """Delete a collection; return why not, or None if it was deleted."""
        async with self.database.writing() as connection:
            row = await self._row(connection, collection_id)
            refused = _refused(row, edit_key)
            if row is not None and not refused:
                await connection.execute(delete(collections).where(collections.c.id == row.id))
        return refused

    async def listed(self, most: int) -> Sequence[tuple[str, int, str]]:
        """Return the listed collections, those that were changed last first.

        Of each its id, its version and its languages.
        """
        shown = collections.c.listing.not_in((UNLISTED, WITHDRAWN)) & self._lasts()
        newest = collections.c.changed.desc(), collections.c.id
        columns = collections.c.id, collections.c.version, collections.c.listing
        query = select(*columns).where(shown).order_by(*newest)
        async with self.database.reading("collection") as connection:
            rows = await connection.execute(query.limit(most))
            return [(row.id, row.version, row.listing) for row in rows]

    async def list_it(
        self, collection_id: str, edit_key: str, languages: str, most: int
    ) -> Refusal | Literal["withdrawn", "full"] | None:
        """List a collection for languages; return why not. An author can have `most` listed."""
        async with self.database.writing() as connection:
            row = await self._row(connection, collection_id)
            if refused := _refused(row, edit_key):
                return refused
            assert row is not None
            if row.listing == WITHDRAWN:
                return "withdrawn"
            theirs = collections.c.address == row.address
            others = theirs & (collections.c.id != row.id) & (collections.c.listing != UNLISTED)
            count = select(func.count()).select_from(collections).where(others)
            if (await connection.scalar(count) or 0) >= most:
                return "full"
            await _list(connection, row.id, languages)
        return None

    async def unlist(self, collection_id: str, edit_key: str) -> Refusal | None:
        """Take a collection off the list; return why not."""
        async with self.database.writing() as connection:
            row = await self._row(connection, collection_id)
            refused = _refused(row, edit_key)
            if row is not None and not refused and row.listing != WITHDRAWN:
                await _list(connection, row.id, UNLISTED)
        return refused

    async def withdraw(self, collection_id: str) -> bool:
        """Take a collection off the list for good; return whether there is one with this id."""
        async with self.database.writing() as connection:
            row = await self._row(connection, collection_id)
            if row is not None:
                await _list(connection, row.id, WITHDRAWN)
        return row is not None

    async def _row(
        self, connection: AsyncConnection, collection_id: str, columns: Sequence[Any] = CONTROL
    ) -> Row[Any] | None:
        lowercase_id = collection_id.lower()
        mine = collections.c.id == (lowercase_id if is_id(lowercase_id) else "")
        result = await connection.execute(select(*columns).where(mine & self._lasts()))
        return result.one_or_none()

    async def _repeated(
        self, connection: AsyncConnection, request_key: bytes | None
    ) -> Row[Any] | None:
        mine = (collections.c.request == request_key) & (collections.c.version == FIRST)
        newest = collections.c.created.desc()
        query = select(collections).where(mine & self._lasts()).order_by(newest)
        return (await connection.execute(query)).first()

    def _lasts(self) -> ColumnElement[bool]:
        days = self.store.limits.days
        if days is None:
            return true()
        return collections.c.changed >= since(days)

    def _key(self, collection_id: str, request: str) -> str:
        return key_from(self.store.keyed(f"edit key of {collection_id}\n{request}"))


@asynccontextmanager
async def open_collections(services: Services) -> AsyncIterator[None]:
    """Open the collections of a server."""
    services.add(Collections(services[Store]))
    yield


async def _list(connection: AsyncConnection, row_id: str, listing: str) -> None:
    mine = collections.c.id == row_id
    await connection.execute(update(collections).where(mine).values(listing=listing))


def _refused(row: Row[Any] | None, edit_key: str) -> Refusal | None:
    if row is None:
        return "unknown"
    return None if opens(edit_key, row.edit_key) else "wrong key"


def seal_of_collection(collection: Any) -> bytes:
    """Return the seal of a collection or its row."""
    return sealed(*(getattr(collection, name) for name in SEALED))


def read_collection(row: Row[Any]) -> Collection:
    """Return the collection in a row. Raises DamagedError."""
    check_seal("collection", row.seal, lambda: seal_of_collection(row))
    changed = in_utc(row.changed)
    return Collection(row.id, in_utc(row.created), changed, row.version, row.document, row.listing)


class ArchivedCollection(ArchivedRow):
    """A collection."""

    created: datetime
    changed: datetime
    version: int
    document: dict[str, Any]
    edit_key: str
    listing: str = Field(default=UNLISTED, pattern=LISTING, exclude_if=not_)


async def _write(store: Store, archive: ArchiveFile, row_id: str) -> None:
    async with store.database.reading() as connection:
        mine = select(collections).where(collections.c.id == row_id)
        row = (await connection.execute(mine)).one_or_none()
    if row is not None:
        document = vars(read_collection(row)) | {"edit_key": row.edit_key.hex()}
        archive.add(COLLECTIONS, row_id, ArchivedCollection(**document))


async def _read(store: Store, entries: Entries, name: str) -> bool:
    """Store one collection; return False if its id is already used."""
    read = entries.document(name, ArchivedCollection)
    key = entries.from_hex(name, read.edit_key)
    row = read.model_dump() | {"edit_key": key, "size": len(dumped(read.document))}
    return await insert_row(store, collections, row | {"seal": seal_of_collection(read)})


async def _prune(store: Store, days: float | None) -> int:
    days = store.limits.days if days is None else days
    if days is None:
        return 0
    async with store.database.writing() as connection:
        old = collections.c.changed < since(days)
        return (await connection.execute(delete(collections).where(old))).rowcount


COLLECTIONS = "collections"
STORED = StoredKind(
    COLLECTIONS, collections, (collections.c.size,), prune=_prune, write=_write, read=_read
)

"""The database of the store: opens it, allows one writer at a time, and checks its files.

SQLite syncs its write-ahead log at every commit, as PostgreSQL does by default. An SQLite file that
is deleted or replaced while open still accepts commits, which are lost. Its files are therefore
compared with those that were opened, before each use and after each commit.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import URL, Connection, event, make_url, text
from sqlalchemy.exc import DisconnectionError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from app.store.disk_files import UNAVAILABLE, make_private_file
from app.store.documents import dumped, is_id
from app.store.storage_errors import (
    DamagedError,
    StorageError,
    Stored,
    log,
    translated,
    undamaged,
    writable,
)
from model.errors import FileError

MIGRATIONS = Path(__file__).parent / "migrations"
# Arbitrary numbers of advisory locks, which nothing else in the same PostgreSQL should use.
MIGRATION_LOCK, WRITE_LOCK = 20170612, 20170613

LOCK_SECONDS = 5  # how long a writer waits for another
MIGRATION_SECONDS = 600
CHECK_SECONDS = 600  # between two checks of a table
ANSWER_SECONDS = 30  # maximum time of one use of the database
FILES = ("", "-wal", "-shm")  # of an SQLite database
IN_MEMORY = (None, "", ":memory:")


class Database:
    """An open database: `reading()` and `writing()` raise StorageError for its failures."""

    def __init__(self, engine: AsyncEngine, file: Path | None) -> None:
        self._engine = engine
        self.file = file  # of SQLite; None: a server's, or in memory
        self._sqlite = engine.dialect.name == "sqlite"
        self._checked: dict[str, tuple[float, bool]] = {}  # when, and whether it was damaged

    @asynccontextmanager
    async def reading(self, kind: Stored = "share") -> AsyncIterator[AsyncConnection]:
        """Yield a connection for reading, which does not see concurrent writes.

        Raises DamagedError if what it reads, which is of `kind`, is damaged.
        """
        with translated(), undamaged(kind):
            async with asyncio.timeout(ANSWER_SECONDS), self._engine.connect() as connection:
                if self._sqlite:
                    await connection.exec_driver_sql("BEGIN")
                else:
                    await connection.execution_options(isolation_level="REPEATABLE READ")
                yield connection

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncConnection]:
        """Yield a connection for the only writer; the writes are durable after the block.

        If the block raises, nothing is written.
        """
        with translated(), writable():
            async with asyncio.timeout(ANSWER_SECONDS), self._engine.connect() as connection:
                async with connection.begin():
                    await self._lock(connection)
                    yield connection
                await self._check_files(connection)

    async def check_absent(self, table: str, identity: str, kind: Stored) -> None:
        """Raise DamagedError if an id that is not in a table may be that of a damaged row."""
        if is_id(identity.lower()) and await self.is_damaged(table):
            raise DamagedError(kind)

    async def is_damaged(self, table: str) -> bool:
        """Return whether a table and its indexes contradict each other.

        Checked at most every `CHECK_SECONDS`; PostgreSQL is not.
        """
        checked, damaged = self._checked.get(table, (-CHECK_SECONDS, False))
        if self._sqlite and time.monotonic() - checked >= CHECK_SECONDS:
            try:
                async with self.reading() as connection:
                    check = f"PRAGMA integrity_check({table})"
                    damaged = await connection.scalar(text(check)) != "ok"
            except DamagedError:
                damaged = True
            if damaged:
                log.error("the table %s of the database is damaged", table)
            self._checked[table] = time.monotonic(), damaged
        return damaged

    async def migrate(self) -> None:
        """Run the migrations; servers that start at the same time take turns.

        Raises what SQLAlchemy and the drivers raise.
        """
        async with self._engine.begin() as connection:
            if self._sqlite:
                await connection.exec_driver_sql(_patience(MIGRATION_SECONDS))
                await connection.exec_driver_sql("BEGIN IMMEDIATE")
            else:
                await connection.exec_driver_sql(_advisory(MIGRATION_LOCK))
            await connection.run_sync(upgrade)
        await self._engine.dispose()  # drops the connection with the longer timeout

    async def _lock(self, connection: AsyncConnection) -> None:
        if self._sqlite:
            await connection.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            await connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'")
            await connection.exec_driver_sql(_advisory(WRITE_LOCK))

    async def _check_files(self, connection: AsyncConnection) -> None:
        opened = (await connection.get_raw_connection()).info.get("files")
        if self.file and opened != _identity(self.file):
            log.error("%s: the file of the database was removed", UNAVAILABLE)
            raise StorageError(UNAVAILABLE)


@asynccontextmanager
async def open_database(url: str) -> AsyncIterator[Database]:
    """Open a database, after running its migrations.

    A missing SQLite file is created, readable only by its owner.

    Raises FileError for a file that is damaged, is no database, or was written by a newer version;
    OSError if it cannot be created, and what SQLAlchemy and the drivers raise.
    """
    file = _file(make_url(url))
    options: dict[str, Any] = {
        "hide_parameters": True,
        "json_serializer": lambda document: dumped(document).decode(),
    }
    if file:
        make_private_file(file, FILES)
        options["pool_timeout"] = LOCK_SECONDS
    elif make_url(url).get_backend_name() != "sqlite":
        options |= {
            "pool_pre_ping": True,
            "pool_timeout": LOCK_SECONDS,
            "connect_args": {"timeout": LOCK_SECONDS},
        }
    engine = create_async_engine(url, **options)
    if file:
        _watch(engine, file)
    database = Database(engine, file)
    try:
        with _named(file or Path(make_url(url).database or "")):
            await database.migrate()
        yield database
    finally:
        await engine.dispose()


@contextmanager
def _named(file: Path) -> Iterator[None]:
    """Raise FileError for a database that these migrations cannot read."""
    try:
        with undamaged():
            yield
    except DamagedError as error:
        raise FileError(file, "it is damaged, or not a database") from error
    except CommandError as error:
        newer = "it was written by a newer version of Headlight"
        raise FileError(file, newer) from error


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Migrate the tables to a revision of `app/store/migrations/`."""
    if revision == "head":
        present = MigrationContext.configure(connection).get_current_revision()
        if present == _newest():  # as at nearly every start, and then no migration is read
            return
    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    return config


@cache
def _newest() -> str | None:
    return ScriptDirectory.from_config(_config()).get_current_head()


def _file(url: URL) -> Path | None:
    """Return the file of an SQLite database; None for other databases."""
    if url.get_backend_name() != "sqlite" or url.database in IN_MEMORY:
        return None
    assert url.database is not None
    return Path(url.database).absolute()


def _watch(engine: AsyncEngine, file: Path) -> None:
    """Open only the existing file, never a new one, and drop connections to another one."""

    def open_existing(_: object, __: object, arguments: list[Any], options: dict[str, Any]) -> None:
        arguments[0], options["uri"] = f"{file.as_uri()}?mode=rw", True

    def opened(connection: Any, record: Any) -> None:
        cursor = connection.cursor()
        cursor.execute(_patience(LOCK_SECONDS))
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute("PRAGMA synchronous = FULL")
        cursor.execute("SELECT count(*) FROM sqlite_master")  # opens the log
        cursor.close()
        record.info["files"] = _identity(file)

    def used(_: object, record: Any, __: object) -> None:
        if record.info["files"] != _identity(file):
            raise DisconnectionError

    event.listen(engine.sync_engine, "do_connect", open_existing)
    event.listen(engine.sync_engine, "connect", opened)
    event.listen(engine.sync_engine, "checkout", used)


def _identity(file: Path) -> tuple[object, ...]:
    """Return the inodes of the database and its log, which stay if files move; None if missing."""
    return tuple(_inode(Path(f"{file}{suffix}")) for suffix in FILES[:2])


def _inode(file: Path) -> tuple[int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _patience(seconds: int) -> str:
    return f"PRAGMA busy_timeout = {1000 * seconds}"


def _advisory(number: int) -> str:
    return f"SELECT pg_advisory_xact_lock({number})"

"""The store when its database fails: it reports the kind, stores nothing, and recovers."""

import errno
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from sqlalchemy import event

from app.shares.store import Shares
from app.store import database
from app.store.disk_files import FULL, UNAVAILABLE
from app.store.storage_errors import BUSY, StorageError
from app.store.store import prune
from tests.serving.storage import MORE, add, counts, failing, failure, open_shares, pragma


def sqlite_error(code: int, name: str) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("what SQLite says")
    error.sqlite_errorcode, error.sqlite_errorname = code, name
    return error


FAULTS: list[tuple[Exception, str]] = [
    (sqlite_error(sqlite3.SQLITE_IOERR_WRITE, "SQLITE_IOERR_WRITE"), UNAVAILABLE),
    (sqlite_error(sqlite3.SQLITE_IOERR_FSYNC, "SQLITE_IOERR_FSYNC"), UNAVAILABLE),
    (sqlite_error(sqlite3.SQLITE_CORRUPT, "SQLITE_CORRUPT"), UNAVAILABLE),
    (sqlite_error(sqlite3.SQLITE_READONLY, "SQLITE_READONLY"), UNAVAILABLE),
    (sqlite_error(sqlite3.SQLITE_FULL, "SQLITE_FULL"), FULL),
    (sqlite_error(sqlite3.SQLITE_BUSY, "SQLITE_BUSY"), BUSY),
    (OSError(errno.ENOSPC, "full"), FULL),
    (OSError(errno.EIO, "broken"), UNAVAILABLE),
]


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Shares]:
    async with open_shares(f"sqlite+aiosqlite:///{tmp_path}/headlight.db") as store:
        yield store


@pytest.mark.parametrize(("error", "kind"), FAULTS)
async def test_a_failure_at_any_statement_stores_nothing(
    store: Shares, error: Exception, kind: str
) -> None:
    await prune(store.store, 0)
    nth = 0
    while True:
        with failing(store, nth, error) as done:
            failed = await failure(add(store))
        if failed is None:
            break
        assert failed == kind, done
        assert await counts(store) == [0, 0, 0], done
        nth += 1
    wrote = [one.split()[0] for one in done]
    assert wrote.count("INSERT") == 3, "contents, the share, its answers"
    assert wrote[-1] == "COMMIT"
    assert nth == len(done)
    assert await counts(store) == [1, 2, 3]


@pytest.mark.parametrize(("error", "kind"), FAULTS)
async def test_a_failure_at_any_statement_deletes_all_or_nothing(
    store: Shares, error: Exception, kind: str
) -> None:
    kept = await store.add(2, {}, {}, b"trace", MORE, edit_key="key")
    nth = 0
    while True:
        with failing(store, nth, error) as done:
            failed = await failure(store.delete(kept.id, "key"))
        if failed is None:
            break
        assert failed == kind, done
        assert await store.find(kept.id) == kept, done
        assert await counts(store) == [1, 2, 3], done
        nth += 1
    assert [one.split()[0] for one in done].count("DELETE") == 5
    assert await counts(store) == [0, 0, 0]


async def test_an_error_does_not_repeat_the_data(store: Shares) -> None:
    with failing(store, 4, FAULTS[0][0]) as done, pytest.raises(StorageError) as failed:
        await store.add(2, {"source": "Aardvarks whisper"}, {}, b"trace")
    assert done[-1].startswith("INSERT INTO shares")
    assert "Aardvarks" not in f"{failed.value} {failed.value.__cause__}"
    assert "INSERT INTO shares" in str(failed.value.__cause__)


@pytest.mark.parametrize("file", ["headlight.db", "headlight.db-wal", ""])
async def test_writes_to_removed_files_are_not_acknowledged(
    store: Shares, tmp_path: Path, file: str
) -> None:
    """The database, its log or its folder is removed between the first statement and the commit."""
    await add(store)

    def take(_: object) -> None:
        gone = tmp_path / "gone"
        if file:
            (tmp_path / file).rename(gone)
        else:
            gone.mkdir()
            for one in tmp_path.glob("headlight.db*"):
                one.rename(gone / one.name)

    event.listen(store.database._engine.sync_engine, "commit", take, once=True)
    assert await failure(add(store)) == UNAVAILABLE


@pytest.mark.parametrize("files", [[""], ["", "-wal"], ["", "-wal", "-shm"]])
async def test_a_restored_file_is_opened_again(
    store: Shares, tmp_path: Path, files: list[str]
) -> None:
    kept = await add(store)
    for suffix in files:
        (tmp_path / f"headlight.db{suffix}").rename(tmp_path / f"away{suffix}")
    for work in (add(store), store.find(kept), store.has(kept), store.delete(kept, "")):
        assert await failure(work) == UNAVAILABLE
    assert not (tmp_path / "headlight.db").exists(), "an empty one would hide what happened"
    for suffix in files:
        (tmp_path / f"away{suffix}").rename(tmp_path / f"headlight.db{suffix}")
    later = await add(store)
    for share_id in (kept, later):
        assert await store.find(share_id)
    async with open_shares(f"sqlite+aiosqlite:///{tmp_path}/headlight.db") as another:
        assert await counts(another) == [2, 4, 3]


async def test_a_replacement_file_is_used(store: Shares, tmp_path: Path) -> None:
    file = tmp_path / "headlight.db"
    async with open_shares(f"sqlite+aiosqlite:///{tmp_path}/backup.db") as backup:
        kept = await add(backup)
    lost = await add(store)
    for suffix in ("", "-wal", "-shm"):
        Path(f"{file}{suffix}").unlink(missing_ok=True)
    (tmp_path / "backup.db").rename(file)
    assert await store.find(lost) is None
    assert await store.find(kept) is not None
    added = await add(store)
    with closing(sqlite3.connect(file)) as connection:
        found = connection.execute("SELECT id FROM shares").fetchall()
    assert {share_id for (share_id,) in found} == {kept, added}


async def test_a_deleted_log_loses_no_acknowledged_share(store: Shares, tmp_path: Path) -> None:
    acknowledged = [await add(store) for _ in range(3)]
    (tmp_path / "headlight.db-wal").unlink()
    for _ in range(5):
        with suppress(StorageError):
            acknowledged.append(await add(store))
    await store.database._engine.dispose()
    with closing(sqlite3.connect(tmp_path / "headlight.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        found = connection.execute("SELECT id FROM shares").fetchall()
    assert {share_id for (share_id,) in found} >= set(acknowledged)


async def test_a_locked_database_is_busy_and_can_be_read(
    store: Shares, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "LOCK_SECONDS", 0)
    await store.database._engine.dispose()
    kept = await add(store)
    with closing(sqlite3.connect(tmp_path / "headlight.db")) as other:
        other.execute("BEGIN IMMEDIATE")
        for work in (add(store), store.delete(kept, ""), prune(store.store, 0)):
            assert await failure(work) == BUSY
        assert await store.find(kept)
    await add(store)


async def test_a_full_database_says_so_and_can_be_emptied(store: Shares) -> None:
    kept = await store.add(2, {}, {}, b"x" * 100_000, edit_key="key")
    with pragma(store, "max_page_count = 1"):  # SQLite raises it to the present size
        assert await failure(store.add(2, {}, {}, b"y" * 100_000)) == FULL
        assert await store.find(kept.id) == kept
        assert await counts(store) == [1, 0, 1]
        assert await store.delete(kept.id, "key")
        await store.add(2, {}, {}, b"y" * 50_000)


async def test_a_database_that_cannot_be_written_can_be_read(store: Shares) -> None:
    kept = await add(store)
    with pragma(store, "query_only = ON"):
        for work in (add(store), store.delete(kept, ""), prune(store.store, 0)):
            assert await failure(work) == UNAVAILABLE
        assert await store.find(kept)

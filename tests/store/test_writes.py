"""Failures at any statement of any write: nothing is acknowledged that is not stored.

`tests/store/test_faults.py` tests adding and deleting; this file tests the operator's
commands, the first start, migrations, and the replies to clients.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine, event

from app.operator_commands import Counted, read_archive, write_archive
from app.shares.store import SHARES, Shares
from app.store.storage_errors import STATUS
from app.store.store import prune
from tests.golden.kept import put, rows
from tests.serving.problem import hold
from tests.serving.storage import (
    ASKS,
    MORE,
    STATE,
    add,
    counts,
    failing,
    failure,
    open_shares,
    store_of,
)
from tests.store.test_faults import FAULTS

FULL_DISK = next(error for error, kind in FAULTS if kind == "storage-full")
BROKEN = FAULTS[0][0]


def url_in(folder: Path) -> str:
    return f"sqlite+aiosqlite:///{folder}/headlight.db"


@pytest.mark.parametrize("command", ["remove", "prune"])
async def test_prune_deletes_all_or_nothing(tmp_path: Path, command: str) -> None:
    async with open_shares(url_in(tmp_path)) as store:
        ids = [await add(store) for _ in range(3)]
        before = await counts(store)
        work: Callable[[], Awaitable[object]] = (
            (lambda: prune(store.store, 0))
            if command == "prune"
            else (lambda: store.remove(ids[0]))
        )
        nth = 0
        while True:
            with failing(store, nth, BROKEN) as done:
                failed = await failure(work())
            if failed is None:
                break
            assert failed == "storage-unavailable", done
            assert await counts(store) == before, done
            nth += 1
        assert nth > 5
        assert await counts(store) == ([0, 0, 0] if command == "prune" else [2, 4, 3])


async def test_pruning_continues_after_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shares deleted before the failure stay deleted, each completely."""
    monkeypatch.setattr("app.shares.store.AT_ONCE", 2)
    async with open_shares(url_in(tmp_path)) as store:
        for _ in range(5):
            await add(store)
        left, nth = 5, 0
        while left:
            with failing(store, nth, FULL_DISK):
                failed = await failure(prune(store.store, 0))
            now, asked, _ = await counts(store)
            assert asked == 2 * now
            assert now <= left
            assert failed == "storage-full" or now == 0
            left, nth = now, nth + 1


async def test_a_failed_import_can_be_repeated(tmp_path: Path) -> None:
    """Each share is complete or absent, whichever statement fails; imported ones stay."""
    async with open_shares(url_in(tmp_path / "one")) as store:
        kept = [await store.find(await add(store)) for _ in range(3)]
        await write_archive(store.store, tmp_path / "shares.zip")
    nth, whole = 0, set[int]()
    while True:
        async with open_shares(url_in(tmp_path / str(nth))) as store:
            with failing(store, nth, FULL_DISK) as done:
                failed = await failure(read_archive(store.store, tmp_path / "shares.zip"))
            now, asked, _ = await counts(store)
            assert asked == len(MORE) * now, done
            whole.add(now)
            again = await read_archive(store.store, tmp_path / "shares.zip")
            assert again[SHARES] == Counted(3 - now, now)
            for one in kept:
                assert one is not None
                assert await store.find(one.id) == one
        if failed is None:
            break
        nth += 1
    assert whole == {0, 1, 2, 3}


@pytest.mark.parametrize("old", [False, True], ids=["first", "migration"])
async def test_a_failed_start_can_be_repeated(tmp_path: Path, old: bool) -> None:
    """The next start creates or migrates the tables and the key of addresses."""
    nth, failures = 0, 0
    while True:
        folder = tmp_path / str(nth)
        folder.mkdir()
        known = rows(put(1, folder)) if old else []
        count = iter(range(nth))

        def execute(_: Any, statement: str, *__: object, count: Any = count) -> None:
            if next(count, None) is None:
                raise FULL_DISK

        for one in (hooks := ("do_execute", "do_executemany", "do_execute_no_params")):
            event.listen(Engine, one, execute)
        try:
            async with open_shares(url_in(folder)):
                done = True
        except Exception:
            done, failures = False, failures + 1
        finally:
            for one in hooks:
                event.remove(Engine, one, execute)
        async with open_shares(url_in(folder)) as store:
            await _holds(store, known)
        if done:
            break
        nth += 9  # of more than a hundred
    assert failures > 3


async def _holds(store: Shares, known: list[Any]) -> None:
    added = await add(store)
    assert await store.find(added) is not None
    for row in known:
        found = await store.find(row.id)
        assert found is not None
        assert found.trace == row.trace


@pytest.mark.parametrize(
    ("error", "kind"), [FAULTS[0], FAULTS[3], FAULTS[4], FAULTS[5]], ids=lambda one: str(one)[:20]
)
async def test_a_failure_at_any_statement_is_reported_to_the_client(
    client: httpx.AsyncClient, error: Exception, kind: str
) -> None:
    status = STATUS[kind][0]
    store = store_of(client)
    body = {"state": STATE, "asks": ASKS}
    before, nth = await counts(store), 0
    while True:
        with failing(store, nth, error) as done:
            made = await client.post("/api/shares", json=body)
        if made.status_code == 201:
            break
        hold(made, status, kind, None)
        assert int(made.headers["retry-after"]) > 0
        assert await counts(store) == before, done
        nth += 1
    assert nth > 6
    path, key = f"/api/shares/{made.json()['id']}", {"Edit-Key": made.json()["edit_key"]}
    seen = (await client.get(path)).content
    nth = 0
    while True:
        with failing(store, nth, error) as done:
            gone = await client.delete(path, headers=key)
        if gone.status_code == 204:
            break
        hold(gone, status, kind, None)
        assert int(gone.headers["retry-after"]) > 0
        assert (await client.get(path)).content == seen, done
        nth += 1
    assert nth > 6
    assert (await client.get(path)).status_code == 404

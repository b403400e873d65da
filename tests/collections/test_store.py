"""Collections in the store: both databases, keys, expiry, the file, an archive."""

import asyncio
import json
import re
import secrets
import sqlite3
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from sqlalchemy import select, update

from app.collections.store import COLLECTIONS, Collections, collections
from app.operator_commands import read_archive, write_archive
from app.settings import Settings
from app.store.documents import ALPHABET, KEY_LENGTH, key_from
from app.store.store import Limits, prune
from tests.collections.collecting import BODY, PATH, SENTENCE, made
from tests.serving.storage import failure, open_shares


async def test_the_database_does_not_contain_the_key(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    page = {"Headlight-Client": "a page"}
    one = (await client.post(PATH, json=BODY, headers=page)).json()
    held = b"".join(file.read_bytes() for file in tmp_path.glob("headlight.db*"))
    assert one["id"].encode() in held
    assert one["edit_key"].encode() not in held
    assert b"a page" not in held


@pytest.fixture(params=["sqlite", "postgres"])
async def lists(
    request: pytest.FixtureRequest, postgres: Callable[[str], str], tmp_path: Path
) -> AsyncIterator[Collections]:
    url = f"sqlite+aiosqlite:///{tmp_path}/headlight.db"
    if request.param == "postgres":
        url = Settings(database_url=postgres(re.sub(r"\W", "_", request.node.name))).database
    async with open_shares(url, Limits(days=30)) as store:
        yield Collections(store.store)


async def test_both_databases_keep_one_version(lists: Collections) -> None:
    document = {"title": "猫", "note": "", "items": [{"link": SENTENCE, "title": "", "note": "😀"}]}
    one, key, new = await lists.add(document, "1.2.3.4", "asked")
    assert new
    assert await lists.add(document, "1.2.3.4", "asked") == (one, key, False)
    found = await lists.find(one.id.upper())
    assert found == one
    assert await lists.check_key(one.id, f" {key.upper()} ") is None
    assert await lists.check_key(one.id, "other") == "wrong key"
    changes = [lists.change(one.id, {"title": str(n)}, key, 1) for n in range(6)]
    done = await asyncio.gather(*changes)
    (won,) = (one for one in done if not isinstance(one, str))
    assert [one for one in done if isinstance(one, str)] == ["changed"] * 5
    assert (await lists.find(one.id)) == won
    assert won.version == 2
    assert await lists.change(one.id, document, "other", None) == "wrong key"
    assert await lists.delete(one.id, "other") == "wrong key"
    assert await lists.delete(one.id, key) is None
    assert await lists.find(one.id) is None
    assert await lists.delete(one.id, key) == "unknown"


async def test_a_collection_expires_after_its_last_change(lists: Collections) -> None:
    one, key, _ = await lists.add({"title": "a"}, "1.2.3.4")
    await lists.add({"title": "b"}, "1.2.3.4")
    old = datetime.now(UTC) - timedelta(days=31)
    async with lists.database.writing() as connection:
        await connection.execute(update(collections).values(changed=old, seal=None))
    assert await lists.find(one.id) is None
    async with lists.database.writing() as connection:
        mine = collections.c.id == one.id
        await connection.execute(update(collections).where(mine).values(changed=datetime.now(UTC)))
    await prune(lists.store)
    found = await lists.find(one.id)
    assert found is not None
    async with lists.database.reading() as connection:
        left = list(await connection.scalars(select(collections.c.id)))
    assert left == [one.id]
    assert await failure(lists.delete(one.id, key)) is None


def test_keys_from_digests_use_all_letters() -> None:
    keys = {key_from(secrets.token_bytes(32)) for _ in range(300)}
    assert len(keys) == 300
    assert set("".join(keys)) == set(ALPHABET)
    assert {len(key) for key in keys} == {KEY_LENGTH}


async def test_a_collection_survives_in_the_file(client: httpx.AsyncClient, tmp_path: Path) -> None:
    one = await made(client)
    rows = sqlite3.connect(tmp_path / "headlight.db").execute("SELECT id, size FROM collections")
    ((found, size),) = rows.fetchall()
    assert found == one["id"]
    read = (await client.get(f"{PATH}/{one['id']}")).json()
    kept = {name: read[name] for name in ("title", "note", "items")}
    assert size == len(json.dumps(kept, ensure_ascii=False, separators=(",", ":")).encode())


async def test_an_archive_carries_collections(lists: Collections, tmp_path: Path) -> None:
    document = {"title": "猫", "note": "", "items": []}
    one, key, _ = await lists.add(document, "1.2.3.4")
    changed = await lists.change(one.id, {**document, "title": "狗"}, key, 1)
    file = tmp_path / "shares.zip"
    assert (await write_archive(lists.store, file))[COLLECTIONS].taken == 1
    assert (await read_archive(lists.store, file))[COLLECTIONS].taken == 0, "it is there"
    async with open_shares(f"sqlite+aiosqlite:///{tmp_path}/other.db") as store:
        assert (await read_archive(store.store, file))[COLLECTIONS].taken == 1
        copy = Collections(store.store)
        assert await copy.find(one.id) == changed
        assert await copy.check_key(one.id, key) is None
        number, size = await store.totals()
        assert (number, size > 0) == (0, True)

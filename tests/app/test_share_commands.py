"""`python -m app shares`: an operator exports, imports and deletes shares."""

import os
import re
import sqlite3
import stat
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from zipfile import ZipFile

import httpx
import pytest

from app.settings import Settings
from app.store.quota import Limits
from app.store.share_archive import ArchiveError, Counted, read_archive, write_archive
from app.store.store import open_store
from tests import forks
from tests.app.conftest import Serving
from tests.app.storage import ASKS, STATE, add, counts, share
from tests.golden.kept import FORMATS, put, rows
from tests.servers import PATIENCE, AppServer, own_environment


def url_in(folder: Path) -> str:
    return f"sqlite+aiosqlite:///{folder}/headlight.db"


def command(folder: Path, *arguments: object, **settings: str) -> tuple[int, str, str]:
    """Run ``python -m app shares``; return its exit status and output."""
    own = {"HEADLIGHT_DATA_DIR": str(folder)}
    own |= {f"HEADLIGHT_{name.upper()}": value for name, value in settings.items()}
    args = ["-m", "app", "shares", *map(str, arguments)]
    ended = forks.run(args, env=own_environment() | own)
    return ended.returncode, ended.stdout.strip(), ended.stderr.strip()


@pytest.mark.parametrize("number", FORMATS)
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_shares_go_to_another_database_and_back(
    tmp_path: Path, postgres: Callable[[str], str], kind: str, number: int
) -> None:
    old = rows(put(number, tmp_path))
    name = re.sub(r"\W", "_", f"archive_{number}")
    between = postgres(name) if kind == "postgres" else f"sqlite:///{tmp_path}/between/it.db"
    other, back = Settings(database_url=between).database, f"{url_in(tmp_path / 'back')}"
    async with open_store(url_in(tmp_path)) as store:
        added = await store.add(2, {"source": "猫"}, {}, b"trace", edit_key="key", address="::1")
        assert await write_archive(store, tmp_path / "one.zip") == Counted(len(old) + 1, 0)
    async with open_store(other, Limits(total=0, by_address=0)) as store:
        assert await read_archive(store, tmp_path / "one.zip") == Counted(len(old) + 1, 0)
        assert await read_archive(store, tmp_path / "one.zip") == Counted(0, len(old) + 1)
        await write_archive(store, tmp_path / "two.zip")
    async with open_store(back) as store:
        await read_archive(store, tmp_path / "two.zip")
        assert await store.find(added.id) == added
        for row in old:
            found = await store.find(row.id)
            assert found is not None
            assert (found.format, found.trace) == (number, row.trace)
            assert (found.state, found.model, [*found.asks]) == (row.state, row.model, row.asks)
            assert found.created.strftime("%Y-%m-%d %H:%M:%S.%f").startswith(row.created[:26])
            for n, answer in enumerate(row.answers):
                assert await store.find_answer(row.id, n) == (number, answer)
        assert await store.delete(added.id, "key")
    with ZipFile(tmp_path / "one.zip") as one, ZipFile(tmp_path / "two.zip") as two:
        assert sorted(one.namelist()) == sorted(two.namelist())


async def test_an_archive_holds_each_content_once_and_for_its_owner(tmp_path: Path) -> None:
    async with open_store(url_in(tmp_path)) as store:
        for _ in range(3):
            await add(store)
        file = tmp_path / "shares.zip"
        await write_archive(store, file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with ZipFile(file) as archive:
        names = archive.namelist()
    assert len(names) == len(set(names)) == 3 + 3
    assert [one.name for one in tmp_path.iterdir() if "part" in one.name] == []


@pytest.mark.parametrize("part", ["contents/", "shares/"])
async def test_a_damaged_archive_is_refused(tmp_path: Path, part: str) -> None:
    async with open_store(url_in(tmp_path / "from")) as store:
        await add(store)
        await write_archive(store, tmp_path / "good.zip")
    bad = tmp_path / "bad.zip"
    with ZipFile(tmp_path / "good.zip") as good, ZipFile(bad, "w") as archive:
        for name in good.namelist():
            content = good.read(name)
            archive.writestr(name, content[:-1] if name.startswith(part) else content)
    async with open_store(url_in(tmp_path / "to")) as store:
        for file in (bad, *broken(tmp_path / "good.zip", tmp_path)):
            with pytest.raises(ArchiveError):
                await read_archive(store, file)
        assert await counts(store) == [0, 0, 0]


def broken(good: Path, folder: Path) -> list[Path]:
    """Return damaged archives: truncated, with a flipped bit, of another type, renamed."""
    content = good.read_bytes()
    made = [folder / f"{n}.zip" for n in range(4)]
    made[0].write_bytes(content[: len(content) // 2])
    made[1].write_bytes(content[:60] + bytes([content[60] ^ 1]) + content[61:])
    made[2].write_bytes(b"no archive")
    with ZipFile(good) as archive, ZipFile(made[3], "w") as other:
        for name in archive.namelist():
            other.writestr(re.sub(r"shares/\w+", "shares/23456789abcde", name), archive.read(name))
    return made


async def test_damaged_shares_are_skipped_and_reported(tmp_path: Path) -> None:
    async with open_store(url_in(tmp_path)) as store:
        whole, damaged = await add(store), (await store.add(2, {}, {}, b"damaged")).id
    with sqlite3.connect(tmp_path / "headlight.db") as connection:
        connection.execute("UPDATE contents SET content = x'00' WHERE content = ?", (b"damaged",))
    connection.close()
    status, said, warned = command(tmp_path, "export", tmp_path / "shares.zip")
    assert (status, said) == (1, "Exported 1 shares")
    assert "1 shares are damaged" in warned
    with zipfile.ZipFile(tmp_path / "shares.zip") as archive:
        names = archive.namelist()
    assert f"shares/{whole}.json" in names
    assert f"shares/{damaged}.json" not in names


def test_commands_work_while_a_server_runs(
    launch: Callable[..., AppServer], tmp_path: Path
) -> None:
    server = launch()
    ids = []
    for asks in ([], ASKS):
        body = {"state": STATE, "asks": asks}
        made = httpx.post(f"{server.url}/api/shares", json=body, timeout=PATIENCE, trust_env=False)
        ids.append(made.json()["id"])
    file = tmp_path / "shares.zip"
    assert command(server.data_dir, "export", file) == (0, "Exported 2 shares", "")
    status, said, warned = command(
        server.data_dir, "prune", "--share", ids[0].upper(), "--share", "no"
    )
    assert (status, said, warned) == (1, "Deleted 1 shares", "there is no share no")
    paths = [f"{server.url}/api/shares/{share_id}" for share_id in ids]
    assert [httpx.get(path).status_code for path in paths] == [404, 200]
    told = command(server.data_dir, "import", file)
    assert told == (0, "Imported 1 shares; 1 already existed", "")
    assert [httpx.get(path).status_code for path in paths] == [200, 200]
    answer = {"Accept": "application/octet-stream"}
    assert httpx.get(f"{paths[1]}/asks/1", headers=answer).status_code == 200
    assert command(server.data_dir, "prune") == (0, "Deleted 0 shares", ""), "never by default"
    assert command(server.data_dir, "prune", "--days", 0) == (0, "Deleted 2 shares", "")
    assert [httpx.get(path).status_code for path in paths] == [404, 404]


async def test_prune_uses_the_days_in_the_settings(serving: Serving, tmp_path: Path) -> None:
    async with serving() as client:
        ids = [(await share(client))["id"] for _ in range(2)]
    with closing(sqlite3.connect(tmp_path / "headlight.db")) as connection, connection:
        update = "UPDATE shares SET created = '2020-01-01 00:00:00.000000' WHERE id = ?"
        connection.execute(update, ids[:1])
    assert command(tmp_path, "prune", keep_shares_days="30") == (0, "Deleted 1 shares", "")
    async with serving() as client:
        found = [(await client.get(f"/api/shares/{share_id}")).status_code for share_id in ids]
    assert found == [404, 200]


@pytest.mark.parametrize(
    ("arguments", "settings", "status", "words"),
    [
        ([], {}, 2, "required: COMMAND"),
        (["burn"], {}, 2, "invalid choice"),
        (["prune", "--days", "-1"], {}, 2, "a number of days"),
        (["prune", "--days", "soon"], {}, 2, "a number of days"),
        (["import", "nothing.zip"], {}, 1, "nothing.zip"),
        (["export", "/nowhere/at/all.zip"], {}, 1, "/nowhere/at"),
        (["prune"], {"database_url": "postgresql://x@127.0.0.1:1/x"}, 1, "cannot be used"),
        (["prune"], {"keep_shares_days": "0"}, 2, "HEADLIGHT_KEEP_SHARES_DAYS"),
    ],
)
def test_impossible_commands_are_reported(
    tmp_path: Path, arguments: list[str], settings: dict[str, str], status: int, words: str
) -> None:
    code, said, warned = command(tmp_path, *arguments, **settings)
    assert (code, said) == (status, "")
    assert words in warned
    assert "Traceback" not in warned


def test_a_failed_export_keeps_the_old_file(tmp_path: Path) -> None:
    file = tmp_path / "shares.zip"
    file.write_bytes(b"yesterday's")
    (tmp_path / ".shares.zip.part").write_bytes(os.urandom(100_000))  # left by a killed export
    assert command(tmp_path, "prune")[0] == 0
    with sqlite3.connect(tmp_path / "headlight.db") as connection:
        connection.execute("DROP TABLE answers")
        row = "INSERT INTO shares (id, created, state, model, digest) VALUES ('a', '', '', '', '')"
        connection.execute(row)
    connection.close()
    assert command(tmp_path, "export", file)[0] == 1
    assert file.read_bytes() == b"yesterday's"

"""`python -m app shares`: an operator exports, imports and deletes shares."""

import os
import re
import sqlite3
import stat
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import httpx
import pytest

from app.assignments.store import Assignments
from app.collections.store import Collections
from app.operator_commands import Counted, read_archive, write_archive
from app.settings import Settings
from app.shares import store as shares
from app.shares.store import SHARES
from app.store import archive_file
from app.store.store import Limits
from model.errors import FileError
from tests import forked_processes
from tests.golden.kept import FORMATS, put, rows
from tests.servers import PATIENCE, AppServer, own_environment
from tests.serving.fixtures import Serving
from tests.serving.storage import ASKS, STATE, add, counts, open_shares, share


def url_in(folder: Path) -> str:
    return f"sqlite+aiosqlite:///{folder}/headlight.db"


def command(folder: Path, *arguments: object, **settings: str) -> tuple[int, str, str]:
    """Run ``python -m app shares``; return its exit status and output."""
    own = {"HEADLIGHT_DATA_DIR": str(folder)}
    own |= {f"HEADLIGHT_{name.upper()}": value for name, value in settings.items()}
    args = ["-m", "app", "shares", *map(str, arguments)]
    ended = forked_processes.run(args, env=own_environment() | own)
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
    async with open_shares(url_in(tmp_path)) as store:
        added = await store.add(2, {"source": "猫"}, {}, b"trace", edit_key="key", address="::1")
        assert (await write_archive(store.store, tmp_path / "one.zip"))[SHARES] == Counted(
            len(old) + 1, 0
        )
    async with open_shares(other, Limits(total=0, by_address=0)) as store:
        assert (await read_archive(store.store, tmp_path / "one.zip"))[SHARES] == Counted(
            len(old) + 1, 0
        )
        assert (await read_archive(store.store, tmp_path / "one.zip"))[SHARES] == Counted(
            0, len(old) + 1
        )
        await write_archive(store.store, tmp_path / "two.zip")
    async with open_shares(back) as store:
        await read_archive(store.store, tmp_path / "two.zip")
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
    async with open_shares(url_in(tmp_path)) as store:
        for _ in range(3):
            await add(store)
        file = tmp_path / "shares.zip"
        await write_archive(store.store, file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with ZipFile(file) as archive:
        names = archive.namelist()
    assert len(names) == len(set(names)) == 3 + 3
    assert [one.name for one in tmp_path.iterdir() if "part" in one.name] == []


def edited(part: str, change: Callable[[bytes], bytes]) -> Callable[[ZipFile, ZipFile], None]:
    """Copy an archive, with a change to the entries whose name has a part."""

    def copy(archive: ZipFile, other: ZipFile) -> None:
        for name in archive.namelist():
            content = archive.read(name)
            other.writestr(name, change(content) if part in name else content)

    return copy


def alone(name: str, content: bytes = b"{}") -> Callable[[ZipFile, ZipFile], None]:
    return lambda _, other: other.writestr(name, content)


ID = "23456789abcde"
HOSTILE: dict[str, tuple[Callable[[ZipFile, ZipFile], None], str]] = {
    "content cut": (edited("contents/", lambda one: one[:-1]), "it is damaged"),
    "share cut": (edited("shares/", lambda one: one[:-1]), "it is damaged"),
    "content missing": (
        edited("shares/", lambda one: re.sub(rb'"trace": "..', b'"trace": "00', one)),
        "it is missing",
    ),
    "another id": (
        edited("collections/", lambda one: re.sub(rb'"id": "..', b'"id": "22', one)),
        "it is another one",
    ),
    "not finite": (edited("collections/", lambda one: one.replace(b'"whole"', b"NaN")), "stored"),
    "no digest": (
        edited("assignments/", lambda one: one.replace(b'er": "', b'er": "x')),
        "damaged",
    ),
    "not hex": (alone("contents/" + "x" * 64), "it is no entry of an export"),
    "upwards": (alone(f"shares/../{ID}.json"), "it is no entry of an export"),
    "absolute": (alone("/etc/passwd"), "it is no entry of an export"),
    "nested": (alone(f"shares/a/{ID}.json"), "it is no entry of an export"),
    "bomb": (alone(f"shares/{ID}.json", b" " * 9_000), "9,000 bytes; at most 8,000 are read"),
}


@pytest.mark.filterwarnings("ignore:Duplicate name")
async def test_a_hostile_archive_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, bad = tmp_path / "good.zip", tmp_path / "bad.zip"
    async with open_shares(url_in(tmp_path / "from")) as store:
        await add(store)
        await Collections(store.store).add({"title": "whole"}, "")
        task, _ = await Assignments(store.store).add({"title": "whole"}, "")
        await Assignments(store.store).submit(task.id, "ann", {"answers": []})
        await write_archive(store.store, whole)
    monkeypatch.setattr(archive_file, "JSON_BYTES", 8_000)
    for case, (change, message) in HOSTILE.items():
        async with open_shares(url_in(tmp_path / case)) as store:
            with ZipFile(whole) as good, ZipFile(bad, "w", ZIP_DEFLATED) as archive:
                change(good, archive)
            with pytest.raises(FileError, match=rf"bad\.zip: .*{message}"):
                await read_archive(store.store, bad)
    async with open_shares(url_in(tmp_path / "to")) as store:
        for file in broken(whole, tmp_path):
            with pytest.raises(FileError, match=rf"{file.name}: "):
                await read_archive(store.store, file)
        assert await counts(store) == [0, 0, 0]
        assert [*(await read_archive(store.store, whole)).values()] == [Counted(1, 0)] * 3
        monkeypatch.setattr(shares, "MOST_BYTES", 10)
        with pytest.raises(FileError, match="bytes; at most 10 are read"):
            await read_archive(store.store, whole)


def broken(whole: Path, folder: Path) -> list[Path]:
    """Return files that are no archives, that lie about a size, or have an entry twice."""
    content = whole.read_bytes()
    with ZipFile(whole) as archive:
        first = content.index(b"PK\1\2")  # in the directory
        made = {
            "cut.zip": content[: len(content) // 2],
            "flipped.zip": content[:80] + bytes([content[80] ^ 1]) + content[81:],
            "other.zip": b"no archive",
            "lies.zip": content[: first + 24] + b"\1\0\0\0" + content[first + 28 :],
        }
        for name, bad in made.items():
            (folder / name).write_bytes(bad)
        with ZipFile(folder / "twice.zip", "w") as other:
            for name in [*archive.namelist(), archive.namelist()[-1]]:
                other.writestr(name, archive.read(name))
    return [folder / name for name in (*made, "twice.zip")]


async def test_damaged_shares_are_skipped_and_reported(tmp_path: Path) -> None:
    async with open_shares(url_in(tmp_path)) as store:
        whole, damaged = await add(store), (await store.add(2, {}, {}, b"damaged")).id
    with sqlite3.connect(tmp_path / "headlight.db") as connection:
        connection.execute("UPDATE contents SET content = x'00' WHERE content = ?", (b"damaged",))
    connection.close()
    status, said, warned = command(tmp_path, "export", tmp_path / "shares.zip")
    assert (status, said) == (1, "Exported 1 shares")
    assert "1 are damaged" in warned
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
        row = (
            "INSERT INTO shares (id, created, state, model, digest) VALUES ('a', ?, '{}', '{}', '')"
        )
        connection.execute(row, ("2020-01-01 00:00:00.000000",))
    connection.close()
    assert command(tmp_path, "export", file)[0] == 1
    assert file.read_bytes() == b"yesterday's"

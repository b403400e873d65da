"""The replies and the log when the database of a running server fails."""

import errno
import os
import re
import resource
import secrets
import shutil
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import get_args

import httpx
import pytest

from app.http.problems import TITLES
from app.store import database
from app.store.disk_files import make_private_folder
from app.store.storage_errors import DETAILS, STATUS, StorageError, Stored, translated
from tests.servers import PATIENCE, ROOT, AppServer
from tests.serving.fixtures import Serving
from tests.serving.problem import hold
from tests.serving.storage import STATE, pragma, share, store_of

HTML = {"Accept": "text/html"}
SECRET = "Aardvarks whisper"
UNLIMITED = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)


def post(server: AppServer, text: str = SECRET) -> httpx.Response:
    body = {"state": {**STATE, "source": text}}
    page = {"Headlight-Client": secrets.token_hex()}  # the same page would get the old share
    url = f"{server.url}/api/shares"
    return httpx.post(url, json=body, headers=page, timeout=PATIENCE, trust_env=False)


def get(server: AppServer, path: str) -> httpx.Response:
    return httpx.get(f"{server.url}{path}", timeout=PATIENCE, trust_env=False)


def refused(response: httpx.Response, status: int, kind: str) -> None:
    hold(response, status, kind, None)
    assert int(response.headers["retry-after"]) > 0


def modes(folder: Path) -> set[int]:
    return {stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.glob("headlight.db*"))}


@contextmanager
def no_file_above(server: AppServer, size: int) -> Iterator[None]:
    """Make writes of the server beyond this size fail, as on a broken disk."""
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (size, UNLIMITED[1]))
    yield
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, UNLIMITED)


def test_a_server_outlives_its_database(launch: Callable[..., AppServer], tmp_path: Path) -> None:
    """One server gets one fault after the other; all acknowledged shares exist at the end."""
    server = launch()
    folder, file = server.data_dir, server.data_dir / "headlight.db"
    first = post(server)
    assert first.status_code == 201
    assert modes(folder) == {0o700, 0o600}
    kept = [first.json()["id"]]

    log = Path(f"{file}-wal").stat().st_size
    for more in (0, 1, 4_096, 100_000):  # the disk fails at the first write, and later
        with no_file_above(server, log + more):
            refused(post(server, f"{SECRET} {more}."), 503, "storage-unavailable")
            assert get(server, f"/api/shares/{kept[0]}").status_code == 200

    with closing(sqlite3.connect(file)) as other:
        other.execute("BEGIN IMMEDIATE")
        refused(post(server), 503, "storage-busy")
        assert get(server, f"/api/shares/{kept[0]}").status_code == 200
    kept.append(post(server).json()["id"])

    away = tmp_path / "away"
    away.mkdir()
    for one in folder.glob("headlight.db*"):
        shutil.move(one, away)
    refused(post(server), 503, "storage-unavailable")
    refused(get(server, f"/api/shares/{kept[0]}"), 503, "storage-unavailable")
    assert list(folder.glob("headlight.db")) == []
    assert get(server, "/").status_code == 200
    assert httpx.post(f"{server.url}/api/trace", json=STATE, timeout=PATIENCE).status_code == 200
    for one in away.iterdir():
        shutil.move(one, folder)
    kept.append(post(server).json()["id"])

    server.kill()
    told = server.log.read_text()
    assert "storage-unavailable: SQLITE_IOERR_WRITE" in told
    assert "storage-busy: SQLITE_BUSY" in told
    assert "storage-unavailable: SQLITE_CANTOPEN" in told
    assert SECRET not in told
    again = launch(data_dir=folder)
    for share_id in kept:
        assert get(again, f"/api/shares/{share_id}").status_code == 200


async def test_every_route_reports_a_missing_database(serving: Serving, tmp_path: Path) -> None:
    async with serving() as client:
        made = await share(client, asks=[{"parameters": {"select": ["*.gain"]}}])
        (tmp_path / "headlight.db").unlink()
        api, pages = f"/api/shares/{made['id']}", f"/s/{made['id']}"
        for path in (api, f"{api}/asks/0", pages, f"{pages}/preview.png", f"/embed/{made['id']}"):
            refused(await client.get(path), 503, "storage-unavailable")
        headers = {"Edit-Key": made["edit_key"]}
        refused(await client.delete(api, headers=headers), 503, "storage-unavailable")
        refused(await client.post("/api/shares", json={"state": STATE}), 503, "storage-unavailable")
        for path in (pages, f"/embed/{made['id']}"):
            page = await client.get(path, headers=HTML)
            assert page.status_code == 503
            assert "The database cannot be reached" in page.text
            assert int(page.headers["retry-after"]) > 0
        page = await client.get(f"{pages}?lang=zh", headers=HTML)
        assert "无法连接数据库" in page.text


async def test_a_full_or_read_only_database_is_a_problem(serving: Serving) -> None:
    async with serving() as client:
        made = await share(client)
        path = f"/api/shares/{made['id']}"
        for setting, status, kind in (
            ("max_page_count = 1", 507, "storage-full"),
            ("query_only = ON", 503, "storage-unavailable"),
        ):
            with pragma(store_of(client), setting):
                body = {"state": {**STATE, "source": "Another cat."}}
                refused(await client.post("/api/shares", json=body), status, kind)
                assert (await client.get(path)).status_code == 200


async def test_a_share_waits_for_another_writer(
    serving: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "LOCK_SECONDS", 0)
    async with serving() as client:
        with closing(sqlite3.connect(tmp_path / "headlight.db")) as other:
            other.execute("BEGIN EXCLUSIVE")
            refused(await client.post("/api/shares", json={"state": STATE}), 503, "storage-busy")
        await share(client)


def test_an_existing_database_is_made_private(
    launch: Callable[..., AppServer], tmp_path: Path
) -> None:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o755)
    for name in ("headlight.db", "headlight.db-wal"):
        (folder / name).touch(0o644)
    launch(data_dir=folder)
    assert modes(folder) == {0o700, 0o600}


def test_a_shared_folder_is_not_changed(tmp_path: Path) -> None:
    shared, dropped = tmp_path / "shared", tmp_path / "dropped"
    (shared / "of others").mkdir(parents=True)
    shared.chmod(0o755)
    dropped.mkdir()
    dropped.chmod(0o1777)
    for folder in (shared, dropped):
        before = folder.stat().st_mode
        make_private_folder(folder)
        assert folder.stat().st_mode == before
    make_private_folder(tmp_path / "a" / "new")
    assert stat.S_IMODE((tmp_path / "a" / "new").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o777 & ~_umask()


def _umask() -> int:
    now = os.umask(0)
    os.umask(now)
    return now


def test_a_full_disk_is_recognised() -> None:
    for number, kind in ((errno.ENOSPC, "storage-full"), (errno.EIO, "storage-unavailable")):
        with pytest.raises(StorageError) as failed, translated():
            raise OSError(number, os.strerror(number))
        assert failed.value.kind == kind


def test_page_and_problems_name_the_same_kinds() -> None:
    assert DETAILS.keys() == STATUS.keys() <= TITLES.keys()
    page = (ROOT / "templates/problem.html").read_text()
    told = set(re.findall(r'^  "([\w-]+)": ', page, re.MULTILINE))
    reading = {kind for kind, (status, _) in STATUS.items() if status == 503}
    sought = ("assignment", "collection", "corpus", "room", "study")
    missing = {f"unknown-{kind}" for kind in sought}
    waiting = {"busy", "too-many-requests", "too-many-room-tries"}
    damaged = {f"damaged-{kind}" for kind in get_args(Stored)}
    assert damaged < TITLES.keys()
    assert told == reading | missing | waiting | damaged | {"newer-share"}

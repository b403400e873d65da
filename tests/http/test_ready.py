"""Health and readiness are separate."""

import asyncio
import errno
import sqlite3
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from app.engine.model_catalog import Catalog
from app.pages import health
from tests.serving.failing_disk import FailingDisk
from tests.serving.fixtures import Serving
from tests.serving.problem import hold
from tests.serving.slow import Slow


def test_ready(reader: httpx.Client) -> None:
    reply = reader.get("/api/ready")
    assert (reply.status_code, reply.json()) == (200, {"status": "ready"})
    assert reply.headers["cache-control"] == "no-store"


async def test_a_model_that_does_not_answer(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "HEARTBEAT_SECONDS", 0.3)
    monkeypatch.setattr(health, "KEPT_SECONDS", 0.0)
    slow = Slow()
    async with serving(catalog=Catalog.of({"slow": slow})) as client:
        problem = hold(await client.get("/api/ready"), 503, "not-ready", None)
        assert problem["detail"] == "the model did not answer within 0.3 seconds"
        assert (await client.get("/api/health")).status_code == 200
        slow.go.set()
        assert (await client.get("/api/ready")).status_code == 200


async def test_a_database_that_refuses_writes_is_not_ready(
    serving: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "HEARTBEAT_SECONDS", 1.0)
    monkeypatch.setattr(health, "KEPT_SECONDS", 0.0)
    async with serving() as client:
        assert (await client.get("/api/ready")).status_code == 200
        other = sqlite3.connect(tmp_path / "headlight.db", isolation_level=None)
        try:
            other.execute("BEGIN IMMEDIATE")
            problem = hold(await client.get("/api/ready"), 503, "not-ready", None)
            assert problem["detail"] == "the database did not answer within 1 seconds"
            other.execute("ROLLBACK")
        finally:
            other.close()
        assert (await client.get("/api/ready")).status_code == 200
        for file in tmp_path.glob("headlight.db*"):
            file.unlink()
        problem = hold(await client.get("/api/ready"), 503, "not-ready", None)
        assert "the database cannot be used" in problem["detail"]
        assert (await client.get("/api/health")).status_code == 200


@pytest.mark.parametrize("database", ["SQLite", "PostgreSQL"])
async def test_a_data_folder_that_cannot_be_written(
    serving: Serving,
    postgres: Callable[[str], str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    database: str,
) -> None:
    """It takes readiness only if the database is in it; who needs the folder is refused."""
    monkeypatch.setattr(health, "KEPT_SECONDS", 0.0)
    away = {"database_url": postgres("ready")} if database == "PostgreSQL" else {}
    sentence = {"source": "Hi", "target": "a"}
    async with serving(**away) as client:
        assert (await client.get("/api/ready")).status_code == 200
        [model, *_] = (await client.get("/api/models")).json()
        wanted: dict[str, object] = {
            "/api/runs": {"task": "copy", "steps": 10},
            "/api/corpora": {"model": model["id"], "text": "A cat.\nA dog."},
        }
        with FailingDisk(tmp_path, 1, errno.EROFS, stays=True).broken():
            for path, body in wanted.items():
                hold(await client.post(path, json=body), 503, "storage-unavailable", None)
            ready = await client.get("/api/ready")
            assert (await client.post("/api/trace", json=sentence)).status_code == 200
        if database == "SQLite":
            problem = hold(ready, 503, "not-ready", None)
            assert problem["detail"].startswith("the folder of the database: ")
        else:
            assert ready.status_code == 200
        assert (await client.get("/api/ready")).status_code == 200


async def test_many_probes_run_one_check(serving: Serving) -> None:
    slow = Slow()
    async with serving(catalog=Catalog.of({"slow": slow})) as client:
        asking = [asyncio.create_task(client.get("/api/ready")) for _ in range(20)]
        await asyncio.sleep(0.2)
        slow.go.set()
        assert {reply.status_code for reply in await asyncio.gather(*asking)} == {200}
        assert len(slow.batches) == 1

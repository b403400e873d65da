"""The log says where an error occurred, and contains nothing that anyone typed."""

import asyncio
import io
import logging
import logging.config
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import asyncpg
import httpx
import pytest

from app.http import log_format
from tests.servers import PATIENCE, AppServer, running_app
from tests.serving.fixtures import Serving

SECRET = "Aardvarks whisper"
STATE = {"source": SECRET, "note": SECRET}


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """The log that the server's own configuration writes."""
    written = io.StringIO()
    before = logging.root.handlers[:], logging.root.level
    logging.config.dictConfig(log_format.config("text", requests=False))
    (handler,) = logging.root.handlers
    assert isinstance(handler, logging.StreamHandler)
    handler.setStream(written)
    yield written
    logging.root.handlers, logging.root.level = before


def test_a_traceback_has_its_lines_and_no_message(log: io.StringIO) -> None:
    def inner() -> None:
        raise KeyError(SECRET)

    try:
        try:
            inner()
        except KeyError as error:
            raise ExceptionGroup(SECRET, [ValueError(SECRET)]) from error
    except ExceptionGroup:
        logging.getLogger("any").exception("it failed")
    told = log.getvalue()
    assert SECRET not in told
    assert "ERROR any: it failed" in told
    assert "in inner\n    raise KeyError(SECRET)\nbuiltins.KeyError\n" in told
    assert told.index("builtins.KeyError") < told.index("builtins.ValueError")
    assert told.rstrip().endswith("builtins.ExceptionGroup")


async def test_an_unawaited_task_is_logged_without_its_message(log: io.StringIO) -> None:
    async def fail() -> None:
        raise ValueError(SECRET)

    task = asyncio.create_task(fail())
    await asyncio.wait([task])
    context = {"message": "Task exception was never retrieved", "future": task}
    loop = asyncio.get_running_loop()
    loop.default_exception_handler({**context, "exception": task.exception()})
    told = log.getvalue()
    assert "Task exception was never retrieved" in told
    assert "builtins.ValueError" in told
    assert SECRET not in told


# SQLite's JSON functions repeat invalid input.
REPEAT = "SELECT json_extract(new.state, '$' || new.state)"
BREAKS = {
    "a table is gone": "DROP TABLE answers",
    "a column is another": "ALTER TABLE shares RENAME COLUMN state TO before",
    "a message repeats it": f"CREATE TRIGGER no BEFORE INSERT ON shares BEGIN {REPEAT}; END",
}


@pytest.mark.parametrize("how", BREAKS)
async def test_a_failed_insert(
    serving: Serving, tmp_path: Path, log: io.StringIO, how: str
) -> None:
    async with serving() as client:
        with sqlite3.connect(tmp_path / "headlight.db") as connection:
            connection.execute(BREAKS[how])
        connection.close()
        body = {"state": STATE, "asks": [{"trace": {"source": SECRET}}]}
        response = await client.post("/api/shares", json=body)
    assert response.status_code == 503
    assert SECRET not in response.text
    told = log.getvalue()
    assert "storage-unavailable: SQLITE_" in told
    assert SECRET not in told


async def test_a_failed_insert_in_postgres(
    serving: Serving, postgres: Callable[[str], str], log: io.StringIO
) -> None:
    url = postgres("private_logs")
    async with serving(database_url=url) as client:
        connection = await asyncpg.connect(url)
        await connection.execute("ALTER TABLE shares ADD CONSTRAINT no CHECK (documents < 0)")
        await connection.close()
        response = await client.post("/api/shares", json={"state": STATE})
    assert response.status_code == 503
    told = log.getvalue()
    assert "storage-unavailable: CheckViolationError 23514" in told
    assert SECRET not in told + response.text


def test_a_whole_log_contains_no_input(launch: Callable[..., AppServer], tmp_path: Path) -> None:
    """Check a real server's whole log after bad input, bad addresses and a failing database."""
    server = launch()
    with httpx.Client(base_url=server.url, timeout=PATIENCE, trust_env=False) as client:
        assert client.post("/api/trace", json={"source": SECRET}).status_code == 200
        for path in ("/api/trace", "/api/decode", "/api/sweep", "/api/shares", "/api/handout"):
            assert client.post(path, content=SECRET).status_code in (400, 415, 422)
            assert client.post(path, json={"source": SECRET, SECRET: 1}).status_code == 422
            assert client.post(path, json={"state": {"source": SECRET * 1_000}}).status_code == 422
        for path in (f"/{SECRET}", f"/s/{SECRET}", f"/api/shares/{SECRET}", f"/?source={SECRET}"):
            client.get(path)
        with sqlite3.connect(server.data_dir / "headlight.db") as connection:
            connection.execute("DROP TABLE contents")
        connection.close()
        assert client.post("/api/shares", json={"state": STATE}).status_code == 503
    server.stop()
    told = server.log.read_text()
    assert "storage-unavailable: SQLITE_ERROR" in told
    for part in SECRET.split():
        assert part not in told


def test_exceptions_of_a_model(tmp_path: Path, server_cache: Path) -> None:
    broken = ("tests.serving.broken",)
    with running_app(tmp_path, module=broken, warm=True, cache=server_cache) as server:
        for path, body in (("trace", SECRET), ("decode", SECRET), ("shares", "")):
            asked = {"source": body} if body else {"state": STATE}
            response = httpx.post(f"{server.url}/api/{path}", json=asked, trust_env=False)
            assert (response.status_code, SECRET in response.text) == (500, False)
    told = server.log.read_text()
    assert "builtins.RuntimeError" in told
    assert "builtins.KeyError" in told
    assert told.count(": Exception in ASGI application") == 3
    assert "cannot read {requests[0].source}" in told, "the line, as it stands in the file"
    assert SECRET not in told

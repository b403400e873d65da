"""Request ids, log lines and counts, without anything that was sent."""

import json
import logging
import re
import time
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any, Literal

import httpx
import pytest

from app.http import log_format
from tests.servers import PATIENCE, AppServer, running_app
from tests.serving.fixtures import Serving
from tests.serving.slow import Slow

SECRET = "hippopotamus"
TRACE = {"source": f"the {SECRET} sat", "select": []}


def sample(text: str, name: str, **labels: str) -> float:
    """Return one number of the text format."""
    for line in text.splitlines():
        match = re.fullmatch(r"(\w+)(?:\{(.*)\})? (\S+)", line)
        if match and match[1] == name:
            found = dict(re.findall(r'(\w+)="([^"]*)"', match[2] or ""))
            if found == labels:
                return float(match[3])
    return 0.0


async def scraped(client: httpx.AsyncClient) -> str:
    reply = await client.get("/metrics")
    assert reply.status_code == 200
    assert reply.headers["content-type"].startswith("text/plain; version=")
    return reply.text


def test_metrics_are_off_by_default(reader: httpx.Client) -> None:
    assert reader.get("/metrics").status_code == 404


async def test_requests_are_counted_by_route_and_status(serving: Serving) -> None:
    async with serving(metrics=True, max_body_bytes=5_000) as client:
        for number in range(3):  # an equal request would be cached
            body = TRACE | {"source": f"{number} {TRACE['source']}"}
            assert (await client.post("/api/trace", json=body)).status_code == 200
        await client.post("/api/trace", json={"source": 1})
        await client.post("/api/trace", content=b"a" * 6_000)
        await client.get("/s/aaaaaaaaaaaaa")
        await client.head("/api/health")
        await client.get(f"/{SECRET}")
        text = await scraped(client)
        name = "headlight_requests_total"
        for method, route, status, count in [
            ("POST", "/api/trace", "200", 3),
            ("POST", "/api/trace", "422", 1),
            ("POST", "none", "413", 1),
            ("GET", "/s/{id}", "404", 1),
            ("HEAD", "/api/health", "200", 1),
            ("GET", "none", "404", 1),
        ]:
            assert sample(text, name, method=method, route=route, status=status) == count, route
        assert sample(text, "headlight_request_seconds_count", route="/api/trace") == 4
        assert sample(text, "headlight_batch_size_count", kind="trace") >= 3
        assert sample(text, "headlight_batch_size_sum", kind="trace") == 3
        assert sample(text, "headlight_wait_seconds_count", kind="trace") == 3
        assert SECRET not in text


async def test_streams_shares_and_caches_are_counted(serving: Serving) -> None:
    async with serving(metrics=True) as client:
        await client.post("/api/decode", json={"source": "hi"})
        share = (await client.post("/api/shares", json={"state": {"source": "hi"}})).json()
        for _ in range(3):
            await client.get(f"/s/{share['id']}/preview.png")
            await client.get("/api/positions?length=8&d_model=8")
        text = await scraped(client)
    assert sample(text, "headlight_batch_size_count", kind="line") > 2
    assert sample(text, "headlight_streams") == 0
    assert sample(text, "headlight_queue_length") == 0
    assert sample(text, "headlight_shares") == 1
    assert sample(text, "headlight_share_bytes") > 1_000
    for cache in ("previews", "replies"):
        assert sample(text, "headlight_cache_lookups_total", cache=cache, result="hit") == 2
        assert sample(text, "headlight_cache_lookups_total", cache=cache, result="miss") == 1


async def test_applications_have_separate_metrics(serving: Serving, tmp_path: Path) -> None:
    async with (
        serving(metrics=True) as one,
        serving(metrics=True, data_dir=tmp_path / "other") as other,
    ):
        await one.get("/api/models")
        for client, count in ((one, 1), (other, 0)):
            text = await scraped(client)
            labels = {"method": "GET", "route": "/api/models", "status": "200"}
            assert sample(text, "headlight_requests_total", **labels) == count


async def test_every_reply_has_a_unique_id(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving() as client:
        monkeypatch.setattr("app.traces.routes.positions_table", Slow)  # any that fails
        ids = set()
        for path, status in {
            "/": 200,
            "/api/models": 200,
            "/nothing": 404,
            "/api/positions?length=4&d_model=8": 500,
        }.items():
            reply = await client.get(path, headers={"X-Request-Id": SECRET})
            assert reply.status_code == status
            assert re.fullmatch(r"[0-9a-f]{16}", reply.headers["x-request-id"])
            ids.add(reply.headers["x-request-id"])
        reply = await client.get("/", headers={"Host": "evil.example"})
        ids.add(reply.headers["x-request-id"])
        assert len(ids) == 5


@pytest.fixture
def logged() -> Callable[[Literal["text", "json"]], list[str]]:
    """The log of a failing request, in one of the two formats."""

    def told(form: Literal["text", "json"]) -> list[str]:
        stream = StringIO()
        handler = logging.StreamHandler(stream)
        formatter = log_format.config(form, requests=True)["formatters"][form]
        arguments = {key: value for key, value in formatter.items() if key != "()"}
        handler.setFormatter(formatter["()"](**arguments))
        log = logging.Logger("app.test")
        log.addHandler(handler)
        mark = log_format.REQUEST_ID.set("0123456789abcdef")
        try:
            raise ValueError(SECRET)
        except ValueError:
            log.exception("it went %s", "wrong")
        finally:
            log_format.REQUEST_ID.reset(mark)
        log.warning("later\nand so on")
        return stream.getvalue().splitlines()

    return told


def test_a_line_of_json_is_an_object(
    logged: Callable[[Literal["text", "json"]], list[str]],
) -> None:
    first, second = map(json.loads, logged("json"))
    assert first["request"] == "0123456789abcdef"
    assert (first["level"], first["logger"]) == ("error", "app.test")
    assert first["message"] == "it went wrong"
    assert first["exception"].endswith("builtins.ValueError")
    assert second.keys() == {"time", "level", "logger", "message"}
    assert SECRET not in str(first)


def test_a_line_to_read(logged: Callable[[Literal["text", "json"]], list[str]]) -> None:
    lines = logged("text")
    assert lines[0].endswith("ERROR app.test [0123456789abcdef]: it went wrong")
    assert SECRET not in "\n".join(lines)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, server_cache: Path) -> Iterator[AppServer]:
    """A server that logs each request as JSON."""
    settings = {"log": "json", "log_requests": "1"}
    data_dir = tmp_path_factory.mktemp("logs")
    with running_app(data_dir, settings, warm=True, cache=server_cache) as server:
        yield server


def lines_about(server: AppServer, ids: set[str]) -> dict[str, dict[str, Any]]:
    """Return the log lines of requests by id, once all are there: a line follows its reply."""
    deadline = time.monotonic() + PATIENCE
    while True:
        lines = server.log.read_text().splitlines()
        told = [json.loads(line) for line in lines if line.startswith("{")]
        found = {line["request"]: line for line in told if "status" in line}
        if ids <= set(found) or time.monotonic() > deadline:
            return found
        time.sleep(0.05)


def test_the_log_of_a_server(server: AppServer) -> None:
    with httpx.Client(base_url=server.url, trust_env=False, timeout=PATIENCE) as client:
        headers = {"User-Agent": SECRET, "Referer": f"http://x/{SECRET}", "Cookie": SECRET}
        replies = [
            client.post("/api/trace", json=TRACE, headers=headers),
            client.post("/api/trace", json={"source": SECRET, SECRET: SECRET}, headers=headers),
            client.post("/api/shares", json={"state": {"source": SECRET}}),
            client.get(f"/?source={SECRET}"),
            client.get(f"/{SECRET}"),
            client.get(f"/s/{SECRET}"),
        ]
    by_id = lines_about(server, {reply.headers["x-request-id"] for reply in replies})
    for reply in replies:
        line = by_id[reply.headers["x-request-id"]]
        assert line["status"] == reply.status_code
        assert line["method"] == reply.request.method
        assert line["milliseconds"] >= 0
    assert by_id[replies[0].headers["x-request-id"]]["route"] == "/api/trace"
    assert by_id[replies[5].headers["x-request-id"]]["route"] == "/s/{id}"
    assert SECRET not in server.log.read_text()

"""Training runs for tests of the API: tiny models, seconds each."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx
from fastapi import FastAPI

from app.http.problems import MEDIA_TYPE, URN
from app.runs.training_run import Run
from app.runs.training_runs import Runs
from tests.servers import PATIENCE

SMALL = {"task": "copy", "longest": 3, "steps": 10, "d_model": 16, "heads": 2, "batch": 200}
LONG = {**SMALL, "steps": 4000}
SECONDS = PATIENCE
EAGER = {"run_nice": 0}  # so that other work does not slow it down


def kept(client: httpx.AsyncClient, run_id: str) -> Run:
    """Return the server's own record of a run."""
    return _runs(client)[run_id]


def _runs(client: httpx.AsyncClient) -> dict[str, Run]:
    transport = client._transport
    assert isinstance(transport, httpx.ASGITransport)
    app = transport.app
    assert isinstance(app, FastAPI)
    return app.state.services[Runs]._runs  # type: ignore[no-any-return]


def forget(client: httpx.AsyncClient, run_id: str) -> None:
    """Delete a run from the server, as happens some time after it was last viewed."""
    _runs(client).pop(run_id)


def problem(reply: httpx.Response) -> tuple[int, str]:
    """Return the status and the kind of a problem document."""
    assert reply.headers["content-type"] == MEDIA_TYPE, reply.text
    return reply.status_code, str(reply.json()["type"]).removeprefix(URN)


async def start(client: httpx.AsyncClient, options: dict[str, Any]) -> dict[str, str]:
    reply = await client.post("/api/runs", json=options)
    assert reply.status_code == 201, reply.text
    return reply.json()  # type: ignore[no-any-return]


async def state(client: httpx.AsyncClient, made: dict[str, str]) -> dict[str, Any]:
    reply = await client.get(f"/api/runs/{made['id']}")
    assert reply.status_code == 200, reply.text
    return reply.json()  # type: ignore[no-any-return]


async def until(
    client: httpx.AsyncClient, made: dict[str, str], wanted: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    """Poll until the run is in the wanted state."""
    async with asyncio.timeout(SECONDS):
        while not wanted(now := await state(client, made)):
            await asyncio.sleep(0.1)
    return now


async def patch(client: httpx.AsyncClient, made: dict[str, str], **change: Any) -> httpx.Response:
    headers = {"Run-Key": made["key"]}
    return await client.patch(f"/api/runs/{made['id']}", json=change, headers=headers)


async def lines(client: httpx.AsyncClient, made: dict[str, str], since: int = 0) -> list[Any]:
    reply = await client.get(f"/api/runs/{made['id']}/events", params={"since": since})
    assert reply.status_code == 200, reply.text
    told = [json.loads(line) for line in reply.text.splitlines()]
    return [one for one in told if one != {"alive": True}]

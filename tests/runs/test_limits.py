"""Limits of training runs: time, watchers, places, and what is refused."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.engine.fair_queue import Client
from app.http.problems import ProblemError
from app.runs.training_runs import RunLimits, Runs
from app.settings import Settings
from model.live_training.options_and_events import LiveOptions
from tests.serving.fixtures import Serving
from tests.serving.training import (
    LONG,
    SECONDS,
    SMALL,
    kept,
    lines,
    problem,
    start,
    state,
    until,
)


async def test_an_unwatched_run_is_stopped(serving: Serving) -> None:
    async with serving(max_run_unwatched_seconds=2.0) as client:
        made = await start(client, LONG)
        watched = asyncio.create_task(lines(client, made))
        await asyncio.sleep(4)
        assert kept(client, made["id"]).state in ("starting", "running")
        watched.cancel()
        await asyncio.gather(watched, return_exceptions=True)
        run = kept(client, made["id"])
        async with asyncio.timeout(SECONDS):
            while not run.over:
                await asyncio.sleep(0.1)
        assert (run.state, run.why) == ("stopped", "unwatched")
        async with asyncio.timeout(SECONDS):
            while run.process:
                await asyncio.sleep(0.1)


async def test_a_run_ends_after_its_minutes(serving: Serving) -> None:
    async with serving(max_run_minutes=1 / 60) as client:
        made = await start(client, {**LONG, "steps": 5000})
        await lines(client, made)
        now = await state(client, made)
        assert (now["state"], now["why"]) == ("finished", "minutes")
        assert now["snapshots"][-1]["step"] == now["step"] < 5000


@pytest.mark.parametrize(
    ("options", "kind", "field"),
    [
        ({"task": "fly"}, "unknown-value", "task"),
        ({"heads": 3}, "does-not-fit", "heads"),
        ({"heads": 9}, "out-of-range", "heads"),
        ({"steps": 5001}, "out-of-range", "steps"),
        ({"steps": "many"}, "wrong-type", "steps"),
        ({"longest": 17}, "out-of-range", "longest"),
        ({"task": "who", "longest": 3}, "out-of-range", "longest"),
        ({"d_model": 15, "heads": 1}, "does-not-fit", "positions"),
        ({"dropout": 1.0}, "out-of-range", "dropout"),
        ({"nonsense": 1}, "unknown-field", None),
    ],
)
async def test_invalid_options_are_refused(
    runs: httpx.AsyncClient, options: dict[str, Any], kind: str, field: str | None
) -> None:
    reply = await runs.post("/api/runs", json=options)
    assert problem(reply) == (422, kind)
    assert reply.json().get("field") == field


async def test_unknown_runs_and_wrong_keys_are_refused(runs: httpx.AsyncClient) -> None:
    assert problem(await runs.get("/api/runs/nothing")) == (404, "unknown-run")
    made = await start(runs, SMALL)
    path = f"/api/runs/{made['id']}"
    wrong = await runs.patch(path, json={"stop": True}, headers={"Run-Key": "guess"})
    assert problem(wrong) == (403, "wrong-run-key")
    assert problem(await runs.patch(path, json={"stop": True})) == (422, "missing")
    assert problem(await runs.get(f"{path}/events?since=-1")) == (422, "out-of-range")
    assert problem(await runs.get(f"{path}/snapshots/7777")) == (404, "no-snapshot")
    await lines(runs, made)
    assert problem(await runs.get(f"{path}/snapshots/10?probe=3")) == (422, "out-of-range")
    fork = f"{path}/fork"
    assert problem(await runs.post(fork, json={"step": 7777})) == (404, "no-snapshot")
    assert problem(await runs.post(fork, json={"step": 10})) == (422, "out-of-range")
    for options, kind in [
        ({"d_model": 32}, "does-not-fit"),
        ({"task": "fly"}, "unknown-value"),
        ({"fly": 1}, "unknown-field"),
        ({"steps": "many"}, "wrong-type"),
    ]:
        reply = await runs.post(fork, json={"step": 5, "options": options})
        assert problem(reply) == (422, kind), options


async def test_training_can_be_off(serving: Serving) -> None:
    async with serving(max_runs=0) as client:
        assert problem(await client.post("/api/runs", json=SMALL)) == (404, "training-off")
        assert (await client.get("/train", headers={"Accept": "text/html"})).status_code == 404


async def test_one_address_takes_half_of_the_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = Runs(RunLimits.of(Settings(max_runs=1, max_run_queue=8)), tmp_path)
    runs.folder = tmp_path
    monkeypatch.setattr(runs, "_advance", lambda: None)  # nothing trains

    def taken(address: str) -> int:
        for page in range(20):
            try:
                runs.start(LiveOptions(), Client(address, page))
            except ProblemError:
                return page
        raise AssertionError("no end")

    assert [taken(address) for address in "abcdef"] == [5, 2, 1, 1, 0, 0]
    with pytest.raises(ProblemError, match="of at most 9 training runs, 9 are in use") as full:
        runs.start(LiveOptions(), Client("f", 0))
    assert (full.value.status_code, full.value.kind) == (503, "runs-busy")
    first = next(iter(runs._runs.values()))
    runs.pause(first)  # leaves the queue, and remains one of its address
    assert [taken(address) for address in "adef"] == [0, 0, 1, 0]


async def test_a_full_run_queue_is_503(serving: Serving) -> None:
    async with serving(max_run_queue=0) as client:
        first = await start(client, SMALL)
        await until(client, first, lambda now: now["state"] != "queued")
        refused = await client.post("/api/runs", json=SMALL)
        assert problem(refused) == (503, "runs-busy")
        assert int(refused.headers["Retry-After"]) > 0

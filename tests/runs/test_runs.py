"""Training runs over the API: real processes, tiny models, seconds each."""

import asyncio
import json
import os
import signal
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.servers import AppServer
from tests.serving.training import (
    LONG,
    SECONDS,
    SMALL,
    kept,
    lines,
    patch,
    problem,
    start,
    state,
    until,
)

RESTS = 10  # polls at which the step of a run that rests is the same


async def test_a_run_trains_to_the_end_and_is_forked(runs: httpx.AsyncClient) -> None:
    made = await start(runs, SMALL)
    told = await _trains_to_the_end_and_reports_events(runs, made)
    await _a_snapshot_is_a_trace_of_the_probe(runs, made)
    await _a_fork_with_the_same_options_continues_identically(runs, made, told)


async def _trains_to_the_end_and_reports_events(
    runs: httpx.AsyncClient, made: dict[str, str]
) -> list[Any]:
    assert made["url"] == f"http://headlight/train?run={made['id']}"
    told = await lines(runs, made)  # until it ends
    assert [one["n"] for one in told] == list(range(len(told)))
    states = [one["state"]["state"] for one in told if "state" in one]
    assert states == ["queued", "starting", "running", "finished"]
    snapshots = [one["snapshot"] for one in told if "snapshot" in one]
    assert [one["step"] for one in snapshots] == list(range(11))
    assert snapshots[-1]["loss"] < snapshots[0]["loss"]
    steps = [one["progress"]["step"] for one in told if "progress" in one]
    assert steps == list(range(1, 11))
    now = await state(runs, made)
    assert (now["state"], now["why"], now["step"]) == ("finished", "steps", 10)
    assert now["events"] == len(told)
    assert now["snapshots"] == snapshots
    assert await lines(runs, made, since=len(told) - 3) == told[-3:]
    return told


async def _a_snapshot_is_a_trace_of_the_probe(
    runs: httpx.AsyncClient, made: dict[str, str]
) -> None:
    now = await state(runs, made)
    assert len(now["probes"]) == 3
    for number, probe in enumerate(now["probes"]):
        path = f"/api/runs/{made['id']}/snapshots/10"
        trace = (await runs.get(path, params={"probe": number})).json()
        words = probe["source"].split()
        assert [token["text"].strip() for token in trace["tokens"]["source"][1:-1]] == words
        assert trace["output"]["text"] == probe["target"]
        weights = trace["tensors"]["decoder.0.cross.weights"]
        assert weights["shape"] == [2, len(words) + 1, len(words) + 2]
        assert sum(weights["data"][1][0]) == pytest.approx(1, abs=1e-5)
    file = await runs.get(path, headers={"Accept": "application/octet-stream"})
    assert file.headers["content-type"] == "application/octet-stream"


async def test_pause_resume_rate_and_stop(runs: httpx.AsyncClient) -> None:
    made = await start(runs, LONG)
    await until(runs, made, lambda now: now["step"] > 20)
    assert (await patch(runs, made, paused=True)).json()["state"] == "paused"
    before = await resting_step(runs, made)
    changed = await patch(runs, made, learning_rate=0.0, paused=False)
    assert (changed.json()["state"], changed.json()["learning_rate"]) == ("running", 0.0)
    await until(runs, made, lambda now: now["step"] > before + 40)
    assert (await patch(runs, made, stop=True)).json()["state"] == "stopped"
    told = await lines(runs, made)
    rates = [
        (one["progress"]["step"], one["progress"]["rate"]) for one in told if "progress" in one
    ]
    assert all(rate > 0 for step, rate in rates if step <= before)
    assert all(rate == 0 for step, rate in rates if step > before + 40)
    assert (await patch(runs, made, paused=True)).status_code == 409


async def resting_step(client: httpx.AsyncClient, made: dict[str, str]) -> int:
    """Wait until a run no longer goes on; return the step at which it rests."""
    steps: list[int] = []
    async with asyncio.timeout(SECONDS):
        while len(steps) < RESTS or len({*steps[-RESTS:]}) > 1:
            await asyncio.sleep(0.1)
            steps.append((await state(client, made))["step"])
    return steps[-1]


async def test_waiting_runs_get_places_and_a_paused_run_makes_room(
    runs: httpx.AsyncClient,
) -> None:
    first = await start(runs, LONG)
    await until(runs, first, lambda now: now["step"] > 20)
    second = await start(runs, SMALL)
    assert (await state(runs, second))["place"] == 1
    refused = await runs.post("/api/runs", json=SMALL)
    assert problem(refused) == (429, "too-many-runs")
    others = {"Headlight-Client": "another page"}
    third = (await runs.post("/api/runs", json=SMALL, headers=others)).json()
    assert (await state(runs, third))["place"] == 2
    await patch(runs, first, paused=True)
    await until(runs, second, lambda now: now["state"] == "finished")
    await until(runs, third, lambda now: now["state"] == "finished")
    paused = await state(runs, first)
    assert paused["state"] == "paused"
    await patch(runs, first, paused=False)
    now = await until(runs, first, lambda now: now["step"] > paused["step"])
    assert now["state"] == "running"
    steps = [one["progress"]["step"] for one in await stopped_log(runs, first) if "progress" in one]
    assert steps == sorted(set(steps)), "a step was told twice"


async def stopped_log(client: httpx.AsyncClient, made: dict[str, str]) -> list[Any]:
    await patch(client, made, stop=True)
    return await lines(client, made)


async def _a_fork_with_the_same_options_continues_identically(
    runs: httpx.AsyncClient, made: dict[str, str], told: list[Any]
) -> None:
    first = {one["snapshot"]["step"]: one["snapshot"] for one in told if "snapshot" in one}
    path = f"/api/runs/{made['id']}/fork"
    same = (await runs.post(path, json={"step": 5})).json()
    second = {
        one["snapshot"]["step"]: one["snapshot"]
        for one in await lines(runs, same)
        if "snapshot" in one
    }
    assert list(second) == list(range(5, 11))
    assert all(second[step]["loss"] == first[step]["loss"] for step in second)
    assert (await state(runs, same))["parent"] == {"id": made["id"], "step": 5}
    other = (await runs.post(path, json={"step": 5, "options": {"heads": 1}})).json()
    third = [one["snapshot"] for one in await lines(runs, other) if "snapshot" in one]
    assert third[0]["loss"] != first[5]["loss"]
    assert third[-1]["loss"] != first[10]["loss"]


async def test_a_killed_process_fails_its_run_and_starts_the_next(runs: httpx.AsyncClient) -> None:
    first = await start(runs, LONG)
    second = await start(runs, SMALL)
    before = await until(runs, first, lambda now: len(now["snapshots"]) > 2)
    process = kept(runs, first["id"]).process
    assert process
    assert process.pid
    os.kill(process.pid, signal.SIGKILL)
    now = await until(runs, first, lambda now: now["state"] == "failed")
    assert now["why"] == "crashed"
    assert now["snapshots"][: len(before["snapshots"])] == before["snapshots"]
    step = now["snapshots"][-1]["step"]
    assert (await runs.get(f"/api/runs/{first['id']}/snapshots/{step}")).status_code == 200
    await until(runs, second, lambda now: now["state"] == "finished")
    fork = {"step": step, "options": {"steps": step + 10}}
    again = await runs.post(f"/api/runs/{first['id']}/fork", json=fork)
    await until(runs, again.json(), lambda now: now["state"] == "finished")


def test_shutdown_ends_the_streams_of_runs(launch: Callable[..., AppServer]) -> None:
    """The streams of watchers end in order, although the run continues."""
    server = launch(run_nice="0", zoo="0")
    run = httpx.post(f"{server.url}/api/runs", json=LONG, timeout=SECONDS).json()
    path = f"{server.url}/api/runs/{run['id']}/events"
    with httpx.stream("GET", path, timeout=SECONDS) as reply:
        told = reply.iter_lines()
        assert json.loads(next(told))["n"] == 0
        server.process.send_signal(signal.SIGTERM)
        assert all(json.loads(line) for line in told)

"""Training runs over the API: real processes, tiny models, seconds each."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
import torch
from fastapi import FastAPI

from app.engine.catalog import Catalog
from app.http.problems import MEDIA_TYPE, URN
from app.runs.run import Run
from tests.app.conftest import Serving
from tests.servers import running_app

SMALL = {"task": "copy", "longest": 3, "steps": 10, "d_model": 16, "heads": 2, "batch": 200}
LONG = {**SMALL, "steps": 4000}
SECONDS = 120.0
EAGER = {"run_nice": 0}  # so that other work does not slow it down


@pytest.fixture
async def runs(serving: Serving) -> AsyncIterator[httpx.AsyncClient]:
    """A server that trains one run at a time and runs no model."""
    async with serving(**EAGER) as client:
        yield client


def kept(client: httpx.AsyncClient, run_id: str) -> Run:
    """Return the server's own record of a run."""
    transport = client._transport
    assert isinstance(transport, httpx.ASGITransport)
    app = transport.app
    assert isinstance(app, FastAPI)
    return app.state.services.runs._runs[run_id]  # type: ignore[no-any-return]


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


async def test_a_run_trains_to_the_end_and_reports_events(runs: httpx.AsyncClient) -> None:
    made = await start(runs, SMALL)
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


async def test_a_snapshot_is_a_trace_of_the_probe(runs: httpx.AsyncClient) -> None:
    made = await start(runs, SMALL)
    await lines(runs, made)
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
    await asyncio.sleep(1.5)
    before = (await state(runs, made))["step"]
    await asyncio.sleep(1.5)
    assert (await state(runs, made))["step"] == before
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


async def test_a_fork_with_the_same_options_continues_identically(
    runs: httpx.AsyncClient,
) -> None:
    made = await start(runs, SMALL)
    first = {
        one["snapshot"]["step"]: one["snapshot"]
        for one in await lines(runs, made)
        if "snapshot" in one
    }
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
    before = await until(runs, first, lambda now: now["step"] > 120)
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


async def test_an_unwatched_run_is_stopped(serving: Serving) -> None:
    async with serving(max_run_unwatched_seconds=2.0, **EAGER) as client:
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
    async with serving(max_run_minutes=1 / 60, **EAGER) as client:
        made = await start(client, {**LONG, "steps": 5000})
        await lines(client, made)
        now = await state(client, made)
        assert (now["state"], now["why"]) == ("finished", "minutes")
        assert now["snapshots"][-1]["step"] == now["step"] < 5000


async def test_a_kept_snapshot_is_a_model_like_any_other(
    serving: Serving, catalog: Catalog, tmp_path: Path
) -> None:
    own = Catalog.load({"en-zh": "en-zh"}, "cpu", kept=tmp_path / "kept")
    async with serving(own, max_kept_models=1, **EAGER) as client:
        made = await start(client, SMALL)
        await lines(client, made)
        now = await state(client, made)
        path, key = f"/api/runs/{made['id']}/keep", {"Run-Key": made["key"]}
        assert problem(await client.post(path, json={}, headers={"Run-Key": "no"}))[0] == 403
        assert problem(await client.post(path, json={"step": 77}, headers=key))[0] == 404
        reply = await client.post(path, json={"step": 5}, headers=key)
        assert reply.status_code == 201, reply.text
        kept_model = reply.json()["id"]
        listed = {one["id"]: one for one in (await client.get("/api/models")).json()}
        assert listed[kept_model]["name"] == "copy, rotary, 2 heads, step 5"
        probe = now["probes"][0]
        assert parse_qs(urlsplit(reply.json()["url"]).query) == {
            "model": [kept_model],
            "source": [probe["source"]],
        }
        asked = {"model": kept_model, "source": probe["source"], "target": probe["target"]}
        trace = (await client.post("/api/trace", json=asked)).json()
        seen = (await client.get(f"/api/runs/{made['id']}/snapshots/5")).json()
        name = "decoder.0.cross.weights"  # half precision in a bundle
        mine, theirs = (one["tensors"][name]["data"] for one in (trace, seen))
        assert torch.allclose(torch.tensor(mine), torch.tensor(theirs), atol=2e-3)
        shared = await client.post("/api/shares", json={"state": {**asked, "target": None}})
        assert shared.status_code == 201, shared.text
        assert problem(await client.post(path, json={}, headers=key)) == (507, "models-full")
        await learned_as_seen(client, made, kept_model, now)
    again = Catalog.load({"en-zh": "en-zh"}, "cpu", kept=tmp_path / "kept")
    assert kept_model in again


async def learned_as_seen(
    client: httpx.AsyncClient, run: dict[str, Any], kept_model: str, now: dict[str, Any]
) -> None:
    """The kept model's history consists of the run's snapshots up to the kept one."""
    path = f"/api/models/{kept_model}/learning"
    told = (await client.get(path)).json()
    seen = [one for one in now["snapshots"] if one["step"] <= 5]
    assert [(one["step"], one["loss"], one["accuracy"]) for one in told["snapshots"]] == [
        (one["step"], one["loss"], one["accuracy"]) for one in seen
    ]
    assert [one["source"] for one in told["examples"]] == [one["source"] for one in now["probes"]]
    for probe in range(len(now["probes"])):
        example = (await client.get(f"{path}/{probe}")).json()
        assert example["texts"] == [one["written"][probe] for one in seen]
        for one in seen:
            url = f"/api/runs/{run['id']}/snapshots/{one['step']}?probe={probe}"
            trace = (await client.get(url)).json()
            assert example["tokens"] == trace["tokens"]
            assert example["output"]["tokens"] == trace["output"]["tokens"]
            for name, tensor in trace["tensors"].items():
                if name.endswith(".weights"):
                    stored = torch.tensor(example["tensors"][f"{one['step']}.{name}"]["data"])
                    exact = torch.tensor(tensor["data"], dtype=torch.float64)
                    assert torch.allclose(stored.double() / 255, exact, atol=0.5 / 255 + 1e-6)


async def test_a_kept_model_is_deleted_with_its_key(
    serving: Serving, catalog: Catalog, tmp_path: Path
) -> None:
    own = Catalog.load({"en-zh": "en-zh"}, "cpu", kept=tmp_path / "kept")
    async with serving(own, max_kept_models=1, **EAGER) as client:
        made = await start(client, SMALL)
        await lines(client, made)
        run = f"/api/runs/{made['id']}/keep"
        kept_one = (await client.post(run, json={}, headers={"Run-Key": made["key"]})).json()
        path = f"/api/models/{kept_one['id']}"
        asked = {"model": kept_one["id"], "source": "a b"}
        share_path = (await client.post("/api/shares", json={"state": asked})).json()["id"]
        right = {"Model-Key": kept_one["key"]}
        for other in (made["key"].encode(), b"", "ключ".encode()):
            wrong = await client.delete(path, headers={b"Model-Key": other})
            assert problem(wrong) == (403, "wrong-model-key")
        assert problem(await client.delete("/api/models/en-zh", headers=right))[0] == 403
        for nobody in ("kept-nothing", "..", "kept-%2e%2e"):
            gone = await client.delete(f"/api/models/{nobody}", headers=right)
            assert gone.status_code in (404, 405)
        assert (await client.delete(path)).status_code == 422
        assert (await client.post("/api/trace", json=asked)).status_code == 200
        assert (await client.delete(path, headers=right)).status_code == 204
        assert problem(await client.delete(path, headers=right)) == (404, "unknown-model")
        assert problem(await client.post("/api/trace", json=asked)) == (422, "unknown-model")
        listed = [one["id"] for one in (await client.get("/api/models")).json()]
        assert kept_one["id"] not in listed
        assert not [*(tmp_path / "kept").iterdir()]
        assert (await client.get(f"/api/shares/{share_path}")).status_code == 200
        again = await client.post(run, json={}, headers={"Run-Key": made["key"]})
        assert again.status_code == 201, "there is room again"


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


async def test_a_full_run_queue_is_503(serving: Serving) -> None:
    async with serving(max_run_queue=0, **EAGER) as client:
        first = await start(client, SMALL)
        await until(client, first, lambda now: now["state"] != "queued")
        refused = await client.post("/api/runs", json=SMALL)
        assert problem(refused) == (503, "runs-busy")
        assert int(refused.headers["Retry-After"]) > 0


def test_shutdown_ends_the_streams_of_runs(tmp_path: Path) -> None:
    """The streams of watchers end in order, although the run continues."""
    with running_app(tmp_path, {"run_nice": "0", "zoo": "0"}, warm=True) as server:
        run = httpx.post(f"{server.url}/api/runs", json=LONG, timeout=SECONDS).json()
        path = f"{server.url}/api/runs/{run['id']}/events"
        with httpx.stream("GET", path, timeout=SECONDS) as reply:
            told = reply.iter_lines()
            assert json.loads(next(told))["n"] == 0
            server.process.send_signal(signal.SIGTERM)
            assert all(json.loads(line) for line in told)

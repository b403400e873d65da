"""Models kept from training runs: traces, history, deletion."""

import asyncio
import os
import shutil
import time
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
import torch

from app.engine.model_catalog import Catalog
from app.engine.model_listing import Listing
from app.http.problems import ProblemError
from app.runs.kept_models import DAY, KEY, KeptModels
from model.bundle.weights import CHECKPOINTS
from tests.serving.fixtures import Serving
from tests.serving.training import SMALL, lines, problem, start, state


async def test_a_kept_snapshot_is_a_model_like_any_other(
    serving: Serving, catalog: Catalog, tmp_path: Path
) -> None:
    own = Catalog.load({"en-zh": "en-zh"}, "cpu", kept_folder=tmp_path / "kept")
    async with serving(own, max_kept_models=1) as client:
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
    again = Catalog.load({"en-zh": "en-zh"}, "cpu", kept_folder=tmp_path / "kept")
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
    own = Catalog.load({"en-zh": "en-zh"}, "cpu", kept_folder=tmp_path / "kept")
    async with serving(own, max_kept_models=1) as client:
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


async def test_kept_models_expire_and_are_shared_among_addresses(tmp_path: Path) -> None:
    listing = Listing({}, {}, 1)
    kept = KeptModels(tmp_path, 4, 2.0, listing, str.upper)

    def write(bundle: Path) -> None:
        shutil.copytree(CHECKPOINTS / "zoo" / "copy", bundle)

    async def add(address: str) -> str:
        return (await kept.add(write, address))[0]

    first, _ = [await add("a") for _ in range(2)]
    with pytest.raises(ProblemError, match=r"half of the kept models.* 2 of 4; .* has 2"):
        await add("a")
    assert {path.read_text() for path in tmp_path.glob("*/owner")} == {"A"}
    other = [await add("b"), await add("c")]
    for address in "abc":
        with pytest.raises(ProblemError, match="of at most 4 kept models, 4 are in use"):
            await add(address)
    again = KeptModels(tmp_path, 4, 2.0, listing, str.upper)  # after a restart
    with pytest.raises(ProblemError):
        await again.add(write, "d")
    shutil.rmtree(tmp_path / other[0])  # by another server
    os.utime(tmp_path / first / KEY, (0, time.time() - 3 * DAY))
    pruning = asyncio.create_task(again.keep_pruning(0.01))
    while first in listing or other[0] in listing:
        await asyncio.sleep(0.01)
    pruning.cancel()
    assert len(listing) == len([*tmp_path.iterdir()]) == 2
    await again.add(write, "d")

"""Shares keep whole sweeps: the lines that POST /api/sweep sends."""

import json
from typing import Any

import httpx
import pytest
import zstandard

from app.engine.reply_formats import Reply
from app.shares.formats import FORMAT, upgrade_answer
from app.traces.service import SweepReply
from tests.serving.fixtures import Serving
from tests.serving.problem import hold
from tests.serving.storage import STATE, share
from tests.traces.test_sweep import OCTETS

PATCH = {
    "source": "My father is a teacher.",
    "effect": {"patch": {"source": "My mother is a teacher."}},
    "over": "sublayers",
}
SWEEPS: list[dict[str, Any]] = [
    dict(STATE),
    {**STATE, "effect": "uniform", "row": 1},
    {**STATE, "over": "pairs", "among": ["decoder.0.*"]},
    PATCH,
]


async def streamed(client: httpx.AsyncClient, asked: dict[str, Any]) -> list[dict[str, Any]]:
    reply = await client.post("/api/sweep", json=asked)
    assert reply.status_code == 200
    return [json.loads(line) for line in reply.text.splitlines()]


def effects(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [one for line in lines for one in line.get("changes", [])]


async def test_a_share_keeps_what_a_sweep_sends(client: httpx.AsyncClient) -> None:
    made = await share(client, asks=[{"sweep": asked} for asked in SWEEPS])
    path = f"/api/shares/{made['id']}"
    whole = (await client.get(path)).json()
    assert whole["asks"] == [{"sweep": asked} for asked in SWEEPS]
    for n, asked in enumerate(SWEEPS):
        stored = (await client.get(f"{path}/asks/{n}")).json()
        SweepReply.model_validate(stored)
        fresh = await streamed(client, asked)
        assert stored["lines"] == fresh
        assert len(effects(fresh)) == fresh[0]["start"]["changes"] > 10
        file = await client.get(f"{path}/asks/{n}", headers=OCTETS)
        assert file.status_code == 200


async def test_its_numbers_count(serving: Serving) -> None:
    alone = {**STATE, "over": "sublayers"}
    async with serving() as client:
        lines = await streamed(client, alone)
    rows = len(lines[0]["start"]["logprobs"])
    count = 3 * rows * len(effects(lines))  # delta, divergence and contrast
    async with serving() as client:
        plain = await share(client)
        whole = (await client.get(f"/api/shares/{plain['id']}")).json()["trace"]
    own = sum(_size(one["shape"]) for one in whole["tensors"].values())
    twice = {"state": STATE, "asks": [{"sweep": alone}, {"sweep": {**alone, "against": 5}}]}
    async with serving(max_values=own + 2 * count - 1) as client:
        reply = await client.post("/api/shares", json=twice)
        problem = hold(reply, 422, "reply-too-large", "asks[1].sweep")
        assert str(own + 2 * count - 1) in problem["detail"]
    async with serving(max_values=own + 2 * count) as client:
        assert (await client.post("/api/shares", json=twice)).status_code == 201


def _size(shape: list[int]) -> int:
    size = 1
    for one in shape:
        size *= one
    return size


@pytest.mark.parametrize(
    ("asked", "kind", "field"),
    [
        ({"sweep": {**STATE, "over": "nothing"}}, "unknown-value", "asks[0].sweep.over"),
        ({"sweep": {**STATE, "model": "no"}}, "unknown-model", "asks[0].sweep.model"),
        ({"sweep": {**STATE, "row": 99}}, "out-of-range", "asks[0].sweep.row"),
        ({"sweep": STATE, "trace": STATE}, "missing", "asks[0]"),
    ],
)
def test_a_sweep_is_checked_as_alone(
    reader: httpx.Client, asked: dict[str, Any], kind: str, field: str
) -> None:
    if "trace" not in asked:
        alone = reader.post("/api/sweep", json=asked["sweep"]).json()
        assert alone["type"].endswith(kind)
        assert f"asks[0].sweep.{alone['field']}" == field
    hold(reader.post("/api/shares", json={"state": STATE, "asks": [asked]}), 422, kind, field)


async def test_changes_were_called_heads_in_format_3(client: httpx.AsyncClient) -> None:
    made = await share(client, asks=[{"sweep": SWEEPS[0]}])
    file = (await client.get(f"/api/shares/{made['id']}/asks/0", headers=OCTETS)).content
    document = Reply.parse(file).document
    older = json.loads(json.dumps(document).replace('"changes"', '"heads"'))
    assert older != document
    answer = zstandard.compress(Reply(older, {}).safetensors())
    read = zstandard.decompress(upgrade_answer(answer, 3))
    assert Reply.parse(read).document == document
    assert upgrade_answer(answer, FORMAT) == answer
    other = zstandard.compress(Reply({"tensors": {}}, {}).safetensors())
    assert upgrade_answer(other, 3) == other

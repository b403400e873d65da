"""POST /api/sweep: the effect of each head, without affecting other replies."""

import asyncio
import json
from typing import Any

import httpx
import numpy as np
import pytest

from app.engine.catalog import Catalog
from app.engine.wire import Reply
from app.schemas.streams import SweepLine
from tests.app.conftest import Serving
from tests.app.slow import Slow

SOURCE = "The cat didn't sit on the mat."
MADE = [{"at": "encoder.1.self", "head": 0, "do": "zero"}, {"at": "source", "do": {"mask": 2}}]
OCTETS = {"Accept": "application/octet-stream"}


async def swept(client: httpx.AsyncClient, **request: Any) -> list[dict[str, Any]]:
    """Read all lines of a sweep, each as the reference describes it."""
    reply = await client.post("/api/sweep", json={"source": SOURCE} | request)
    assert reply.status_code == 200, reply.text
    lines: list[dict[str, Any]] = [json.loads(line) for line in reply.text.splitlines()]
    for line in lines:
        assert SweepLine.model_validate(line).model_dump(exclude_unset=True).keys() == line.keys()
    return lines


async def traced(client: httpx.AsyncClient, **request: Any) -> dict[str, Any]:
    reply = await client.post("/api/trace", json={"source": SOURCE, "select": []} | request)
    assert reply.status_code == 200, reply.text
    document: dict[str, Any] = reply.json()
    return document


@pytest.mark.parametrize("effect", ["zero", "uniform", "mean"])
@pytest.mark.parametrize("made", [[], MADE], ids=["plain", "changed"])
async def test_each_effect_equals_that_of_a_trace(
    client: httpx.AsyncClient, effect: str, made: list[Any]
) -> None:
    request = {"target": "猫没有坐在垫子上。", "interventions": made}
    start, *lines, end = await swept(client, effect=effect, **request)
    base = await traced(client, **request)
    assert end == {"end": {}}
    assert start["start"]["tokens"] == base["tokens"]
    before = base["output"]["logprobs"]
    assert start["start"]["logprobs"] == pytest.approx(before, abs=1e-5)
    heads = [one for line in lines for one in line["heads"]]
    assert [line["done"] for line in lines] == np.cumsum([len(x["heads"]) for x in lines]).tolist()
    assert len(heads) == len({(one["at"], one["head"]) for one in heads})
    assert len(heads) == start["start"]["heads"] == lines[-1]["done"] == 72
    for one in heads[::5]:
        changed = [*made, {"at": one["at"], "head": one["head"], "do": effect}]
        alone = await traced(client, **request | {"interventions": changed})
        delta = np.subtract(alone["output"]["logprobs"], before)
        assert one["delta"] == pytest.approx(delta.tolist(), abs=1e-5)
        assert min(one["divergence"]) >= 0


async def test_without_a_target_the_model_writes_one(client: httpx.AsyncClient) -> None:
    decode = {"method": "beam", "beam": 2, "max_tokens": 5}
    start, *lines, _ = await swept(client, decode=decode, row=2)
    base = await traced(client, decode=decode)
    assert start["start"]["output"]["tokens"] == base["output"]["tokens"]
    assert start["start"]["output"]["ranks"] == base["output"]["ranks"]
    assert start["start"]["logprobs"] == pytest.approx(base["output"]["logprobs"][2:3], abs=1e-5)
    for line in lines:
        for one in line["heads"]:
            assert len(one["delta"]) == len(one["divergence"]) == 1


async def test_a_sweep_does_not_affect_traces(client: httpx.AsyncClient) -> None:
    """Traces are equal bit for bit: a sweep shares no batch or other state with them."""
    request = {"source": "A dog ran after the cat.", "select": ["*.weights", "decoder.logits"]}

    async def ask() -> bytes:
        reply = await client.post("/api/trace", json=request, headers=OCTETS)
        assert reply.status_code == 200
        return reply.content

    alone = Reply.parse(await ask())
    sweeping = [asyncio.create_task(swept(client, effect=effect)) for effect in ("zero", "mean")]
    beside = 0
    while not all(task.done() for task in sweeping):
        seen = Reply.parse(await ask())
        beside += 1
        assert seen.document == alone.document
        for name, array in alone.arrays.items():
            assert np.array_equal(seen.arrays[name], array), name
    assert beside > 2
    for task in sweeping:
        assert (await task)[-1] == {"end": {}}


async def test_concurrent_sweeps_equal_single_ones(client: httpx.AsyncClient) -> None:
    asked = [{"effect": "zero"}, {"effect": "uniform", "source": "I don't know who she is."}]
    alone = [await swept(client, **one) for one in asked]
    together = await asyncio.gather(*(swept(client, **one) for one in asked))
    assert together == alone


@pytest.mark.parametrize(
    ("body", "kind", "field"),
    [
        ({"row": 99}, "out-of-range", "row"),
        ({"row": -1}, "out-of-range", "row"),
        ({"row": "1"}, "wrong-type", "row"),
        ({"effect": "drop"}, "unknown-value", "effect"),
        ({"target": ""}, "empty-text", "target"),
        ({"target": "猫" * 2001}, "text-too-long", "target"),
        ({"interventions": [{"at": "x", "do": "zero"}]}, "unknown-place", "interventions[0].at"),
        ({"decode": {"prefix": [0]}}, "unknown-token", "decode.prefix[0]"),
    ],
    ids=str,
)
async def test_bad_input_is_named(
    client: httpx.AsyncClient, body: Any, kind: str, field: str
) -> None:
    reply = await client.post("/api/sweep", json={"source": SOURCE} | body)
    assert reply.status_code == 422
    assert (reply.json()["type"], reply.json()["field"]) == (f"urn:headlight:{kind}", field)


async def test_a_full_queue_is_busy(serving: Serving) -> None:
    model = Slow()
    slow = Catalog.of({"slow": model})
    async with serving(slow, max_queue=1) as client:
        first = asyncio.create_task(traced(client, source="a"))
        await asyncio.to_thread(model.started.wait, 10)
        second = asyncio.create_task(traced(client, source="b"))
        await asyncio.sleep(0.05)
        busy = await client.post("/api/sweep", json={"source": SOURCE})
        model.go.set()
        await asyncio.gather(first, second)
    assert busy.status_code == 503
    assert int(busy.headers["retry-after"]) > 0

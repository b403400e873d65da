"""POST /api/sweep: the effect of each head, without affecting other replies."""

import asyncio
import json
from typing import Any

import httpx
import numpy as np
import pytest

from app.engine.model_catalog import Catalog
from app.engine.reply_formats import Reply
from app.traces.service import SweepLine
from tests.serving.fixtures import Serving
from tests.serving.slow import Slow
from tests.shipped_head_counts import IN_ALL

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
    heads = [one for line in lines for one in line["changes"]]
    assert [line["done"] for line in lines] == np.cumsum(
        [len(x["changes"]) for x in lines]
    ).tolist()
    assert len(heads) == len({(one["at"], one["head"]) for one in heads})
    assert len(heads) == start["start"]["changes"] == lines[-1]["done"] == IN_ALL
    for one in heads[::5]:
        changed = [*made, {"at": one["at"], "head": one["head"], "do": effect}]
        alone = await traced(client, **request | {"interventions": changed})
        delta = np.subtract(alone["output"]["logprobs"], before)
        assert one["delta"] == pytest.approx(delta.tolist(), abs=1e-5)
        assert min(one["divergence"]) >= 0


@pytest.mark.parametrize(("over", "count"), [("heads", 81), ("sublayers", 15), ("positions", None)])
async def test_a_patch_is_swept_over_parts_of_the_model(
    client: httpx.AsyncClient, over: str, count: int | None
) -> None:
    patch = {"source": "The dog didn't sit on the mat."}
    request = {"target": "猫没有坐在垫子上。", "row": 0}
    start, *lines, end = await swept(client, effect={"patch": patch}, over=over, **request)
    first, made = start["start"], [one for line in lines for one in line["changes"]]
    assert end == {"end": {}}
    assert len(made) == first["changes"] == (count or first["changes"])
    [rows], [other] = first["contrast"], first["other"]["contrast"]
    for one in made:
        assert over == "heads" or one["head"] is None
        assert ("token" in one and one["token"] is not None) == (over == "positions")
        assert one["recovered"][0] == pytest.approx(one["contrast"][0] / (other - rows), abs=1e-4)
    assert max(one["recovered"][0] for one in made) > 0.1


async def test_an_intervention_repeats_a_patch_of_a_sweep(client: httpx.AsyncClient) -> None:
    """With the ids that the other run read, not its text, which may be cut into other tokens."""
    other = {"source": "The dog didn't sit on the mat."}
    start, *lines, _ = await swept(client, effect={"patch": other})
    ids = [token["id"] for token in start["start"]["output"]["tokens"]]
    forced = {"prefix": ids, "max_tokens": len(ids)}
    for one in [one for line in lines for one in line["changes"]][-20::6]:
        text = "source" if one["at"].startswith("encoder") else "target"
        rows = start["start"]["other"]["rows"][text]
        patch = {**other, "decode": forced, "rows": rows}
        made = [{"at": one["at"], "head": one["head"], "do": {"patch": patch}}]
        after = await traced(client, decode=forced, interventions=made)
        delta = np.subtract(after["output"]["logprobs"], start["start"]["logprobs"])
        assert one["delta"] == pytest.approx(delta.tolist(), abs=1e-5)


async def test_a_sweep_over_the_senders_of_a_path_repeats_as_interventions(
    client: httpx.AsyncClient,
) -> None:
    """Only what is on the way to the values of the last cross-attention has an effect."""
    target = "猫没有坐在垫子上。"
    to = {"at": "decoder.2.cross.v", "head": 4}
    patch = {"source": "The dog didn't sit on the mat.", "target": target, "to": to}
    start, *lines, _ = await swept(client, target=target, effect={"patch": patch})
    heads = [one for line in lines for one in line["changes"]]
    assert len(heads) == 81
    rows = start["start"]["other"]["rows"]
    for one in heads[::16]:
        text = "source" if one["at"].startswith("encoder") else "target"
        path = {**patch, "rows": rows[text]}
        made = [{"at": one["at"], "head": one["head"], "do": {"patch": path}}]
        after = await traced(client, target=target, interventions=made)
        delta = np.subtract(after["output"]["logprobs"], start["start"]["logprobs"])
        assert one["delta"] == pytest.approx(delta.tolist(), abs=1e-5)
    most = {one["at"]: 0.0 for one in heads}
    for one in heads:
        most[one["at"]] = max(most[one["at"]], *map(abs, one["contrast"]))
    assert max(value for at, value in most.items() if at.startswith("decoder")) < 1e-5
    assert min(value for at, value in most.items() if at.startswith("encoder")) > 1e-3


async def test_sublayers_and_pairs_are_swept(client: httpx.AsyncClient) -> None:
    start, *lines, end = await swept(client, over="sublayers")
    made = [one for line in lines for one in line["changes"]]
    assert len(made) == start["start"]["changes"] == 15
    change = {"at": "decoder.1.ffn.output", "do": "zero"}
    [one] = (one for one in made if one["at"] == change["at"])
    text = start["start"]["output"]["text"]
    alone = await traced(client, target=text, interventions=[change])
    base = await traced(client, target=text)
    delta = np.subtract(alone["output"]["logprobs"], base["output"]["logprobs"])
    assert one["delta"] == pytest.approx(delta.tolist(), abs=1e-5)

    asked = {"over": "pairs", "among": ["decoder.2.cross"], "effect": "mean"}
    start, *lines, end = await swept(client, **asked)
    made = [one for line in lines for one in line["changes"]]
    assert len(made) == start["start"]["changes"] == 8 + 28
    assert end == {"end": {}}
    single = {one["head"]: one["delta"] for one in made[:8]}
    for pair in made[8:]:
        assert pair["also"]["at"] == pair["at"] == "decoder.2.cross"
        both = np.add(single[pair["head"]], single[pair["also"]["head"]])
        assert pair["interaction"] == pytest.approx(np.subtract(pair["delta"], both), abs=1e-6)


async def test_without_a_target_the_model_writes_one(client: httpx.AsyncClient) -> None:
    decode = {"method": "beam", "beam": 2, "max_tokens": 5}
    start, *lines, _ = await swept(client, decode=decode, row=2)
    base = await traced(client, decode=decode)
    assert start["start"]["output"]["tokens"] == base["output"]["tokens"]
    assert start["start"]["output"]["ranks"] == base["output"]["ranks"]
    assert start["start"]["logprobs"] == pytest.approx(base["output"]["logprobs"][2:3], abs=1e-5)
    for line in lines:
        for one in line["changes"]:
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
        ({"row": "1"}, "wrong-type", "row"),
        ({"effect": "drop"}, "unknown-value", "effect"),
        (
            {"effect": {"patch": {"source": "a", "rows": [[0]]}}},
            "missing",
            "effect.patch.rows[0][1]",
        ),
        ({"effect": {"patch": {"source": "a"}}, "over": "layers"}, "unknown-value", "over"),
        ({"effect": {"patch": {"source": "a", "to": {}}}}, "missing", "effect.patch.to.at"),
        ({"effect": "zero", "over": "positions"}, "unknown-value", "over"),
        ({"over": "pairs", "among": ["encoder.9.*"]}, "unknown-place", "among[0]"),
        ({"over": "pairs", "among": ["*"] * 1000}, "too-many-patterns", "among"),
        ({"over": "pairs", "among": [3]}, "wrong-type", "among[0]"),
        ({"among": ["*"]}, "unknown-field", "among"),
        ({"target": "猫" * 2001}, "text-too-long", "target"),
        ({"decode": {"prefix": [0]}}, "unknown-token", "decode.prefix[0]"),
    ],
    ids=str,
)
def test_bad_input_is_named(reader: httpx.Client, body: Any, kind: str, field: str) -> None:
    reply = reader.post("/api/sweep", json={"source": SOURCE} | body)
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

"""POST /api/decode: one line per step, a trace's translation, and no unnecessary steps."""

import asyncio
import json
import math
from typing import Any

import httpx
import pytest

from app.engine.model_catalog import Catalog
from app.traces.schemas import DecodeLine
from tests.serving.fixtures import Serving
from tests.serving.slow import Slow

SOURCE = "The cat didn't sit on the mat."
ZERO = [{"at": "decoder.1.cross", "head": 2, "do": "zero"}]
CUT = [{"at": "decoder.0.self", "do": {"cut": [3, 1]}}, {"at": "source", "do": {"mask": 2}}]
METHODS: list[dict[str, Any]] = [
    {},
    *({"method": "beam", "beam": width} for width in (1, 2, 5)),
    {"method": "beam", "beam": 3, "length_penalty": 0, "max_tokens": 4},
    {"method": "sample", "seed": 1},
    {"method": "sample", "seed": 7, "temperature": 1.5, "top_k": 20, "top_p": 0.9},
]


def decoded(reader: httpx.Client, **request: Any) -> list[dict[str, Any]]:
    """Read all lines of a decoding, each as the reference describes it."""
    reply = reader.post("/api/decode", json={"source": SOURCE} | request)
    assert reply.status_code == 200, reply.text
    assert reply.headers["content-type"] == "application/x-ndjson"
    lines: list[dict[str, Any]] = [json.loads(line) for line in reply.text.splitlines()]
    for line in lines:
        [kind] = line
        told = DecodeLine.model_validate(line).model_dump(exclude_unset=True)
        assert told[kind].keys() == line[kind].keys()
    return lines


def output(reader: httpx.Client, **request: Any) -> dict[str, Any]:
    body = {"source": SOURCE, "select": []} | request
    reply = reader.post("/api/trace", json=body)
    assert reply.status_code == 200, reply.text
    written: dict[str, Any] = reply.json()["output"]
    return written


def ids(written: dict[str, Any]) -> list[int]:
    return [token["id"] for token in written["tokens"]]


@pytest.mark.parametrize(
    ("decode", "made"),
    [*((decode, []) for decode in METHODS), (METHODS[2], ZERO), (METHODS[2], CUT), ({}, CUT)],
    ids=str,
)
def test_decoding_by_steps_equals_a_trace(
    reader: httpx.Client, decode: dict[str, Any], made: list[Any]
) -> None:
    # First, since a trace caches the result of a decoding.
    at_once = output(reader, decode=decode, interventions=made)
    start, *steps, end = decoded(reader, decode=decode, interventions=made, candidates=3)
    told = end["end"]["output"]
    assert ids(told) == ids(at_once)
    assert told["text"] == at_once["text"]
    assert told["tokens"] == at_once["tokens"]
    assert told["logprobs"] == pytest.approx(at_once["logprobs"], abs=1e-4)
    assert told["score"] == pytest.approx(at_once["score"], abs=1e-4)
    assert told["finished"] == at_once["finished"]
    assert start["start"]["decode"]["method"] == decode.get("method", "greedy")
    assert [line["step"]["index"] for line in steps] == list(range(len(steps)))
    # The output was built on one of the beams, step by step.
    for number in range(len(ids(told))):
        grown = [
            step["hypotheses"][beam["parent"]]["ids"] + [beam["token"]["id"]]
            for step in [steps[number]["step"]]
            for beam in step["beams"]
            if beam["state"] != "pruned"
        ]
        assert ids(told)[: number + 1] in grown


@pytest.mark.parametrize("decode", METHODS, ids=str)
def test_a_step_adds_up(reader: httpx.Client, decode: dict[str, Any]) -> None:
    _, *steps, end = decoded(reader, decode=decode, candidates=50)
    width = decode.get("beam", 1) if decode.get("method") == "beam" else 1
    alpha = decode.get("length_penalty", 0.6)
    live: list[list[int]] = [[]]
    for step in (line["step"] for line in steps):
        assert not step["forced"]
        assert [one["ids"] for one in step["hypotheses"]] == live
        for row, one in enumerate(step["hypotheses"]):
            listed = one["candidates"]
            assert sum(c["probability"] for c in listed) + one["rest"] == pytest.approx(1)
            assert [c["logprob"] for c in listed] == sorted(c["logprob"] for c in listed)[::-1]
            kept = {c["id"] for c in listed if c["kept"]}
            on = [b for b in step["beams"] if b["parent"] == row and b["state"] != "pruned"]
            assert kept <= {beam["token"]["id"] for beam in on}
            assert kept or not on or decode.get("method") == "sample"
        for beam in step["beams"]:
            parent = step["hypotheses"][beam["parent"]]
            of = {c["id"]: (rank, c) for rank, c in enumerate(parent["candidates"], 1)}
            if beam["token"]["id"] in of:
                rank, candidate = of[beam["token"]["id"]]
                assert beam["rank"] == rank
                total = parent["logprob"] + candidate["logprob"]
                assert beam["logprob"] == pytest.approx(total, abs=1e-5)
                assert beam["token"]["text"] == candidate["text"]
            lp = ((5 + len(parent["ids"]) + 1) / 6) ** alpha
            assert beam["score"] == pytest.approx(beam["logprob"] / lp)
        states = [beam["state"] for beam in step["beams"]]
        assert states == sorted(states, key=["live", "finished", "pruned"].index)
        going = [beam for beam in step["beams"] if beam["state"] == "live"]
        assert len(going) <= width
        assert len(step["beams"]) <= 2 * width
        sums = [beam["logprob"] for beam in going]
        assert sums == sorted(sums, reverse=True)
        live = [step["hypotheses"][beam["parent"]]["ids"] + [beam["token"]["id"]] for beam in going]
    assert end["end"]["output"]["finished"] or decode.get("max_tokens")


def test_a_sampled_token_reports_its_pool(reader: httpx.Client) -> None:
    drawing = {"method": "sample", "seed": 3, "temperature": 2.0, "top_k": 5}
    _, *steps, _ = decoded(reader, decode=drawing, candidates=5)
    for step in (line["step"] for line in steps):
        [one], [beam] = step["hypotheses"], step["beams"]
        assert beam["pool"] == 5
        assert beam["rank"] <= 5
        cooled = {c["id"]: math.sqrt(c["probability"]) for c in one["candidates"]}
        expected = cooled[beam["token"]["id"]] / sum(cooled.values())
        assert beam["drawn"] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("method", ["greedy", "beam", "sample"])
def test_a_prefix_is_continued(reader: httpx.Client, method: str) -> None:
    _, *steps, end = decoded(reader, decode={"method": method, "seed": 4})
    known = ids(end["end"]["output"])
    third = steps[2]["step"]["hypotheses"][0]
    other = next(c["id"] for c in third["candidates"] if c["id"] != known[2])
    decode = {"method": method, "seed": 4, "prefix": [*third["ids"], other]}
    _, *again, changed = decoded(reader, decode=decode)
    told = changed["end"]["output"]
    assert ids(told)[:3] == decode["prefix"]
    assert ids(told) == ids(output(reader, decode=decode))
    assert [line["step"]["forced"] for line in again[:4]] == [True, True, True, False]
    assert [len(line["step"]["hypotheses"]) for line in again[:4]] == [1, 1, 1, 1]
    assert [beam["token"]["id"] for beam in again[2]["step"]["beams"]] == [other]


def test_a_prefix_may_be_the_whole_output(reader: httpx.Client) -> None:
    whole = ids(output(reader))
    for prefix, most in ((whole, None), (whole[:3], 3), (whole[-1:], None)):
        decode = {"prefix": prefix, "max_tokens": most}
        _, *steps, end = decoded(reader, decode=decode)
        assert len(steps) == len(prefix)
        assert ids(end["end"]["output"]) == prefix == ids(output(reader, decode=decode))


def test_a_share_stores_the_prefix(reader: httpx.Client) -> None:
    state = {"source": SOURCE, "decode": {"method": "beam", "prefix": [300, 301]}}
    made = reader.post("/api/shares", json={"state": state})
    share = reader.get(f"/api/shares/{made.json()['id']}").json()
    assert share["state"] == state
    assert ids(share["trace"]["output"])[:2] == [300, 301]


@pytest.mark.parametrize("path", ["/api/decode", "/api/trace"])
@pytest.mark.parametrize(
    ("decode", "kind", "field"),
    [
        ({"prefix": [300, 8000]}, "unknown-token", "decode.prefix[1]"),
        ({"prefix": [-1]}, "unknown-token", "decode.prefix[0]"),
        ({"prefix": [2, 300]}, "unknown-token", "decode.prefix[0]"),  # <eos> not at the end
        ({"prefix": [300, 0]}, "unknown-token", "decode.prefix[1]"),  # <pad>
        ({"prefix": [300, 4]}, "unknown-token", "decode.prefix[1]"),  # a direction tag
        ({"prefix": [300] * 100}, "too-long", "decode.prefix"),
        ({"prefix": [300] * 3, "max_tokens": 2}, "too-long", "decode.prefix"),
        ({"prefix": ["300"]}, "wrong-type", "decode.prefix[0]"),
        ({"prefix": [True]}, "wrong-type", "decode.prefix[0]"),
        ({"prefix": 300}, "wrong-type", "decode.prefix"),
    ],
    ids=str,
)
def test_a_bad_prefix_is_named(
    reader: httpx.Client, path: str, decode: Any, kind: str, field: str
) -> None:
    reply = reader.post(path, json={"source": SOURCE, "decode": decode})
    assert reply.status_code == 422
    assert reply.json()["type"] == f"urn:headlight:{kind}"
    assert reply.json()["field"] == field


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"candidates": 0}, "candidates"),
        ({"candidates": 51}, "candidates"),
        ({"target": "猫"}, "target"),
        ({"interventions": [{"at": "encoder.9.self", "do": "zero"}]}, "interventions[0].at"),
        ({"model": "nobody"}, "model"),
    ],
    ids=str,
)
def test_bad_input_is_named(reader: httpx.Client, body: Any, field: str) -> None:
    reply = reader.post("/api/decode", json={"source": SOURCE} | body)
    assert reply.status_code == 422
    assert reply.headers["content-type"] == "application/problem+json"
    told = reply.json()
    assert (told["field"] if told["type"] != "urn:headlight:unknown-field" else field) == field


async def test_a_full_queue_is_busy(serving: Serving) -> None:
    model = Slow()
    async with serving(Catalog.of({"slow": model}), max_queue=1) as client:
        asked = [asyncio.create_task(client.post("/api/trace", json={"source": "a", "select": []}))]
        await asyncio.to_thread(model.started.wait, 10)
        asked.append(asyncio.create_task(client.post("/api/trace", json={"source": "b"})))
        await asyncio.sleep(0.05)
        busy = await client.post("/api/decode", json={"source": "c"})
        model.go.set()
        await asyncio.gather(*asked)
    assert busy.status_code == 503
    assert busy.json()["type"] == "urn:headlight:busy"
    assert int(busy.headers["retry-after"]) > 0

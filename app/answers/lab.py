"""Attention by hand, for `POST /api/lab`, and why scores are scaled."""

from dataclasses import asdict

import numpy as np
import orjson

from app.dependencies import Services
from app.engine.wire import numbers
from app.off_loop import LARGE, off_loop
from model.lab.check import MATRICES
from model.lab.compute import compute
from model.lab.request import LabRequest
from model.lab.scaling import WIDTHS, scaling

LEAST = 25.0  # units of work: about 3 ms, whatever the sizes
PER_NUMBER = 0.01


def price(asked: LabRequest) -> float:
    """What a request costs in the engine's units of work (`app.engine.price`)."""
    given = (getattr(asked, name) or [] for name in MATRICES)
    return LEAST + PER_NUMBER * sum(len(row) for matrix in given for row in matrix)


def worked_out(asked: LabRequest) -> bytes:
    """The JSON reply. Raises InputError for what is no matrix, or fits no other."""
    steps = compute(asked).steps
    document = {
        "steps": {
            name: numbers(np.ascontiguousarray(step.value)) if step.dims else float(step.value)
            for name, step in steps.items()
        },
        "dims": {name: step.dims for name, step in steps.items()},
    }
    return orjson.dumps(document)


async def lab_reply(services: Services, asked: LabRequest) -> bytes:
    """The reply, worked out on a thread; raises SpentError for a client that has asked for much."""
    services.engine.charge(price(asked))
    return await off_loop(worked_out, asked, size=LARGE)


def scaling_reply(keys: int, seed: int) -> bytes:
    """The JSON reply of `GET /api/lab/scaling`."""
    found = {
        name: {key: numbers(value) for key, value in asdict(one).items()}
        for name, one in scaling(keys, seed).items()
    }
    return orjson.dumps({"d_k": WIDTHS, **found})

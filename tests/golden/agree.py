"""Comparison of a reply with a golden one: nothing missing, and the same numbers."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.engine.wire import Reply

Array = NDArray[Any]
NEAR = 1e-4
# What one step of each type of number comes to.
STEP = {"float64": 1e-9, "float32": NEAR, "float16": 1e-3, "uint8": 1.0, "int32": 0.0, "bool": 0.0}
DIGESTS = {"id"}  # of the model too, which may be another


def faults(now: Reply, then: Reply) -> list[str]:
    """What the later reply lacks or says otherwise; it may say more."""
    found = list(document(now.document, then.document))
    for name, array in then.arrays.items():
        if name not in now.arrays:
            continue  # the document has said so
        one, other = essence(name, now.arrays[name]), essence(name, array)
        step = STEP[array.dtype.name]
        if name.endswith(".rank"):  # far down, neighbours are told apart by rounding alone
            step = 1 + 0.02 * float(other.max())
        if one.shape != other.shape or not np.allclose(
            one, other, rtol=NEAR, atol=step, equal_nan=True
        ):
            found.append(f"{name} has other numbers")
    return found


def essence(name: str, array: Array) -> Array:
    """The numbers that are the model's and not an accident of how its weights are written.

    Softmax does not see a number that is added to a whole row, nor a vector that is added to every
    key: `scores` are compared without the mean of their row, `k` without the mean of its keys.
    """
    if array.dtype.kind != "f":
        return array.astype(float)
    free = {"scores": -1, "k": -2}.get(name.rpartition(".")[2])
    exact: Array = array.astype(float)
    return exact if free is None else exact - exact.mean(axis=free, keepdims=True)


def document(now: Any, then: Any, path: str = "") -> Iterator[str]:
    """Where a document lacks something of another or has another value in its place."""
    if isinstance(then, dict) and isinstance(now, dict):
        for key in then.keys() - DIGESTS:
            if key in now:
                yield from document(now[key], then[key], f"{path}/{key}")
            else:
                yield f"{path}/{key} is gone"
    elif isinstance(then, list | tuple) and isinstance(now, list | tuple):
        if len(now) != len(then):
            yield f"{path} has {len(now)} entries, not {len(then)}"
        for n, both in enumerate(zip(now, then, strict=False)):
            yield from document(*both, f"{path}/{n}")
    elif isinstance(then, float) and isinstance(now, int | float):
        if abs(now - then) > NEAR * max(1.0, abs(then)):
            yield f"{path} is {now}, not {then}"
    elif now != then:
        yield f"{path} is {now!r}, not {then!r}"

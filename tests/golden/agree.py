"""Comparison of a reply with a golden one: nothing missing, and the same numbers."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.engine.reply_formats import Reply

Array = NDArray[Any]
NEAR = 1e-4
# The resolution of each type of number.
STEP = {"float64": 1e-9, "float32": NEAR, "float16": 1e-3, "uint8": 1.0, "int32": 0.0, "bool": 0.0}
DIGESTS = {"id"}  # these include the model's digest, which may change


def faults(now: Reply, then: Reply) -> list[str]:
    """Return what is missing or different in the later reply; it may have more."""
    found = list(document(now.document, then.document))
    for name, array in then.arrays.items():
        if name not in now.arrays:
            continue  # reported for the document
        one, other = essence(name, now.arrays[name]), essence(name, array)
        step = STEP[array.dtype.name]
        if name.endswith(".rank"):  # neighbouring low ranks differ only by rounding
            step = 1 + 0.02 * float(other.max())
        if one.shape != other.shape or not np.allclose(
            one, other, rtol=NEAR, atol=step, equal_nan=True
        ):
            found.append(f"{name} has other numbers")
    return found


def essence(name: str, array: Array) -> Array:
    """Return the numbers without the parts that do not affect the model's output.

    Softmax ignores a number that is added to a whole row, and a vector that is added to every
    key: `scores` are compared without the mean of their row, `k` without the mean of its keys.
    """
    if array.dtype.kind != "f":
        return array.astype(float)
    free = {"scores": -1, "k": -2}.get(name.rpartition(".")[2])
    exact: Array = array.astype(float)
    return exact if free is None else exact - exact.mean(axis=free, keepdims=True)


def document(now: Any, then: Any, path: str = "") -> Iterator[str]:
    """Yield the paths at which a document lacks a value of another or has a different one."""
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

"""Sweeps: the job of a request, and all of its lines as one reply."""

from contextlib import aclosing
from dataclasses import replace
from typing import Any

import orjson

from app.engine.engine import Engine
from app.engine.jobs import Encoded, Encoding
from app.engine.sweeping import SweepJob
from app.engine.wire import Reply
from app.http.services import Services
from app.http.worker_threads import LARGE, off_loop
from app.traces.service import chosen
from app.traces.sweeps import AnySweepRequest
from model.errors import Excess, InputError


def sweep_job(services: Services, wanted: AnySweepRequest) -> SweepJob:
    """Return the job of a sweep. Raises InputError for bad input."""
    name = chosen(services, wanted)
    asked = replace(wanted.asked(), target=wanted.texts.get("target"))
    among = None if wanted.among is None else tuple(wanted.among)
    change = wanted.change()
    return SweepJob(name, asked, change, wanted.row, wanted.over, wanted.against, among)


async def whole_sweep(services: Services, wanted: AnySweepRequest, encoding: Encoding) -> Encoded:
    """Return all lines of a sweep as one reply, a document without tensors: ``{"lines": […]}``.

    Raises what a streamed sweep raises, and InputError as soon as the lines have more numbers than
    the limit.
    """
    job = sweep_job(services, wanted)
    lines, values = list[dict[str, Any]](), 0
    async with aclosing(services[Engine].stream(job)) as stream:
        async for line in stream:
            lines.append(orjson.loads(line))
            values += _numbers(lines[-1])
            if values > encoding.limit:
                detail = f"the sweep has more than {encoding.limit} numbers"
                raise InputError("reply-too-large", "", detail, Excess(encoding.limit, "numbers"))
    reply = Reply({"model": job.model, "lines": lines, "tensors": {}}, {})
    return replace(await off_loop(encoding, reply, size=LARGE), values=values)


def _numbers(line: dict[str, Any]) -> int:
    """Return how many numbers the effects in a line have."""
    effects = line.get("changes", [])
    return sum(len(value) for one in effects for value in one.values() if isinstance(value, list))

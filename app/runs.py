"""Running a sentence for someone who waits for the answer."""

import asyncio
import hashlib
from collections.abc import Coroutine
from typing import Any, TypeVar

import orjson
from anyio import to_thread
from fastapi import Request
from starlette.requests import ClientDisconnect

from app.catalog import Catalog
from app.problems import ProblemError
from app.schemas import Run, TraceRequest
from app.services import Services
from app.settings import Settings
from app.wire import JSON, Dtype, Reply, parameters_reply, trace_reply
from model.errors import InputError

JSON_COST = 4  # a number in JSON takes this many times the memory of one in safetensors

Result = TypeVar("Result")


async def run(
    services: Services, wanted: Run, select: list[str], dtype: Dtype = "float32"
) -> Reply:
    """What the model made of a sentence.

    Raises InputError for bad input and BusyError where the model has no time.
    """
    _check_limits(services.settings, wanted)
    name, adapter = services.catalog.pick(wanted.model)
    trace = await services.engine.trace(adapter, wanted.request(select))
    identity = _identity(wanted, select, dtype, adapter.info.digest)
    return await to_thread.run_sync(trace_reply, trace, identity, name, dtype)


async def run_trace(services: Services, wanted: TraceRequest) -> Reply:
    """As `run`, for a trace request."""
    return await run(services, wanted, wanted.select, wanted.dtype)


async def while_present(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """The result of `work`, which is cancelled if the client leaves before it is done.

    Raises ClientDisconnect then. The body of the request must have been read.
    """
    working = asyncio.create_task(work)
    leaving = asyncio.create_task(_departure(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


def check_size(reply: Reply, media_type: str, settings: Settings) -> None:
    """Raises a ProblemError for a reply with more numbers than the settings allow in one."""
    limit = settings.max_values // (JSON_COST if media_type == JSON else 1)
    if reply.values > limit:
        detail = f"select holds {reply.values} numbers; a reply in this form has at most {limit}"
        raise ProblemError(422, "reply-too-large", detail, field="select")


async def _departure(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _check_limits(settings: Settings, wanted: Run) -> None:
    limit = settings.max_text_characters
    for field, text in (("source", wanted.source), ("target", wanted.target or "")):
        if len(text) > limit:
            detail = f"{field} has {len(text)} characters; at most {limit} are taken"
            raise InputError("text-too-long", field, detail)
    if len(wanted.interventions) > settings.max_interventions:
        detail = f"interventions takes at most {settings.max_interventions} entries"
        raise InputError("too-long", "interventions", detail)


def _identity(wanted: Run, select: list[str], dtype: Dtype, digest: str) -> str:
    """A digest of the request in one canonical form, and of the model that answers it."""
    canonical = Run.model_dump(wanted, include=set(Run.model_fields) - {"model"})
    canonical |= {"select": select, "dtype": dtype, "model": digest}
    return hashlib.sha256(orjson.dumps(canonical, option=orjson.OPT_SORT_KEYS)).hexdigest()[:32]


def parameters(catalog: Catalog, name: str, select: list[str]) -> Reply:
    """Parameters of a model by name patterns.

    Raises a 404 ProblemError for a model that is not served, InputError for a bad pattern.
    """
    if name not in catalog:
        raise ProblemError(404, "unknown-model", "this model is not served here", field="id")
    return parameters_reply(name, catalog[name].parameters(select))

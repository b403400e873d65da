"""Replies with pictures of attention over a long text."""

import asyncio
import base64
import hashlib
import time
from collections.abc import AsyncIterator
from dataclasses import asdict, replace
from typing import Any

import orjson

from app.engine.engine import Engine
from app.engine.jobs import AnswerJob, Encoded, Encoding
from app.engine.long_texts import LongJob, Overview, Tile, TokensJob, View
from app.engine.model_listing import Listing
from app.engine.wire import line
from app.http.content_negotiation import SAFETENSORS
from app.http.services import Services
from app.long_texts.schemas import AnyOverviewRequest, AnyTileRequest
from app.settings import Settings
from app.traces.schemas import Asking
from app.traces.service import chosen
from model.adapters.requests.request import Request
from model.errors import Excess, InputError

RUN = {"source", "text", "target", "direction", "decode", "chat"}  # what a pass depends on
TELL_SECONDS = 0.5  # between two lines of progress


async def see_overview(
    services: Services, wanted: AnyOverviewRequest, encoding: Encoding
) -> Encoded:
    """Return the reply to a request for an overview of heads."""
    return await services[Engine].run(_overview(services, wanted, encoding))


async def watch_overview(services: Services, wanted: AnyOverviewRequest) -> AsyncIterator[bytes]:
    """Yield lines with the progress, and the reply as the last one.

    When cancelled or closed, the work stops, unless others wait for the same.
    """
    job = _overview(services, wanted, Encoding(SAFETENSORS, services[Settings].max_values))
    begun = time.monotonic()
    working = asyncio.ensure_future(services[Engine].run(job))
    try:
        while not (await asyncio.wait({working}, timeout=TELL_SECONDS))[0]:
            found = services[Engine].progress(job)
            phase = asdict(found) if found else {"phase": "queue", "done": 0, "of": 0}
            yield line({"progress": phase | {"seconds": round(time.monotonic() - begun, 1)}})
        yield line({"end": {"file": base64.b64encode(working.result().content).decode()}})
    finally:
        working.cancel()


def _overview(services: Services, wanted: AnyOverviewRequest, encoding: Encoding) -> AnswerJob:
    _check_cells("cells", wanted.cells**2, services[Settings].max_cells)
    if not wanted.select:
        return _tokens(services, wanted, encoding)
    view = Overview(tuple(wanted.select), wanted.cells, wanted.dtype)
    return _view(services, wanted, view, encoding)


async def see_tokens(services: Services, wanted: Asking, encoding: Encoding) -> Encoded:
    """Return the tokens of the texts, without a run; for any model."""
    return await services[Engine].run(_tokens(services, wanted, encoding))


def _tokens(services: Services, wanted: Asking, encoding: Encoding) -> TokensJob:
    name = chosen(services, wanted, long=True)
    run = wanted.model_dump(include=RUN) | {"model": services[Listing].describe(name).digest}
    return TokensJob(name, _request(wanted), _digest(run), encoding)


async def see_tile(services: Services, wanted: AnyTileRequest, encoding: Encoding) -> Encoded:
    """Return the reply to a request for a window of one head."""
    most = services[Settings].max_cells
    cells, edges = _pair(wanted.cells), wanted.edges
    if cells:
        _check_cells("cells", cells[0] * cells[1], most)
    if edges:
        if wanted.query or wanted.key:
            field = "query" if wanted.query else "key"
            raise InputError("unknown-field", field, f"{field} must be left out: edges are given")
        _check_cells("edges", (len(edges.query) - 1) * (len(edges.key) - 1), most)
    view = Tile(
        wanted.at,
        wanted.head,
        _pair(wanted.query),
        _pair(wanted.key),
        cells,
        (tuple(edges.query), tuple(edges.key)) if edges else None,
        most,
    )
    return await services[Engine].run(_view(services, wanted, view, encoding))


def _view(
    services: Services, wanted: AnyOverviewRequest | AnyTileRequest, view: View, encoding: Encoding
) -> LongJob:
    """Return the job that runs the text, unless its pass is cached, and makes a view of it."""
    name = chosen(services, wanted, long=True)
    info = services[Listing].describe(name)
    info.require("long", "model")
    if wanted.interventions:
        detail = "interventions: they are not available for long texts"
        raise InputError("unsupported", "interventions", detail)
    run = wanted.model_dump(include=RUN) | {"model": info.digest}
    key = _digest(run)
    identity = _digest(run | {"view": asdict(view)})
    return LongJob(name, _request(wanted), key, view, identity, encoding)


def _request(wanted: Asking) -> Request:
    return replace(wanted.asked(), target=wanted.texts.get("target"))


def _check_cells(field: str, cells: int, most: int) -> None:
    """Raise InputError if there are no cells, or more than the settings allow."""
    if not 0 < cells <= most:
        detail = f"{field} give a picture of {cells} cells; it must have from 1 to {most}"
        raise InputError("out-of-range", field, detail, Excess(most, "cells", cells))


def _pair(given: list[int] | None) -> tuple[int, int] | None:
    return (given[0], given[1]) if given else None


def _digest(said: dict[str, Any]) -> str:
    return hashlib.sha256(orjson.dumps(said, option=orjson.OPT_SORT_KEYS)).hexdigest()[:32]

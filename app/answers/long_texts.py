"""Replies with pictures of attention over a long text."""

import hashlib
from dataclasses import asdict, replace
from typing import Any

import orjson

from app.answers.traces import chosen
from app.dependencies import Services
from app.engine.jobs import Encoded, Encoding
from app.engine.long_texts import LongJob, Overview, Tile, TokensJob, View
from app.schemas.long_texts import AnyOverviewRequest, AnyTileRequest
from app.schemas.traces import Asking
from model.adapters.request import Request
from model.errors import Excess, InputError

RUN = {"source", "text", "target", "direction", "decode"}  # fields that a pass depends on


async def see_overview(
    services: Services, wanted: AnyOverviewRequest, encoding: Encoding
) -> Encoded:
    """Return the reply to a request for an overview of heads."""
    _check_cells("cells", wanted.cells**2, services.settings.max_cells)
    if not wanted.select:
        return await see_tokens(services, wanted, encoding)
    view = Overview(tuple(wanted.select), wanted.cells, wanted.dtype)
    return await _see(services, wanted, view, encoding)


async def see_tokens(services: Services, wanted: Asking, encoding: Encoding) -> Encoded:
    """Return the tokens of the texts, without a run; for any model."""
    name = chosen(services, wanted, services.settings.max_long_characters)
    run = wanted.model_dump(include=RUN) | {"model": services.catalog.describe(name).digest}
    return await services.engine.run(TokensJob(name, _request(wanted), _digest(run), encoding))


async def see_tile(services: Services, wanted: AnyTileRequest, encoding: Encoding) -> Encoded:
    """Return the reply to a request for a window of one head."""
    most = services.settings.max_cells
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
    return await _see(services, wanted, view, encoding)


async def _see(
    services: Services, wanted: AnyOverviewRequest | AnyTileRequest, view: View, encoding: Encoding
) -> Encoded:
    """Run the text, unless its pass is cached, and return the view of it."""
    name = chosen(services, wanted, services.settings.max_long_characters)
    info = services.catalog.describe(name)
    info.require("long", "model")
    if wanted.interventions:
        detail = "interventions: they are not available for long texts"
        raise InputError("unsupported", "interventions", detail)
    run = wanted.model_dump(include=RUN) | {"model": info.digest}
    key = _digest(run)
    identity = _digest(run | {"view": asdict(view)})
    return await services.engine.run(LongJob(name, _request(wanted), key, view, identity, encoding))


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

"""POST /api/overview and /api/tile: pictures of attention over a long text.

The state of a long text: an overview of all heads, and windows of some, in one reply.
"""

import asyncio
import base64
import hashlib
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, replace
from typing import Any

import orjson
from fastapi import APIRouter, Request, Response

from app.engine.engine import Engine
from app.engine.jobs import Encoded, Encoding, ReplyJob
from app.engine.long_text_pictures import LongJob, Overview, Tile, TokensJob, View
from app.engine.model_listing import Listing
from app.engine.reply_formats import Reply, line
from app.figures.sentence_figures import OneTextShareState, SentenceState
from app.http.file_formats import SAFETENSORS
from app.http.replies import (
    LINES_TYPE,
    NOT_ACCEPTABLE,
    in_both_forms,
    media_type,
    or_lines,
    reply,
    run_problems,
    stream_lines,
    while_present,
)
from app.http.request_fields import within
from app.http.route_dependencies import Opened, Services
from app.http.tasks_and_caches import LARGE, off_loop
from app.long_texts.schemas import (
    AnyOverviewRequest,
    AnyTileRequest,
    OneTextOverviewRequest,
    OneTextTileRequest,
    OverviewLine,
    OverviewReply,
    OverviewRequest,
    TileReply,
    TileRequest,
    Window,
)
from app.settings import Settings
from app.traces.schemas import Asking
from app.traces.service import chosen
from model.adapters.requests.request import Request as ModelRequest
from model.errors import Excess, InputError

RUN = {"source", "text", "target", "direction", "decode", "chat", "pair"}  # what a pass depends on

TELL_SECONDS = 0.5  # between two lines of progress


async def see_overview(services: Services, body: AnyOverviewRequest, encoding: Encoding) -> Encoded:
    """Return the reply to a request for an overview of heads."""
    return await services[Engine].run(_overview(services, body, encoding))


async def watch_overview(services: Services, body: AnyOverviewRequest) -> AsyncIterator[bytes]:
    """Yield lines with the progress, and the reply as the last one.

    When cancelled or closed, the work stops, unless others wait for the same.
    """
    job = _overview(services, body, Encoding(SAFETENSORS, services[Settings].max_values))
    begun = time.monotonic()
    working = asyncio.ensure_future(services[Engine].run(job))
    try:
        while not (await asyncio.wait({working}, timeout=TELL_SECONDS))[0]:
            progress = services[Engine].progress(job)
            phase = asdict(progress) if progress else {"phase": "queue", "done": 0, "of": 0}
            yield line({"progress": phase | {"seconds": round(time.monotonic() - begun, 1)}})
        yield line({"end": {"file": base64.b64encode(working.result().content).decode()}})
    finally:
        working.cancel()


def _overview(services: Services, body: AnyOverviewRequest, encoding: Encoding) -> ReplyJob:
    _check_cells("cells", body.cells**2, services[Settings].max_cells)
    if not body.select:
        return _tokens(services, body, encoding)
    view = Overview(tuple(body.select), body.cells, body.dtype)
    return _view(services, body, view, encoding)


async def see_tokens(services: Services, body: Asking, encoding: Encoding) -> Encoded:
    """Return the tokens of the texts, without a run; for any model."""
    return await services[Engine].run(_tokens(services, body, encoding))


def _tokens(services: Services, body: Asking, encoding: Encoding) -> TokensJob:
    name = chosen(services, body, long=True)
    run = body.model_dump(include=RUN) | {"model": services[Listing].describe(name).digest}
    return TokensJob(name, _request(body), _digest(run), encoding)


async def see_tile(services: Services, body: AnyTileRequest, encoding: Encoding) -> Encoded:
    """Return the reply to a request for a window of one head."""
    max_cells = services[Settings].max_cells
    cells, edges = _pair(body.cells), body.edges
    if cells:
        _check_cells("cells", cells[0] * cells[1], max_cells)
    if edges:
        if body.query or body.key:
            field = "query" if body.query else "key"
            raise InputError("unknown-field", field, f"{field} must be left out: edges are given")
        _check_cells("edges", (len(edges.query) - 1) * (len(edges.key) - 1), max_cells)
    view = Tile(
        body.at,
        body.head,
        _pair(body.query),
        _pair(body.key),
        cells,
        (tuple(edges.query), tuple(edges.key)) if edges else None,
        max_cells,
    )
    return await services[Engine].run(_view(services, body, view, encoding))


def _view(
    services: Services, body: AnyOverviewRequest | AnyTileRequest, view: View, encoding: Encoding
) -> LongJob:
    """Return the job that runs the text, unless its pass is cached, and makes a view of it."""
    name = chosen(services, body, long=True)
    info = services[Listing].describe(name)
    info.require("long", "model")
    if body.interventions:
        detail = "interventions: they are not available for long texts"
        raise InputError("unsupported", "interventions", detail)
    run = body.model_dump(include=RUN) | {"model": info.digest}
    key = _digest(run)
    identity = _digest(run | {"view": asdict(view)})
    return LongJob(name, _request(body), key, view, identity, encoding)


def _request(body: Asking) -> ModelRequest:
    return replace(body.asked(), target=body.texts.get("target"))


def _check_cells(field: str, cells: int, limit: int) -> None:
    """Raise InputError if there are no cells, or more than the settings allow."""
    if not 0 < cells <= limit:
        detail = f"{field} give a picture of {cells} cells; it must have from 1 to {limit}"
        raise InputError("out-of-range", field, detail, Excess(limit, "cells", cells))


def _pair(values: list[int] | None) -> tuple[int, int] | None:
    return (values[0], values[1]) if values else None


def _digest(recorded: dict[str, Any]) -> str:
    return hashlib.sha256(orjson.dumps(recorded, option=orjson.OPT_SORT_KEYS)).hexdigest()[:32]


MAX_TOKENS = 256  # of a text of which all weights are shown (docs/long.md)

CELLS = 64  # rows and columns of the overview, as for the page's thumbnails

RUN_FIELDS = {"model", "source", "text", "target", "direction", "decode", "chat", "pair"}


async def is_long(services: Services, state: SentenceState) -> bool:
    """Return whether a text of the state has more than `MAX_TOKENS` tokens.

    Raises InputError for a text that is too long for its model, and for a long one whose model
    does not show long texts.
    """
    texts = {field: text for field, text in state.texts.items() if text}
    lengths = [len(text) for text in texts.values()]
    characters = sum(lengths) if "pair" in texts else max(lengths, default=0)
    if characters <= MAX_TOKENS // 4:  # four bytes a character
        return False
    encoded = await see_tokens(
        services, state, Encoding(SAFETENSORS, services[Settings].max_values)
    )
    read = Reply.metadata(encoded.content)["trace"]["tokens"]
    for text, tokens in read.items():
        if len(tokens) <= MAX_TOKENS:
            continue
        info = services[Listing].describe(services[Listing].pick(state.model))
        if "long" not in info.capabilities:
            detail = f"{text} has {len(tokens)} tokens; this model shows at most {MAX_TOKENS}"
            raise InputError("unsupported", text, detail, Excess(MAX_TOKENS, "tokens", len(tokens)))
        for field in ("interventions", "pad_to"):
            if getattr(state, field):
                raise InputError("unsupported", field, f"{field} is not for a long text")
        return True
    return False


async def run_long(
    services: Services, state: SentenceState, tiles: Sequence[Window], encoding: Encoding
) -> Encoded:
    """Return the overview of all heads, with the windows as tensors `tile.0`, `tile.1` and so on.

    A window's description has its attention (`at`) besides what `POST /api/tile` returns. Raises
    InputError, with fields as in a request for a share; also for more numbers than `encoding`
    allows.
    """
    with within("state"):
        overview = _overview_of(state)
        overview_reply = await see_overview(
            services, overview, Encoding(SAFETENSORS, encoding.max_values)
        )
    whole = await off_loop(Reply.parse, overview_reply.content, size=len(overview_reply.content))
    tensors, arrays = dict(whole.document["tensors"]), dict(whole.arrays)
    values_left = encoding.max_values - whole.values
    for n, window in enumerate(tiles):
        with within(f"tiles[{n}]"):
            tile_encoded = await see_tile(
                services, _tile_of(state, window), Encoding(SAFETENSORS, values_left)
            )
        values_left -= tile_encoded.values
        tile = Reply.parse(tile_encoded.content)
        ((name, about),) = tile.document["tensors"].items()
        tensors[f"tile.{n}"] = {**about, "at": window.at}
        arrays[f"tile.{n}"] = tile.arrays[name]
    reply = Reply({**whole.document, "tensors": tensors}, arrays)
    return await off_loop(encoding, reply, size=LARGE)


def _overview_of(state: SentenceState) -> AnyOverviewRequest:
    kind = OneTextOverviewRequest if isinstance(state, OneTextShareState) else OverviewRequest
    return kind.model_validate(_run_of(state) | {"cells": CELLS, "dtype": "uint8"})


def _tile_of(state: SentenceState, window: Window) -> AnyTileRequest:
    kind = OneTextTileRequest if isinstance(state, OneTextShareState) else TileRequest
    return kind.model_validate(_run_of(state) | window.model_dump(exclude_unset=True))


def _run_of(state: SentenceState) -> dict[str, object]:
    return state.model_dump(include=RUN_FIELDS, exclude_unset=True)


router = APIRouter(tags=["long texts"])


@router.post(
    "/overview",
    summary="Run a long text and return an overview of every head",
    response_class=Response,
    responses=or_lines(in_both_forms(OverviewReply), OverviewLine) | run_problems(**NOT_ACCEPTABLE),
)
async def overview(request: Request, services: Opened, body: AnyOverviewRequest) -> Response:
    """Return pictures of all heads. A cell is the largest weight of `span` × `span` tokens.

    Nothing of size tokens × tokens is ever computed at once, so the text can be as long as the
    model can read. The pass is cached, so that more overviews and tiles of the same text are cheap.

    With `Accept: application/x-ndjson` the reply is a stream: lines with the progress, then a line
    with the safetensors file in base64, or with an error. The work stops when the client
    disconnects.
    """
    form = media_type(request, LINES_TYPE)
    if form == LINES_TYPE:
        return await stream_lines(request, watch_overview(services, body))
    encoding = Encoding(form, services[Settings].max_values)
    encoded = await while_present(request, see_overview(services, body, encoding))
    return reply(encoded.content, form, "no-store")


@router.post(
    "/tile",
    summary="Return a window of one head over a long text",
    response_class=Response,
    responses=in_both_forms(TileReply) | run_problems(**NOT_ACCEPTABLE),
)
async def tile(request: Request, services: Opened, body: AnyTileRequest) -> Response:
    """Return exact weights for a window with few tokens, else the largest weight of each cell.

    `"query": [i, i + 1]` is a whole row, `"key": [j, j + 1]` a whole column. With `edges`, cells
    are groups of tokens, such as sentences.
    """
    form = media_type(request)
    encoding = Encoding(form, services[Settings].max_values)
    encoded = await while_present(request, see_tile(services, body, encoding))
    return reply(encoded.content, form, "no-store")

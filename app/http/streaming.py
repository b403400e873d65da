"""Replies that stop when the client leaves, and streams of lines: newline-delimited JSON."""

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine
from typing import Any, TypeVar

import orjson
from fastapi import Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel
from starlette.requests import ClientDisconnect
from starlette_compress import add_compress_type

from app.http.problems import problem_of

MEDIA_TYPE = "application/x-ndjson"
# Asks proxies not to buffer the lines.
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

add_compress_type(MEDIA_TYPE, streaming=True)  # each line is flushed

Result = TypeVar("Result")

log = logging.getLogger(__name__)


class Lines(StreamingResponse):
    """A streamed reply of JSON lines."""

    media_type = MEDIA_TYPE


def in_lines(model: type[BaseModel]) -> dict[int | str, dict[str, Any]]:
    """Describe a route that streams lines of this kind (as `Lines`), for the API reference."""
    return {
        200: {
            "model": model,
            "description": "Lines of JSON, each sent as it happens.",
            "content": {MEDIA_TYPE: {"schema": {"type": "object"}}},  # one line
        }
    }


def or_lines(
    described: dict[int | str, dict[str, Any]], model: type[BaseModel]
) -> dict[int | str, dict[str, Any]]:
    """Add to a description of replies that the client may choose lines of this kind instead."""
    whole = described[200]
    content = whole["content"] | {MEDIA_TYPE: {"schema": _schema(model)}}
    return described | {200: whole | {"content": content}}


def _schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the schema of a model without references."""
    schema = model.model_json_schema()
    parts = {f"#/$defs/{name}": part for name, part in schema.pop("$defs", {}).items()}

    def inlined(part: Any) -> Any:
        if isinstance(part, dict):
            return inlined(parts[part["$ref"]]) if "$ref" in part else _each(part)
        return [inlined(entry) for entry in part] if isinstance(part, list) else part

    def _each(part: dict[str, Any]) -> dict[str, Any]:
        return {name: inlined(schema) for name, schema in part.items()}

    return _each(schema)


async def while_present(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """Return the result of `work`, which is cancelled if the client disconnects first.

    Raises ClientDisconnect in that case. The body of the request must have been read.
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


async def _departure(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def stream_lines(request: Request, lines: AsyncIterator[bytes]) -> Response:
    """Stream lines, each of which is computed after the previous one was sent.

    An error before the first line is raised; a later one is sent as the last line,
    ``{"error": problem}``. The work stops when the client disconnects. The body of the request must
    have been read.
    """
    first = await while_present(request, _first(lines))
    return Lines(_followed(first, lines), headers=HEADERS)


async def _first(lines: AsyncIterator[bytes]) -> bytes:
    return await anext(lines)


async def _followed(first: bytes, lines: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    try:
        async for chunk in lines:
            yield chunk
    except Exception as error:
        problem = problem_of(error)
        if problem.status_code == 500:
            log.exception("a stream failed")
        yield orjson.dumps({"error": problem.document}, option=orjson.OPT_APPEND_NEWLINE)

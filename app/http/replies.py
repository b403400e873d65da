"""Replies in the format that the client requests, and their description in the API reference.

Replies to GET have ETags, and are 304 if the client already has them. HEAD is answered like GET,
without the body.

A reply that takes long stops when the client leaves, and may be a stream of lines:
newline-delimited JSON. A table is a CSV file that a spreadsheet opens: readable Chinese, and no
cell that is a formula.

Large replies are compressed off the event loop, and a reply with an ETag only once. That middleware
is inside starlette_compress, which compresses small and streamed replies and does not change
compressed ones.
"""

import asyncio
import csv
import hashlib
import io
import logging
import re
import zlib
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from types import UnionType
from typing import Any, TypeVar

import brotli
import orjson
import zstandard
from fastapi import Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette_compress import add_compress_type

from app.http.file_formats import FORMS, JSON, NPZ, SAFETENSORS, choose, preferences
from app.http.problems import MEDIA_TYPE, ProblemError, ProblemReply, problem_of
from app.http.tasks_and_caches import SMALL, ByteCache, off_loop


class Conditional:
    """Gives every 200 reply to a GET a weak ETag of its body, unless it has one or is streamed."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
            await self.app(scope, receive, send)
            return
        reply = _Reply(scope, send)
        # uvicorn removes the body of a reply to HEAD according to the scope that it keeps.
        await self.app({**scope, "method": "GET"}, receive, reply.send)


class _Reply:
    """Holds back the start of a reply until its body is known."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self.known = Headers(scope=scope).get("if-none-match", "")
        self.head = scope["method"] == "HEAD"
        self.forward = send
        self.start: Message | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.start = message
            return
        if self.start is not None:
            start, self.start = self.start, None
            if message["type"] == "http.response.body" and await self._matches(start, message):
                start["status"] = 304
                message = {"type": "http.response.body"}
                for name in ("content-length", "content-type"):
                    del MutableHeaders(scope=start)[name]
            await self.forward(start)
        if self.head and message["type"] == "http.response.body":
            message = {**message, "body": b""}
        await self.forward(message)

    async def _matches(self, start: Message, message: Message) -> bool:
        headers = MutableHeaders(scope=start)
        if start["status"] != 200:
            return False
        if "etag" not in headers and not message.get("more_body"):
            body = message.get("body", b"")
            headers["etag"] = await off_loop(_tag, body, size=len(body))
        if "etag" not in headers or message.get("more_body"):
            return False
        tags = {tag.strip().removeprefix("W/") for tag in self.known.split(",")}
        return "*" in tags or headers["etag"].removeprefix("W/") in tags


def _tag(body: bytes) -> str:
    return f'W/"{hashlib.sha256(body).hexdigest()[:32]}"'


def media_type(request: Request, *offered: str) -> str:
    """Return the format that the client accepts, one of `FORMS` or of `offered`.

    Raises a 406 `ProblemError` if there is none.
    """
    forms = *FORMS, *offered
    chosen = choose(request.headers.get("accept"), forms)
    if chosen is None:
        raise ProblemError(406, "not-acceptable", f"available formats: {', '.join(forms)}")
    return chosen


def reply(content: bytes, form: str, cache: str) -> Response:
    """Return a reply in a format chosen by `media_type`."""
    return Response(content, headers={"Vary": "Accept", "Cache-Control": cache}, media_type=form)


def in_both_forms(model: type[BaseModel] | UnionType) -> dict[int | str, dict[str, Any]]:
    """Describe a route that replies in any of the formats, for the API reference."""
    binary = {"schema": {"type": "string", "format": "binary"}}
    description = (
        "JSON; or, for `Accept: application/octet-stream`, one safetensors file with the same "
        "document, without `data`, as JSON text in its metadata under `trace`; or, for "
        "`Accept: application/x-npz`, one NPZ file with that text as `trace.json`."
    )
    return {
        200: {
            "model": model,
            "description": description,
            "content": {SAFETENSORS: binary, NPZ: binary},
        }
    }


def problems(**statuses: str) -> dict[int | str, dict[str, Any]]:
    """Describe problem documents for the API reference: ``problems(_404="No such share.")``."""
    schema = {"schema": ProblemReply.model_json_schema()}
    return {
        status.removeprefix("_"): {"description": words, "content": {MEDIA_TYPE: schema}}
        for status, words in statuses.items()
    }


NOT_ACCEPTABLE = {"_406": "No available format is acceptable."}

DATABASE = {
    "_503": "The database cannot be used; `Retry-After` says when to retry.",
    "_507": "The database has no room left; `Retry-After` says when to retry.",
}

JSON_BODY = {
    "_400": "The body is not JSON.",
    "_413": "The body is too large.",
    "_415": "The body is not sent as JSON.",
}

# Problems that the engine can raise for any request to a model.
ENGINE = {
    "_429": "Too much work in a short time; `Retry-After` says when to retry.",
    "_503": "The model is busy; `Retry-After` says when to retry.",
}


def run_problems(**descriptions: str) -> dict[int | str, dict[str, Any]]:
    """Describe the problems of a route with a JSON body that runs a model, as `problems` does."""
    words = JSON_BODY | {"_422": "A field is not valid; `detail` says why."}
    return problems(**words | ENGINE | descriptions)


LINES_TYPE = "application/x-ndjson"

# Asks proxies not to buffer the lines.
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

add_compress_type(LINES_TYPE, streaming=True)  # each line is flushed

Result = TypeVar("Result")

log = logging.getLogger(__name__)


class Lines(StreamingResponse):
    """A streamed reply of JSON lines."""

    media_type = LINES_TYPE


def in_lines(model: type[BaseModel]) -> dict[int | str, dict[str, Any]]:
    """Describe a route that streams lines of this kind (as `Lines`), for the API reference."""
    return {
        200: {
            "model": model,
            "description": "Lines of JSON, each sent as it happens.",
            "content": {LINES_TYPE: {"schema": {"type": "object"}}},  # one line
        }
    }


def or_lines(
    described: dict[int | str, dict[str, Any]], model: type[BaseModel]
) -> dict[int | str, dict[str, Any]]:
    """Add to a description of replies that the client may choose lines of this kind instead."""
    whole = described[200]
    content = whole["content"] | {LINES_TYPE: {"schema": _schema(model)}}
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


CSV = "text/csv"

# A reply with a table, for the API reference.
TABLE: dict[int | str, dict[str, Any]] = {
    200: {"description": "A table.", "content": {CSV: {"schema": {"type": "string"}}}}
}

MARK = "\ufeff"  # Excel misreads Chinese without a byte order mark

# A spreadsheet interprets a cell that begins like this as a formula.
FORMULA = "=+-@\t\r\n＝＋－＠"

NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]+)?|\.[0-9]+)(e[+-]?[0-9]+)?", re.IGNORECASE)


def csv_of(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as CSV. No cell is a formula."""
    file = io.StringIO()
    file.write(MARK)
    writer = csv.writer(file)
    writer.writerow(header)
    writer.writerows([_safe(cell) for cell in row] for row in rows)
    return file.getvalue()


def csv_reply(content: str, name: str) -> Response:
    """Return a table as a file to save."""
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
    return Response(content, headers=headers, media_type=CSV)


def _safe(cell: object) -> object:
    """Return a cell that a spreadsheet shows as text instead of running it as a formula."""
    if not isinstance(cell, str) or all(map(NUMBER.fullmatch, cell.split(" "))):
        return cell
    return f"'{cell}" if cell.startswith(tuple(FORMULA)) else cell


TYPES = {JSON, SAFETENSORS, "text/html", "text/css", "text/javascript", "image/svg+xml"}

LEVEL = 4  # as in starlette_compress, for every encoding

GZIP = 16 + zlib.MAX_WBITS  # makes zlib write a gzip header, here without a date


def _gzip(body: bytes) -> bytes:
    compressing = zlib.compressobj(LEVEL, wbits=GZIP)
    return compressing.compress(body) + compressing.flush()


# In the server's order of preference, the same as in starlette_compress.
ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "zstd": lambda body: zstandard.compress(body, LEVEL),
    "br": lambda body: bytes(brotli.compress(body, quality=LEVEL)),
    "gzip": _gzip,
}


class CompressLarge:
    """Compresses bodies that are sent in one piece, and caches them by address and ETag."""

    def __init__(self, app: ASGIApp, cache: ByteCache[Any]) -> None:
        self.app = app
        self.cache = cache

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        encoding = _encoding(scope)
        if encoding is None:
            await self.app(scope, receive, send)
            return
        start: Message | None = None

        async def compressed(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
                return
            if start is not None:
                held_start, start = start, None
                if _worth_it(held_start, message):
                    message = await self._compress(scope, held_start, message, encoding)
                await send(held_start)
            await send(message)

        await self.app(scope, receive, compressed)

    async def _compress(
        self, scope: Scope, start: Message, body: Message, encoding: str
    ) -> Message:
        """Return the message with its body compressed; change the headers of `start`."""
        headers = MutableHeaders(scope=start)
        content = body["body"]
        encode = ENCODERS[encoding]

        async def make() -> bytes:
            return await off_loop(encode, content, size=len(content))

        if etag := headers.get("etag"):
            # A digest: the cache counts the bytes of its values, and an address may be long.
            address = hashlib.blake2b(
                scope["path"].encode() + b"?" + scope["query_string"]
            ).digest()
            compressed = await self.cache.find(("compressed", address, etag, encoding), make)
        else:
            compressed = await make()
        headers["Content-Encoding"] = encoding
        headers["Content-Length"] = str(len(compressed))
        headers.add_vary_header("Accept-Encoding")
        return {**body, "body": compressed}


def _encoding(scope: Scope) -> str | None:
    """Return the first encoding that the client accepts; None if there is none."""
    if scope["type"] != "http":
        return None
    accepted = preferences(Headers(scope=scope).get("accept-encoding", ""))
    return next((name for name in ENCODERS if name in accepted or "*" in accepted), None)


def _worth_it(start: Message, body: Message) -> bool:
    headers = Headers(raw=start["headers"])
    return (
        body["type"] == "http.response.body"
        and not body.get("more_body")
        and len(body.get("body", b"")) > SMALL
        and "content-encoding" not in headers
        and headers.get("content-type", "").partition(";")[0].strip() in TYPES
    )

"""Replies in the format that the client requests, and their description in the API reference.

Replies to GET have ETags, and are 304 if the client already has them. HEAD is answered like GET,
without the body.
"""

import hashlib
from types import UnionType
from typing import Any

from fastapi import Request, Response
from pydantic import BaseModel
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.background_tasks import off_loop
from app.http.content_negotiation import FORMS, NPZ, SAFETENSORS, choose
from app.http.problems import MEDIA_TYPE, ProblemError, ProblemReply


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

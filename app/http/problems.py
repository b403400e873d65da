"""Problem documents (RFC 9457): the reply when a request cannot be answered.

    Exception
    ├── HTTPException           raised by Starlette
    │   └── ProblemError        raised by the server's own code; names its kind
    ├── ReportedError           says itself what to reply: errors of the engine and of the store
    ├── InputError              raised by `model/` for bad input
    ├── FileError               a file of a model that can no longer be read; 503
    ├── RequestValidationError  raised by FastAPI
    └── anything else           a bug; 500, logged, without details

`type` is ``urn:headlight:`` and a stable kind, so that a page can show it in the reader's language.
`detail` names the field and the limit, and never repeats text of the request.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import orjson
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from app.http.content_negotiation import choose
from app.http.field_errors import excess, rule
from app.http.fields import union_tags
from app.http.log_format import REQUEST_ID
from app.http.problem_titles import TITLES
from app.http.security import HEADERS
from model.errors import Excess, FileError, InputError

MEDIA_TYPE = "application/problem+json"
URN = "urn:headlight:"

PAGES = {404, 410, 429, 501, 503, 507}  # shown as a page in a browser

STATUS_KINDS = {
    400: "invalid-json",  # raised by FastAPI for a body that it could not parse
    404: "not-found",
    405: "method-not-allowed",
}
DETAILS = {
    "invalid-json": "the body is not valid JSON",
    "not-found": "there is nothing at this address",
    "method-not-allowed": "the method is not allowed here; Allow lists the methods that are",
    "bad-request": "the request cannot be read",
}

Handler = Callable[[Request, Exception], Awaitable[Response]]


class ProblemError(HTTPException):
    """A request that cannot be answered, sent to the client as a problem document."""

    def __init__(
        self,
        status: int,
        kind: str,
        detail: str,
        *,
        field: str | None = None,
        headers: Mapping[str, str] | None = None,
        excess: Excess | None = None,
    ) -> None:
        super().__init__(status, detail, dict(headers or {}))
        self.kind = kind
        self.field = field
        self.excess = excess

    @property
    def document(self) -> dict[str, Any]:
        """The problem document as a dictionary."""
        document: dict[str, Any] = {
            "type": URN + self.kind,
            "title": TITLES.get(self.kind, self.kind.replace("-", " ").capitalize()),
            "status": self.status_code,
            "detail": self.detail,
        }
        if self.field:
            document["field"] = self.field
        if self.excess:
            told = asdict(self.excess)
            document |= {name: value for name, value in told.items() if value is not None}
        return document

    def response(self) -> Response:
        """Return the document as a response with its headers."""
        headers = {"Cache-Control": "no-store", **(self.headers or {})}
        return Response(orjson.dumps(self.document), self.status_code, headers, MEDIA_TYPE)


class ProblemReply(BaseModel):
    """A problem document (RFC 9457)."""

    type: str = Field(examples=["urn:headlight:text-too-long"])
    title: str
    status: int
    detail: str
    field: str | None = None
    limit: int | None = Field(default=None, description="The maximum allowed.")
    unit: str | None = Field(
        default=None,
        description="What `limit` counts: tokens, characters, bytes, entries, numbers, or units of "
        "work.",
    )
    value: int | None = Field(default=None, description="The actual number.")
    fits: int | None = Field(
        default=None, description="Unicode code points of a text that would fit, to a word's end."
    )


class ReportedError(Exception):
    """An error of another part of the server that says with what problem to reply."""

    def problem(self) -> ProblemError:
        """Return the problem for the client."""
        raise NotImplementedError


def install(app: FastAPI, page: Callable[[Request, ProblemError], Response]) -> None:
    """Turn every error of the application into a problem document, or into a page for browsers."""
    conversions: dict[type[Exception], Callable[[Request, Any], ProblemError]] = {
        ProblemError: lambda _, error: error,
        ReportedError: lambda _, error: error.problem(),
        InputError: _input_problem,
        FileError: _file_problem,
        RequestValidationError: _validation_problem,
        HTTPException: _http_problem,
        Exception: _bug_problem,
    }

    def handler(convert: Callable[[Request, Any], ProblemError]) -> Handler:
        async def handle(request: Request, error: Exception) -> Response:
            problem = convert(request, error)
            if problem.status_code in PAGES and _is_reader(request):
                return page(request, problem)
            return problem.response()

        return handle

    for exception, convert in conversions.items():
        app.add_exception_handler(exception, handler(convert))
    app.add_exception_handler(ClientDisconnect, _nobody)


def problem_of(error: Exception) -> ProblemError:
    """Return the problem for an error that occurs after part of the reply has been sent."""
    match error:
        case ProblemError():
            return error
        case ReportedError():
            return error.problem()
        case InputError():
            return _input_problem(None, error)
        case FileError():
            return _file_problem(None, error)
    return _bug_problem(None, error)


async def _nobody(_: Request, __: Exception) -> Response:
    return Response(status_code=499)  # the client has gone; 499 is nginx's code for this


def _input_problem(_: Request | None, error: InputError) -> ProblemError:
    return ProblemError(422, error.kind, str(error), field=error.field, excess=error.excess)


def _file_problem(_: Request | None, error: FileError) -> ProblemError:
    return ProblemError(503, "unreadable-file", error.brief)


def _http_problem(_: Request, error: HTTPException) -> ProblemError:
    kind = STATUS_KINDS.get(error.status_code, "bad-request")
    return ProblemError(error.status_code, kind, DETAILS[kind], headers=error.headers)


def _bug_problem(_: Request | None, __: Exception) -> ProblemError:
    # This reply is sent outside all middleware, so it adds the headers that they would add.
    headers = {**HEADERS, "X-Request-Id": REQUEST_ID.get()}
    return ProblemError(500, "internal", "the error has been logged", headers=headers)


def _validation_problem(request: Request, invalid: RequestValidationError) -> ProblemError:
    error = invalid.errors()[0]
    # pydantic puts its own kind before the fields of a request; it is not part of the path.
    place, *path = (step for step in error["loc"] if step not in union_tags)
    if error["type"] == "json_invalid":
        return ProblemError(400, "invalid-json", DETAILS["invalid-json"])
    if place == "body" and not path and not _is_json(request):
        detail = "Content-Type must be application/json"
        return ProblemError(415, "unsupported-media-type", detail)
    kind, words = rule(error["type"], error.get("ctx", {}))
    if error["type"] == "extra_forbidden":
        path = path[:-1]  # the last step is a name sent by the client
    field = _field(path)
    beyond = excess(error["type"], error.get("ctx", {}))
    detail = f"{field or 'the body'} {words}"
    return ProblemError(422, kind, detail, field=field or None, excess=beyond)


def _is_reader(request: Request) -> bool:
    accepted = choose(request.headers.get("accept"), [MEDIA_TYPE, "text/html"])
    return accepted == "text/html" and not request.url.path.startswith("/api/")


def _is_json(request: Request) -> bool:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return media_type.startswith("application/") and media_type.endswith(("/json", "+json"))


def _field(path: Sequence[str | int]) -> str:
    """Return a path such as ("interventions", 0, "head") as ``interventions[0].head``.

    After "do" and "effect", pydantic names what it matched; this is not part of the path.
    """
    pairs = zip(["", *path], path, strict=False)
    own = (step for before, step in pairs if before not in ("do", "effect"))
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in own)
    return "".join(steps).lstrip(".")

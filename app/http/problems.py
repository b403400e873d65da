"""Problem documents (RFC 9457): what a client is told when a request cannot be answered.

    Exception
    ├── HTTPException           raised by Starlette
    │   └── ProblemError        raised by the server's own rooms; names its kind
    ├── InputError              raised by `model/` for bad input
    ├── BusyError               raised by the engine; 503
    ├── SpentError              a client has asked for too much work; 429
    ├── StorageError            raised by the store; 503 or 507
    ├── DamagedError            a share that cannot be read any more; 410
    ├── NewerShareError         a share in a format that is not known yet; 501
    ├── RequestValidationError  raised by FastAPI
    └── anything else           a bug; 500, logged, nothing told

`type` is ``urn:headlight:`` and a stable kind, so that a page can word it in the reader's language.
`detail` names the field and the limit in words of our own: text that was sent is never repeated.
"""

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import orjson
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from app.engine.clients import SpentError
from app.engine.engine import BusyError
from app.http.content_negotiation import choose
from app.http.field_rules import excess, rule
from app.http.log_format import REQUEST_ID
from app.http.security import HEADERS
from app.schemas.fields import TAGS
from app.store.share_formats import NewerShareError
from app.store.storage_errors import BUSY, FULL, QUOTA, UNAVAILABLE, DamagedError, StorageError
from model.errors import Excess, InputError

MEDIA_TYPE = "application/problem+json"
URN = "urn:headlight:"

TITLES = {
    "invalid-json": "The body is not valid JSON",
    "unsupported-media-type": "The body must be sent as application/json",
    "body-too-large": "The body is too large",
    "unknown-host": "This server is not known by that name",
    "head-too-large": "The request's headers are too large",
    "too-slow": "The request took too long to arrive",
    "not-acceptable": "No form of the reply is acceptable",
    "not-found": "There is nothing at this address",
    "method-not-allowed": "The method is not allowed here",
    "bad-request": "The request cannot be read",
    "missing": "A field is missing",
    "unknown-field": "A field is not known",
    "unknown-value": "A value is not one of those offered",
    "unknown-model": "The model is not served here",
    "unknown-task": "The zoo has no such task",
    "not-of-task": "The text is none of this task",
    "wrong-type": "A value has the wrong type",
    "too-long": "A value is too long",
    "too-short": "A value is too short",
    "text-too-long": "The text is too long",
    "not-text": "A text holds what no text may hold",
    "out-of-range": "A number is out of range",
    "not-finite": "A number is not finite",
    "ragged": "The rows of a matrix differ in length",
    "does-not-fit": "Sizes do not fit each other",
    "unsupported": "The model cannot do this",
    "no-means": "The model came without the means of its heads",
    "no-learning": "The model came without snapshots of its training",
    "reply-too-large": "The reply would be too large",
    "bad-selection": "An entry of select is no window of a tensor",
    "not-weights": "Only weights can be sent as uint8",
    "unknown-share": "There is no such share",
    "newer-share": "The share was made by a newer version",
    "damaged-share": "The share is damaged",
    "wrong-edit-key": "The edit key is not the share's",
    "too-many-shares": "Too many shares in a short time",
    "busy": "The model is busy",
    "too-much-work": "The request takes too much work",
    "too-many-requests": "Too much work in a short time",
    "not-ready": "The server cannot work now",
    BUSY: "The database is busy",
    FULL: "There is no room for shares",
    UNAVAILABLE: "The database cannot be used",
    QUOTA: "This address has no room for shares",
    "internal": "Something went wrong in the server",
}

PAGES = {404, 410, 501, 503, 507}  # what a reader is told on a page

STATUS_KINDS = {
    400: "invalid-json",  # FastAPI's word for a body that it could not read
    404: "not-found",
    405: "method-not-allowed",
}
DETAILS = {
    "invalid-json": "the body is not valid JSON",
    "not-found": "there is nothing at this address",
    "method-not-allowed": "the method is not allowed here; Allow names those that are",
    "bad-request": "the request cannot be read",
}

# Status, and seconds until it may be tried again.
STORAGE = {BUSY: (503, 2), UNAVAILABLE: (503, 30), FULL: (507, 600), QUOTA: (507, 600)}

Handler = Callable[[Request, Exception], Awaitable[Response]]


class ProblemError(HTTPException):
    """A request that cannot be answered, told to the client as a problem document."""

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
        """What the client is told."""
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
        """The document, with its headers."""
        headers = {"Cache-Control": "no-store", **(self.headers or {})}
        return Response(orjson.dumps(self.document), self.status_code, headers, MEDIA_TYPE)


def install(app: FastAPI, page: Callable[[Request, ProblemError], Response]) -> None:
    """Makes every error of the application a problem document; for a reader, some are a page."""
    conversions: dict[type[Exception], Callable[[Request, Any], ProblemError]] = {
        ProblemError: lambda _, error: error,
        InputError: _input_problem,
        BusyError: _busy_problem,
        SpentError: _spent_problem,
        StorageError: _storage_problem,
        DamagedError: lambda _, error: ProblemError(410, "damaged-share", str(error)),
        NewerShareError: _newer_problem,
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
    """The problem that an error is, for a client that has had the first half of its reply."""
    match error:
        case ProblemError():
            return error
        case InputError():
            return _input_problem(None, error)
        case BusyError():
            return _busy_problem(None, error)
        case SpentError():
            return _spent_problem(None, error)
    return _bug_problem(None, error)


async def _nobody(_: Request, __: Exception) -> Response:
    return Response(status_code=499)  # nobody reads it; nginx's number for it


def _input_problem(_: Request | None, error: InputError) -> ProblemError:
    return ProblemError(422, error.kind, str(error), field=error.field, excess=error.excess)


def _busy_problem(_: Request | None, error: BusyError) -> ProblemError:
    headers = {"Retry-After": str(error.retry_after)}
    return ProblemError(503, "busy", f"{error}; try again shortly", headers=headers)


def _spent_problem(_: Request | None, error: SpentError) -> ProblemError:
    headers = {"Retry-After": str(max(1, math.ceil(error.retry_after)))}
    return ProblemError(429, "too-many-requests", f"{error}; try again later", headers=headers)


def _storage_problem(_: Request, error: StorageError) -> ProblemError:
    status, seconds = STORAGE[error.kind]
    detail = f"{error}; try again later"
    return ProblemError(status, error.kind, detail, headers={"Retry-After": str(seconds)})


def _newer_problem(_: Request, error: NewerShareError) -> ProblemError:
    return ProblemError(501, "newer-share", str(error), field="format")


def _http_problem(_: Request, error: HTTPException) -> ProblemError:
    kind = STATUS_KINDS.get(error.status_code, "bad-request")
    return ProblemError(error.status_code, kind, DETAILS[kind], headers=error.headers)


def _bug_problem(_: Request | None, __: Exception) -> ProblemError:
    # Sent from outside all middleware, so it brings the headers that they would add.
    headers = {**HEADERS, "X-Request-Id": REQUEST_ID.get()}
    return ProblemError(500, "internal", "the server has logged what happened", headers=headers)


def _validation_problem(request: Request, invalid: RequestValidationError) -> ProblemError:
    error = invalid.errors()[0]
    # In front of a request's fields pydantic names its kind: no step of the path.
    place, *path = (step for step in error["loc"] if step not in TAGS)
    if error["type"] == "json_invalid":
        return ProblemError(400, "invalid-json", DETAILS["invalid-json"])
    if place == "body" and not path and not _is_json(request):
        detail = "Content-Type must be application/json"
        return ProblemError(415, "unsupported-media-type", detail)
    kind, words = rule(error["type"], error.get("ctx", {}))
    if error["type"] == "extra_forbidden":
        path = path[:-1]  # the last step is a name that the client made up
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
    """("interventions", 0, "head") as ``interventions[0].head``.

    Behind "do" pydantic names the kind of effect that it took the value for: no step of the path.
    """
    own = (step for before, step in zip(["", *path], path, strict=False) if before != "do")
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in own)
    return "".join(steps).lstrip(".")

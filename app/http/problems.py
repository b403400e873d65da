"""The title of every kind of problem.

Problem documents (RFC 9457): the reply when a request cannot be answered.

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

from app.http.file_formats import choose
from app.http.log_format import REQUEST_ID
from app.http.request_fields import excess, rule, union_tags
from app.http.security import HEADERS
from model.errors import Excess, FileError, InputError

TITLES = {
    "invalid-json": "The body is not valid JSON",
    "unsupported-media-type": "The body must be sent as application/json",
    "body-too-large": "The body is too large",
    "unknown-host": "The host is not one of this server's",
    "head-too-large": "The request's headers are too large",
    "too-slow": "The request took too long to arrive",
    "not-acceptable": "No available format is acceptable",
    "not-found": "There is nothing at this address",
    "method-not-allowed": "The method is not allowed here",
    "bad-request": "The request cannot be read",
    "missing": "A field is missing",
    "unknown-field": "A field is not known",
    "unknown-value": "A value is not one of those allowed",
    "unknown-model": "The model is not served here",
    "unreadable-file": "A file of the model cannot be read",
    "unknown-task": "The zoo has no such task",
    "not-of-task": "The text does not fit this task",
    "wrong-type": "A value has the wrong type",
    "too-long": "A value is too long",
    "too-short": "A value is too short",
    "text-too-long": "The text is too long",
    "not-text": "A text contains characters that are not allowed",
    "out-of-range": "A number is out of range",
    "not-finite": "A number is not finite",
    "ragged": "The rows of a matrix differ in length",
    "does-not-fit": "Sizes do not match",
    "unsupported": "The model does not support this",
    "chat-template": "The model's chat template cannot be used",
    "no-mask": "The text has no mask token",
    "no-means": "The model has no means of its heads",
    "no-learning": "The model has no snapshots of its training",
    "no-survey": "The heads of this model have not been measured",
    "no-index": "No sentences have been indexed for this model",
    "unknown-corpus": "There is no such text",
    "wrong-corpus-key": "The key does not match the text",
    "too-many-corpora": "Too many texts at once",
    "indexing-busy": "Too many texts are waiting",
    "indexing-off": "This server indexes no texts",
    "corpora-full": "There is no room for texts",
    "too-many-sentences": "The text has too many sentences",
    "too-many-characters": "The text is too long",
    "unknown-head": "The model has no such head",
    "reply-too-large": "The reply would be too large",
    "bad-selection": "An entry of select is not a window of a tensor",
    "not-weights": "Only weights can be sent as uint8",
    "unknown-share": "There is no such share",
    "newer-share": "The share was written by a newer version",
    "damaged-share": "The share is damaged",
    "unknown-collection": "There is no such collection",
    "damaged-collection": "The collection is damaged",
    "collection-changed": "The collection has changed",
    "not-a-link": "The link cannot be in a collection",
    "not-a-state": "The figure has no such state",
    "unknown-assignment": "There is no such assignment",
    "damaged-assignment": "The assignment is damaged",
    "listing-off": "This server lists no collections",
    "listing-withdrawn": "The collection may not be listed here",
    "too-many-listed": "Too many collections of one author are listed",
    "wrong-assignment-key": "The key does not match the assignment",
    "assignment-full": "The assignment has been answered too often",
    "unknown-study": "There is no such study",
    "damaged-study": "The study is damaged",
    "wrong-study-key": "The key does not match the study",
    "study-full": "The study has too many participants",
    "study-order": "The test is not this participant's next one",
    "wrong-edit-key": "The edit key does not match",
    "too-many-shares": "Too many shares in a short time",
    "busy": "The model is busy",
    "too-much-work": "The request takes too much work",
    "too-many-requests": "Too much work in a short time",
    "not-ready": "The server is not ready",
    "unknown-run": "There is no such run",
    "no-snapshot": "The run has no snapshot of this step",
    "wrong-run-key": "The key does not match the run",
    "wrong-model-key": "The key does not match the model",
    "run-ended": "The run has ended",
    "too-many-runs": "Too many runs at once",
    "runs-busy": "Too many runs are waiting",
    "training-off": "Training is off on this server",
    "models-full": "There is no room for kept models",
    "unknown-room": "There is no such room",
    "wrong-room-key": "The key does not match the room",
    "room-full": "The room is full",
    "room-closed": "The room is closed to newcomers",
    "room-out-of-space": "The room has no space left",
    "too-many-questions": "The room has been asked too many questions",
    "rooms-full": "There are too many rooms",
    "not-asking": "The room is not asked this at present",
    "room-changes": "The room is changed too often",
    "too-many-rooms": "Too many rooms in a short time",
    "too-many-room-tries": "Too many wrong codes in a short time",
    "storage-busy": "The database is busy",
    "storage-full": "There is no room for shares",
    "storage-unavailable": "The database cannot be used",
    "quota-reached": "This address has no room for shares",
    "internal": "Something went wrong in the server",
}


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
            excess = asdict(self.excess)
            document |= {name: value for name, value in excess.items() if value is not None}
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
    steps_own = (step for before, step in pairs if before not in ("do", "effect"))
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps_own)
    return "".join(steps).lstrip(".")

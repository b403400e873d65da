"""Replies in the format that the client requests, and their description in the API reference."""

from types import UnionType
from typing import Any

from fastapi import Request, Response
from pydantic import BaseModel

from app.http.content_negotiation import FORMS, NPZ, SAFETENSORS, choose
from app.http.problems import MEDIA_TYPE, ProblemError, ProblemReply


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
# Problems that the engine can raise for any request to a model.
ENGINE = {
    "_429": "Too much work in a short time; `Retry-After` says when to retry.",
    "_503": "The model is busy; `Retry-After` says when to retry.",
}


def run_problems(**descriptions: str) -> dict[int | str, dict[str, Any]]:
    """Describe the problems of a route with a JSON body that runs a model, as `problems` does."""
    words = {
        "_400": "The body is not JSON.",
        "_413": "The body is too large.",
        "_415": "The body is not sent as JSON.",
        "_422": "A field is not valid; `detail` says why.",
    }
    return problems(**words | ENGINE | descriptions)

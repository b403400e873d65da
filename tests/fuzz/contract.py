"""Requests drawn from the API's own reference, and checks of the replies against it.

The reference is read more strictly than it is written: an object has no field that is not named,
and a status covered only by `default` is not allowed.
"""

import json
import secrets
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from typing import Any

import jsonschema_rs
import schemathesis
from fastapi import FastAPI
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode, Response
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.python.asgi import shutdown_lifespans
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
)

from app.engine.reply_formats import Reply
from app.http.file_formats import JSON, SAFETENSORS
from app.http.replies import LINES_TYPE as LINES
from tests.fuzz.known import CHALLENGE, FORMS, Known
from tests.fuzz.stored import STORED, lost
from tests.servers import PATIENCE

LATER = {429, 503, 507}  # these say when to retry
NOT_IMPLEMENTED = 501  # for a format that is not available (oEmbed 1.0, section 2.3.3)
CHECKS = [content_type_conformance, response_schema_conformance]
DRAWN = 0.25  # share of the requests that stay as drawn
SECONDS = PATIENCE  # timeout of a reply
KEPT: Any = {
    "state": {"source": "The cat sat.", "target": "猫坐着。"},
    "asks": [{"parameters": {"select": ["*.gain"]}}, {"trace": {"source": "Hi"}}],
}


@dataclass(frozen=True)
class Asked:
    """A request, the requested format, and whether it is unchanged since it was drawn."""

    case: Case[Any]
    accept: str
    drawn: bool


class Contract:
    """The operations of an app, and checks of its replies."""

    def __init__(self, app: FastAPI) -> None:
        self.app = app
        self.document = strict(app.openapi())
        schema = schemathesis.openapi.from_dict(self.document)
        schema.app = app
        self.operations: dict[str, APIOperation[Any, Any, Any, Any]] = {}
        for found in schema.get_all_operations():
            assert isinstance(found, Ok), found
            self.operations[found.ok().label] = found.ok()
        self.stored = Counter[str]()  # requests whose documents were read again
        self.keys = dict[str, str]()  # of rooms, assignments and studies
        self.known = Known(self._share, self._collection, self._assignment, self._study, self._room)

    def cases(self, label: str) -> st.SearchStrategy[Asked]:
        """Return requests of an operation: some valid by the reference, some with a mistake."""
        operation = self.operations[label]
        kinds = [operation.as_strategy(GenerationMode.POSITIVE)]
        if operation.body or operation.query or "{n}" in label or "{example}" in label:
            kinds.append(operation.as_strategy(GenerationMode.NEGATIVE))
        made = st.one_of(kinds)
        return st.builds(self._real, made, st.integers(0, 1 << 32).map(Random))

    def ask(self, asked: Asked) -> Response:
        """Send a request and check its reply against the reference; raise if it does not match."""
        case = asked.case
        response = case.call(headers={"Accept": asked.accept}, timeout=SECONDS)
        checks = [*CHECKS, negative_data_rejection] if asked.drawn else [*CHECKS]
        if response.status_code != NOT_IMPLEMENTED:
            checks.append(not_a_server_error)
        case.validate_response(response, checks=checks)
        promised = self.document["paths"][case.path][case.method.lower()]["responses"]
        told = f"{case.method} {case.path}: {response.status_code} {response.content[:500]!r}"
        assert str(response.status_code) in promised, told
        if response.status_code in LATER:
            assert int(response.headers["retry-after"][0]) > 0, told
        kind, _, _ = response.headers.get("content-type", [""])[0].partition(";")
        if kind == LINES:
            self._hold_lines(promised["200"]["content"][LINES]["schema"], response.content)
        if kind == SAFETENSORS:
            assert Reply.metadata(response.content)
        label = f"{case.method} {case.path}"
        if label in STORED and response.status_code < 300:
            self._hold_stored(label, case, response)
        return response

    def _hold_stored(self, label: str, case: Case[Any], response: Response) -> None:
        """Read what was stored, and check that it is what was sent."""
        path, part = STORED[label]
        made = response.json() if response.content else {}
        names = {**case.path_parameters, **made}
        known = {name: names[name] for name in ("id", "code") if name in names}
        key = made.get("key") or self.keys.get(*known.values())
        reading = self.operations[f"GET {path}"].Case(path_parameters=known)
        read = reading.call(headers={"Authorization": f"Bearer {key}"}, timeout=SECONDS)
        assert read.status_code == 200, f"{label}: {read.content[:500]!r}"
        gone = lost(part(case.body), read.json())
        assert gone is None, f"{label}: {gone}"
        self.stored[label] += 1
        if label == "POST /api/runs":  # or there is no place for the next
            stop = self.operations["PATCH /api/runs/{id}"]
            ended = stop.Case(path_parameters=known, body={"stop": True}, media_type=JSON)
            assert ended.call(headers={"Run-Key": key}).status_code == 200

    def _hold_lines(self, schema: Any, content: bytes) -> None:
        whole = {**schema, "components": self.document["components"]}
        validator = jsonschema_rs.validator_for(whole)
        lines = [json.loads(line) for line in content.splitlines()]
        for line in lines:
            validator.validate(line)
        assert lines
        assert "error" not in lines[-1] or lines[-1]["error"]["status"] < 500, lines[-1]

    def _real(self, case: Case[Any], draw: Random) -> Asked:
        drawn = draw.random() < DRAWN
        if not drawn:
            self.known.put_into(case, draw)
        return Asked(case, draw.choice(FORMS), drawn)

    def _share(self) -> dict[str, Any]:
        case = self.operations["POST /api/shares"].Case(body=KEPT, media_type=JSON)
        page = {"Headlight-Client": secrets.token_hex()}  # the same page would get the same share
        response = case.call(headers=page)
        assert response.status_code == 201, response.text
        made: dict[str, Any] = response.json()
        return made

    def _collection(self) -> dict[str, Any]:
        body: Any = {"title": "A title", "items": [{"lesson": "masks"}]}
        case = self.operations["POST /api/collections"].Case(body=body, media_type=JSON)
        response = case.call()
        assert response.status_code == 201, response.text
        made: dict[str, Any] = response.json()
        return made

    def _assignment(self, is_challenge: bool) -> dict[str, Any]:
        asked = {"entry": "choice", "ask": {"kind": "looks", "link": "source=Hi&query=0"}}
        body = {"title": "A title", "questions": [CHALLENGE if is_challenge else asked]}
        return self._keyed("/api/assignments", body)

    def _study(self) -> dict[str, Any]:
        return self._keyed("/api/studies", {"title": "A title", "arms": [{"name": "A name"}]})

    def _keyed(self, path: str, body: Any) -> dict[str, Any]:
        case = self.operations[f"POST {path}"].Case(body=body, media_type=JSON)
        response = case.call()
        assert response.status_code == 201, response.text
        made: dict[str, Any] = response.json()
        self.keys[made["id"]] = made["key"]
        return made

    def _room(self) -> dict[str, Any]:
        case = self.operations["POST /api/rooms"].Case(
            body={"state": {"link": "/"}}, media_type=JSON
        )
        response = case.call()
        assert response.status_code == 201, response.text
        made: dict[str, Any] = response.json()
        asked: Any = {"entry": "choice", "ask": {"kind": "looks", "link": "source=Hi&query=0"}}
        ask = self.operations["PUT /api/rooms/{code}/question"]
        asking = ask.Case(path_parameters={"code": made["code"]}, body=asked, media_type=JSON)
        told = asking.call(headers={"Authorization": f"Bearer {made['key']}"})
        assert told.status_code < 300, told.text
        self.keys[made["code"]] = made["key"]
        return made


@contextmanager
def contract_of(app: FastAPI) -> Iterator[Contract]:
    """Run the app until the block ends."""
    try:
        yield Contract(app)
    finally:
        shutdown_lifespans()


def strict(document: Any) -> Any:
    """Return the reference with additional properties forbidden."""
    if isinstance(document, list):
        return [strict(one) for one in document]
    if not isinstance(document, dict):
        return document
    inner = {key: strict(value) for key, value in document.items()}
    named = isinstance(inner.get("properties"), dict) and inner.get("type") == "object"
    return {"additionalProperties": False, **inner} if named else inner

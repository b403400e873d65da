"""Every reply matches the API's reference: status, format, fields, and when to retry.

`make fuzz` does the same for longer, with different requests each time.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from app.assets.static_files import Vendor
from app.engine.engine import BusyError, Engine
from app.engine.fair_queue import SpentError
from app.engine.model_catalog import Catalog
from app.heads.indexing import Indexing
from app.http.file_formats import NPZ
from app.main import create_app
from app.runs.training_runs import Runs
from app.settings import Settings
from app.store.database import Database
from app.store.storage_errors import STATUS, StorageError
from model.errors import InputError
from tests.assignments.assigning import BODY as ASSIGNMENT
from tests.fuzz.contract import Asked, Contract, contract_of
from tests.fuzz.stored import STORED
from tests.serving.api_reference import reference
from tests.serving.storage import STATE, share
from tests.studies.taking_part import BODY as STUDY

OPERATIONS = {  # requests of each
    "GET /api/health": 2,
    "GET /api/ready": 2,
    "GET /api/models": 2,
    "GET /api/models/{id}/parameters": 6,
    "GET /api/zoo": 2,
    "GET /api/zoo/{task}/example": 10,
    "GET /api/zoo/{task}/answer": 10,
    "GET /api/models/{id}/learning": 5,
    "GET /api/models/{id}/learning/{example}": 8,
    "POST /api/corpora": 10,
    "GET /api/corpora/{id}": 5,
    "DELETE /api/corpora/{id}": 5,
    "GET /api/models/{id}/heads": 5,
    "GET /api/models/{id}/heads/{place}/{head}/examples": 10,
    "GET /api/models/{id}/heads/{place}/{head}/rows": 8,
    "GET /api/models/{id}/heads/{place}/{head}/elsewhere": 10,
    "DELETE /api/models/{id}": 5,
    "POST /api/trace": 16,
    "POST /api/decode": 8,
    "POST /api/sweep": 6,
    "POST /api/overview": 8,
    "POST /api/tile": 10,
    "GET /api/positions": 8,
    "POST /api/shares": 16,
    "GET /api/shares/{id}": 8,
    "DELETE /api/shares/{id}": 8,
    "GET /api/shares/{id}/asks/{n}": 12,
    "POST /api/collections": 16,
    "GET /api/collections/{id}": 10,
    "GET /api/collections/{id}/questions.zip": 10,
    "PUT /api/collections/{id}": 40,
    "DELETE /api/collections/{id}": 10,
    "PUT /api/collections/{id}/listing": 10,
    "DELETE /api/collections/{id}/listing": 10,
    "POST /api/collections/{id}/copies": 10,
    "GET /api/shelf": 2,
    "POST /api/assignments": 12,
    "GET /api/assignments/{id}": 10,
    "DELETE /api/assignments/{id}": 10,
    "POST /api/assignments/{id}/answers": 12,
    "POST /api/assignments/{id}/checks": 10,
    "GET /api/assignments/{id}/answers": 10,
    "GET /api/assignments/{id}/answers.csv": 10,
    "GET /api/assignments/{id}/answers.json": 10,
    "POST /api/studies": 12,
    "GET /api/studies/{id}": 10,
    "DELETE /api/studies/{id}": 10,
    "POST /api/studies/{id}/participants": 12,
    "POST /api/studies/{id}/answers": 12,
    "GET /api/studies/{id}/results": 10,
    "GET /api/studies/{id}/answers.csv": 10,
    "GET /api/links": 8,
    "GET /api/links/picture": 8,
    "GET /api/qr": 8,
    "GET /oembed": 8,
    "POST /api/runs": 12,
    "POST /api/handout": 8,
    "POST /api/lab": 16,
    "GET /api/lab/scaling": 10,
    "POST /api/rooms": 10,
    "PUT /api/rooms/{code}/state": 10,
    "GET /api/rooms/{code}/state": 10,
    "GET /api/rooms/{code}/events": 10,
    "GET /api/rooms/{code}/class": 10,
    "GET /api/rooms/{code}/answered": 5,
    "GET /api/rooms/{code}/record": 10,
    "POST /api/rooms/{code}/driver": 10,
    "DELETE /api/rooms/{code}/driver": 10,
    "PATCH /api/rooms/{code}": 10,
    "GET /api/rooms/{code}/members": 5,
    "POST /api/rooms/{code}/removals": 5,
    "DELETE /api/rooms/{code}": 10,
    "PUT /api/rooms/{code}/work": 10,
    "GET /api/rooms/{code}/work": 5,
    "PUT /api/rooms/{code}/question": 10,
    "PUT /api/rooms/{code}/question/timer": 10,
    "PATCH /api/rooms/{code}/question": 10,
    "DELETE /api/rooms/{code}/question": 5,
    "POST /api/rooms/{code}/answers": 10,
    "POST /api/rooms/{code}/tries": 10,
    "GET /api/rooms/{code}/gallery": 5,
    "GET /api/rooms/{code}/answers": 5,
    "GET /api/rooms/{code}/answers.csv": 5,
    "GET /api/rooms/{code}/answers.json": 5,
    "GET /api/rooms/{code}/questions.zip": 5,
    "DELETE /api/rooms/{code}/answers/{answer}": 5,
}
TOO_MUCH = InputError("too-much-work", "", "this is too much")
WORKS = [  # (method, path, body) of all that needs a model
    ("POST", "/api/trace", STATE),
    ("POST", "/api/decode", {"source": "Hi"}),
    ("POST", "/api/sweep", STATE),
    ("POST", "/api/overview", {"source": "Hi"}),
    ("POST", "/api/tile", {"source": "Hi", "at": "encoder.0.self", "head": 0}),
    ("POST", "/api/shares", {"state": STATE}),
    ("POST", "/api/handout", {"state": STATE}),
    ("GET", "/api/models/{id}/parameters", None),
    ("GET", "/api/models/{id}/learning", None),
    ("GET", "/api/models/{id}/learning/{example}", None),
]


async def _nothing(*_: object) -> None:
    pass


@pytest.fixture(scope="module")
def contract(catalog: Catalog, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Contract]:
    """The shipped model behind the whole app."""
    folder = tmp_path_factory.mktemp("contract")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Vendor, "compress", lambda _: None)
        patch.setattr(Runs, "_advance", lambda _: None)  # runs wait
        patch.setattr(Indexing, "_index", _nothing)  # and so do texts
        # No handout has the model in it: it would be exported first (tests/handouts has them).
        patch.setattr("app.local_models.EXPORTER", ("absent",))
        many = 10_000
        settings = Settings(
            data_dir=folder,
            max_shares_per_minute=many,
            max_rooms_per_minute=many,
            max_room_tries_per_minute=many,
            max_rooms=many,
            work_per_second=1e9,
        )
        app = create_app(settings, catalog)
        with contract_of(app) as contract:
            yield contract


def test_all_operations_are_asked(contract: Contract) -> None:
    # Runs train models in their own processes; tests/runs/test_runs.py tests them.
    runs = {label for label in contract.operations if "/api/runs" in label}
    assert contract.operations.keys() - runs == OPERATIONS.keys() - {"POST /api/runs"}


@pytest.mark.parametrize("label", OPERATIONS)
def test_every_reply_matches_the_reference(contract: Contract, label: str) -> None:
    # Not shrunk: a failure shows its request, and each attempt takes a run of the model.
    @settings(
        max_examples=OPERATIONS[label],
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(contract.cases(label))
    def holds(asked: Asked) -> None:
        contract.ask(asked)

    for number in range(10):  # one request in ten may be accepted
        seed(number)(holds)()
        if label not in STORED or contract.stored[label]:
            return
    pytest.fail("none is accepted")


async def told(
    client: httpx.AsyncClient, method: str, path: str, status: int, **request: Any
) -> None:
    """Send a request, and check that the reference has the status of the reply."""
    known = request.pop("known", {"id": "en-zh", "example": 0, "n": 0})
    response = await client.request(method, path.format(**known), **request)
    assert response.status_code == status, response.text
    promised = reference()["paths"][path][method.lower()]["responses"]
    assert str(status) in promised, f"{method} {path}"
    if status in (429, 503, 507):
        assert int(response.headers["retry-after"]) > 0


@pytest.mark.parametrize(
    ("status", "error"), [(503, BusyError("busy")), (429, SpentError(3)), (422, TOO_MUCH)]
)
async def test_a_refusal_of_work_is_in_the_reference(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, status: int, error: Exception
) -> None:
    def refuse(*_: object) -> float:
        raise error

    monkeypatch.setattr(Engine, "charge", refuse)
    for method, path, body in WORKS:
        await told(client, method, path, status, json=body)
    await told(client, "GET", "/api/links/picture", status, params={"link": "/?source=Hi"})


@pytest.mark.parametrize("kind", STATUS)
async def test_a_failure_of_the_store_is_in_the_reference(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    made = await share(client)

    def broken(*_: object) -> Any:
        raise StorageError(kind)

    for use in ("reading", "writing"):
        monkeypatch.setattr(Database, use, broken)
    status, known = STATUS[kind][0], {"id": made["id"], "n": 0}
    await told(client, "POST", "/api/shares", status, json={"state": STATE})
    await told(client, "GET", "/api/shares/{id}", status, known=known)
    await told(client, "GET", "/api/shares/{id}/asks/{n}", status, known=known)
    key = {"Edit-Key": made["edit_key"]}
    await told(client, "DELETE", "/api/shares/{id}", status, known=known, headers=key)
    body, mine = {"title": "A title"}, {"id": made["id"]}
    await told(client, "POST", "/api/collections", status, json=body)
    await told(client, "GET", "/api/collections/{id}", status, known=mine)
    key |= {"If-Match": "*"}
    await told(client, "PUT", "/api/collections/{id}", status, known=mine, json=body, headers=key)
    await told(client, "DELETE", "/api/collections/{id}", status, known=mine, headers=key)
    held = {"Authorization": "Bearer a key"}
    await told(client, "POST", "/api/assignments", status, json=ASSIGNMENT)
    await told(client, "GET", "/api/assignments/{id}", status, known=mine)
    await told(client, "DELETE", "/api/assignments/{id}", status, known=mine, headers=held)
    answers, own = "/api/assignments/{id}/answers", {"member": "k2m4n6p8", "answers": []}
    await told(client, "POST", answers, status, known=mine, json=own)
    await told(client, "GET", answers, status, known=mine, headers=held)
    await told(client, "GET", f"{answers}.csv", status, known=mine, headers=held)
    work = {"question": 0, "link": "/?source=Hi"}
    await told(client, "POST", "/api/assignments/{id}/checks", status, known=mine, json=work)
    await told(client, "POST", "/api/studies", status, json=STUDY)
    await told(client, "GET", "/api/studies/{id}", status, known=mine)
    await told(client, "DELETE", "/api/studies/{id}", status, known=mine, headers=held)
    part = {"member": "k2m4n6p8"}
    await told(client, "POST", "/api/studies/{id}/participants", status, known=mine, json=part)
    test = {**part, "stage": "before", "answers": []}
    await told(client, "POST", "/api/studies/{id}/answers", status, known=mine, json=test)
    for what in ("results", "answers.csv"):
        await told(client, "GET", f"/api/studies/{{id}}/{what}", status, known=mine, headers=held)
    for path in ("/api/links", "/api/links/picture"):
        await told(client, "GET", path, status, params={"link": f"/s/{made['id']}"})
    await told(client, "GET", "/api/ready", 503)


async def test_a_damaged_or_newer_share_is_in_the_reference(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    made = await share(client, asks=[{"parameters": {"select": ["*.gain"]}}])
    for change, status in (
        ("UPDATE shares SET format = 1000, seal = NULL", 501),
        ("UPDATE shares SET format = 2, seal = NULL", 200),
        ("UPDATE contents SET content = x'00'", 410),
    ):
        with closing(sqlite3.connect(tmp_path / "headlight.db")) as database:
            database.execute(change)
            database.commit()
        for path in ("/api/shares/{id}", "/api/shares/{id}/asks/{n}"):
            headers = {"Accept": NPZ if status == 410 else "*/*"}  # another format, not cached
            known = {"id": made["id"], "n": 0}
            await told(client, "GET", path, status, known=known, headers=headers)

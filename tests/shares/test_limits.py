"""Shares cannot fill the disk: contents are counted, stored once, and can be deleted."""

import asyncio
import hashlib
import sqlite3
from contextlib import AsyncExitStack, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.requests import Request

from app.heads.indexing import Indexing
from app.http.limits import Shared, client_network, fair_share
from app.runs.training_runs import Runs
from app.settings import Settings
from app.store.store import Limits, keep_pruning
from tests.servers import PATIENCE
from tests.serving.fixtures import Serving
from tests.serving.problem import hold
from tests.serving.storage import ALL, ASKS, STATE, counts, kept, open_shares, share

ASSIGNMENT = {
    "title": "A title",
    "questions": [{"entry": "choice", "ask": {"kind": "looks", "link": ""}}],
}
OCTETS = {"Accept": "application/octet-stream"}


async def test_equal_contents_are_stored_once(client: httpx.AsyncClient, tmp_path: Path) -> None:
    body = b'{"state":{"source":"Hi."},"asks":[%b,%b]}' % (
        (b'{"parameters":{"select":["*"]}}',) * 2
    )
    headers = {"Content-Type": "application/json"}
    assert len(body) <= 108
    for n in range(3):
        page = {"Headlight-Client": str(n)}
        made = await client.post("/api/shares", content=body, headers=headers | page)
        assert made.status_code == 201
    count, size = kept(tmp_path)
    assert count == 2, "a trace and parameters, whoever asked for them"
    assert size < 14_000_000
    path = f"/api/shares/{made.json()['id']}/asks"
    files = [(await client.get(f"{path}/{n}", headers=OCTETS)).content for n in range(2)]
    assert files[0] == files[1]
    assert len(files[0]) > 20_000_000


async def test_json_replies_of_shares_are_limited(serving: Serving) -> None:
    """A JSON reply may have at most a quarter of the numbers, as everywhere."""
    async with serving() as client:
        path = f"/api/shares/{(await share(client, asks=[ALL]))['id']}"
        problem = hold(await client.get(f"{path}/asks/0"), 422, "reply-too-large", None)
        assert (problem["limit"], problem["unit"]) == (4_000_000, "numbers")
        assert problem["value"] > 5_000_000
        assert (await client.get(f"{path}/asks/0", headers=OCTETS)).status_code == 200
        assert (await client.get(path)).status_code == 200
    async with serving(max_values=4_000) as client:  # lowered after the share was created
        hold(await client.get(path), 422, "reply-too-large", None)
        assert (await client.get(path, headers=OCTETS)).status_code == 200
        assert (await client.get(path.replace("/api/shares", "/s"))).status_code == 200


@pytest.mark.parametrize(
    ("asked", "kind", "field"),
    [
        ({"trace": {"source": "x" * 2_001}}, "text-too-long", "trace.source"),
        ({"trace": {"text": "hi"}}, "missing", "trace.source"),
        ({"parameters": {"select": [], "model": "no"}}, "unknown-model", "parameters.model"),
        ({"learning": {"example": 0, "model": "no"}}, "unknown-model", "learning.model"),
    ],
)
async def test_asks_are_checked_like_traces_and_before_anything_runs(
    client: httpx.AsyncClient,
    monkeypatch: pytest.MonkeyPatch,
    asked: dict[str, Any],
    kind: str,
    field: str,
) -> None:
    if "trace" in asked:
        alone = (await client.post("/api/trace", json=asked["trace"])).json()
        assert alone["type"].endswith(kind)
        assert f"trace.{alone['field']}" == field
    monkeypatch.setattr("app.engine.engine.Engine.run", None)
    body = {"state": STATE, "asks": [ASKS[0], asked]}
    hold(await client.post("/api/shares", json=body), 422, kind, f"asks[1].{field}")


async def test_an_address_has_a_quota(serving: Serving, tmp_path: Path) -> None:
    async with serving() as client:
        await share(client)
        (size,) = _sizes(tmp_path)
    (tmp_path / "headlight.db").unlink()
    async with serving(max_shares_bytes_per_address=2 * size) as client:
        first, _ = await share(client), await share(client)
        problem = await client.post("/api/shares", json={"state": STATE})
        hold(problem, 507, "quota-reached", None)
        assert int(problem.headers["retry-after"]) > 0
        assert str(2 * size) in problem.json()["detail"]
        await client.delete(f"/api/shares/{first['id']}", headers={"Edit-Key": first["edit_key"]})
        await share(client)
        other = httpx.AsyncClient(
            transport=httpx.ASGITransport(client._transport.app, client=("10.1.2.3", 1)),  # type: ignore[attr-defined]
            base_url="http://headlight",
        )
        async with other:
            await share(other)


def _sizes(folder: Path) -> list[int]:
    with closing(sqlite3.connect(folder / "headlight.db")) as connection:
        return [size for (size,) in connection.execute("SELECT size FROM shares")]


async def test_all_shares_have_a_quota(serving: Serving, tmp_path: Path) -> None:
    async with serving(max_shares_bytes=1_000_000) as client:
        made = [await share(client)]
        before = kept(tmp_path)
        for _ in range(5):  # equal shares take room only for their documents
            made.append(await share(client))
        assert kept(tmp_path) == before
        big = {"state": STATE, "asks": [ALL]}
        problem = await client.post("/api/shares", json=big)
        hold(problem, 507, "storage-full", None)
        assert int(problem.headers["retry-after"]) > 0
        assert kept(tmp_path) == before
        for n in range(60):
            page = {"Headlight-Client": str(n)}
            response = await client.post("/api/shares", json={"state": STATE}, headers=page)
            if response.status_code != 201:
                break
        hold(response, 507, "storage-full", None)
        for one in made:
            assert (await client.get(f"/api/shares/{one['id']}")).status_code == 200


async def test_no_shares_are_stored_with_a_quota_of_0(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.engine.engine.Engine.run", None)  # nor run
    async with serving(max_shares_bytes=0) as client:
        hold(await client.post("/api/shares", json={"state": STATE}), 507, "storage-full", None)


async def test_a_quota_is_exact_under_concurrency(tmp_path: Path) -> None:
    limits = Limits(total=100_000, by_address=100_000)
    async with open_shares(f"sqlite+aiosqlite:///{tmp_path}/headlight.db", limits) as store:
        wanted = [
            store.add(2, {}, {}, bytes([n]) * 10_000, address=f"192.0.2.{n % 2}") for n in range(20)
        ]
        made = await asyncio.gather(*wanted, return_exceptions=True)
        assert sum(not isinstance(one, Exception) for one in made) == 9
        assert await counts(store) == [9, 0, 9]


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"),
        ("2001:db8:1:ffff::9", "2001:db8:1::/48"),
        ("2001:db8:2:2::9", "2001:db8:2::/48"),
        ("testclient", "testclient"),
    ],
)
def test_ipv6_clients_are_counted_by_network(address: str, network: str) -> None:
    assert client_network(Request({"type": "http", "client": (address, 1)})) == network


SITES = ["2001:db8:1::1", "2001:db8:1:ffff::9", "2001:db8:1:2:3:4:5:6"], ["2001:db8:2::1"]
HOSTS = ["::ffff:192.0.2.7", "192.0.2.7", "::ffff:192.0.2.7"], ["192.0.2.8"]


async def _nothing(*_: object) -> None:
    pass


@pytest.mark.parametrize(("same", "other"), [SITES, HOSTS])
async def test_one_site_holds_half_of_every_kind_of_places(
    serving: Serving, monkeypatch: pytest.MonkeyPatch, same: list[str], other: list[str]
) -> None:
    monkeypatch.setattr(Runs, "_advance", lambda _: None)  # runs wait
    monkeypatch.setattr(Indexing, "_index", _nothing)  # texts too
    most = {"max_rooms": 4, "max_room_members": 4, "max_assignment_members": 4}
    most |= {"max_runs": 1, "max_run_queue": 3, "max_kept_corpora": 4}
    async with serving(**most) as client, AsyncExitStack() as opened:
        app = client._transport.app  # type: ignore[attr-defined]
        clients = []
        for n, address in enumerate([*same, *other]):
            transport = httpx.ASGITransport(app, client=(address, 1))
            page = {"Headlight-Client": str(n)}
            made = httpx.AsyncClient(transport=transport, base_url="http://headlight", headers=page)
            clients.append(await opened.enter_async_context(made))
        task = (await client.post("/api/assignments", json=ASSIGNMENT)).json()
        room = (await client.post("/api/rooms", json={"state": {"link": "/"}})).json()
        text = {"model": "en-zh", "text": "The cat sat."}
        asked: dict[str, tuple[str, str, dict[str, Any] | None]] = {
            "members": ("POST", f"/api/assignments/{task['id']}/answers", {"answers": [["0"]]}),
            "students": ("GET", f"/api/rooms/{room['code']}/state?member=member-", None),
            "runs": ("POST", "/api/runs", {"task": "reverse"}),
            "texts": ("POST", "/api/corpora", text),
            "rooms": ("POST", "/api/rooms", {"state": {"link": "/"}}),
        }
        for name, (method, path, body) in asked.items():
            statuses = []
            for n, one in enumerate(clients):
                sent = body and (body | {"member": f"member-{n}"} if name == "members" else body)
                url = f"{path}{n}" if name == "students" else path
                statuses.append((await one.request(method, url, json=sent)).status_code // 100)
            if name == "rooms":  # one is another address's: half of the three others
                assert statuses == [2, 2, 5, 2], name
            else:
                assert statuses in ([2, 2, 4, 2], [2, 2, 5, 2]), name


def test_one_address_holds_half_of_what_is_free() -> None:
    for most in range(12):
        taken = list[int]()
        while free := most - sum(taken):  # one address after the other takes what it can
            share = fair_share(most, sum(taken))
            taken.append(share)
            assert share > 0
            assert share - 1 < free / 2 <= share
    assert fair_share(1_000, 0) == 500  # a class of 40 behind one address has room
    assert fair_share(9, 12) == 0


def test_a_refusal_says_who_has_what() -> None:
    places = Shared(9, "places")
    assert places.refusal(["a"] * 4, "a") is None
    half = "half of the places that others leave free, which is 5 of 9; this address has 5"
    assert half in str(places.refusal(["a"] * 5, "a"))
    assert places.refusal(["a"] * 5 + ["b"], "b") is None
    assert "2 of 9; this address has 2" in str(places.refusal(["a"] * 5 + ["b"] * 2, "b"))
    assert places.refusal([*"aaaaabbc"], "d") is None
    assert places.refusal([*"aaaaabbcd"], "e") == "of at most 9 places, 9 are in use"


async def test_addresses_are_not_stored(tmp_path: Path) -> None:
    async with open_shares(f"sqlite+aiosqlite:///{tmp_path}/headlight.db") as store:
        for address in ("192.0.2.7", "192.0.2.7", "192.0.2.8"):
            await store.add(2, {}, {}, b"trace", address=address)
    with closing(sqlite3.connect(tmp_path / "headlight.db")) as connection:
        found = [one for (one,) in connection.execute("SELECT address FROM shares")]
    assert len(set(found)) == 2
    for one in found:
        assert len(one) == 32
        assert one != hashlib.sha256(b"192.0.2.7").digest()


async def test_shares_expire_after_the_configured_days(
    serving: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.store.store.FIRST_SECONDS", 0)
    async with serving() as client:
        old, new = await share(client), await share(client)
        assert old["expires"] is None
    with sqlite3.connect(tmp_path / "headlight.db") as connection:
        made = (datetime.now(UTC) - timedelta(days=30, minutes=1)).strftime("%Y-%m-%d %H:%M:%S.%f")
        update = "UPDATE shares SET created = ?, seal = NULL WHERE id = ?"
        connection.execute(update, (made, old["id"]))
    connection.close()
    async with serving() as client:
        assert (await client.get(f"/api/shares/{old['id']}")).status_code == 200, "never by default"
    async with serving(keep_shares_days=31) as client:
        assert (await client.get(f"/api/shares/{old['id']}")).status_code == 200
        made_now = await share(client)
        expires = datetime.fromisoformat(made_now["expires"])
        assert abs(expires - datetime.now(UTC) - timedelta(days=31)) < timedelta(minutes=1)
    async with serving(keep_shares_days=30) as client:
        for path in ("/api/shares/{}", "/api/shares/{}/asks/0", "/s/{}", "/s/{}/preview.png"):
            hold(await client.get(path.format(old["id"])), 404, "unknown-share", "id")
        assert (await client.get(f"/api/shares/{new['id']}")).status_code == 200
        headers = {"Edit-Key": old["edit_key"]}
        hold(
            await client.delete(f"/api/shares/{old['id']}", headers=headers),
            404,
            "unknown-share",
            "id",
        )
        for _ in range(100):
            if len(_sizes(tmp_path)) == 2:
                break
            await asyncio.sleep(0.05)
    assert len(_sizes(tmp_path)) == 2, "the server deletes them by itself"
    async with serving() as client:
        assert (await client.get(f"/api/shares/{old['id']}")).status_code == 404


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_expired_shares_are_deleted_periodically(
    tmp_path: Path, postgres: Any, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.store.store.FIRST_SECONDS", 0)
    url = f"sqlite:///{tmp_path}/headlight.db" if kind == "sqlite" else postgres("expiry")
    url = Settings(database_url=url).database
    async with open_shares(url, Limits(days=1 / 86_400)) as store:
        old = await store.add(2, {}, {}, b"old")
        assert await store.has(old.id)
        pruning = asyncio.create_task(keep_pruning(store.store, 0.05))
        async with asyncio.timeout(PATIENCE):
            while await counts(store) != [0, 0, 0]:
                await asyncio.sleep(0.05)
        pruning.cancel()
        assert not await store.has(old.id)
        assert await store.find(old.id) is None

"""Shares: durable once acknowledged, permanently frozen, hard to guess."""

import re
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from app.engine.model_catalog import Catalog
from app.engine.reply_formats import Reply
from app.shares.formats import FORMAT, upgraded
from app.store.documents import ALPHABET, ID_LENGTH, KEY_LENGTH, new_id
from app.traces.replies import ModelReply
from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder
from tests.servers import PATIENCE, AppServer
from tests.serving.fixtures import Serving
from tests.serving.slow import Slow

STATE = {
    "source": 'The cat <b>"sat"</b>\non the mat 😀.',
    "target": "猫坐着。",
    "interventions": [{"at": "encoder.0.self", "head": 1, "do": "uniform"}],
    "view": "attention",
    "block": "cross",
    "layer": 1,
    "head": 2,
    "query": 0,
    "key": 3,
    "lang": "zh",
}
RUN = {name: STATE[name] for name in ("source", "target", "interventions")}
OCTETS = {"Accept": "application/octet-stream"}
HTML = {"Accept": "text/html"}


async def create(client: httpx.AsyncClient, **state: object) -> str:
    response = await client.post("/api/shares", json={"state": STATE | state})
    assert response.status_code in {200, 201}, response.text  # 200: it was there
    share_id: str = response.json()["id"]
    return share_id


async def test_it_opens_with_the_frozen_trace(client: httpx.AsyncClient) -> None:
    response = await client.post("/api/shares", json={"state": STATE})
    share_id = response.json()["id"]
    made = response.json()
    assert len(made.pop("edit_key")) == KEY_LENGTH
    assert made == {"id": share_id, "url": f"http://headlight/s/{share_id}", "expires": None}
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["location"] == f"/api/shares/{share_id}"

    share = (await client.get(f"/api/shares/{share_id}")).json()
    assert list(share) == ["id", "format", "state", "created", "model", "asks", "about", "trace"]
    assert share["format"] == FORMAT
    assert share["asks"] == []
    assert share["state"] == STATE
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", share["created"])
    listed = (await client.get("/api/models")).json()[0]
    assert listed.pop("in_general")  # of the model as it is now, not of what was shared
    assert share["model"] == listed

    select = ["*.weights", "*.q", "*.k", "*.v", "*.mask", "decoder.[cp]*"]
    trace = (await client.post("/api/trace", json=RUN | {"select": select})).json()
    assert share["trace"]["tokens"] == trace["tokens"]
    assert share["trace"]["tensors"].keys() == trace["tensors"].keys()
    for name, tensor in trace["tensors"].items():
        frozen = share["trace"]["tensors"][name]
        np.testing.assert_allclose(frozen.pop("data"), tensor.pop("data"), atol=1e-5)
        assert frozen == tensor


async def test_both_formats_have_the_same_content(client: httpx.AsyncClient) -> None:
    path = f"/api/shares/{await create(client)}"
    document = (await client.get(path)).json()
    file = (await client.get(path, headers=OCTETS)).content
    reply = Reply.parse(file)
    for name, tensor in document["trace"]["tensors"].items():
        np.testing.assert_allclose(tensor.pop("data"), reply.arrays[name], atol=1e-6)
    assert document.pop("trace") == reply.document
    assert Reply.metadata(file)["share"] == document


OPTIONS = {"scale": "log", "heads": "0,3", "words": "1", "note": "猫 & 😀 = ?", "empty": ""}
ASKS: list[dict[str, object]] = [
    {"trace": {"source": "The dog sat.", "target": "狗坐着。", "select": ["encoder.0.self.*"]}},
    {"parameters": {"model": "en-zh", "select": ["encoder.0.self.[Wb]_q"]}},
    {"trace": {**RUN, "select": ["*.cross.weights"], "dtype": "uint8"}},
    {"parameters": {"select": ["encoder.0.self.gain"]}},
]


async def test_view_options_are_stored_unchanged(client: httpx.AsyncClient) -> None:
    share_id = await create(client, **OPTIONS)
    share = (await client.get(f"/api/shares/{share_id}")).json()
    assert share["state"] == STATE | OPTIONS


async def test_it_freezes_what_the_view_selects(client: httpx.AsyncClient) -> None:
    request = {"state": STATE, "select": ["encoder.1.ffn.*"]}
    share_id = (await client.post("/api/shares", json=request)).json()["id"]
    tensors = (await client.get(f"/api/shares/{share_id}")).json()["trace"]["tensors"]
    assert "encoder.1.ffn.hidden" in tensors
    assert "decoder.2.cross.weights" in tensors
    assert "encoder.0.ffn.hidden" not in tensors


async def test_it_freezes_what_the_view_asks(serving: Serving, catalog: Catalog) -> None:
    answers: list[dict[str, object]] = []
    async with serving() as client:
        request = {"state": STATE, "asks": ASKS}
        share_id = (await client.post("/api/shares", json=request)).json()["id"]
        for ask in ASKS:
            answers.append(await live(client, ask))
    adapter = catalog["en-zh"]
    async with serving(catalog=Catalog.of({"another": adapter})) as client:
        share = (await client.get(f"/api/shares/{share_id}")).json()
        assert share["asks"] == ASKS
        for n, expected in enumerate(answers):
            path = f"/api/shares/{share_id}/asks/{n}"
            document = (await client.get(path)).json()
            reply = Reply.parse((await client.get(path, headers=OCTETS)).content)
            assert document["tensors"].keys() == expected["tensors"].keys()  # type: ignore[attr-defined]
            for name, tensor in document["tensors"].items():
                data = tensor.pop("data")
                np.testing.assert_array_equal(
                    np.array(data, reply.arrays[name].dtype), reply.arrays[name]
                )
                np.testing.assert_allclose(data, expected["tensors"][name].pop("data"), atol=1e-5)  # type: ignore[index]
            assert reply.document == document
            assert document == expected


async def test_it_freezes_what_the_scores_are_computed_with(serving: Serving) -> None:
    zoo = {name: f"zoo/{name}" for name in ("sort-additive", "reverse-relative", "sort")}
    catalog = Catalog.load(zoo, "cpu")
    state = {"source": "b a"}
    made: dict[str, str] = {}
    async with serving(catalog=catalog) as client:
        for name in zoo:
            request = {"state": {**state, "model": name}}
            made[name] = (await client.post("/api/shares", json=request)).json()["id"]
    async with serving(catalog=Catalog.of({"another": catalog["sort"]})) as client:
        for name, patterns in [
            ("sort-additive", ["*.scoring.*"]),
            ("reverse-relative", ["*.positions.*"]),
        ]:
            path = f"/api/shares/{made[name]}"
            asks = (await client.get(path)).json()["asks"]
            assert asks == [{"parameters": {"model": name, "select": patterns}}]
            tensors = (await client.get(f"{path}/asks/0")).json()["tensors"]
            learned = catalog[name].parameters(patterns)
            assert tensors.keys() == learned.keys()
            for one, tensor in learned.items():
                np.testing.assert_allclose(tensors[one]["data"], tensor.value, atol=1e-6)
        assert (await client.get(f"/api/shares/{made['sort']}")).json()["asks"] == []


async def live(client: httpx.AsyncClient, ask: dict[str, Any]) -> dict[str, object]:
    """Return the API's reply to a request of a share."""
    if "trace" in ask:
        response = await client.post("/api/trace", json=ask["trace"])
    else:
        query = {"select": ",".join(ask["parameters"]["select"])}
        response = await client.get("/api/models/en-zh/parameters", params=query)
    document: dict[str, object] = response.json()
    return document


@pytest.mark.parametrize(
    ("path", "status"),
    [("asks/4", 404), ("asks/-1", 404), (f"asks/{2**31}", 422), (f"asks/{10**400}", 422)],
)
async def test_unknown_replies_of_a_share_are_refused(
    client: httpx.AsyncClient, path: str, status: int
) -> None:
    request = {"state": {"source": "hello"}, "asks": ASKS[1:2]}
    share_id = (await client.post("/api/shares", json=request)).json()["id"]
    response = await client.get(f"/api/shares/{share_id}/{path}")
    assert (response.status_code, response.json()["field"]) == (status, "n")


async def test_answers_count_among_the_numbers_of_a_share(serving: Serving) -> None:
    big = {"parameters": {"select": ["*.W_q"]}}
    async with serving(max_values=1_000_000) as client:
        request = {"state": {"source": "hello"}, "asks": [big]}
        assert (await client.post("/api/shares", json=request)).status_code == 201
        response = await client.post("/api/shares", json=request | {"asks": [big, big]})
        assert response.json()["type"] == "urn:headlight:reply-too-large"
        assert response.json()["field"] == "asks[1].parameters"
        assert "1000000" in response.json()["detail"]


async def test_creation_ends_after_the_maximum_wait(serving: Serving) -> None:
    slow = Slow()
    async with serving(catalog=Catalog.of({"slow": slow}), max_wait_seconds=0.2) as client:
        response = await client.post("/api/shares", json={"state": {"source": "hello"}})
        slow.go.set()
        assert response.json()["type"] == "urn:headlight:busy"


def test_older_descriptions_of_models_are_upgraded(reader: httpx.Client) -> None:
    """A share stores the description that its model had when it was created."""
    model = reader.get("/api/models").json()[0]
    later = {"attentions", "texts", "capabilities"}
    before = {name: value for name, value in model.items() if name not in later}
    assert upgraded(before) == upgraded(model) == model
    del before["aligners"]
    best = {"layer": 2, "head": 3, "error_rate": 0.5}
    found = upgraded(before | {"aligner": best})
    assert found == model | {"aligners": [best | {"rows": "writes"}]}
    none = upgraded(before | {"aligner": None})
    assert ModelReply.model_validate(none).model_dump()["aligners"] == ()


async def test_it_needs_no_model(serving: Serving, catalog: Catalog) -> None:
    async with serving() as client:
        path = f"/api/shares/{await create(client)}"
        before = (await client.get(path)).content
    adapter = catalog["en-zh"]
    assert isinstance(adapter, EncoderDecoder)
    async with serving(catalog=Catalog.of({"another": adapter})) as client:
        assert (await client.get(path)).content == before
        assert (await client.get(path.replace("/api/shares", "/s"))).status_code == 200


async def test_ids_cannot_be_guessed_or_misread() -> None:
    ids = {new_id() for _ in range(1_000)}
    assert len(ids) == 1_000
    assert len(ALPHABET) ** ID_LENGTH >= 2**64
    assert not set(ALPHABET) & set("01ilo")
    assert all(re.fullmatch(f"[{ALPHABET}]{{{ID_LENGTH}}}", share_id) for share_id in ids)


async def test_an_id_may_be_typed_in_capitals(client: httpx.AsyncClient) -> None:
    share_id = await create(client)
    assert (await client.get(f"/api/shares/{share_id.upper()}")).json()["id"] == share_id


async def test_the_page_has_a_title_and_escapes_it(client: httpx.AsyncClient) -> None:
    page = await client.get(f"/s/{await create(client)}", headers=HTML)
    assert page.status_code == 200
    assert '<b>"sat' not in page.text
    title = "The cat &lt;b&gt;&#34;sat&#34;&lt;/b&gt; on the mat 😀."
    assert f'<meta property="og:title" content="{title}">' in page.text
    assert 'property="og:url" content="http://headlight/s/' in page.text


def test_an_unknown_share_is_a_page_in_a_browser(reader: httpx.Client) -> None:
    page = reader.get("/s/nothing", headers=HTML)
    assert page.status_code == 404
    assert page.headers["content-type"].startswith("text/html")
    assert reader.get("/s/nothing").json()["type"] == "urn:headlight:unknown-share"


async def test_the_public_address_is_in_the_link(serving: Serving) -> None:
    async with serving(public_url="https://example.org/headlight/") as client:
        response = await client.post("/api/shares", json={"state": {"source": "hello"}})
        assert response.json()["url"].startswith("https://example.org/headlight/s/")


async def test_shares_per_minute_are_limited(serving: Serving) -> None:
    async with serving(max_shares_per_minute=2) as client:
        request = {"state": {"source": "hello"}}
        statuses = [(await client.post("/api/shares", json=request)).status_code for _ in range(3)]
        assert statuses == [201, 200, 429]
        response = await client.post("/api/shares", json=request)
        assert response.json()["type"] == "urn:headlight:too-many-shares"
        assert 0 < int(response.headers["retry-after"]) <= 60


async def test_a_refused_state_stores_nothing(client: httpx.AsyncClient, tmp_path: Path) -> None:
    response = await client.post("/api/shares", json={"state": {"source": ""}})
    assert response.status_code == 422
    assert response.json()["field"] == "state.source"
    with sqlite3.connect(tmp_path / "headlight.db") as database:
        assert database.execute("SELECT count(*) FROM shares").fetchone() == (0,)
    database.close()


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_a_share_survives_a_power_cut(
    launch: Callable[..., AppServer],
    serving: Serving,
    postgres: Callable[[str], str],
    kind: str,
) -> None:
    settings = {"database_url": postgres("power")} if kind == "postgres" else {}
    server = launch(**settings)
    response = httpx.post(
        f"{server.url}/api/shares",
        json={"state": STATE, "asks": ASKS},
        timeout=PATIENCE,
        trust_env=False,
    )
    server.kill()
    assert response.status_code == 201
    share_id = response.json()["id"]
    async with serving(data_dir=server.data_dir, **settings) as client:
        path = f"/api/shares/{share_id}"
        share = (await client.get(path)).json()
        assert share["state"] == STATE
        assert share["asks"] == ASKS
        for n in range(len(ASKS)):
            assert (await client.get(f"{path}/asks/{n}")).json()["tensors"]


async def test_postgres_keeps_shares_too(serving: Serving, postgres: Callable[[str], str]) -> None:
    url = postgres("shares")
    for _ in range(2):  # at the second start, the tables exist
        async with serving(database_url=url) as client:
            request = {"state": STATE | OPTIONS, "asks": ASKS}
            path = "/api/shares/" + (await client.post("/api/shares", json=request)).json()["id"]
            share = (await client.get(path)).json()
            assert share["state"] == STATE | OPTIONS
            assert share["asks"] == ASKS
            assert share["created"].endswith("+00:00")
            assert (await client.get(f"{path}/asks/3")).json()["tensors"]

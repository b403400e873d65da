"""The author's texts of a share; and an equal share is created only once."""

import io

import httpx
import pytest
from PIL import Image

from tests.serving.fixtures import Serving

STATE = {"source": "The cat sat.", "block": "cross"}
ABOUT = {
    "title": "Who sat?",
    "note": "Look at the third row.\nThen at <b>the cat</b> & {{ 7 * 7 }}.",
    "question": "Which token does it look at?",
    "answer": "The cat’s.",
    "sender": "Ms Lin <3",
}
OCTETS = {"Accept": "application/octet-stream"}


async def make(client: httpx.AsyncClient, token: str = "", **more: object) -> httpx.Response:
    body = {"state": STATE, **more}
    return await client.post("/api/shares", json=body, headers={"Headlight-Client": token})


async def test_it_is_in_every_format(client: httpx.AsyncClient) -> None:
    share_id = (await make(client, about=ABOUT)).json()["id"]
    assert (await client.get(f"/api/shares/{share_id}")).json()["about"] == ABOUT
    file = await client.get(f"/api/shares/{share_id}", headers=OCTETS)
    assert b"Which token does it look at?" in file.content
    plain = (await make(client)).json()["id"]
    assert (await client.get(f"/api/shares/{plain}")).json()["about"] is None


@pytest.mark.parametrize("path", ["/s/", "/embed/"])
async def test_pages_show_it_as_text(client: httpx.AsyncClient, path: str) -> None:
    share_id = (await make(client, about=ABOUT)).json()["id"]
    page = (await client.get(path + share_id, headers={"Accept": "text/html"})).text
    assert "<title>Who sat? · Headlight</title>" in page
    assert "&lt;b&gt;the cat&lt;/b&gt; &amp; {{ 7 * 7 }}." in page
    assert page.index("Which token does it look at?") < page.index('<details class="answer">')
    assert "The cat’s." in page


@pytest.mark.parametrize(
    ("about", "field", "kind"),
    [
        ({"title": "x" * 201}, "about.title", "too-long"),
        ({"note": "x" * 2001}, "about.note", "too-long"),
        ({"title": ""}, "about.title", "too-short"),
        ({"sender": "x" * 81}, "about.sender", "too-long"),
        ({"sender": ""}, "about.sender", "too-short"),
        ({"answer": "42"}, "about", "missing"),
        ({"author": "me"}, "about", "unknown-field"),
        ({"note": "a\0b"}, "about.note", "not-text"),
    ],
)
async def test_invalid_texts_are_refused(
    client: httpx.AsyncClient, about: dict[str, str], field: str, kind: str
) -> None:
    response = await make(client, about=about)
    assert response.status_code == 422, response.text
    assert response.json()["type"].endswith(kind)
    assert response.json()["field"] == field


async def test_an_equal_share_is_created_once(client: httpx.AsyncClient) -> None:
    first, again = await make(client, "a"), await make(client, "a")
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json() == first.json() | {"edit_key": None}
    assert again.headers["location"] == first.headers["location"]
    others = [
        await make(client, "b"),  # otherwise anyone could find out that it was shared
        await make(client, "a", about={"note": "Look."}),
        await make(client, "a", select=["encoder.0.*"]),
        await make(client, "a", state=STATE | {"layer": 0}),
    ]
    ids = {one.json()["id"] for one in (first, *others)}
    assert len(ids) == 5
    assert all(one.status_code == 201 for one in others)


async def test_a_deleted_share_can_be_created_again(client: httpx.AsyncClient) -> None:
    first = (await make(client, "a")).json()
    key = {"Edit-Key": first["edit_key"]}
    assert (await client.delete(f"/api/shares/{first['id']}", headers=key)).status_code == 204
    again = await make(client, "a")
    assert again.status_code == 201
    assert again.json()["id"] != first["id"]


@pytest.mark.parametrize(
    ("asked", "client", "listens", "told"),
    [
        ("localhost:8000", "127.0.0.1", "0.0.0.0", "192.0.2.7:8000"),
        ("[::1]:8000", "::1", "::", "192.0.2.7:8000"),
        ("localhost:8000", "172.17.0.1", "0.0.0.0", "localhost:8000"),  # into a container
        ("localhost:8000", "127.0.0.1", "127.0.0.1", "localhost:8000"),
        ("school.lan:8000", "192.0.2.9", "0.0.0.0", "school.lan:8000"),
    ],
)
async def test_links_use_an_address_that_others_can_reach(
    serving: Serving,
    monkeypatch: pytest.MonkeyPatch,
    asked: str,
    client: str,
    listens: str,
    told: str,
) -> None:
    monkeypatch.setattr("app.assets.templates.lan_address", lambda: "192.0.2.7")
    async with serving(host=listens) as served:
        transport = served._transport
        assert isinstance(transport, httpx.ASGITransport)
        transport.client = (client, 50_000)
        response = await served.post(f"http://{asked}/api/shares", json={"state": STATE})
        assert response.json()["url"].startswith(f"http://{told}/s/")


def colours(picture: bytes) -> int:
    """Count the colours of a picture."""
    return len(Image.open(io.BytesIO(picture)).convert("RGB").getcolors(1 << 20) or ())


async def test_a_share_that_asks_gives_nothing_away(client: httpx.AsyncClient) -> None:
    told = (await make(client, about={"title": "Guess"})).json()["id"]
    asks = (await make(client, about={"title": "Guess", "predict": "looks"})).json()["id"]
    assert (await client.get(f"/api/shares/{asks}")).json()["about"]["predict"] == "looks"
    pages = {one: (await client.get(f"/s/{one}")).text for one in (told, asks)}
    written = (await client.get(f"/api/shares/{told}")).json()["trace"]["output"]["text"]
    assert written in pages[told]
    assert written not in pages[asks]
    assert 'data-kind="looks"' in pages[asks]
    assert "data-asking" in pages[asks]
    assert "data-asking" not in pages[told]
    for path in ("/s/{}/preview.png", "/api/links/picture?link=/s/{}"):
        shown, hidden = [(await client.get(path.format(one))).content for one in (told, asks)]
        assert colours(shown) > 2 * colours(hidden), path


async def test_a_prediction_must_be_a_known_kind(client: httpx.AsyncClient) -> None:
    refused = await make(client, about={"predict": "number"})
    assert refused.json()["type"] == "urn:headlight:unknown-value"
    assert refused.json()["field"] == "about.predict"

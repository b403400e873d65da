"""oEmbed: a pasted address of a share becomes a frame."""

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

STATE = {"source": 'The "cat" <sat> & slept.', "block": "cross"}


async def create(client: httpx.AsyncClient, **more: object) -> str:
    made = await client.post("/api/shares", json={"state": STATE, **more})
    return str(made.json()["id"])


async def ask(client: httpx.AsyncClient, **query: object) -> httpx.Response:
    return await client.get("/oembed", params={name: str(value) for name, value in query.items()})


async def test_the_page_leads_to_a_frame_of_the_share(client: httpx.AsyncClient) -> None:
    share_id = await create(client)
    page = (await client.get(f"/s/{share_id}", headers={"Accept": "text/html"})).text
    (link,) = re.findall(
        r'<link rel="alternate" type="application/json\+oembed" href="([^"]+)"', page
    )
    address = urlsplit(unescape(link))
    assert address.path == "/oembed"
    (shared,) = parse_qs(address.query)["url"]
    assert urlsplit(shared).path == f"/s/{share_id}"
    response = await client.get(f"{address.path}?{address.query}")
    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json"
    reply = response.json()
    assert (reply["type"], reply["version"]) == ("rich", "1.0")
    assert reply["title"] == STATE["source"]
    assert (reply["width"], reply["height"]) == (900, 600)
    assert "&#34;cat&#34; &lt;sat&gt; &amp; slept." in reply["html"]
    (source,) = re.findall(r'<iframe src="([^"]+)"', reply["html"])
    frame = await client.get(source)
    assert frame.status_code == 200
    assert "frame-ancestors *" in frame.headers["content-security-policy"]
    picture = await client.get(reply["thumbnail_url"])
    assert picture.headers["content-type"] == "image/png"
    assert (reply["thumbnail_width"], reply["thumbnail_height"]) == (1200, 630)


async def test_it_keeps_to_the_size_and_the_part_that_is_asked_for(
    client: httpx.AsyncClient,
) -> None:
    share_id = await create(client)
    url = f"{client.base_url}/embed/{share_id}?lang=zh&head=2"
    reply = (await ask(client, url=url, maxwidth=320, maxheight=5000, format="json")).json()
    assert (reply["width"], reply["height"]) == (320, 600)
    assert f"/embed/{share_id}?lang=zh&amp;head=2" in reply["html"]
    assert "thumbnail_url" not in reply  # it would be larger than the limit
    reply = (await ask(client, url=url, maxwidth="1200.0", maxheight=630)).json()
    assert (reply["width"], reply["height"], reply["thumbnail_width"]) == (900, 600, 1200)


async def test_a_prediction_is_not_given_away(client: httpx.AsyncClient) -> None:
    share_id = await create(client, about={"title": "Who sat?"})
    reply = (await ask(client, url=f"{client.base_url}/s/{share_id}")).json()
    assert reply["title"] == "Who sat?"


@pytest.mark.parametrize(
    ("query", "status", "kind", "field"),
    [
        ({"url": "{base}/s/2222222222222"}, 404, "unknown-share", "id"),
        ({"url": "https://elsewhere.example/s/{id}"}, 404, "not-found", "url"),
        ({"url": "{base}/lab"}, 404, "not-found", "url"),
        ({"url": "{base}/s/{id}/preview.png"}, 404, "not-found", "url"),
        ({"url": "javascript:alert(1)"}, 404, "not-found", "url"),
        ({"url": "http://[/s/{id}"}, 404, "not-found", "url"),
        ({"url": "{base}/s/{id}", "format": "xml"}, 501, "not-acceptable", "format"),
        ({"url": "{base}/s/{id}", "maxwidth": "0"}, 422, "out-of-range", "maxwidth"),
        ({"url": "{base}/s/{id}", "maxheight": "tall"}, 422, "wrong-type", "maxheight"),
        ({"url": "x" * 9000}, 422, "too-long", "url"),
        ({}, 422, "missing", "url"),
    ],
)
async def test_a_refusal_is_a_problem_document(
    client: httpx.AsyncClient, query: dict[str, str], status: int, kind: str, field: str
) -> None:
    share_id = await create(client)
    base = str(client.base_url).rstrip("/")
    filled = {
        name: value.replace("{base}", base).replace("{id}", share_id)
        for name, value in query.items()
    }
    response = await ask(client, **filled)
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert (problem["type"], problem["field"]) == (f"urn:headlight:{kind}", field)


async def test_a_deleted_share_is_gone(client: httpx.AsyncClient) -> None:
    made = (await client.post("/api/shares", json={"state": STATE})).json()
    key = {"Edit-Key": made["edit_key"]}
    await client.delete(f"/api/shares/{made['id']}", headers=key)
    assert (await ask(client, url=made["url"])).status_code == 404

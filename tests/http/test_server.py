"""Properties of every reply: headers, ETags, compression; and the small routes."""

import httpx
import numpy as np
import pytest
from pydantic_core import to_jsonable_python

from app.engine.model_catalog import Catalog
from app.engine.reply_formats import Reply
from app.traces.replies import ListedModelReply
from model.adapters.requests.model_info import CAPABILITIES
from tests.serving.fixtures import Serving

PATHS = [
    "/",
    "/docs",
    "/openapi.json",
    "/api/health",
    "/api/models",
    "/api/positions?length=4&d_model=8",
    "/api/models/en-zh/parameters?select=encoder.0.self.b_q",
]


@pytest.mark.parametrize("path", [*PATHS, "/nothing", "/api/nothing"])
def test_every_reply_has_security_headers(reader: httpx.Client, path: str) -> None:
    response = reader.get(path, headers={"Accept": "text/html, */*"})
    policy = dict(
        directive.split(" ", 1)
        for directive in response.headers["content-security-policy"].split("; ")
    )
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert "unsafe" not in str(policy)
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "strict-transport-security" not in response.headers


async def test_no_cache_keeps_what_only_one_client_may_see(client: httpx.AsyncClient) -> None:
    async def is_kept(method: str, path: str, **headers: str) -> bool:
        reply = await client.request(method, path, headers=headers)
        return str(reply.headers.get("cache-control")) != "no-store"

    models = "/api/models"  # as it is for everyone
    assert await is_kept("GET", models)
    assert await is_kept("HEAD", models)
    assert await is_kept("GET", models, Authorization="Basic eDp5")  # of a proxy before the server
    for scheme in ("Bearer", "bearer"):
        assert not await is_kept("GET", models, Authorization=f"{scheme} key")
    for name in ("Edit-Key", "Run-Key", "Model-Key", "Corpus-Key"):
        assert not await is_kept("GET", models, **{name: "key"})
    matrices = {name: [[1]] for name in ("x", "w_q", "w_k", "w_v")}
    computed = await client.post("/api/lab", json=matrices)
    assert (computed.status_code, computed.headers["cache-control"]) == (200, "no-store")
    assert await is_kept("GET", "/api/positions?variant=sinusoidal&length=2&d_model=2")


async def test_only_embedded_shares_may_be_framed(client: httpx.AsyncClient) -> None:
    made = await client.post("/api/shares", json={"state": {"source": "<hello> & 'you'"}})
    share_id = made.json()["id"]
    page = await client.get(f"/embed/{share_id}", headers={"Accept": "text/html"})
    assert page.status_code == 200
    assert "&lt;hello&gt; &amp; " in page.text
    policy = page.headers["content-security-policy"].split("; ")
    assert "frame-ancestors *" in policy
    assert "x-frame-options" not in page.headers
    assert page.headers["cross-origin-resource-policy"] == "cross-origin"
    assert {"default-src 'none'", "script-src 'self'", "base-uri 'none'"} <= set(policy)
    for path in ("/", f"/s/{share_id}", f"/api/shares/{share_id}", "/embed/nothing", "/docs"):
        page = await client.get(path, headers={"Accept": "text/html, */*"})
        assert "frame-ancestors 'none'" in page.headers["content-security-policy"].split("; ")
        assert page.headers["x-frame-options"] == "DENY"
        assert page.headers["cross-origin-resource-policy"] == "same-origin"


async def test_an_internal_error_has_security_headers_and_no_details(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    def explode(*_: object) -> None:
        raise RuntimeError("secret")

    async with serving() as client:
        monkeypatch.setattr("app.traces.routes.positions_table", explode)
        response = await client.get("/api/positions?length=4&d_model=8")
    assert response.status_code == 500
    assert response.json()["type"] == "urn:headlight:internal"
    assert "secret" not in response.text
    assert "content-security-policy" in response.headers


@pytest.mark.parametrize("path", PATHS)
def test_an_unchanged_reply_is_304(reader: httpx.Client, path: str) -> None:
    first = reader.get(path)
    tag = first.headers["etag"]
    for known in (tag, f'"other", {tag}', tag.removeprefix("W/"), "*"):
        again = reader.get(path, headers={"If-None-Match": known})
        assert again.status_code == 304
        assert again.content == b""
        assert again.headers["etag"] == tag
    changed = reader.get(path, headers={"If-None-Match": '"other"'})
    assert changed.status_code == 200


@pytest.mark.parametrize("path", PATHS)
def test_head_is_get_without_the_body(reader: httpx.Client, path: str) -> None:
    head, get = reader.head(path), reader.get(path)
    assert head.status_code == 200
    assert head.content == b""
    assert head.headers["etag"] == get.headers["etag"]


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd", "identity"])
def test_replies_are_compressed_by_accept_encoding(reader: httpx.Client, encoding: str) -> None:
    path = "/api/positions?length=64&d_model=64"
    response = reader.get(path, headers={"Accept-Encoding": encoding})
    assert response.headers.get("content-encoding", "identity") == encoding
    assert response.json()["variant"] == "sinusoidal"


def test_health(reader: httpx.Client) -> None:
    health = reader.get("/api/health").json()
    assert health["status"] == "ok"
    assert health["models"] == ["en-zh"]


async def test_models(client: httpx.AsyncClient, catalog: Catalog) -> None:
    (model,) = (await client.get("/api/models")).json()
    assert model.keys() == ListedModelReply.model_fields.keys()
    assert model["layers"] == {"encoder": 3, "decoder": 3}
    assert model["heads"] == {"encoder": 8, "decoder": 8}
    assert model["texts"] == ["source", "target"]
    assert model["capabilities"] == sorted(CAPABILITIES.keys() - {"chat", "pair"})
    assert model["missing"] == {"chat": "no-template", "pair": "source-and-target"}
    assert model["attentions"] == to_jsonable_python(catalog["en-zh"].info.attentions)
    assert model["id"] == "en-zh"
    assert model["digest"] == catalog["en-zh"].info.digest


async def test_models_are_called_as_the_settings_call_them(
    serving: Serving, catalog: Catalog
) -> None:
    async with serving(catalog=Catalog.of({"mine": catalog["en-zh"]})) as client:
        (model,) = (await client.get("/api/models")).json()
        assert model["id"] == "mine"
        share = await client.post("/api/shares", json={"state": {"source": "hello"}})
        path = f"/api/shares/{share.json()['id']}"
        assert (await client.get(path)).json()["model"]["id"] == "mine"


def test_parameters_make_the_queries(reader: httpx.Client, catalog: Catalog) -> None:
    """x · W_q + b_q, split into heads, equals the trace's q."""
    octets = {"Accept": "application/octet-stream"}
    request = {"source": "The cat sat.", "select": ["source.input", "encoder.0.self.q"]}
    trace = Reply.parse(reader.post("/api/trace", json=request, headers=octets).content)
    path = "/api/models/en-zh/parameters?select=encoder.0.self.W_q,encoder.0.self.b_q"
    document = reader.get(path).json()
    w, b = (np.array(tensor["data"]) for tensor in document["tensors"].values())
    q = trace.arrays["encoder.0.self.q"]
    heads = catalog["en-zh"].info.heads["encoder"]
    expected = (trace.arrays["source.input"] @ w + b).reshape(q.shape[1], heads, -1).swapaxes(0, 1)
    np.testing.assert_allclose(q, expected, atol=1e-4)
    file = Reply.parse(reader.get(path, headers=octets).content)
    np.testing.assert_allclose(file.arrays["encoder.0.self.W_q"], w, atol=1e-6)


def test_positions(reader: httpx.Client) -> None:
    reply = reader.get("/api/positions?length=12&d_model=8").json()
    positions, similarity = np.array(reply["positions"]), np.array(reply["similarity"])
    row = [0.8415, 0.5403, 0.0998, 0.9950, 0.0100, 1.0000, 0.0010, 1.0000]
    np.testing.assert_allclose(positions[1], row, atol=5e-5)
    assert positions.shape == (12, 8)
    unit = positions / np.linalg.norm(positions, axis=1, keepdims=True)
    np.testing.assert_allclose(similarity, unit @ unit.T, atol=1e-6)
    assert (similarity.diagonal() == 1).all()


async def test_the_reference_describes_every_route(client: httpx.AsyncClient) -> None:
    reference = (await client.get("/openapi.json")).json()
    for operation in (one for methods in reference["paths"].values() for one in methods.values()):
        assert operation["summary"]
        assert operation["description"]
        successes = [it for status, it in operation["responses"].items() if status[0] == "2"]
        assert successes
        for success in successes:
            for form in success.get("content", {}).values():
                assert form.get("schema") or form["itemSchema"]  # of a stream's events
        for status, response in operation["responses"].items():
            if status >= "400":
                schema = response["content"]["application/problem+json"]["schema"]
                assert schema["title"] == "ProblemReply"
    assert "HTTPValidationError" not in reference["components"]["schemas"]
    examples = reference["components"]["schemas"]["TraceRequest"]["examples"]
    for example in examples:
        assert (await client.post("/api/trace", json=example)).status_code == 200

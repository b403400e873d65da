"""Handouts: one self-contained file that may load nothing, over HTTP and from Python."""

import base64
import gzip
import hashlib
import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from app.assets.languages import languages
from app.engine.model_catalog import Catalog
from app.engine.reply_formats import Reply
from app.handouts import service as handouts
from app.handouts.handout_html import FEW, MANY
from app.handouts.packing import script
from headlight import show
from model.adapters.requests.request import Request
from tests.serving.fixtures import Serving

STATE = {"source": "The cat sat on the mat.", "target": "猫坐在垫子上。", "layer": 1, "head": 4}
# For a sentence of this size.
MOST_BYTES = 600_000


def handout(reader: httpx.Client, **changes: Any) -> str:
    reply = reader.post("/api/handout", json={"state": {**STATE, **changes}})
    assert reply.status_code == 200, reply.text
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    return reply.text


def numbers_in(page: str, identity: str) -> bytes:
    """Return a safetensors file of a handout."""
    apart = unpacked(page, f"{identity}-planes")
    count = len(apart) // 4
    whole = bytearray(apart)
    for byte in range(4):
        whole[byte : 4 * count : 4] = apart[byte * count : (byte + 1) * count]
    return unpacked(page, identity) + bytes(whole)


def unpacked(page: str, identity: str) -> bytes:
    """Return a block of a page, read without the code that wrote it."""
    pattern = rf'<script type="application/gzip" id="{identity}"(?: data-same="(.*?)")?>(.*?)<'
    ((same, text),) = re.findall(pattern, page)
    return unpacked(page, same) if same else gzip.decompress(base64.b64decode(text))


def trace_in(page: str) -> bytes:
    """Return the safetensors file of the run of a handout."""
    return numbers_in(page, "trace")


def policy(page: str) -> dict[str, list[str]]:
    (text,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    rules = [rule.split() for rule in html.unescape(text).split("; ")]
    return {name: sources for name, *sources in rules}


def scripts(page: str) -> Iterator[tuple[str, str]]:
    yield from re.findall(
        r'<script type="(module|importmap)"(?: async)?>(.*?)</script>', page, re.DOTALL
    )


def source(content: bytes) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content).digest()).decode()}'"


def test_it_contains_the_trace(reader: httpx.Client) -> None:
    page = handout(reader)
    file = trace_in(page)
    asked = reader.post(
        "/api/trace",
        json={"source": STATE["source"], "target": STATE["target"], "select": ["*"]},
        headers={"Accept": "application/octet-stream"},
    )
    all_of_it = Reply.parse(asked.content)
    held = Reply.parse(file)
    assert {name.rpartition(".")[2] for name in held.arrays} == {*FEW, "q", "k", "v"}
    assert held.document["pieces"], "the words of what could have been written"
    for name, array in held.arrays.items():
        assert array.dtype in (np.float32, np.bool_, np.int32)
        np.testing.assert_allclose(array, all_of_it.arrays[name], atol=1e-5)
    about = Reply.metadata(file)["share"]
    assert about["state"] == STATE
    assert about["model"]["name"]
    assert "猫坐在垫子上。" in held.document["output"]["text"]


@pytest.mark.parametrize("lang", languages())
def test_it_is_small(reader: httpx.Client, lang: str) -> None:
    page = handout(reader, lang=lang)
    assert len(page.encode()) < MOST_BYTES


def test_its_policy_allows_no_requests(reader: httpx.Client) -> None:
    page = handout(reader)
    rules = policy(page)
    assert rules["default-src"] == ["'none'"]
    codes = [code.encode() for _, code in scripts(page)] + [unpacked(page, "script")]
    assert rules["script-src"] == [source(code) for code in codes]
    sheet = unpacked(page, "sheet").decode()
    first = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    assert rules["style-src"] == [source(text.encode()) for text in (*first, sheet)]
    assert not re.findall(r"""url\((?!["']?data:)""", sheet)
    loads = re.findall(r'<(?:script|img|link|iframe)[^>]* (?:src|href)="([^"]*)"', page)
    assert all(address.startswith("data:") for address in loads)


def test_text_cannot_end_a_script() -> None:
    with pytest.raises(ValueError, match="</script"):
        script("'</Script>'")


def test_any_sentence_is_only_text(reader: httpx.Client) -> None:
    source = "</script><script>alert(1)</script> <!-- & 猫"
    page = handout(reader, source=source, lang="zh")
    assert "alert(1)</script>" not in page
    assert 'lang="zh-Hans"' in page
    assert Reply.metadata(trace_in(page))["share"]["state"]["source"] == source


def test_its_name_says_where_it_opens(reader: httpx.Client) -> None:
    state = {**STATE, "model": "en-zh", "block": "cross"}
    reply = reader.post("/api/handout", json={"state": state})
    expected = 'attachment; filename="headlight-en-zh-cross-layer-2-head-5.html"'
    assert reply.headers["content-disposition"] == expected
    kept = {**STATE, "block": 'x"; y=\r\n/../猫'}  # stored before states were validated
    assert handouts.name(kept) == "headlight-layer-2-head-5.html"


def test_a_long_sentence_keeps_its_attention(reader: httpx.Client) -> None:
    page = handout(reader, source="word " * 100, target="字" * 100)
    held = Reply.parse(trace_in(page))
    assert {name.rpartition(".")[2] for name in held.arrays} == set(FEW)
    assert held.values < 2 * MANY


async def test_a_share_has_one_too(client: httpx.AsyncClient) -> None:
    made = (await client.post("/api/shares", json={"state": STATE})).json()
    reply = await client.get(f"/s/{made['id']}/handout.html?lang=zh&theme=dark")
    assert reply.status_code == 200
    assert 'data-theme="dark"' in reply.text
    assert 'lang="zh-Hans"' in reply.text
    frozen = (await client.get(f"/api/shares/{made['id']}")).json()
    held = Reply.parse(trace_in(reply.text))
    assert held.document["id"] == frozen["trace"]["id"]
    name = "decoder.1.cross.weights"
    data = np.array(frozen["trace"]["tensors"][name]["data"], dtype=np.float32)
    np.testing.assert_array_equal(held.arrays[name], data)
    about = Reply.metadata(trace_in(reply.text))["share"]
    assert about["created"] == frozen["created"]


DOG: dict[str, Any] = {"source": "The dog sat.", "select": ["*.weights", "*.mask"]}
MATRICES = {"parameters": {"select": ["encoder.0.self.W_q"]}}


@pytest.mark.parametrize("kept", [False, True])
async def test_it_has_the_replies_that_its_views_draw(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    residual = {**DOG, "source": "A bird.", "select": ["encoder.0.self.weights", "*.residual"]}
    map_ = {"sweep": {"source": "A bird.", "over": "sublayers"}}
    body = {"state": STATE, "asks": [MATRICES, map_, {"trace": DOG}, {"trace": residual}]}
    if kept:
        made = (await client.post("/api/shares", json=body)).json()
        page = (await client.get(f"/s/{made['id']}/handout.html")).text
    else:
        monkeypatch.setattr("app.shares.creation.whole_sweep", None)  # not even run
        page = (await client.post("/api/handout", json=body)).text
    share = Reply.metadata(trace_in(page))["share"]
    assert share["asks"] == [{"trace": DOG}, {"trace": residual}], "what its views draw"
    live = (await client.post("/api/trace", json=DOG)).json()
    held = Reply.parse(numbers_in(page, "trace-ask-0"))
    assert held.document["tokens"] == live["tokens"]
    assert held.arrays.keys() == live["tensors"].keys()
    for name, array in held.arrays.items():
        np.testing.assert_allclose(array, live["tensors"][name]["data"], atol=1e-5)
    assert set(Reply.parse(numbers_in(page, "trace-ask-1")).arrays) == {"encoder.0.self.weights"}


def test_long_replies_keep_their_attention(reader: httpx.Client) -> None:
    words = {
        "source": "word " * 60,
        "target": "字" * 50,
        "select": ["*.weights", "*.q", "*.k", "*.v"],
    }
    reply = reader.post("/api/handout", json={"state": STATE, "asks": [{"trace": words}] * 3})
    for name in ("trace", "trace-ask-0", "trace-ask-2"):
        parts = {one.rpartition(".")[2] for one in Reply.parse(numbers_in(reply.text, name)).arrays}
        assert parts <= set(FEW), name


@pytest.mark.parametrize(
    ("more", "kind"),
    [({"asks": [{"trace": {"source": ""}}]}, "empty-text"), ({"more": 1}, "unknown-field")],
)
def test_an_invalid_request_is_a_problem(
    reader: httpx.Client, more: dict[str, Any], kind: str
) -> None:
    """Invalid states are in `test_bad_share.py`."""
    reply = reader.post("/api/handout", json={"state": STATE, **more})
    assert (reply.status_code, reply.json()["type"]) == (422, f"urn:headlight:{kind}")


def test_handout_of_an_unknown_share_is_404(reader: httpx.Client) -> None:
    reply = reader.get("/s/2222222222222/handout.html", headers={"Accept": "*/*"})
    assert reply.status_code == 404
    reply = reader.get("/s/2222222222222/handout.html?theme=pink")
    assert reply.status_code == 422


async def test_a_handout_that_is_too_large_is_refused(serving: Serving) -> None:
    async with serving(max_values=1_000) as client:
        reply = await client.post("/api/handout", json={"state": STATE})
    assert reply.json()["type"] == "urn:headlight:reply-too-large"


def test_one_line_shows_a_trace_in_a_notebook(catalog: Catalog, tmp_path: Path) -> None:
    trace = catalog["en-zh"].trace("The cat sat on the mat.")
    shown = show(catalog["en-zh"], trace.request, lang="zh", theme="dark")
    (source,) = re.findall(r'srcdoc="([^"]*)"', shown._repr_html_())
    page = html.unescape(source)
    saved = shown.save(tmp_path / "cat.html").read_text("utf-8")
    blocks = ("script", "sheet", "trace", "trace-planes")
    assert [unpacked(page, one) for one in blocks] == [unpacked(saved, one) for one in blocks]
    assert page.split("<script")[0] == saved.split("<script")[0]
    held = Reply.parse(trace_in(page))
    for name in trace:
        np.testing.assert_allclose(held.arrays[name], np.asarray(trace[name]), atol=1e-6)
    assert 'data-theme="dark"' in page
    assert 'lang="zh-Hans"' in page
    assert "MB of HTML" in repr(shown)
    again = show(catalog["en-zh"], Request("The cat sat on the mat.", select=("*",)))
    parsed = Reply.parse(trace_in(again.html.decode()))
    assert parsed.arrays.keys() == held.arrays.keys()

"""Shares of attention by hand: frozen, opened, embedded, handed out, previewed, deleted."""

import io
import json
import re
from typing import Any
from urllib.parse import urlencode

import httpx
import numpy as np
import pytest
from PIL import Image

from app.engine.reply_formats import Reply
from app.figures.preview_picture import by_hand
from app.lab import names
from app.shares.formats import FORMAT
from model.lab.compute import compute
from model.lab.lab_request import LabRequest
from tests.handouts.test_handout import unpacked
from tests.serving.fixtures import Serving
from tests.serving.problem import hold

OCTETS = {"Accept": "application/octet-stream"}
X: list[list[float]] = [[1, 0], [0.5, 2], [1, 1]]
W: list[list[float]] = [[1, 0], [0, 1]]
LAB: dict[str, Any] = {"x": X, "w_q": W, "w_k": W, "w_v": W, "scoring": "dot", "mask": "causal"}
LINK = urlencode({"tokens": "a\nb <i>\n猫", "x": "1_0*1/2_2*1_1", "w_q": "1_0*0_1"})
STATE: dict[str, Any] = {"lab": LAB, "link": LINK, "lang": "en"}


async def made(client: httpx.AsyncClient, state: dict[str, Any]) -> dict[str, Any]:
    response = await client.post("/api/shares", json={"state": state})
    assert response.status_code == 201, response.text
    told: dict[str, Any] = response.json()
    return told


async def test_a_share_keeps_every_step(client: httpx.AsyncClient) -> None:
    before = LAB | {"x": X[::-1]}
    told = await made(client, STATE | {"before": before})
    share = (await client.get(f"/api/shares/{told['id']}")).json()
    assert share["state"] == STATE | {"before": before}
    assert (share["model"], share["asks"], share["format"]) == (None, [], FORMAT)
    trace = share["trace"]
    assert trace["tokens"] == {"query": ["a", "b <i>", "猫"], "key": ["a", "b <i>", "猫"]}
    expected = compute(LabRequest(X, W, W, W, scoring="dot", mask="causal")).steps
    first = compute(LabRequest(X[::-1], W, W, W, scoring="dot", mask="causal")).steps
    assert trace["tensors"].keys() == {*expected, *(f"before.{name}" for name in first)}
    for prefix, steps in (("", expected), ("before.", first)):
        for name, step in steps.items():
            kept = trace["tensors"][prefix + name]
            assert kept["dims"] == list(step.dims)
            assert np.array_equal(np.array(kept["data"]), step.value), name
    file = await client.get(f"/api/shares/{told['id']}", headers=OCTETS)
    arrays = Reply.parse(file.content).arrays
    assert arrays["weights"].dtype == np.float64
    assert np.array_equal(arrays["weights"], expected["weights"].value)
    assert Reply.metadata(file.content)["share"]["state"]["link"] == LINK


async def test_its_pages(client: httpx.AsyncClient) -> None:
    told = await made(client, STATE)
    page = await client.get(f"/s/{told['id']}")
    assert page.status_code == 200
    assert f'data-share="{told["id"]}"' in page.text
    assert 'id="lab"' in page.text
    assert f"/s/{told['id']}/preview.png" in page.text
    frame = await client.get(f"/embed/{told['id']}")
    assert "frame-ancestors *" in frame.headers["content-security-policy"]
    assert "x-frame-options" not in frame.headers
    assert 'id="lab"' in frame.text
    picture = await client.get(f"/s/{told['id']}/preview.png")
    assert Image.open(io.BytesIO(picture.content)).size == (1200, 630)
    deleted = await client.delete(
        f"/api/shares/{told['id']}", headers={"Edit-Key": told["edit_key"]}
    )
    assert deleted.status_code == 204
    assert (await client.get(f"/s/{told['id']}")).status_code == 404


async def test_handouts_hold_the_numbers_and_load_nothing(client: httpx.AsyncClient) -> None:
    state = STATE | {"link": LINK + "&x=</script><b>"}
    told = await made(client, state)
    posted = await client.post("/api/handout?theme=dark", json={"state": state})
    shared = await client.get(f"/s/{told['id']}/handout.html?lang=zh")
    for file, lang in ((posted, "en"), (shared, "zh")):
        assert file.status_code == 200
        assert 'filename="headlight-by-hand.html"' in file.headers["content-disposition"]
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', file.text)
        assert policy is not None
        assert policy[1].startswith("default-src &#39;none&#39;")
        assert not re.findall(r"""<(?:script|img|link)[^>]*(?:src|href)=["'](?!data:)""", file.text)
        kept = json.loads(unpacked(file.text, "share"))
        assert kept["state"]["lang"] == lang
        expected = compute(LabRequest(X, W, W, W, scoring="dot", mask="causal"))["weights"]
        assert np.array_equal(np.array(kept["trace"]["tensors"]["weights"]["data"]), expected)
    assert 'data-theme="dark"' in posted.text


async def test_the_preview_has_a_row_a_query_in_both_conventions() -> None:
    column = LAB | {
        "convention": "column",
        **{name: np.array(LAB[name]).T.tolist() for name in ("x", "w_q", "w_k", "w_v")},
    }
    pictures = []
    for lab in (LAB, column):
        steps = compute(LabRequest(**lab)).steps
        arrays = {name: np.asarray(steps[name].value) for name in ("weights", "mask")}
        reply = Reply({"tokens": {"query": ["a"], "key": ["b"]}}, arrays)
        pictures.append(by_hand({"lab": lab}, reply))
    assert np.array_equal(pictures[0].weights, pictures[1].weights)
    assert np.array_equal(pictures[0].mask, np.tri(3).astype(bool))
    assert np.array_equal(pictures[1].mask, np.tri(3).astype(bool))


BODIES = [
    ({"lab": LAB}, "missing", "state.link"),
    (STATE | {"link": "x" * 8001}, "too-long", "state.link"),
    (STATE | {"source": "Hello."}, "unknown-field", "state"),
    (STATE | {"lab": {"x": X}}, "missing", "state.lab.w_q"),
    (STATE | {"lab": LAB | {"x": [[1, "2"], [0, 1]]}}, "wrong-type", "state.lab.x[0][1]"),
    (STATE | {"lab": LAB | {"w_k": [[1]]}}, "does-not-fit", "state.lab.w_k"),
    (STATE | {"before": LAB | {"heads": 0}}, "out-of-range", "state.before.heads"),
]


@pytest.mark.parametrize(("state", "kind", "field"), BODIES)
def test_errors_name_the_field(
    reader: httpx.Client, state: dict[str, Any], kind: str, field: str
) -> None:
    for path in ("/api/shares", "/api/handout"):
        hold(reader.post(path, json={"state": state}), 422, kind, field)


def test_it_allows_no_additional_requests(reader: httpx.Client) -> None:
    for more, field in (
        ({"select": ["*"]}, "select"),
        ({"asks": [{"learning": {"example": 0}}]}, "asks"),
    ):
        response = reader.post("/api/shares", json={"state": STATE, **more})
        hold(response, 422, "unsupported", field)


async def test_it_is_charged_and_limited(serving: Serving) -> None:
    async with serving(max_work=60, work_per_second=0.001) as client:
        for n, status in enumerate((201, 201, 429)):
            state = STATE | {"link": f"{STATE['link']}&n={n}"}
            response = await client.post("/api/shares", json={"state": state})
            assert response.status_code == status
    async with serving(max_shares_per_minute=1) as client:
        await made(client, STATE)
        again = await client.post("/api/shares", json={"state": STATE})
        assert again.status_code == 429


def test_tokens_that_have_no_name_are_numbered() -> None:
    assert names("tokens=a%0A%0Ac", "query", 4) == ["a", "2", "c", "4"]
    assert names("x=1", "key", 2) == ["1", "2"]
    assert names("tokens=a&memory=1&memory_tokens=m%0An", "key", 2) == ["m", "n"]
    assert names("tokens=" + "a" * 500, "query", 1) == ["a" * 40]

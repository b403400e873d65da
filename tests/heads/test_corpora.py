"""Texts of readers for the pages about heads: over HTTP, with real indexing processes."""

import asyncio
import json
import os
import time
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from app.heads.index_process import sentences_of
from model.__main__ import main
from tests.servers import PATIENCE
from tests.serving.fixtures import Serving
from tests.serving.problem import hold

LINES = [
    "The cat sat on the mat.\t猫坐在垫子上。",
    "I know him.\t我认识他。",
    "She reads a book.\t她在读书。",
    "It is raining.\t下雨了。",
]
TEXT = "\n".join(LINES)


async def done(client: httpx.AsyncClient, text_id: str) -> dict[str, Any]:
    """Wait until a text is indexed, or has failed; return its last state."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        told = (await client.get(f"/api/corpora/{text_id}")).json()
        if told["state"] in ("done", "failed"):
            return dict(told)
        await asyncio.sleep(0.1)
    raise AssertionError(told)


async def sent(client: httpx.AsyncClient, text: str = TEXT, **more: Any) -> dict[str, Any]:
    """Send a text; return the reply."""
    reply = await client.post("/api/corpora", json={"model": "en-zh", "text": text, **more})
    assert reply.status_code == 201, reply.text
    return dict(reply.json())


async def test_a_text_is_indexed_as_on_the_command_line(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    made = await sent(client, f"\n{TEXT}\r\n\n", title="Mine")
    assert (made["given"], made["title"], made["model"]) == (4, "Mine", "en-zh")
    told = await done(client, made["id"])
    assert (told["state"], told["done"], told["of"]) == ("done", 8, 8)  # in both directions
    assert "key" not in told

    (tmp_path / "mine.txt").write_text(TEXT, encoding="utf-8")
    ours = tmp_path / "ours"
    where = ["--text", str(tmp_path / "mine.txt"), "--out", str(ours), "--device", "cpu"]
    main(["measure", "corpus", "en-zh", *where, "--title", "Mine", "--index"])
    theirs = tmp_path / "corpora" / made["id"]
    for file in sorted(ours.iterdir()):
        if file.suffix == ".npy":
            left, right = (np.load(folder / file.name) for folder in (ours, theirs))
            # Sums in another order may round a weight to its neighbour.
            atol = 1 if file.name.endswith("weight.npy") else 0
            np.testing.assert_allclose(left.astype(int), right.astype(int), rtol=0, atol=atol)
        else:
            assert file.read_bytes() == (theirs / file.name).read_bytes(), file.name

    heads = "/api/models/en-zh/heads"
    asked = {"corpus": made["id"]}
    survey = (await client.get(heads, params=asked)).json()
    assert (survey["sentences"], survey["indexed"], survey["title"]) == (8, 8, "Mine")
    assert survey != (await client.get(heads)).json()
    sources = {text for line in LINES for text in line.split("\t")}
    for what in ("examples", "rows"):
        reply = (await client.get(f"{heads}/encoder.0.self/0/{what}", params=asked)).json()
        found = reply["examples" if what == "examples" else "found"]
        assert found
        assert {one["sentence"]["source"] for one in found} <= sources
    rows = {**asked, "query": "cat"}
    found = (await client.get(f"{heads}/encoder.0.self/0/rows", params=rows)).json()
    assert (found["sentences"], found["of"]) == (1, 8)


async def test_pages_are_of_the_text_and_keep_it_in_their_links(client: httpx.AsyncClient) -> None:
    made = await sent(client, title="<b>")
    page = await client.get(f"/heads/en-zh?lang=en&corpus={made['id']}")
    assert page.status_code == 200  # while it is indexed, too
    await done(client, made["id"])
    page = await client.get(f"/heads/en-zh?lang=en&corpus={made['id']}")
    assert "8 sentences (&lt;b&gt;)" in page.text
    link = f"/heads/en-zh/encoder.1.self/1?lang=en&amp;corpus={made['id']}"
    assert link in page.text
    head = await client.get(link.replace("&amp;", "&"))
    assert "8 sentences are indexed." in head.text
    assert f"/heads/en-zh?lang=en&amp;corpus={made['id']}" in head.text
    assert f"?lang=zh&amp;corpus={made['id']}" in head.text
    assert "In other models" not in head.text


@pytest.mark.parametrize(
    ("body", "kind", "field", "says"),
    [
        ({"text": " \n\t\n"}, "too-short", "text", "at least 1"),
        (
            {"text": "a\n" * 21},
            "too-many-sentences",
            "text",
            "21 sentences; it may have at most 20",
        ),
        ({"text": "a" * 3001}, "too-many-characters", "text", "3001 characters"),
        ({"text": "a\n" + "b" * 2001}, "text-too-long", "text", "sentence 2 has 2001"),
        ({"text": "a\tb\tc"}, "out-of-range", "text", "line 1 has 2 tabs; it may have at most 1"),
        ({"text": "a", "model": "none"}, "unknown-model", "model", "not served"),
        ({"text": "a", "split": "words"}, "unknown-value", "split", "lines"),
        ({"text": "a", "title": "b" * 101}, "too-long", "title", "100"),
        ({"text": "a\0"}, "not-text", "text", "NUL"),
        ({}, "missing", "text", ""),
    ],
)
async def test_a_text_beyond_the_limits(
    serving: Serving, body: dict[str, Any], kind: str, field: str, says: str
) -> None:
    async with serving(max_corpus_sentences=20, max_corpus_characters=3000) as client:
        reply = await client.post("/api/corpora", json={"model": "en-zh", **body})
        hold(reply, 422, kind, field)
        assert says in reply.json()["detail"]


async def test_a_text_that_the_model_cannot_read_has_failed(client: httpx.AsyncClient) -> None:
    made = await sent(client, "word " * 390)
    told = await done(client, made["id"])
    assert (told["state"], told["why"]) == ("failed", "unreadable")
    heads = await client.get("/api/models/en-zh/heads", params={"corpus": made["id"]})
    hold(heads, 404, "no-index", "corpus")


async def test_a_text_that_takes_too_long_has_failed(serving: Serving) -> None:
    async with serving(max_corpus_seconds=0.01) as client:
        told = await done(client, (await sent(client))["id"])
    assert (told["state"], told["why"]) == ("failed", "too-slow")


async def test_two_texts_at_once_do_not_mix(serving: Serving, tmp_path: Path) -> None:
    async with serving(max_corpora=2, trusted_proxies="") as client:
        first = await sent(client, "\n".join(["I see one cat here."] * 3))
        again = await client.post("/api/corpora", json={"model": "en-zh", "text": "a"})
        hold(again, 429, "too-many-corpora", None)
        other = httpx.AsyncClient(
            transport=httpx.ASGITransport(client._transport.app, client=("10.0.0.2", 1)),  # type: ignore[attr-defined]
            base_url="http://headlight",
        )
        second = await sent(other, "\n".join(["Two dogs run very fast."] * 5))
        for made, count, word in ((first, 3, "cat"), (second, 5, "dogs")):
            assert (await done(client, made["id"]))["done"] == count
            path = "/api/models/en-zh/heads/encoder.0.self/0/examples"
            told = (await client.get(path, params={"corpus": made["id"]})).json()
            assert all(word in one["sentence"]["source"] for one in told["examples"])


async def test_a_full_queue_and_a_full_folder(serving: Serving) -> None:
    async with serving(max_corpora=1, max_corpus_queue=0, max_kept_corpora=1) as client:
        made = await sent(client)
        other = httpx.AsyncClient(
            transport=httpx.ASGITransport(client._transport.app, client=("10.0.0.2", 1)),  # type: ignore[attr-defined]
            base_url="http://headlight",
        )
        body = {"model": "en-zh", "text": "a"}
        reply = await other.post("/api/corpora", json=body)
        hold(reply, 503, "indexing-busy", None)
        assert int(reply.headers["retry-after"]) > 0
        await done(client, made["id"])
        hold(await other.post("/api/corpora", json=body), 507, "corpora-full", None)
    async with serving(max_kept_corpora=5) as client:  # one is there, of before the restart
        for _ in range(2):
            await done(client, (await sent(client))["id"])
        hold(await client.post("/api/corpora", json=body), 507, "corpora-full", None)
    async with serving(max_corpora=0) as client:
        reply = await client.post("/api/corpora", json=body)
        hold(reply, 404, "indexing-off", None)


async def test_a_text_expires_and_outlives_the_server(serving: Serving, tmp_path: Path) -> None:
    async with serving() as client:
        made = await sent(client)
        await done(client, made["id"])
    folder = tmp_path / "corpora" / made["id"]
    assert folder.stat().st_mode & 0o077 == 0
    async with serving() as client:
        asked = {"corpus": made["id"]}
        assert (await client.get("/api/models/en-zh/heads", params=asked)).status_code == 200
        about = json.loads((folder / "about.json").read_text())
        about["created"] = time.time() - 24 * 3600 - 1
        (folder / "about.json").write_text(json.dumps(about))
        hold(
            await client.get("/api/models/en-zh/heads", params=asked),
            404,
            "unknown-corpus",
            "corpus",
        )
        html = {"Accept": "text/html"}
        for path in ("/heads/en-zh", "/heads/en-zh/encoder.0.self/0"):
            page = await client.get(f"{path}?lang=en&corpus={made['id']}", headers=html)
            assert page.status_code == 404
            assert f'href="http://headlight{path}?lang=en"' in page.text
    async with serving() as client:
        for _ in range(50):
            if not folder.exists():
                break
            await asyncio.sleep(0.1)
    assert not folder.exists()


async def test_the_author_deletes_a_text(client: httpx.AsyncClient, tmp_path: Path) -> None:
    made = await sent(client)
    path = f"/api/corpora/{made['id']}"
    hold(
        await client.delete(path, headers={"Corpus-Key": "x"}),
        403,
        "wrong-corpus-key",
        "Corpus-Key",
    )
    assert (await client.delete(path, headers={"Corpus-Key": made["key"]})).status_code == 204
    hold(await client.get(path), 404, "unknown-corpus", "corpus")
    assert not (tmp_path / "corpora" / made["id"]).exists()
    await sent(client)  # there is room again


async def test_a_text_whose_server_died_has_failed(serving: Serving, tmp_path: Path) -> None:
    async with serving() as client:
        made = await sent(client)
    state = tmp_path / "corpora" / made["id"] / "state.json"
    os.utime(state, (time.time() - 61,) * 2)
    async with serving() as client:
        told = (await client.get(f"/api/corpora/{made['id']}")).json()
    assert (told["state"], told["why"]) == ("failed", "stopped")


@pytest.mark.parametrize(
    ("text", "split", "found"),
    [
        ("One. Two!\n\nThree", "lines", ["One. Two!", "Three"]),
        ("One. Two!\n\nThree", "sentences", ["One.", "Two!", "Three"]),
        ("It is 3.5 m. “Yes.” He left.", "sentences", ["It is 3.5 m.", "“Yes.”", "He left."]),
        ("我来了。你呢？“好！”他说。", "sentences", ["我来了。", "你呢？", "“好！”", "他说。"]),
        ("A. B.\t甲。乙。", "sentences", ["A. B.\t甲。乙。"]),
    ],
)
def test_a_text_is_split(text: str, split: str, found: list[str]) -> None:
    assert sentences_of(text, split) == found

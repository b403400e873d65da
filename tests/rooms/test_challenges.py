"""Works for a goal over HTTP: checked on the shipped model, shown in a gallery, voted on."""

import csv
import io
import json
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import numpy as np
import pytest

from app.challenges.checking import MAX_WORK
from app.http.csv_file import MARK
from app.rooms import challenges
from tests.rooms.room_client import client as client
from tests.rooms.room_client import opened

MEMBERS = [f"member-{n}" for n in range(4)]
BASE = {"source": "The cat sleeps.", "block": "encoder", "layer": "1", "head": "2"}


@pytest.fixture(autouse=True)
def at_any_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let members hand in as often as they like."""
    monkeypatch.setattr(challenges, "SECONDS", 0.0)


async def asked(
    client: httpx.AsyncClient, base: dict[str, str] = BASE, **goal: Any
) -> tuple[str, dict[str, str]]:
    room, owner = await opened(client)
    body = {"entry": "work", "ask": {"kind": "does", "link": urlencode(base), "goal": goal}}
    reply = await client.put(f"{room}/question", json=body, headers=owner)
    assert reply.status_code == 200, reply.text
    return room, owner


async def tried(client: httpx.AsyncClient, room: str, member: str, **state: Any) -> httpx.Response:
    body = {"member": member, "n": 1, "link": f"/?{urlencode(state)}"}
    return await client.post(f"{room}/tries", json=body)


async def went(
    client: httpx.AsyncClient, room: str, owner: dict[str, str], stage: str, **more: Any
) -> Any:
    reply = await client.patch(f"{room}/question", json={"stage": stage, **more}, headers=owner)
    assert reply.status_code == 200, reply.text
    return reply.json()["question"]


async def traced_row(client: httpx.AsyncClient, source: str, word: str) -> tuple[Any, Any]:
    """Return the tokens and the weights of a word's row of the question's head."""
    body = {"source": source, "select": ["encoder.1.self.weights"]}
    trace = (await client.post("/api/trace", json=body)).json()
    tokens = trace["tokens"]["source"]
    [query] = [n for n, token in enumerate(tokens) if token["text"].strip() == word]
    return tokens, np.array(trace["tensors"]["encoder.1.self.weights"]["data"][2][query])


async def test_a_sentence_is_checked_on_a_run_of_the_questions_head(
    client: httpx.AsyncClient,
) -> None:
    source = "The dog sees the cat."
    tokens, row = await traced_row(client, source, "dog")
    [cat] = [n for n, token in enumerate(tokens) if token["text"].strip() == "cat"]
    weight = float(row[cat])
    for least, does in ((weight - 0.001, True), (weight + 0.001, False)):
        goal: dict[str, Any] = {
            "kind": "weight",
            "key": "cat",
            "query": "dog",
            "least": max(least, 1e-4),
        }
        room, owner = await asked(client, **goal)
        # The head, the model and its changes are the question's, whatever the link says.
        off = '[{"at":"encoder.0.self","head":0,"do":"zero"}]'
        reply = await tried(
            client, room, MEMBERS[0], source=source, layer=0, head=0, interventions=off, query=3
        )
        made = reply.json()
        assert made["verdict"]["does"] is does
        assert made["verdict"]["weight"] == pytest.approx(weight, abs=1e-5)
        state = {name: text for name, [text] in parse_qs(urlsplit(made["link"]).query).items()}
        assert state == {**BASE, "source": source, "query": "3"}
        mine = (await client.get(f"{room}/answers", headers=owner)).json()["answers"]
        assert [(given["id"], given["does"]) for given in mine] == [(made["id"], does)]


async def test_what_is_written_is_checked_with_the_changes_that_may_be_made(
    client: httpx.AsyncClient,
) -> None:
    base = {"source": "The cat sleeps.", "target": "A given one."}  # which is not what is written
    body: dict[str, Any] = {"source": base["source"], "select": []}
    written = (await client.post("/api/trace", json=body)).json()["output"]["text"]
    room, _ = await asked(client, base, kind="lacks", words=[written[0]], free=["change"])
    same = await tried(client, room, MEMBERS[0], source="Other words", target="猫")
    assert same.json()["verdict"] == {"does": False, "rewritten": False, "output": written}
    changes = [{"at": "decoder.2.cross", "head": head, "do": "zero"} for head in range(8)]
    body |= {"interventions": changes}
    changed = (await client.post("/api/trace", json=body)).json()["output"]["text"]
    broken = await tried(client, room, MEMBERS[0], interventions=json.dumps(changes))
    verdict = broken.json()["verdict"]
    assert (verdict["does"], verdict["output"]) == (written[0] not in changed, changed)
    assert changed != written  # what is checked is the changed model
    link = f"/?source=Hi&interventions={'[' * 1_250}"
    deep = {"member": MEMBERS[0], "n": 1, "link": link}
    ignored = await client.post(f"{room}/tries", json=deep)  # as a page does
    assert ignored.json()["verdict"]["output"] == written
    refused = await tried(client, room, MEMBERS[0], interventions='[{"at":"nowhere","do":"zero"}]')
    assert refused.status_code == 422


async def test_what_cannot_be_run_is_refused_and_nothing_is_stored(
    client: httpx.AsyncClient,
) -> None:
    room, owner = await asked(client, kind="strongest", key="cat")
    for state in ({"source": " "}, {"source": "x" * 5_000}, {"layer": "1"}):
        reply = await tried(client, room, MEMBERS[0], **state)
        assert reply.status_code == 422, reply.text
    for link in ("/lab?x=1", "//other.example/?source=Hi", "/?source=a b", "/?" + "x" * MAX_WORK):
        body = {"member": MEMBERS[0], "n": 1, "link": link}
        assert (await client.post(f"{room}/tries", json=body)).status_code == 422
    wrong = {"member": MEMBERS[0], "n": 2, "link": "/?source=Hi"}
    assert (await client.post(f"{room}/tries", json=wrong)).status_code == 409
    plain = {"member": MEMBERS[0], "n": 1, "answer": ["/?source=Hi"]}
    assert (await client.post(f"{room}/answers", json=plain)).status_code == 409
    named = {"member": MEMBERS[0], "n": 1, "link": "/?source=Hi", "nickname": "Mina"}
    assert (await client.post(f"{room}/tries", json=named)).status_code == 422
    ids = {
        answer["id"]
        for answer in (await client.get(f"{room}/answers", headers=owner)).json()["answers"]
    }
    assert len(ids) <= 1  # of the link that can be run, if it can


async def test_a_goal_that_no_run_can_be_checked_for_is_not_asked(
    client: httpx.AsyncClient,
) -> None:
    room, owner = await opened(client)
    about = {"kind": "does", "link": urlencode(BASE)}
    goal = {"kind": "weight", "key": "cat"}
    for ask in (
        about,
        {**about, "goal": {"kind": "weight"}},
        {**about, "goal": {**goal, "least": 1.5}},
        {**about, "goal": {**goal, "key": "x" * 41}},
        {**about, "goal": {"kind": "contains", "words": ["a"] * 7}},
        {**about, "link": urlencode({**BASE, "layer": "9"}), "goal": goal},
        {**about, "link": "source=" + "x" * MAX_WORK, "goal": goal},
    ):
        body = {"entry": "work", "ask": ask}
        reply = await client.put(f"{room}/question", json=body, headers=owner)
        assert reply.status_code == 422, (ask, reply.text)
    infinite = json.dumps({"entry": "work", "ask": {**about, "goal": {**goal, "least": 0.123}}})
    infinite = infinite.replace("0.123", "1e999")
    headers = {**owner, "content-type": "application/json"}
    reply = await client.put(f"{room}/question", content=infinite, headers=headers)
    assert reply.status_code == 422
    other = {"entry": "choice", "ask": {**about, "goal": goal}}
    assert (await client.put(f"{room}/question", json=other, headers=owner)).status_code == 422


async def test_a_member_tries_at_a_limited_pace(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(challenges, "SECONDS", 60.0)
    room, _ = await asked(client, kind="any")
    assert (await tried(client, room, MEMBERS[0], source="Hi")).status_code == 200
    soon = await tried(client, room, MEMBERS[0], source="Hi")
    assert (soon.status_code, soon.headers["retry-after"]) == (429, "60")
    assert (await tried(client, room, MEMBERS[1], source="Hi")).status_code == 200


async def test_a_gallery_has_what_the_teacher_shows_and_one_vote_each(
    client: httpx.AsyncClient,
) -> None:
    room, owner = await asked(client, kind="any", uses=["cat"])
    sources = ("A cat", "Rude cat", "My cat", "No such word")
    made = [
        (await tried(client, room, member, source=source)).json()
        for member, source in zip(MEMBERS, sources, strict=True)
    ]
    assert [work["verdict"]["does"] for work in made] == [True, True, True, False]
    assert made[3]["verdict"]["missing"] == "cat"
    ids = [work["id"] for work in made]
    assert (await client.get(f"{room}/gallery")).status_code == 409  # nobody sees works of others
    shown = [ids[0], ids[2]]
    await went(client, room, owner, "discuss", gallery=shown)
    assert (await tried(client, room, MEMBERS[0], source="Late cat")).status_code == 409
    query = f"?member={MEMBERS[0]}"
    seen = (await client.get(f"{room}/gallery{query}")).json()
    assert [work["id"] for work in seen["works"]] == sorted(shown)
    assert (seen["mine"], seen["vote"]) == (ids[0], None)
    assert all("votes" not in work for work in seen["works"])

    async def voted(member: str, work: str) -> int:
        body = {"member": member, "n": 1, "answer": [work]}
        return (await client.post(f"{room}/answers", json=body)).status_code

    assert await voted(MEMBERS[1], ids[0]) == 409  # the vote is not open
    await went(client, room, owner, "second")
    assert await voted(MEMBERS[0], ids[0]) == 422  # for oneself
    assert await voted(MEMBERS[0], ids[1]) == 422  # not in the gallery
    assert await voted(MEMBERS[0], ids[2]) == 204
    assert await voted(MEMBERS[1], ids[2]) == 204
    assert await voted(MEMBERS[1], ids[0]) == 204  # moved
    assert await voted(MEMBERS[3], ids[2]) == 204
    await client.delete(f"{room}/answers/{ids[1]}", headers=owner)
    question = await went(client, room, owner, "revealed")
    first, second = question["results"]["first"], question["results"]["second"]
    assert (first["count"], first["right"]) == (3, 2)
    assert second["chosen"] == {ids[2]: 2}
    seen = (await client.get(f"{room}/gallery?member={MEMBERS[3]}")).json()
    assert {work["id"]: work["votes"] for work in seen["works"]} == {ids[0]: 0, ids[2]: 2}
    assert (seen["mine"], seen["vote"]) == (ids[3], ids[2])
    looker = (await client.get(f"{room}/gallery?member={'f' * len(MEMBERS[0])}")).json()
    assert (looker["mine"], looker["vote"]) == (None, None)
    assert "gallery" not in (await client.get(f"{room}/state")).json()["question"]

    text = (await client.get(f"{room}/answers.csv", headers=owner)).text
    rows = list(csv.DictReader(io.StringIO(text.removeprefix(MARK))))
    assert {row["first vote"]: row["first right"] for row in rows} == {
        "A cat": "yes",
        "My cat": "yes",
        "No such word": "no",
    }
    assert {row["second vote"] for row in rows} == {"My cat", ""}
    record = (await client.get(f"{room}/answers.json", headers=owner)).json()
    assert record["questions"][0]["choices"][ids[0]] == "A cat"

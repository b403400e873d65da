"""Works for a goal over HTTP: checked on the shipped model, shown in a gallery, voted on."""

import json
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import numpy as np
import pytest

from app.figures.challenge_checking import MAX_WORK
from app.rooms import asking
from tests.rooms.room_client import Room

MEMBERS = [f"member-{n}" for n in range(4)]
BASE = {"source": "The cat sleeps.", "block": "encoder", "layer": "1", "head": "2"}


@pytest.fixture(autouse=True)
def at_any_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let members hand in as often as they like."""
    monkeypatch.setattr(asking, "SECONDS", 0.0)


async def ask(room: Room, base: dict[str, str] = BASE, **goal: Any) -> None:
    link = urlencode(base)
    body = {"entry": "work", "ask": {"kind": "does", "link": link, "goal": goal}}
    reply = await room.ask(body)
    assert reply.status_code == 200, reply.text


async def tried(room: Room, member: str, n: int = 1, **state: Any) -> httpx.Response:
    body = {"member": member, "n": n, "link": f"/?{urlencode(state)}"}
    return await room.anyone.post("/tries", body)


async def traced_row(client: httpx.AsyncClient, source: str, word: str) -> tuple[Any, Any]:
    """Return the tokens and the weights of a word's row of the question's head."""
    body = {"source": source, "select": ["encoder.1.self.weights"]}
    trace = (await client.post("/api/trace", json=body)).json()
    tokens = trace["tokens"]["source"]
    [query] = [n for n, token in enumerate(tokens) if token["text"].strip() == word]
    return tokens, np.array(trace["tensors"]["encoder.1.self.weights"]["data"][2][query])


async def test_a_sentence_is_checked_on_a_run_of_the_questions_head(room: Room) -> None:
    source = "The dog sees the cat."
    tokens, row = await traced_row(room.client, source, "dog")
    [cat] = [n for n, token in enumerate(tokens) if token["text"].strip() == "cat"]
    weight = float(row[cat])
    # The head, the model and its changes are the question's, whatever the link says.
    off = '[{"at":"encoder.0.self","head":0,"do":"zero"}]'
    other = {"source": source, "layer": 0, "head": 0, "interventions": off, "query": 3}
    for n, (least, does) in enumerate(((weight - 0.001, True), (weight + 0.001, False)), 1):
        await ask(room, kind="weight", key="cat", query="dog", least=max(least, 1e-4))
        made = (await tried(room, MEMBERS[0], n, **other)).json()
        assert made["verdict"]["does"] is does
        assert made["verdict"]["weight"] == pytest.approx(weight, abs=1e-5)
        state = {name: text for name, [text] in parse_qs(urlsplit(made["link"]).query).items()}
        assert state == {**BASE, "source": source, "query": "3"}
        mine = [(given["id"], given["does"]) for given in await room.answers()]
        assert mine == [(made["id"], does)]


async def test_what_is_written_is_checked_with_the_changes_that_may_be_made(room: Room) -> None:
    client = room.client
    base = {"source": "The cat sleeps.", "target": "A given one."}  # which is not what is written
    body: dict[str, Any] = {"source": base["source"], "select": []}
    written = (await client.post("/api/trace", json=body)).json()["output"]["text"]
    await ask(room, base, kind="lacks", words=[written[0]], free=["change"])
    same = await tried(room, MEMBERS[0], source="Other words", target="猫")
    assert same.json()["verdict"] == {"does": False, "rewritten": False, "output": written}
    changes = [{"at": "decoder.2.cross", "head": head, "do": "zero"} for head in range(8)]
    body |= {"interventions": changes}
    changed = (await client.post("/api/trace", json=body)).json()["output"]["text"]
    broken = await tried(room, MEMBERS[0], interventions=json.dumps(changes))
    verdict = broken.json()["verdict"]
    assert (verdict["does"], verdict["output"]) == (written[0] not in changed, changed)
    assert changed != written  # what is checked is the changed model
    link = f"/?source=Hi&interventions={'[' * 1_250}"
    deep = {"member": MEMBERS[0], "n": 1, "link": link}
    ignored = await room.anyone.post("/tries", deep)  # as a page does
    assert ignored.json()["verdict"]["output"] == written
    refused = await tried(room, MEMBERS[0], interventions='[{"at":"nowhere","do":"zero"}]')
    assert refused.status_code == 422


async def test_what_cannot_be_run_is_refused_and_nothing_is_stored(room: Room) -> None:
    await ask(room, kind="strongest", key="cat")
    states: list[dict[str, Any]] = [{"source": " "}, {"source": "x" * 5_000}, {"layer": "1"}]
    for state in states:
        reply = await tried(room, MEMBERS[0], **state)
        assert reply.status_code == 422, reply.text
    sent = {"member": MEMBERS[0], "n": 1, "link": "/?source=Hi"}
    links = ("/lab?x=1", "//other.example/?source=Hi", "/?source=a b", "/?" + "x" * MAX_WORK)
    for body, status in (
        *(({**sent, "link": link}, 422) for link in links),
        ({**sent, "n": 2}, 409),
        ({**sent, "nickname": "Mina"}, 422),
    ):
        assert (await room.anyone.post("/tries", body)).status_code == status, body
    assert await room.answer(MEMBERS[0], ["/?source=Hi"]) == 409
    assert len(await room.answers()) <= 1  # of the link that can be run, if it can


async def test_a_goal_that_no_run_can_be_checked_for_is_not_asked(room: Room) -> None:
    about = {"kind": "does", "link": urlencode(BASE)}
    goal = {"kind": "weight", "key": "cat"}
    for asked in (
        about,
        {**about, "goal": {"kind": "weight"}},
        {**about, "goal": {**goal, "least": 1.5}},
        {**about, "goal": {**goal, "key": "x" * 41}},
        {**about, "goal": {"kind": "contains", "words": ["a"] * 7}},
        {**about, "link": urlencode({**BASE, "layer": "9"}), "goal": goal},
        {**about, "link": "source=" + "x" * MAX_WORK, "goal": goal},
    ):
        reply = await room.ask({"entry": "work", "ask": asked})
        assert reply.status_code == 422, (asked, reply.text)
    infinite = json.dumps({"entry": "work", "ask": {**about, "goal": {**goal, "least": 0.123}}})
    infinite = infinite.replace("0.123", "1e999")
    headers = {**room.key, "content-type": "application/json"}
    path = f"{room.path}/question"
    reply = await room.client.put(path, content=infinite, headers=headers)
    assert reply.status_code == 422
    other = {"entry": "choice", "ask": {**about, "goal": goal}}
    assert (await room.ask(other)).status_code == 422


async def test_a_member_tries_at_a_limited_pace(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "SECONDS", 60.0)
    await ask(room, kind="any")
    assert (await tried(room, MEMBERS[0], source="Hi")).status_code == 200
    soon = await tried(room, MEMBERS[0], source="Hi")
    assert (soon.status_code, soon.headers["retry-after"]) == (429, "60")
    assert (await tried(room, MEMBERS[1], source="Hi")).status_code == 200


async def test_a_gallery_has_what_the_teacher_shows_and_one_vote_each(room: Room) -> None:
    await ask(room, kind="any", uses=["cat"])
    sources = ("A cat", "Rude cat", "My cat", "No such word")
    made = [
        (await tried(room, member, source=source)).json()
        for member, source in zip(MEMBERS, sources, strict=True)
    ]
    assert [work["verdict"]["does"] for work in made] == [True, True, True, False]
    assert made[3]["verdict"]["missing"] == "cat"
    ids = [work["id"] for work in made]
    assert (await room.anyone.get("/gallery")).status_code == 409  # nobody sees works of others
    shown = [ids[0], ids[2]]
    await room.proceed("discuss", gallery=shown)
    assert (await tried(room, MEMBERS[0], source="Late cat")).status_code == 409
    seen = await room.anyone.read(f"/gallery?member={MEMBERS[0]}")
    assert [work["id"] for work in seen["works"]] == sorted(shown)
    assert (seen["mine"], seen["vote"]) == (ids[0], None)
    assert all("votes" not in work for work in seen["works"])
    assert await room.answer(MEMBERS[1], [ids[0]]) == 409  # the vote is not open
    await room.proceed("second")
    assert await room.answer(MEMBERS[0], [ids[0]]) == 422  # for oneself
    assert await room.answer(MEMBERS[0], [ids[1]]) == 422  # not in the gallery
    assert await room.answer(MEMBERS[0], [ids[2]]) == 204
    assert await room.answer(MEMBERS[1], [ids[2]]) == 204
    assert await room.answer(MEMBERS[1], [ids[0]]) == 204  # moved
    assert await room.answer(MEMBERS[3], [ids[2]]) == 204
    await room.delete(f"/answers/{ids[1]}")
    question = await room.proceed("revealed")
    first, second = question["results"]["first"], question["results"]["second"]
    assert (first["count"], first["right"]) == (3, 2)
    assert second["chosen"] == {ids[2]: 2}
    seen = await room.anyone.read(f"/gallery?member={MEMBERS[3]}")
    assert {work["id"]: work["votes"] for work in seen["works"]} == {ids[0]: 0, ids[2]: 2}
    assert (seen["mine"], seen["vote"]) == (ids[3], ids[2])
    looker = await room.anyone.read(f"/gallery?member={'f' * len(MEMBERS[0])}")
    assert (looker["mine"], looker["vote"]) == (None, None)
    assert "gallery" not in await room.question()

    rows = await room.rows()
    right = {row["first vote"]: row["first right"] for row in rows}
    assert right == {"A cat": "yes", "My cat": "yes", "No such word": "no"}
    assert {row["second vote"] for row in rows} == {"My cat", ""}
    record = await room.read("/answers.json")
    assert record["questions"][0]["choices"][ids[0]] == "A cat"

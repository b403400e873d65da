"""Collections: ordered lists of links, which only the holder of the key can change."""

import asyncio
import secrets
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import httpx
import pytest

from app.collections import service
from app.store.documents import ALPHABET, ID_LENGTH, KEY_LENGTH
from model.errors import InputError
from tests.collections.collecting import BODY, BY_HAND, FIGURE, PATH, SENTENCE, made, owner
from tests.serving.problem import hold
from tests.serving.storage import share


async def test_a_collection_is_created_and_read(client: httpx.AsyncClient) -> None:
    response = await client.post(PATH, json=BODY)
    one = response.json()
    assert response.status_code == 201
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["location"] == f"{PATH}/{one['id']}"
    assert len(one["id"]) == ID_LENGTH
    assert one["url"] == f"http://headlight/c/{one['id']}"
    assert one["edit_url"] == f"{one['url']}#edit={one['edit_key']}"
    assert len(one["edit_key"]) == KEY_LENGTH
    assert set(one["edit_key"]) <= set(ALPHABET)
    read = await client.get(f"{PATH}/{one['id'].upper()}")
    assert read.headers["etag"] == '"1"'
    told = read.json()
    assert (told["title"], told["note"], told["version"]) == (BODY["title"], BODY["note"], 1)
    assert told["items"] == [
        {"link": SENTENCE, "title": "", "note": "Which word?"},
        {"link": BY_HAND, "title": "", "note": ""},
        {"link": "/learn/what-a-head-does#figure-1", "title": "A head", "note": ""},
        {"link": "/learn/masks", "title": "", "note": ""},
    ]
    assert one["edit_key"] not in read.text


async def test_only_the_key_changes_and_deletes(client: httpx.AsyncClient) -> None:
    one, other = await made(client), await made(client)
    path = f"{PATH}/{one['id']}"
    new = {"title": "New", "items": [{"link": BY_HAND}, {"link": SENTENCE}]}
    for wrong in (other["edit_key"], "", one["edit_key"][:-1]):
        headers = {"Edit-Key": wrong, "If-Match": "*"}
        hold(await client.put(path, json=new, headers=headers), 403, "wrong-edit-key", "Edit-Key")
        refused = await client.delete(path, headers={"Edit-Key": wrong})
        hold(refused, 403, "wrong-edit-key", "Edit-Key")
    assert (await client.get(path)).json()["version"] == 1
    changed = await client.put(path, json=new, headers=owner(one, '"1"'))
    assert (changed.status_code, changed.headers["etag"]) == (200, '"2"')
    read = (await client.get(path)).json()
    assert read == changed.json()
    assert (read["title"], read["note"], len(read["items"])) == ("New", "", 2)
    assert read["changed"] >= read["created"]
    assert (await client.delete(path, headers=owner(one))).status_code == 204
    for method in ("GET", "PUT", "DELETE"):
        gone = await client.request(
            method, path, json=new if method == "PUT" else None, headers=owner(one)
        )
        hold(gone, 404, "unknown-collection", "id")
    assert (await client.get(f"/c/{one['id']}")).status_code == 404
    assert (await client.get(f"{PATH}/{other['id']}")).status_code == 200


async def test_the_second_of_two_editors_is_told(client: httpx.AsyncClient) -> None:
    one = await made(client)
    path = f"{PATH}/{one['id']}"
    hold(
        await client.put(path, json=BODY, headers={"Edit-Key": one["edit_key"]}),
        422,
        "missing",
        "If-Match",
    )
    bodies = [{"title": f"Editor {n}"} for n in range(8)]
    replies = await asyncio.gather(
        *(client.put(path, json=body, headers=owner(one, '"1"')) for body in bodies)
    )
    assert sorted(reply.status_code for reply in replies) == [200] + [412] * 7
    won = next(reply.json() for reply in replies if reply.status_code == 200)
    lost = next(reply for reply in replies if reply.status_code == 412)
    hold(lost, 412, "collection-changed", "If-Match")
    assert (await client.get(path)).json() == won
    assert won["version"] == 2
    for stale in ('"1"', 'W/"1"', "1", '"what"', "", '"99999999999"'):
        reply = await client.put(path, json=BODY, headers=owner(one, stale))
        hold(reply, 412, "collection-changed", "If-Match")
    assert (await client.put(path, json=BODY, headers=owner(one, 'W/"2"'))).status_code == 200


async def test_a_repeated_request_returns_the_same_collection(client: httpx.AsyncClient) -> None:
    page = {"Headlight-Client": secrets.token_hex()}
    first = await client.post(PATH, json=BODY, headers=page)
    again = await client.post(PATH, json=BODY, headers=page)
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json() == first.json()
    one = first.json()
    for other in ({"Headlight-Client": "another"}, {}, {}):
        assert (await client.post(PATH, json=BODY, headers=other)).json()["id"] != one["id"]
    path = f"{PATH}/{one['id']}"
    assert (await client.put(path, json=BODY, headers=owner(one))).status_code == 200
    after = await client.post(PATH, json=BODY, headers=page)
    assert after.status_code == 201, "it has been changed since"
    assert after.json()["id"] != one["id"]


async def test_an_item_that_is_gone_does_not_block_the_others(client: httpx.AsyncClient) -> None:
    kept = await share(client)
    one = await made(client, items=[{"share": kept["id"]}, FIGURE])
    path = f"{PATH}/{one['id']}"
    deleted = await client.delete(
        f"/api/shares/{kept['id']}", headers={"Edit-Key": kept["edit_key"]}
    )
    assert deleted.status_code == 204
    items = (await client.get(path)).json()["items"]
    page = (await client.get(f"/c/{one['id']}")).text
    assert "This is no longer there." in page
    body = {"title": "Kept", "items": list(reversed(items))}
    changed = await client.put(path, json=body, headers=owner(one, '"1"'))
    assert changed.status_code == 200, changed.text
    file = await client.get(f"/c/{one['id']}/handout.html")
    assert file.status_code == 200


PRIVATE: dict[str, Any] = {
    "private": "do NOT tell them before they vote",
    "minutes": 7,
    "questions": [
        {
            "entry": "choice",
            "ask": {
                "kind": "choice",
                "link": "",
                "words": "Where does it look?",
                "options": [{"text": "at the"}, {"text": "at cat", "note": "a guess"}],
                "right": [0],
            },
        }
    ],
}


async def test_private_notes_and_questions_are_sent_to_nobody_without_the_key(
    client: httpx.AsyncClient,
) -> None:
    one = await made(client, items=[{"link": SENTENCE, "note": "Public.", **PRIVATE}, FIGURE])
    path = f"{PATH}/{one['id']}"
    handout = await client.get(f"/c/{one['id']}/handout.html")
    for reply in (await client.get(path), await client.get(f"/c/{one['id']}"), handout):
        assert reply.status_code == 200
        for secret in ("NOT tell", "Where does it look", "a guess"):
            assert secret not in reply.text
    assert "Public." in handout.text
    wrong = {"Edit-Key": one["edit_key"][:-1]}
    hold(await client.get(path, headers=wrong), 403, "wrong-edit-key", "Edit-Key")
    read = await client.get(path, headers={"Edit-Key": one["edit_key"]})
    assert read.headers["cache-control"] == "no-store"
    first, second = read.json()["items"]
    assert {name: first[name] for name in ("private", "minutes")} == {
        name: PRIVATE[name] for name in ("private", "minutes")
    }
    question = first["questions"][0]["ask"]
    assert (question["right"], question["options"][1]["note"]) == ([0], "a guess")
    assert set(second) == {"link", "title", "note"}
    same = {"title": "Same", "items": read.json()["items"]}
    changed = (await client.put(path, json=same, headers=owner(one))).json()
    assert changed["items"] == read.json()["items"]


async def test_what_a_change_does_not_state_of_private_things_stays(
    client: httpx.AsyncClient,
) -> None:
    other = {**PRIVATE, "private": "Of the second", "minutes": 3}
    items = [{"link": SENTENCE, **PRIVATE}, {"link": SENTENCE, **other}, {"lesson": "masks"}]
    one = await made(client, items=items)
    path, key = f"{PATH}/{one['id']}", {"Edit-Key": one["edit_key"]}
    before = (await client.get(path, headers=key)).json()["items"]
    public = (await client.get(path)).json()["items"]
    moved = [public[2], public[0] | {"note": "New."}, public[1], {"link": BY_HAND}]
    body = {"title": "By a program", "items": moved}
    changed = (await client.put(path, json=body, headers=owner(one, '"1"'))).json()["items"]
    assert changed[1] == before[0] | {"note": "New."}
    assert [changed[0], changed[2]] == [before[2], before[1]]
    assert set(changed[3]) == {"link", "title", "note"}
    absent: dict[str, Any] = {"private": None, "minutes": None, "questions": []}
    body["items"] = [public[0] | absent, public[1] | {"private": ""}]
    changed = (await client.put(path, json=body, headers=owner(one))).json()["items"]
    assert changed[0] == public[0]
    kept = {name: value for name, value in before[1].items() if name != "private"}
    assert changed[1] == kept
    # An item that was removed is gone with what was private of it.
    body["items"] = [public[2]]
    await client.put(path, json=body, headers=owner(one))
    body["items"] = public
    changed = (await client.put(path, json=body, headers=owner(one))).json()["items"]
    assert changed == public


async def test_changes_of_any_version_lose_nothing_private_of_each_other(
    client: httpx.AsyncClient,
) -> None:
    one = await made(client, items=[FIGURE])
    path = f"{PATH}/{one['id']}"
    item = {"link": "/learn/what-a-head-does#figure-1"}
    bodies = [
        {"title": "x", "items": [item | {"minutes": 5}]},
        *[{"title": "y", "items": [item]}] * 3,
    ]
    replies = await asyncio.gather(
        *(client.put(path, json=body, headers=owner(one)) for body in bodies)
    )
    assert [reply.status_code for reply in replies] == [200] * 4
    read = await client.get(path, headers={"Edit-Key": one["edit_key"]})
    assert (read.json()["items"][0]["minutes"], read.json()["version"]) == (5, 5)


async def test_a_prepared_question_that_cannot_be_asked_is_refused(
    client: httpx.AsyncClient,
) -> None:
    question = PRIVATE["questions"][0]
    bad = {**question, "ask": {**question["ask"], "right": [2]}}
    items = [{"link": SENTENCE, "questions": [bad]}]
    reply = await client.post(PATH, json={"title": "Bad", "items": items})
    assert reply.status_code == 422
    assert reply.json()["field"].startswith("items[0]")
    for wrong in ({"minutes": 0}, {"minutes": 601}, {"questions": [question] * 9}):
        body = {"title": "Bad", "items": [{"link": SENTENCE, **wrong}]}
        assert (await client.post(PATH, json=body)).status_code == 422, wrong


async def test_a_challenge_is_prepared_if_a_run_can_be_checked_and_stays_when_it_no_longer_can(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    goal = {"kind": "weight", "key": "cat", "free": ["sentence", "head"]}
    ask = {"kind": "does", "link": SENTENCE.removeprefix("/?"), "goal": goal}
    ask |= {"words": "Find it.", "translations": {"zh": {"words": "找出来。", "options": []}}}
    challenge = {"entry": "work", "ask": ask}
    one = await made(client, items=[{"link": SENTENCE, "questions": [challenge]}])
    path = f"{PATH}/{one['id']}"
    [item] = (await client.get(path, headers=owner(one))).json()["items"]
    [read] = item["questions"]
    assert read["entry"] == "work"
    assert read["ask"]["translations"]["zh"]["words"] == "找出来。"
    assert read["ask"]["goal"]["free"] == ["sentence", "head"]
    for wrong in (
        {**ask, "link": f"{ask['link']}&layer=9".replace("layer=1&", "")},
        {**ask, "goal": {"kind": "weight"}},
        {name: value for name, value in ask.items() if name != "goal"},
    ):
        body = {"title": "T", "items": [{"link": SENTENCE, "questions": [{**read, "ask": wrong}]}]}
        refused = await client.put(path, json=body, headers=owner(one))
        assert refused.status_code == 422, refused.text
        assert refused.json()["field"].startswith("items[0].questions")

    def gone(*_: object) -> None:
        raise InputError("unknown-model", "model", "no such model")

    monkeypatch.setattr(service, "check_ask", gone)
    for questions, status in (([read], 200), ([read, {**read, "ask": {**ask, "words": "?"}}], 422)):
        body = {"title": "T", "items": [{"link": SENTENCE, "questions": questions}]}
        reply = await client.put(path, json=body, headers=owner(one))
        assert reply.status_code == status, reply.text


async def test_the_owner_gets_the_prepared_questions_as_a_package(
    client: httpx.AsyncClient,
) -> None:
    ask = {
        "kind": "choice",
        "link": "",
        "words": "What?",
        "options": [{"text": "a"}, {"text": "b"}],
        "right": [1],
        "translations": {"zh": {"words": "什么？", "options": ["一", "二"]}},
    }
    one = await made(
        client, items=[{"link": SENTENCE, "questions": [{"entry": "choice", "ask": ask}]}]
    )
    path = f"{PATH}/{one['id']}/questions.zip"
    assert (await client.get(path)).status_code == 422
    assert (await client.get(path, headers={"Edit-Key": "x" * 26})).status_code == 403
    for lang, words in (("en", "What?"), ("zh", "什么？")):
        reply = await client.get(f"{path}?lang={lang}", headers=owner(one))
        assert (reply.status_code, reply.headers["cache-control"]) == (200, "no-store")
        with ZipFile(BytesIO(reply.content)) as archive:
            item = archive.read("question-1.xml").decode()
        assert words in item
        assert "<value>choice-1</value>" in item

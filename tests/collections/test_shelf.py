"""The shelf: what anyone can copy, what owners list, and what operators take off."""

import sqlite3
from pathlib import Path
from typing import Any

import httpx

from app.collections.shelf import MAX_BY_ADDRESS, ready_collections
from tests.collections.collecting import BODY, FIGURE, PATH, SENTENCE, made, owner
from tests.collections.test_collections import PRIVATE
from tests.serving.fixtures import Serving
from tests.serving.problem import hold
from tests.shares.test_commands import command

SHELF = "/api/shelf"
IN_ENGLISH = {"languages": ["en"]}


async def listed(client: httpx.AsyncClient) -> list[dict[str, Any]]:
    reply = await client.get(SHELF)
    assert reply.status_code == 200, reply.text
    return [entry for entry in reply.json()["collections"] if "lesson" not in entry]


async def put_on(client: httpx.AsyncClient, one: dict[str, Any], **body: Any) -> httpx.Response:
    path = f"{PATH}/{one['id']}/listing"
    return await client.put(path, json=body or IN_ENGLISH, headers={"Edit-Key": one["edit_key"]})


async def test_what_comes_with_headlight_is_copied_in_the_readers_language(
    client: httpx.AsyncClient,
) -> None:
    reply = (await client.get(SHELF, params={"lang": "zh"})).json()
    assert [entry["id"] for entry in reply["collections"]] == [*ready_collections()]
    masks = next(entry for entry in reply["collections"] if entry["id"] == "masks")
    assert masks["languages"] == ["en", "zh"]
    assert (masks["minutes"], masks["figures"], masks["questions"]) == (10, 3, 5)
    assert masks["title"].startswith("掩码")
    for lesson in ready_collections():
        copied = await client.post(f"{PATH}/{lesson}/copies", params={"lang": "zh"})
        assert copied.status_code == 201, copied.text
    one = (await client.post(f"{PATH}/masks/copies", params={"lang": "en"})).json()
    path, key = f"{PATH}/{one['id']}", {"Edit-Key": one["edit_key"]}
    read = (await client.get(path, headers=key)).json()
    assert read["origin"] == {"title": read["title"], "link": "/collections#masks"}
    assert read["items"][0]["link"] == "/learn/masks#figure-1"
    question = read["items"][0]["questions"][0]["ask"]
    assert question["right"] == [2]
    assert question["translations"]["zh"]["options"][2] == "最后一行 sits"
    body = {"title": "Mine", "items": read["items"]}
    changed = (await client.put(path, json=body, headers=owner(one))).json()
    assert changed["origin"] == read["origin"]
    assert 'href="/collections?lang=en#masks"' in (await client.get(f"/c/{one['id']}")).text


async def test_an_owner_lists_and_takes_back(client: httpx.AsyncClient) -> None:
    one = await made(client, items=[{"link": SENTENCE, **PRIVATE}, {"lesson": "masks"}, FIGURE])
    other = await made(client)
    wrong = {"id": one["id"], "edit_key": other["edit_key"]}
    hold(await put_on(client, wrong), 403, "wrong-edit-key", "Edit-Key")
    unknown = {"id": "23456789abcde", "edit_key": one["edit_key"]}
    hold(await put_on(client, unknown), 404, "unknown-collection", "id")
    for languages in ([], ["fr"], ["en", "zh", "en"], "en"):
        assert (await put_on(client, one, languages=languages)).status_code == 422, languages
    assert await listed(client) == []
    assert (await put_on(client, one, languages=["zh", "en"])).status_code == 204
    (entry,) = await listed(client)
    assert entry == {
        "id": one["id"],
        "title": "Week 2 <b>",
        "note": "Read\nfirst.",
        "languages": ["en", "zh"],
        "minutes": 7,
        "figures": 7,
        "questions": 1,
        "link": f"/c/{one['id']}",
    }
    read = await client.get(f"{PATH}/{one['id']}")
    assert read.json()["listed"] == ["en", "zh"]
    page = (await client.get("/collections")).text
    assert "Week 2 &lt;b&gt;" in page
    for secret in ("NOT tell", "Where does it look"):
        assert secret not in page
        assert secret not in read.text
    await client.put(f"{PATH}/{one['id']}", json={"title": "Renamed"}, headers=owner(one))
    assert [entry["title"] for entry in await listed(client)] == ["Renamed"]
    off = await client.delete(f"{PATH}/{one['id']}/listing", headers={"Edit-Key": one["edit_key"]})
    assert off.status_code == 204
    assert await listed(client) == []


async def test_a_copy_has_what_its_reader_may_have(client: httpx.AsyncClient) -> None:
    one = await made(client, items=[{"link": SENTENCE, "note": "Public.", **PRIVATE}])
    path = f"{PATH}/{one['id']}/copies"

    async def copied(**headers: str) -> dict[str, Any]:
        reply = await client.post(path, headers=headers)
        assert reply.status_code == 201, reply.text
        key = {"Edit-Key": reply.json()["edit_key"]}
        read: dict[str, Any] = (
            await client.get(f"{PATH}/{reply.json()['id']}", headers=key)
        ).json()
        assert read["origin"] == {"title": "Week 2 <b>", "link": f"/c/{one['id']}"}
        assert "listed" not in read
        item: dict[str, Any] = read["items"][0]
        return item

    assert set(await copied()) == {"link", "title", "note"}
    await put_on(client, one)
    item = await copied()
    assert (item["minutes"], item["questions"][0]["ask"]["right"]) == (7, [0])
    assert "private" not in item
    whole = await copied(**{"Edit-Key": one["edit_key"]})
    assert whole["private"] == PRIVATE["private"]
    hold(await client.post(path, headers={"Edit-Key": "x"}), 403, "wrong-edit-key", "Edit-Key")
    hold(await client.post(f"{PATH}/no-lesson/copies"), 404, "unknown-collection", "id")
    again = [
        await client.post(path, headers={"Headlight-Client": "a-page-of-mine"}) for _ in range(2)
    ]
    assert [reply.status_code for reply in again] == [201, 200]
    assert again[0].json()["id"] == again[1].json()["id"]


async def test_an_author_has_a_share_of_the_shelf(client: httpx.AsyncClient) -> None:
    mine = [await made(client) for _ in range(MAX_BY_ADDRESS + 1)]
    replies = [await put_on(client, one) for one in mine]
    assert [reply.status_code for reply in replies] == [204] * MAX_BY_ADDRESS + [409]
    hold(replies[-1], 409, "too-many-listed", None)
    assert (await put_on(client, mine[0])).status_code == 204  # it is listed already
    assert len(await listed(client)) == MAX_BY_ADDRESS


async def test_an_operator_takes_one_off_for_good(serving: Serving, tmp_path: Path) -> None:
    async with serving() as client:
        one, other = await made(client), await made(client)
        for each in (one, other):
            assert (await put_on(client, each)).status_code == 204
        said = command(tmp_path, "withdraw", one["id"].upper(), "23456789abcde")
        taken, unknown = "Took 1 collections off the shelf", "there is no collection 23456789abcde"
        assert said == (1, taken, unknown)
        assert [entry["id"] for entry in await listed(client)] == [other["id"]]
        hold(await put_on(client, one), 403, "listing-withdrawn", None)
        path, key = f"{PATH}/{one['id']}", {"Edit-Key": one["edit_key"]}
        assert (await client.delete(f"{path}/listing", headers=key)).status_code == 204
        hold(await put_on(client, one), 403, "listing-withdrawn", None)
        read = await client.get(path)
        assert (read.status_code, "listed" in read.json()) == (200, False)
        await client.put(path, json=BODY, headers=owner(one))
        assert [entry["id"] for entry in await listed(client)] == [other["id"]]
        assert command(tmp_path, "export", tmp_path / "all.zip")[0] == 0
    async with serving(database_url=f"sqlite:///{tmp_path}/other.db") as client:
        imported = command(
            tmp_path, "import", tmp_path / "all.zip", database_url=f"sqlite:///{tmp_path}/other.db"
        )
        assert imported[0] == 0, imported
        assert [entry["id"] for entry in await listed(client)] == [other["id"]]
        hold(await put_on(client, one), 403, "listing-withdrawn", None)


async def test_a_damaged_or_expired_collection_is_not_on_the_shelf(
    serving: Serving, tmp_path: Path
) -> None:
    async with serving(keep_shares_days=30) as client:
        ones = [await made(client) for _ in range(3)]
        for one in ones:
            await put_on(client, one)
        with sqlite3.connect(tmp_path / "headlight.db") as database:
            changes = (
                ("UPDATE collections SET document = '{}' WHERE id = ?", ones[0]["id"]),
                (
                    "UPDATE collections SET changed = '2020-01-01 00:00:00' WHERE id = ?",
                    ones[1]["id"],
                ),
            )
            for change, name in changes:
                database.execute(change, (name,))
        assert [entry["id"] for entry in await listed(client)] == [ones[2]["id"]]


async def test_an_operator_can_switch_the_shelf_off(serving: Serving) -> None:
    async with serving(list_collections=False) as client:
        one = await made(client)
        hold(await put_on(client, one), 403, "listing-off", None)
        reply = (await client.get(SHELF)).json()
        assert reply["listing"] is False
        assert len(reply["collections"]) == len(ready_collections())
        assert "From teachers" not in (await client.get("/collections")).text

"""A share can be deleted by its author, and a damaged one is reported."""

import sqlite3
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from tests.assignments import assigning
from tests.collections import collecting
from tests.golden.kept import put, rows
from tests.serving.fixtures import Serving
from tests.serving.problem import hold
from tests.serving.storage import ASKS, kept, share


async def test_a_share_is_deleted_only_with_its_key(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    one, two = await share(client, asks=ASKS), await share(client, asks=ASKS[:1])
    path = f"/api/shares/{one['id']}"
    hold(await client.delete(path), 422, "missing", "Edit-Key")
    for wrong in (two["edit_key"], "", "\xe9" * 3, one["edit_key"][:-1]):
        bad = {b"Edit-Key": wrong.encode()}
        hold(await client.delete(path, headers=bad), 403, "wrong-edit-key", "Edit-Key")
    assert (await client.get(path)).status_code == 200
    assert (await client.get(f"/s/{one['id']}/preview.png")).status_code == 200
    headers = {"Edit-Key": one["edit_key"]}
    deleted = await client.delete(
        path.upper().replace("/API/SHARES", "/api/shares"), headers=headers
    )
    assert (deleted.status_code, deleted.content) == (204, b"")
    for gone in (path, f"{path}/asks/0", *(f"/s/{one['id']}{it}" for it in ("", "/preview.png"))):
        hold(await client.get(gone), 404, "unknown-share", "id")
    hold(await client.delete(path, headers=headers), 404, "unknown-share", "id")
    assert (await client.get(f"/api/shares/{two['id']}/asks/0")).status_code == 200
    assert kept(tmp_path)[0] == 2, "what the other one holds"
    headers = {"Edit-Key": two["edit_key"]}
    assert (await client.delete(f"/api/shares/{two['id']}", headers=headers)).status_code == 204
    assert kept(tmp_path) == (0, 0)


async def test_the_database_does_not_contain_the_key(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    made = await share(client)
    assert made["edit_key"].encode() not in b"".join(
        file.read_bytes() for file in tmp_path.glob("headlight.db*")
    )
    assert "edit_key" not in (await client.get(f"/api/shares/{made['id']}")).text


async def test_old_shares_have_no_key(serving: Serving, tmp_path: Path) -> None:
    old = rows(put(1, tmp_path))[0]
    async with serving() as client:
        for key in ("", "None"):
            headers = {"Edit-Key": key}
            response = await client.delete(f"/api/shares/{old.id}", headers=headers)
            hold(response, 403, "wrong-edit-key", "Edit-Key")


DAMAGES = {
    "contents": "UPDATE contents SET content = zeroblob(length(content)) WHERE :id > 0",
    "exchanged": """UPDATE contents SET content = (SELECT content FROM contents
        WHERE digest = (SELECT digest FROM shares WHERE id <> :id))""",
    "shares": "UPDATE shares SET digest = zeroblob(32) WHERE id = :id",
    "answers": "UPDATE answers SET digest = zeroblob(32) WHERE share = :id",
}


@pytest.mark.parametrize("damage", DAMAGES)
async def test_a_damaged_share_is_410(serving: Serving, tmp_path: Path, damage: str) -> None:
    async with serving() as client:
        share_id = (await share(client, asks=ASKS[:1]))["id"]
        whole = await share(client, select=["source.input"])
    with sqlite3.connect(tmp_path / "headlight.db") as connection:
        connection.execute(DAMAGES[damage], {"id": share_id})
    connection.close()
    pages = ["s/{}", "embed/{}", "s/{}/preview.png", "s/{}/handout.html"]
    async with serving() as client:
        read = ["api/shares/{}/asks/0"] if damage == "answers" else ["api/shares/{}", *pages]
        for path in read:
            hold(await client.get(f"/{path.format(share_id)}"), 410, "damaged-share", None)
        if damage != "answers":
            page = await client.get(f"/s/{share_id}", headers={"Accept": "text/html"})
            assert page.status_code == 410
            assert "This share is damaged" in page.text
        if damage != "contents":
            assert (await client.get(f"/s/{whole['id']}")).status_code == 200


async def test_a_damaged_collection_or_assignment_is_410(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    listed, task = await collecting.made(client), await assigning.made(client)
    assert await task.sent("k2m4n6p8", ["0"], None, None) == 204

    def damage(table: str, old: str, new: str) -> None:
        with closing(sqlite3.connect(tmp_path / "headlight.db")) as connection, connection:
            changed = f"UPDATE {table} SET document = replace(document, ?, ?)"
            connection.execute(changed, (old, new))

    damage("submissions", '"0"', '"1"')
    for path in ("/answers", "/answers.csv"):
        hold(await task.get(path), 410, "damaged-assignment")
    assert await task.sent("k2m4n6p8", ["0"], None, None) == 204
    assert (await task.read("/answers"))["members"] == 1
    damage("collections", "Week", "Weak")
    damage("assignments", "Week", "Weak")
    for path, name, one in (("c", "collection", listed["id"]), ("a", "assignment", task.id)):
        path, api = f"/{path}/{one}", f"/api/{name}s/{one}"
        page = await client.get(path, headers={"Accept": "text/html"})
        assert page.status_code == 410
        assert f"This {name} is damaged" in page.text
        hold(await client.get(api), 410, f"damaged-{name}", None)
    mine, key = f"{collecting.PATH}/{listed['id']}", collecting.owner(listed)
    change = await client.put(mine, json=collecting.BODY, headers=key)
    hold(change, 410, "damaged-collection", None)
    damage("assignments", "e", "i")  # which is no JSON
    for gone in (await client.delete(mine, headers=key), await task.delete()):
        assert gone.status_code == 204


async def test_damaged_shares_without_digests_are_detected(
    serving: Serving, tmp_path: Path
) -> None:
    file = put(1, tmp_path)
    ids = [row.id for row in rows(file)]
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE shares SET trace = substr(trace, 1, 1000)")
        connection.execute("UPDATE answers SET answer = x'00112233'")
        connection.execute("UPDATE shares SET state = '{\"source\": ' WHERE id = ?", ids[:1])
    connection.close()
    async with serving() as client:
        for share_id in ids:
            for path in ("api/shares/{}", "s/{}", "s/{}/preview.png", "s/{}/handout.html"):
                hold(await client.get(f"/{path.format(share_id)}"), 410, "damaged-share", None)
        answers = [await client.get(f"/api/shares/{one}/asks/0") for one in ids]
        assert {410} <= {one.status_code for one in answers} <= {404, 410}

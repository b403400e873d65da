"""Who controls a room: its key, and the driver's seat."""

import httpx

from tests.rooms.room_client import STRANGER, opened
from tests.rooms.room_client import client as client


async def test_only_the_key_controls_a_room(client: httpx.AsyncClient) -> None:
    room, owner = await opened(client)
    for headers in (STRANGER, {}, {"Authorization": owner["Authorization"][7:]}):
        for method, path in (
            ("PUT", "/state"), ("GET", "/class"), ("GET", "/record"), ("POST", "/driver"),
            ("DELETE", "/driver"), ("DELETE", ""),
        ):  # fmt: skip
            body = {"link": "/lab"} if method == "PUT" else None
            reply = await client.request(method, room + path, json=body, headers=headers)
            assert reply.status_code == 403, (method, path)
            assert reply.json()["type"] == "urn:headlight:wrong-room-key"
    assert (await client.get(f"{room}/state")).json()["seq"] == 1


async def test_the_key_is_in_no_reply_but_the_first(client: httpx.AsyncClient) -> None:
    room, owner = await opened(client)
    key = owner["Authorization"].removeprefix("Bearer ")
    await client.put(f"{room}/state", json={"link": "/lab"}, headers=owner)
    for path in ("/state", "/class", "/record"):
        reply = await client.get(room + path, headers=owner)
        assert reply.status_code == 200, path
        assert key not in reply.text
    page = await client.get(room.replace("/api/rooms", "/room"))
    assert page.status_code == 200
    assert key not in page.text


async def test_the_seat_is_handed_over_and_taken_back(client: httpx.AsyncClient) -> None:
    room, owner = await opened(client)
    seat = (await client.post(f"{room}/driver", headers=owner)).json()
    assert seat["url"].endswith(f"#drive={seat['key']}")
    driver = {"Authorization": f"Bearer {seat['key']}"}

    async def present(headers: dict[str, str], link: str) -> int:
        sent = {"link": link}
        return (await client.put(f"{room}/state", json=sent, headers=headers)).status_code

    async def handed() -> bool:
        return bool((await client.get(f"{room}/state")).json()["handed"])

    # Until the link is opened, the teacher presents.
    assert not await handed()
    assert await present(owner, "/?source=Still+mine") == 200
    assert not await handed()
    assert await present(driver, "/?source=Still+mine") == 200
    assert await handed()
    assert await present(driver, "/lab") == 200
    assert await present(owner, "/?source=Mine") == 200
    assert seat["key"] not in seat["qr"]
    assert seat["qr"].startswith("<svg")
    for method, path in (("DELETE", ""), ("POST", "/driver"), ("GET", "/record")):
        assert (await client.request(method, room + path, headers=driver)).status_code == 403
    second = (await client.post(f"{room}/driver", headers=owner)).json()["key"]
    assert not await handed()
    assert await present(driver, "/lab") == 403  # replaced
    assert await present({"Authorization": f"Bearer {second}"}, "/lab") == 200
    assert (await client.delete(f"{room}/driver", headers=driver)).status_code == 403
    assert (await client.delete(f"{room}/driver", headers=owner)).status_code == 204
    assert await present({"Authorization": f"Bearer {second}"}, "/?source=Late") == 403
    state = (await client.get(f"{room}/state")).json()
    assert (state["link"], state["handed"]) == ("/lab", False)


async def test_a_driver_gives_the_seat_back(client: httpx.AsyncClient) -> None:
    room, owner = await opened(client)
    seat = (await client.post(f"{room}/driver", headers=owner)).json()
    driver = {"Authorization": f"Bearer {seat['key']}"}
    await client.put(f"{room}/state", json={"link": "/lab"}, headers=driver)
    assert (await client.get(f"{room}/state")).json()["handed"]
    assert (await client.delete(f"{room}/driver", headers=driver)).status_code == 204
    assert not (await client.get(f"{room}/state")).json()["handed"]
    assert (await client.delete(f"{room}/driver", headers=driver)).status_code == 403

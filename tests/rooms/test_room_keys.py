"""Who controls a room: its key, and the driver's seat."""

from typing import Any

from tests.rooms.room_client import STRANGER, Room
from tests.serving.owned import bearer


async def test_only_the_key_controls_a_room(room: Room) -> None:
    for headers in (STRANGER, {}, {"Authorization": room.reply["key"]}):
        for method, path in (
            ("PUT", "/state"), ("GET", "/class"), ("GET", "/record"), ("POST", "/driver"),
            ("DELETE", "/driver"), ("DELETE", ""),
        ):  # fmt: skip
            body = {"link": "/lab"} if method == "PUT" else None
            reply = await room.by(headers).send(method, path, body)
            assert reply.status_code == 403, (method, path)
            assert reply.json()["type"] == "urn:headlight:wrong-room-key"
    assert (await room.state())["seq"] == 1


async def test_the_key_is_in_no_reply_but_the_first(room: Room) -> None:
    await room.present("/lab")
    page = await room.client.get(room.path.replace("/api/rooms", "/room"))
    for reply in (page, *[await room.get(path) for path in ("/state", "/class", "/record")]):
        assert reply.status_code == 200, reply.url
        assert room.reply["key"] not in reply.text


async def seat_of(room: Room) -> tuple[Any, Room]:
    """Offer the driver's seat; return the reply, and the room as its driver uses it."""
    seat = (await room.post("/driver")).json()
    return seat, room.by(bearer(seat["key"]))


async def test_the_seat_is_handed_over_and_taken_back(room: Room) -> None:
    seat, driver = await seat_of(room)
    assert seat["url"].endswith(f"#drive={seat['key']}")

    async def present(by: Room, link: str) -> int:
        return (await by.present(link)).status_code

    async def handed() -> bool:
        return bool((await room.state())["handed"])

    # Until the link is opened, the teacher presents.
    assert not await handed()
    assert await present(room, "/?source=Still+mine") == 200
    assert not await handed()
    assert await present(driver, "/?source=Still+mine") == 200
    assert await handed()
    assert await present(driver, "/lab") == 200
    assert await present(room, "/?source=Mine") == 200
    assert seat["key"] not in seat["qr"]
    assert seat["qr"].startswith("<svg")
    for method, path in (("DELETE", ""), ("POST", "/driver"), ("GET", "/record")):
        assert (await driver.send(method, path)).status_code == 403
    _, second = await seat_of(room)
    assert not await handed()
    assert await present(driver, "/lab") == 403  # replaced
    assert await present(second, "/lab") == 200
    assert (await driver.delete("/driver")).status_code == 403
    assert (await room.delete("/driver")).status_code == 204
    assert await present(second, "/?source=Late") == 403
    assert (await room.state())["link"] == "/lab"
    assert not await handed()


async def test_a_driver_gives_the_seat_back(room: Room) -> None:
    _, driver = await seat_of(room)
    await driver.present("/lab")
    assert (await room.state())["handed"]
    assert (await driver.delete("/driver")).status_code == 204
    assert not (await room.state())["handed"]
    assert (await driver.delete("/driver")).status_code == 403

"""Replies about rooms."""

import time
from collections.abc import AsyncIterator, Awaitable
from typing import TypeVar
from urllib.parse import urlsplit

from fastapi import Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from app.assets.languages import languages, negotiate
from app.assets.qr import qr_code
from app.assets.templates import base_url, render
from app.collections import pages as collection_pages
from app.figures.challenge_checking import check_ask
from app.http.limits import client_network
from app.http.problems import ProblemError
from app.http.route_dependencies import Services
from app.http.tasks_and_caches import off_loop
from app.lessons import pages as lessons
from app.rooms import answer_files, asking, members
from app.rooms.open_rooms import RoomRates, Rooms
from app.rooms.room_document import Room, hashed, new_key, normalised, opens
from app.rooms.room_on_server import Hub
from app.rooms.schemas import (
    AnsweredReply,
    AnswerRequest,
    AnswersReply,
    ClassReply,
    MembersReply,
    QuestionRequest,
    RemovalReply,
    RemovalRequest,
    RoomCreated,
    RoomPatch,
    RoomRecord,
    RoomState,
    SeatReply,
    StageRequest,
    TimerRequest,
    TryReply,
    TryRequest,
    WallReply,
    WorkCreated,
    WorkRequest,
)
from app.shares import service as shares
from app.store.store import Store

Found = TypeVar("Found")

POLL_SECONDS = 25.0  # a request that waits for a change is answered after at most this time
# Some proxies and virus scanners hold a stream back until it has this many bytes.
PADDING = b": " + b" " * 2048 + b"\n\n"


async def create(request: Request, services: Services, state: RoomState) -> RoomCreated:
    """Open a room. Raises ProblemError if too many are opened."""
    address = client_network(request)
    await services[RoomRates].openings.count(address)
    code, key, _ = await services[Rooms].create(state.link, services[Store].owner(address))
    return RoomCreated(code=code, url=room_url(request, services, code), key=key)


def room_url(request: Request, services: Services, code: str) -> str:
    """Return the address of a room for students."""
    return f"{base_url(request, services)}{request.app.url_path_for('room_page', code=code)}"


async def door(request: Request, services: Services, typed: str) -> Response:
    """Return the page where a code is typed or, for the code of a room, the way to it."""
    if not typed:
        return render(request, services, "room.html", more={"typed": ""})
    code = normalised(typed)
    try:
        await _visited(request, services, code)
    except ProblemError as problem:
        if problem.kind != "unknown-room":
            raise
        return render(request, services, "room.html", more={"typed": typed[:16]}, status=404)
    return RedirectResponse(request.app.url_path_for("room_page", code=code), 303)


async def page(request: Request, services: Services, typed: str, *, screen: bool) -> HTMLResponse:
    """Return the page that a room presents, which then follows the room."""
    code = normalised(typed)
    hub = await _visited(request, services, code)
    path = urlsplit(hub.room.link).path
    variables = {"room": {"code": code, "link": hub.room.link, "screen": screen}, "newcomer": ""}
    if path.startswith("/c/"):
        return await collection_pages.page(request, services, path.removeprefix("/c/"), variables)
    if path.startswith("/learn/"):
        return lessons.page(request, services, path.removeprefix("/learn/"), variables)
    share, template = None, "lab.html" if path == "/lab" else "workspace.html"
    if path.startswith("/s/"):
        share_found = await shares.find(services, path.removeprefix("/s/"))
        share = await off_loop(shares.card, share_found, size=len(share_found.trace))
        template = "lab.html" if "lab" in share_found.state else "workspace.html"
    return render(request, services, template, share=share, more=variables)


async def joined(request: Request, services: Services, typed: str, member: str | None) -> Hub:
    """Return the hub of a room for a member or a screen.

    An address that has tried too many codes gets 429 for every code, so that it learns nothing of
    them; members who are already in the room are not affected.
    """
    code, address = normalised(typed), _address(request)
    if not services[Rooms].knows(code, member):
        await services[RoomRates].tries.check(address)
    try:
        return await services[Rooms].join(code, member, address)
    except ProblemError as problem:
        if problem.kind == "unknown-room":
            await services[RoomRates].tries.count(address)
        raise


async def owned(request: Request, services: Services, code: str, key: str) -> Hub:
    """Return the hub of a room, given its key; a wrong key or code counts as a try."""
    return await _tried(request, services, services[Rooms].owned(normalised(code), key))


async def present(
    request: Request, services: Services, code: str, key: str, state: RoomState
) -> Room:
    """Present a state, given the key of the room or of the driver's seat."""
    pointer = state.pointer.model_dump() if state.pointer else None

    def make(room: Room) -> Room:
        driving = room.driving or opens(key, room.driver)
        changes = {
            "link": state.link,
            "pointer": pointer,
            "driving": driving,
            "picked": state.picked,
        }
        is_same = all(getattr(room, name) == value for name, value in changes.items())
        return room if is_same else room.then(**changes)

    change = services[Rooms].change(normalised(code), key, make, drivers=True)
    return await _tried(request, services, change)


async def end(request: Request, services: Services, code: str, key: str) -> None:
    """End a room, given its key."""
    change = services[Rooms].change(normalised(code), key, lambda room: room.then(over=True))
    await _tried(request, services, change)


async def hand_over(request: Request, services: Services, code: str, key: str) -> SeatReply:
    """Return a key for the driver's seat; an earlier one becomes invalid."""
    seat = new_key()
    change = services[Rooms].change(
        normalised(code), key, lambda room: room.then(driver=hashed(seat), driving=False)
    )
    await _tried(request, services, change)
    url = f"{room_url(request, services, normalised(code))}#drive={seat}"
    return SeatReply(key=seat, url=url, qr=(await off_loop(qr_code, url)).decode())


async def take_back(request: Request, services: Services, code: str, key: str) -> None:
    """Make the key of the driver's seat invalid, given the room's key or that one itself."""

    def make(room: Room) -> Room:
        return room.then(driver=None, driving=False) if room.driver else room

    change = services[Rooms].change(normalised(code), key, make, drivers=True)
    await _tried(request, services, change)


async def poll(
    request: Request, hub: Hub, since: int | None, member: str | None, exploring: bool
) -> Room:
    """Return the room's document, if `since` is given once it is newer or after some time."""
    with hub.present(member, exploring, hub.holder(_address(request))):
        if since is not None:
            hub.sent(member, since)
            await hub.after(since, POLL_SECONDS, member)
        return hub.room


async def events(
    request: Request, hub: Hub, member: str | None, exploring: bool
) -> AsyncIterator[bytes]:
    """Yield padding, then the events of the room; meanwhile the member is present."""
    with hub.present(member, exploring, hub.holder(_address(request))):
        yield PADDING
        async for event in hub.events(member):
            yield event


async def about_class(services: Services, hub: Hub) -> ClassReply:
    """Return who is in the room, as numbers."""
    counts = await services[Rooms].counts(hub)
    return ClassReply(
        seq=hub.room.seq,
        joined=await services[Rooms].bus.count(hub.code, "members"),
        following=counts.following,
        in_step=counts.in_step,
        exploring=counts.exploring,
        answered=await asking.answered(services[Rooms], hub),
    )


async def count_answered(request: Request, services: Services, code: str) -> AnsweredReply:
    """Return how many have answered, to whoever knows the room's code."""
    hub = await _visited(request, services, normalised(code))
    return AnsweredReply(answered=await asking.answered(services[Rooms], hub))


async def listed(request: Request, services: Services, code: str, key: str) -> MembersReply:
    """Return the members of a room, given its key."""
    hub = await owned(request, services, code, key)
    present, network = await members.listed(services[Rooms], hub, _address(request))
    listed = [vars(member) for member in present]
    return MembersReply.model_validate(
        {"closed": hub.room.closed, "at": time.time(), "network": network, "members": listed}
    )


async def adjust(
    request: Request, services: Services, code: str, key: str, body: RoomPatch
) -> Room:
    """Close a room to newcomers, pause it, or open its wall, given its key."""
    changes = body.model_dump(exclude_none=True)
    return await _tried(
        request, services, members.adjust_room(services[Rooms], normalised(code), key, changes)
    )


async def send_work(
    request: Request, services: Services, code: str, body: WorkRequest
) -> WorkCreated:
    """Store what a member explores."""
    hub = await joined(request, services, code, body.member)
    values = body.member, body.link, body.nickname, _address(request)
    return WorkCreated(id=await members.send_to_wall(services[Rooms], hub, *values))


async def works(request: Request, services: Services, code: str, key: str) -> WallReply:
    """Return what the members explore, given the room's key."""
    hub = await owned(request, services, code, key)
    return WallReply(works=await members.works_on_wall(services[Rooms], hub))


async def remove_members(
    request: Request, services: Services, code: str, key: str, body: RemovalRequest
) -> RemovalReply:
    """Close a room and remove members, given its key."""
    work = members.remove(services[Rooms], normalised(code), key, set(body.members))
    return RemovalReply(removed=await _tried(request, services, work))


async def ask(
    request: Request, services: Services, code: str, key: str, body: QuestionRequest
) -> Room:
    """Ask the room a question, given its key."""
    about = body.ask.model_dump(exclude_none=True)
    if body.entry == "work":
        check_ask(services, about)
    change = asking.ask(
        services[Rooms],
        normalised(code),
        key,
        body.entry,
        about,
        nicknames=body.nicknames,
        wording=body.wording,
    )
    return await _tried(request, services, change)


async def proceed(
    request: Request, services: Services, code: str, key: str, body: StageRequest
) -> Room:
    """Go on to a stage of the present question, given the room's key."""
    change = asking.proceed(
        services[Rooms], normalised(code), key, body.stage, body.truth, body.gallery
    )
    return await _tried(request, services, change)


async def set_timer(
    request: Request, services: Services, code: str, key: str, body: TimerRequest
) -> Room:
    """Set the timer of the present question, given the room's key."""
    change = asking.set_timer(services[Rooms], normalised(code), key, body.seconds)
    return await _tried(request, services, change)


async def dismiss(request: Request, services: Services, code: str, key: str) -> None:
    """Take the question off the screens, given the room's key."""
    await _tried(request, services, asking.dismiss(services[Rooms], normalised(code), key))


async def answer(request: Request, services: Services, code: str, body: AnswerRequest) -> None:
    """Store a student's answer."""
    hub = await joined(request, services, code, body.member)
    sent = body.member, body.n, body.answer, body.nickname
    await asking.answer(services[Rooms], hub, *sent, _address(request))


async def hand_in(request: Request, services: Services, code: str, body: TryRequest) -> TryReply:
    """Check a member's work on a run, and store it."""
    hub = await joined(request, services, code, body.member)
    return await asking.hand_in(services, hub, body, _address(request))


async def given(request: Request, services: Services, code: str, key: str) -> AnswersReply:
    """Return the answers to the present question, given the room's key."""
    hub = await owned(request, services, code, key)
    question = hub.room.question
    n = question.n if question else 0
    truth = asking.stated(question.ask) if question else None
    answers = await asking.given(services[Rooms], hub, n)
    return AnswersReply.model_validate(
        {"n": n, "truth": truth, "answers": [vars(vote_answer) for vote_answer in answers]}
    )


async def table(request: Request, services: Services, code: str, key: str) -> str:
    """Return all answers as CSV, given the room's key."""
    return await answer_files.table(services[Rooms], await owned(request, services, code, key))


async def whole_record(request: Request, services: Services, code: str, key: str) -> RoomRecord:
    """Return everything that was asked, answered and presented, given the room's key."""
    return await answer_files.record(services[Rooms], await owned(request, services, code, key))


async def qti(request: Request, services: Services, code: str, key: str) -> bytes:
    """Return the questions as a QTI package in the reader's language, given the room's key."""
    hub = await owned(request, services, code, key)
    title, lang = f"Headlight {hub.code}", negotiate(request, languages())
    return await answer_files.qti(services[Rooms], hub, title, lang)


async def remove(request: Request, services: Services, code: str, key: str, identity: str) -> None:
    """Remove an answer to the present question. Raises a 404 ProblemError if there is none."""
    hub = await owned(request, services, code, key)
    question = hub.room.question
    if not (question and await asking.remove(services[Rooms], hub, question.n, identity)):
        raise ProblemError(404, "not-found", "there is no such answer", field="answer")


def _address(request: Request) -> str:
    """Return what limits are counted for: never empty, which would stand for the server itself."""
    return client_network(request) or "unknown"


async def _visited(request: Request, services: Services, code: str) -> Hub:
    """Return the hub of a room for a page; after too many wrong codes, no code is answered."""
    await services[RoomRates].tries.check(client_network(request))
    return await _tried(request, services, services[Rooms].hub(code))


async def _tried(request: Request, services: Services, attempt: Awaitable[Found]) -> Found:
    """Await a result; an unknown code or a wrong key counts as a try of the client's address."""
    try:
        return await attempt
    except ProblemError as problem:
        if problem.kind in ("unknown-room", "wrong-room-key"):
            await services[RoomRates].tries.count(client_network(request))
        raise

"""The routes of rooms."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.sse import EventSourceResponse

from app.assets.qti import QTI_FILE, qti_reply
from app.http.replies import HEADERS, JSON_BODY, TABLE, csv_reply, problems
from app.http.route_dependencies import Opened, key_of
from app.rooms import asking
from app.rooms import service as answers
from app.rooms.open_rooms import Rooms
from app.rooms.room_document import normalised
from app.rooms.room_on_server import Hub
from app.rooms.schemas import (
    MEMBER,
    AnsweredReply,
    AnswerRequest,
    AnswersReply,
    ClassReply,
    GalleryReply,
    MembersReply,
    QuestionRequest,
    RecordReply,
    RemovalReply,
    RemovalRequest,
    RoomCreated,
    RoomPatch,
    RoomRecord,
    RoomReply,
    RoomRequest,
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

router = APIRouter(prefix="/rooms", tags=["rooms"])

Code = Annotated[str, Path(max_length=64, description="From the reply to `POST /api/rooms`.")]
Member = Annotated[
    str | None,
    Query(
        pattern=MEMBER,
        description="The student's random token, the same after a reload; absent: a screen.",
    ),
]
Exploring = Annotated[bool, Query(description="Whether the student does not follow at present.")]

TRIED = {
    "_404": "There is no such room.",
    "_422": "A parameter is not valid.",
    "_429": "Too many wrong codes or keys, or too many changes; `Retry-After` says when to retry.",
    "_503": "The storage of rooms does not respond; `Retry-After` says when to retry.",
}
SPACE = {"_507": "The room has no space left; `Retry-After` says when to retry."}
OWNED = {"_403": "The key does not match.", **TRIED}
JOINED = {"_409": "The room is full, or closed to newcomers.", **TRIED, **SPACE}
Key = Annotated[str, Depends(key_of("room", "/api/rooms"))]
EVENT = {
    "type": "string",
    "contentMediaType": "application/json",
    "contentSchema": {"$ref": "#/components/schemas/RoomReply"},
}
STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events.",
        "content": {
            "text/event-stream": {
                "itemSchema": {
                    "type": "object",
                    "required": ["data"],
                    "properties": {"data": EVENT},
                }
            }
        },
    }
}


async def _joined(request: Request, services: Opened, code: Code, member: Member = None) -> Hub:
    return await answers.joined(request, services, code, member)


Joined = Annotated[Hub, Depends(_joined)]


@router.post(
    "",
    status_code=201,
    summary="Open a room",
    responses=problems(
        **JSON_BODY,
        _422="A field is not valid; `detail` says why.",
        _429="Too many rooms opened in a short time; `Retry-After` says when to retry.",
        _503="The server has as many rooms as it allows; `Retry-After` says when to retry.",
    ),
)
async def create_room(
    request: Request, response: Response, services: Opened, body: RoomRequest
) -> RoomCreated:
    """Open a room that presents a link; it ends by itself some hours after the last change."""
    created = await answers.create(request, services, body.state)
    response.headers["Location"] = request.app.url_path_for("room_state", code=created.code)
    return created


@router.put("/{code}/state", summary="Present a state", responses=problems(**JSON_BODY, **OWNED))
async def present_state(
    request: Request, services: Opened, code: Code, key: Key, body: RoomState
) -> RoomReply:
    """Replace the state of the room, given its key or that of the driver's seat."""
    room = await answers.present(request, services, code, key, body)
    return room.seen()


@router.get("/{code}/state", summary="Read the state of a room", responses=problems(**JOINED))
async def room_state(
    request: Request,
    response: Response,
    hub: Joined,
    member: Member = None,
    exploring: Exploring = False,
    since: Annotated[
        int | None,
        Query(ge=0, le=2**53, description="Wait up to 25 seconds for a state after this number."),
    ] = None,
) -> RoomReply:
    """Return the present state; with `since`, once there is a newer one or after some time."""
    response.headers["Cache-Control"] = "no-store"
    room = await answers.poll(request, hub, since, member, exploring)
    return room.seen()


@router.get(
    "/{code}/events",
    summary="Follow a room",
    response_class=Response,
    responses=STREAM | problems(**JOINED),
)
async def room_events(
    request: Request, hub: Joined, member: Member = None, exploring: Exploring = False
) -> Response:
    """Stream the present state at once, then the newest state after each change, until the end.

    The data of an event is the reply of `GET /api/rooms/{code}/state`. A slow reader gets the
    newest state and never a backlog.
    """
    events = answers.events(request, hub, member, exploring)
    return EventSourceResponse(events, headers=HEADERS)


@router.get("/{code}/class", summary="Count who is in a room", responses=problems(**OWNED))
async def room_class(request: Request, services: Opened, code: Code, key: Key) -> ClassReply:
    """Return how many members are present and follow, given the room's key."""
    hub = await answers.owned(request, services, code, key)
    return await answers.about_class(services, hub)


@router.get("/{code}/answered", summary="Count who has answered", responses=problems(**TRIED))
async def room_answered(
    request: Request, response: Response, services: Opened, code: Code
) -> AnsweredReply:
    """Return how many have answered in the present vote, for any screen: it needs no key."""
    response.headers["Cache-Control"] = "no-store"
    return await answers.count_answered(request, services, code)


@router.get("/{code}/record", summary="Read what was presented", responses=problems(**OWNED))
async def room_record(request: Request, services: Opened, code: Code, key: Key) -> RecordReply:
    """Return all links that were presented, in order, given the room's key."""
    hub = await answers.owned(request, services, code, key)
    return RecordReply.model_validate({"states": await services[Rooms].record(hub)})


@router.post(
    "/{code}/driver",
    status_code=201,
    summary="Let someone else present",
    responses=problems(**OWNED),
)
async def hand_over(request: Request, services: Opened, code: Code, key: Key) -> SeatReply:
    """Return a key with which someone else can present, until it is taken back or replaced."""
    return await answers.hand_over(request, services, code, key)


@router.delete(
    "/{code}/driver",
    status_code=204,
    summary="Let nobody else present",
    responses=problems(**OWNED),
)
async def take_back(request: Request, services: Opened, code: Code, key: Key) -> None:
    """Make the key of the driver's seat invalid, given the room's key or that one itself."""
    await answers.take_back(request, services, code, key)


@router.patch(
    "/{code}",
    summary="Close, pause, see what they explore",
    responses=problems(**JSON_BODY, **OWNED),
)
async def adjust_room(
    request: Request, services: Opened, code: Code, key: Key, body: RoomPatch
) -> RoomReply:
    """Close the room to newcomers, pause exploring, open the wall, or the reverse.

    Those who are in a closed room come and go as before.
    """
    room = await answers.adjust(request, services, code, key, body)
    return room.seen()


@router.put(
    "/{code}/work",
    summary="Send what one explores",
    responses=problems(
        **{
            **JSON_BODY,
            **JOINED,
            "_409": "The room is full or closed, or the teacher does not see what members explore.",
        }
    ),
)
async def send_work(
    request: Request, services: Opened, code: Code, body: WorkRequest
) -> WorkCreated:
    """Store what a member explores, instead of what it sent before; at most once per second."""
    return await answers.send_work(request, services, code, body)


@router.get("/{code}/work", summary="Read what members explore", responses=problems(**OWNED))
async def read_works(request: Request, services: Opened, code: Code, key: Key) -> WallReply:
    """Return what each member explored last, without names or with nicknames, given the key."""
    return await answers.works(request, services, code, key)


@router.get("/{code}/members", summary="List the members", responses=problems(**OWNED))
async def room_members(request: Request, services: Opened, code: Code, key: Key) -> MembersReply:
    """Return the members without names: which came from the same address, and who is here."""
    return await answers.listed(request, services, code, key)


@router.post("/{code}/removals", summary="Remove members", responses=problems(**JSON_BODY, **OWNED))
async def remove_members(
    request: Request, services: Opened, code: Code, key: Key, body: RemovalRequest
) -> RemovalReply:
    """Close the room to newcomers and remove members with all their answers."""
    return await answers.remove_members(request, services, code, key, body)


@router.delete("/{code}", status_code=204, summary="End a room", responses=problems(**OWNED))
async def end_room(request: Request, services: Opened, code: Code, key: Key) -> None:
    """End the room for everyone, given its key."""
    await answers.end(request, services, code, key)


@router.put(
    "/{code}/question",
    summary="Ask a room",
    responses=problems(
        **JSON_BODY,
        **OWNED,
        **SPACE,
        _409="The room has been asked as many questions as it can be.",
    ),
)
async def ask_room(
    request: Request, services: Opened, code: Code, key: Key, body: QuestionRequest
) -> RoomReply:
    """Ask a question, instead of the present one, given the room's key."""
    room = await answers.ask(request, services, code, key, body)
    return room.seen()


@router.patch(
    "/{code}/question",
    summary="Go on with a question",
    responses=problems(**JSON_BODY, **OWNED, _409="This stage does not follow the present one."),
)
async def go_on(
    request: Request, services: Opened, code: Code, key: Key, body: StageRequest
) -> RoomReply:
    """Let the class discuss, vote again, or see all answers beside the model's.

    The stages are `first`, `discuss`, `second` and `revealed`; from each of them the question can
    be revealed. Nothing about the answers is sent to the class before.
    """
    room = await answers.proceed(request, services, code, key, body)
    return room.seen()


@router.put(
    "/{code}/question/timer",
    summary="Set a timer",
    responses=problems(**JSON_BODY, **OWNED, _409="The room is not asked anything at present."),
)
async def set_timer(
    request: Request, services: Opened, code: Code, key: Key, body: TimerRequest
) -> RoomReply:
    """Show a timer with the question until its next stage; when it is over, the vote goes on."""
    room = await answers.set_timer(request, services, code, key, body)
    return room.seen()


@router.delete(
    "/{code}/question", status_code=204, summary="End a question", responses=problems(**OWNED)
)
async def end_question(request: Request, services: Opened, code: Code, key: Key) -> None:
    """Take the question off all screens."""
    await answers.dismiss(request, services, code, key)


@router.post(
    "/{code}/answers",
    status_code=204,
    summary="Answer a question",
    responses=problems(
        **{
            **JSON_BODY,
            **JOINED,
            "_409": "The room is full or closed, or not asked this at present.",
        }
    ),
)
async def answer_question(
    request: Request, services: Opened, code: Code, body: AnswerRequest
) -> None:
    """Answer the present question; a second answer in the same vote replaces the first one."""
    await answers.answer(request, services, code, body)


@router.post(
    "/{code}/tries",
    summary="Hand in a work",
    responses=problems(
        **{
            **JSON_BODY,
            **JOINED,
            "_409": "The room is full or closed, or not asked this at present.",
            "_422": "A field is not valid, or the link cannot be run; `detail` says why.",
            "_429": "Too many tries, or too much work in a short time; `Retry-After` says when to "
            "retry.",
            "_503": "The model or the storage of rooms is busy; `Retry-After` says when to retry.",
        }
    ),
)
async def hand_in(request: Request, services: Opened, code: Code, body: TryRequest) -> TryReply:
    """Check on a run whether a work reaches the question's goal, and store it.

    It replaces an earlier one of the member, until the gallery is shown.
    """
    return await answers.hand_in(request, services, code, body)


@router.get(
    "/{code}/gallery",
    summary="Read the gallery",
    responses=problems(
        **{**JOINED, "_409": "The room is full or closed, or has no gallery at present."}
    ),
)
async def read_gallery(
    response: Response, services: Opened, hub: Joined, member: Member = None
) -> GalleryReply:
    """Return the works that the teacher shows, without names; votes once they are revealed."""
    response.headers["Cache-Control"] = "no-store"
    return await asking.gallery(services, hub, member)


@router.get("/{code}/answers", summary="Read the answers", responses=problems(**OWNED))
async def read_answers(request: Request, services: Opened, code: Code, key: Key) -> AnswersReply:
    """Return the answers to the present question without names, given the room's key."""
    return await answers.given(request, services, code, key)


@router.get(
    "/{code}/answers.csv",
    summary="Download all answers",
    response_class=Response,
    responses=TABLE | problems(**OWNED),
)
async def answers_table(request: Request, services: Opened, code: Code, key: Key) -> Response:
    """Return all answers to all questions as CSV: one row for each student and question."""
    return csv_reply(
        await answers.table(request, services, code, key), f"answers-{normalised(code)}"
    )


@router.get(
    "/{code}/answers.json", summary="Download the whole record", responses=problems(**OWNED)
)
async def whole_record(request: Request, services: Opened, code: Code, key: Key) -> RoomRecord:
    """Return everything: questions in words, both votes, what is right, links that were shown."""
    return await answers.whole_record(request, services, code, key)


@router.get(
    "/{code}/questions.zip",
    summary="Download the questions",
    response_class=Response,
    responses=QTI_FILE | problems(**OWNED),
)
async def questions_file(request: Request, services: Opened, code: Code, key: Key) -> Response:
    """Return the questions that were asked as a QTI 2.1 package, for a learning platform."""
    return qti_reply(await answers.qti(request, services, code, key), normalised(code))


@router.delete(
    "/{code}/answers/{answer}",
    status_code=204,
    summary="Remove an answer",
    responses=problems(**{**OWNED, "_404": "There is no such room or answer."}),
)
async def remove_answer(
    request: Request,
    services: Opened,
    code: Code,
    key: Key,
    identity: Annotated[str, Path(alias="answer", max_length=64)],
) -> None:
    """Remove a member's answer to the present question, given the room's key."""
    await answers.remove(request, services, code, key, identity)

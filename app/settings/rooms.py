"""Limits of classrooms."""

from pydantic import Field

from app.settings.part import Part


class RoomSettings(Part):
    """Where rooms are kept, and their limits."""

    rooms_url: str | None = Field(
        default=None,
        pattern=r"^rediss?://\S+$",
        description="redis://:password@host:port of a Redis in which several servers keep rooms "
        "together; by default, a room is in the memory of the server that opened it.",
    )
    max_rooms: int = Field(
        default=100, ge=0, description="Rooms at once, on all servers together; then 503."
    )
    max_room_members: int = Field(
        default=1_000, ge=1, description="Members of a room, counted once each; then 409."
    )
    max_room_questions: int = Field(
        default=200, ge=1, description="Questions that one room can be asked; then 409."
    )
    max_room_bytes: int = Field(
        default=16_000_000, ge=100_000, description="Bytes that one room keeps; then 507."
    )
    max_room_changes_per_second: int = Field(
        default=20, ge=1, description="Changes of one room per second; then 429."
    )
    room_hours: float = Field(
        default=4.0, gt=0, le=168, description="Hours without a change after which a room ends."
    )
    max_rooms_per_minute: int = Field(
        default=10, ge=1, description="Rooms that one address may open per minute."
    )
    max_room_tries_per_minute: int = Field(
        default=30, ge=1, description="Wrong codes and keys of one address per minute; then 429."
    )

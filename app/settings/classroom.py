"""Limits of what a class makes: rooms, training runs, and texts that are indexed."""

from pydantic import Field

from app.settings.base import Part


class RoomSettings(Part):
    """Where rooms are kept, and their limits."""

    rooms_url: str | None = Field(
        default=None,
        pattern=r"^rediss?://\S+$",
        description="redis://:password@host:port of a Redis in which several servers keep rooms "
        "together; by default, a room is on the server that opened it, in the data folder.",
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


class TrainingSettings(Part):
    """What training on the page may take."""

    max_runs: int = Field(
        default=1, ge=0, le=64, description="Training runs at once; 0 turns training off."
    )
    max_run_queue: int = Field(default=8, ge=0, description="Training runs waiting; then 503.")
    max_run_steps: int = Field(default=5_000, ge=10, le=100_000, description="Steps of one run.")
    max_run_minutes: float = Field(
        default=10.0, gt=0, description="Training time of one run in minutes, without pauses."
    )
    max_run_threads: int = Field(default=1, ge=1, le=64, description="Threads of one run.")
    run_nice: int = Field(
        default=19, ge=0, le=19, description="Niceness of a run's process: 19 is lowest priority."
    )
    max_run_unwatched_seconds: float = Field(
        default=120.0, gt=0, description="Seconds without a watcher after which a run is stopped."
    )
    max_runs_bytes: int = Field(
        default=2_000_000_000,
        ge=0,
        description="Bytes of all runs' snapshots; beyond it, the oldest ended run is deleted.",
    )
    keep_runs_minutes: float = Field(
        default=60.0, gt=0, description="Minutes for which an ended run is kept without requests."
    )
    max_kept_models: int = Field(
        default=20, ge=0, description="Models kept from training runs, in total; then 507."
    )
    keep_models_days: float = Field(
        default=90.0, gt=0, le=36_500, description="Days for which such a model is kept."
    )


class ReaderTextSettings(Part):
    """What texts of readers for the pages about heads may take."""

    max_corpora: int = Field(
        default=1,
        ge=0,
        le=64,
        description="Texts of readers indexed at once for the pages about heads; 0: none.",
    )
    max_corpus_queue: int = Field(default=8, ge=0, description="Such texts waiting; then 503.")
    max_corpus_sentences: int = Field(default=1_000, ge=1, description="Sentences of one text.")
    max_corpus_characters: int = Field(default=60_000, ge=1, description="Length of one text.")
    max_corpus_seconds: float = Field(
        default=300.0, gt=0, description="Longest time to index one text; then it has failed."
    )
    max_kept_corpora: int = Field(
        default=100, ge=1, description="Texts of readers kept, in total; then 507."
    )
    keep_corpora_hours: float = Field(
        default=24.0, gt=0, le=876_000, description="Hours for which such a text is kept."
    )

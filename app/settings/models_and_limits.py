"""The models that are served; the limits of a request to them, and of what a class makes.

A class makes rooms, training runs, and texts that are indexed.
"""

from typing import Literal

from pydantic import Field

from app.settings.server import ZOO, Part


class ModelSettings(Part):
    """Which models to serve, on what, and what one request may ask."""

    models: str = Field(
        default="en-zh,en-zh-4-heads",
        pattern=r"^[a-z0-9-]+(=[^,]+)?(, *[a-z0-9-]+(=[^,]+)?)*$",
        description="Models to serve: id=path,…; the first is the default. A path is that of a "
        "bundle, or hf: and that of a Hugging Face model, or hf:owner/name[@revision] of a hub; an "
        "id alone is a bundle that ships with Headlight.",
    )
    corpora: str = Field(
        default="",
        pattern=r"^([a-z0-9-]+=[^,]+(, *[a-z0-9-]+=[^,]+)*)?$",
        description="Indexed sentences for the pages about heads: id=folder,…, each written by "
        "`python -m model measure corpus --index` for the model of that id.",
    )
    zoo: bool = Field(
        default=True, description="Serve the small models of the zoo as well as MODELS."
    )
    download: bool = Field(
        default=False,
        description="Download models of a hub (hf:owner/name) that are not in the cache yet.",
    )
    device: Literal["auto", "cpu", "cuda", "mps"] = Field(
        default="auto",
        description="Device that runs the models; auto is the CUDA GPU if there is one.",
    )
    dtype: Literal["float32", "bfloat16", "float16", "auto"] | None = Field(
        default=None,
        description="Precision of Hugging Face models: float32 by default; auto is as stored.",
    )
    engines: int | None = Field(
        default=None,
        ge=0,
        le=64,
        description="Processes that run models; 0 runs them on threads of the server. "
        "By default, one per GPU, or one for every two cores without a GPU.",
    )
    ray_address: str | None = Field(
        default=None,
        pattern=r"^[^\s/]+:\d+$",
        description="host:port of a Ray cluster that runs the models; none by default.",
    )
    draft: bool = Field(
        default=True,
        description="Draft greedy translations with CTranslate2 if it is installed; the results "
        "are the same, but faster.",
    )
    max_models: int = Field(
        default=2, ge=1, description="Models loaded at once; the least recently used is unloaded."
    )
    max_text_characters: int = Field(default=2_000, ge=1, description="Length of a sentence.")
    max_long_characters: int = Field(
        default=50_000, ge=1, description="Length of a long text, of which pictures are sent."
    )
    max_long_seconds: float = Field(
        default=600.0,
        gt=0,
        description="Longest wait for a long text, or for a share with a sweep; then 503.",
    )
    max_cells: int = Field(
        default=262_144, ge=4_096, description="Cells of one picture of a head of a long text."
    )
    max_pass_bytes: int = Field(
        default=1_000_000_000,
        ge=0,
        description="Bytes of queries and keys of long texts kept in each engine process.",
    )
    pass_precision: Literal["int16", "float32"] = Field(
        default="int16", description="Precision in which these are kept."
    )
    max_free_bytes: int = Field(
        default=1_300_000_000,
        ge=0,
        description="Freed memory that each engine process keeps for the next request.",
    )
    max_interventions: int = Field(default=64, ge=0, description="Interventions in one request.")
    max_values: int = Field(
        default=16_000_000,
        ge=1_000,
        description="Numbers in one reply; in JSON, a quarter.",
    )
    max_positions: int = Field(
        default=1_024, ge=1, description="Length and d_model of a table of positional encodings."
    )
    max_queue: int = Field(
        default=512, ge=1, description="Requests waiting for one model; then 503."
    )
    max_streams: int = Field(
        default=64,
        ge=1,
        description="Streams of one model open at once, half of them by one client; then 503.",
    )
    max_batch: int = Field(default=8, ge=1, description="Requests that the model runs together.")
    max_wait_seconds: float = Field(
        default=30.0, gt=0, description="Longest wait for a model; then 503, at once if foreseen."
    )
    max_work: float = Field(
        default=1_000_000,
        gt=0,
        description="Work of one request (layers × rows × tokens), and of all that an idle "
        "client may send at once.",
    )
    work_per_second: float = Field(
        default=20_000,
        gt=0,
        description="Work per second that a client may request in the long run; then 429.",
    )

    @property
    def bundles(self) -> dict[str, str]:
        """Models by id; each value is an argument of `model.adapters.open_model.open_model`."""
        pairs = (entry.strip().partition("=") for entry in self.models.split(","))
        return {name: path or name for name, _, path in pairs}

    @property
    def corpus_folders(self) -> dict[str, str]:
        """Folders of indexed sentences by the id of the model."""
        pairs = (entry.strip().partition("=") for entry in self.corpora.split(",") if entry)
        return {name: path for name, _, path in pairs}

    @property
    def zoo_bundles(self) -> dict[str, str]:
        """The models of the zoo by id, except ids that `models` already uses."""
        names = sorted(path.name for path in ZOO.iterdir()) if self.zoo else []
        bundles = {f"zoo-{name}": f"zoo/{name}" for name in names}
        return {id_: path for id_, path in bundles.items() if id_ not in self.bundles}


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

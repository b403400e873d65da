"""Settings: one field each, read from `HEADLIGHT_…` in the environment."""

from contextlib import suppress
from ipaddress import ip_network
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import (
    Field,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, SettingsConfigDict
from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

ROOT = Path(__file__).resolve().parent.parent
ZOO = ROOT / "model" / "checkpoints" / "zoo"
# An installed package must not write into its own folder.
DATA = ROOT / "data" if (ROOT / "requirements.txt").is_file() else Path.home() / ".headlight"

# Maps the scheme people write in a URL to the driver that does not block the event loop.
DRIVERS = {
    "sqlite": "sqlite+aiosqlite",
    "postgres": "postgresql+asyncpg",
    "postgresql": "postgresql+asyncpg",
}

# Defaults for a server on the internet, where clients are not trusted.
PUBLIC_DEFAULTS = {
    "max_text_characters": 1_000,
    "max_long_characters": 20_000,
    "max_long_seconds": 60.0,
    "max_interventions": 32,
    "max_values": 4_000_000,
    "max_positions": 512,
    "max_queue": 32,
    "max_wait_seconds": 20.0,
    "max_request_seconds": 15.0,
    "max_stall_seconds": 15.0,
    "max_unsent_bytes": 250_000_000,
    "max_run_queue": 4,
    "max_corpus_sentences": 300,
    "max_corpus_characters": 20_000,
    "max_corpus_seconds": 120.0,
    "max_run_minutes": 5.0,
    "max_run_unwatched_seconds": 60.0,
    "max_shares_per_minute": 10,
    "max_rooms_per_minute": 3,
    "max_shares_bytes_per_address": 200_000_000,
}


class Settings(BaseSettings):
    """Headlight's configuration; every setting has a default that suits a class on a LAN.

    Raises `pydantic.ValidationError` if a value is invalid.
    """

    model_config = SettingsConfigDict(env_prefix="HEADLIGHT_", frozen=True, env_ignore_empty=True)

    host: str = Field(
        default="0.0.0.0", description="Address to listen on; 127.0.0.1 accepts only this machine."
    )
    port: int = Field(
        default=8000, ge=0, le=65535, description="Port to listen on; 0 picks a free one."
    )
    public_url: str | None = Field(
        default=None,
        pattern=r"^https?://[^\s?#]+$",
        description="Address that share links begin with; by default, that of the request.",
    )
    allowed_hosts: str = Field(
        default="",
        pattern=r"^((\*\.)?[A-Za-z0-9_.:\[\]-]+(,(\*\.)?[A-Za-z0-9_.:\[\]-]+)*|\*)?$",
        description="Host names to accept, besides IP addresses and local names: name,*.name,…",
    )
    trusted_proxies: str = Field(
        default="",
        description="Addresses or networks of proxies to accept X-Forwarded-For and -Proto from.",
    )
    public: bool = Field(
        default=False, description="On the internet: named hosts only, lower limits, HSTS."
    )
    metrics: bool = Field(default=False, description="Serve /metrics for Prometheus.")
    log: Literal["text", "json"] = Field(
        default="text", description="Readable log lines, or one JSON object per line."
    )
    log_requests: bool = Field(default=False, description="Log one line per request.")
    data_dir: Path = Field(default=DATA, description="Folder for the database and caches.")
    database_url: str | None = Field(
        default=None,
        description="sqlite:///path or postgresql://user:password@host/name; "
        "by default, an SQLite file in the data folder.",
    )
    rates_url: str | None = Field(
        default=None,
        pattern=r"^rediss?://\S+$",
        description="redis://:password@host:port of a Redis in which several servers count shares "
        "together; by default, each counts on its own.",
    )
    models: str = Field(
        default="en-zh",
        pattern=r"^[a-z0-9-]+(=[^,]+)?(, *[a-z0-9-]+(=[^,]+)?)*$",
        description="Models to serve: id=path,…; the first is the default. A path is that of a "
        "bundle, or hf: and that of a Hugging Face model; an id alone is a bundle that ships with "
        "Headlight.",
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
    device: Literal["auto", "cpu", "cuda"] = Field(
        default="auto", description="Device that runs the models; auto is the GPU if there is one."
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
    max_body_bytes: int = Field(default=250_000, ge=1_000, description="Size of a request's body.")
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
        default=64, ge=1, description="Requests waiting for one model; then 503."
    )
    max_batch: int = Field(default=8, ge=1, description="Requests that the model runs together.")
    max_wait_seconds: float = Field(
        default=30.0, gt=0, description="Longest wait for the model; then 503."
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
    max_clients_per_address: int = Field(
        default=64, ge=1, description="Pages at one address that count as separate clients."
    )
    max_connections: int = Field(default=1_000, ge=1, description="Connections at once; then 503.")
    max_head_bytes: int = Field(
        default=131_072, ge=1_024, description="Size of a request line with its headers; then 431."
    )
    max_request_seconds: float = Field(
        default=30.0, gt=0, description="Time for a request to arrive; then 408."
    )
    max_stall_seconds: float = Field(
        default=30.0,
        gt=0,
        description="Longest wait for a client that does not read its reply.",
    )
    max_unsent_bytes: int = Field(
        default=500_000_000,
        ge=1_000_000,
        description="Bytes of replies buffered for slow clients; then the slowest is disconnected.",
    )
    max_cache_bytes: int = Field(
        default=256_000_000, ge=0, description="Bytes of replies kept in memory."
    )
    max_shares_per_minute: int = Field(
        default=60, ge=1, description="Shares that one address may create per minute."
    )
    max_shares_bytes: int = Field(
        default=10_000_000_000, ge=0, description="Bytes of all shares together; then 507."
    )
    max_shares_bytes_per_address: int = Field(
        default=2_000_000_000, ge=0, description="Bytes of the shares of one address; then 507."
    )
    keep_shares_days: float | None = Field(
        default=None,
        gt=0,
        le=36_500,
        description="Days after which a share is deleted; by default, shares are kept permanently.",
    )
    keep_assignments_days: float = Field(
        default=180.0,
        gt=0,
        le=36_500,
        description="Days without an answer after which an assignment is deleted.",
    )
    max_assignment_members: int = Field(
        default=600, ge=1, description="Members who can answer one assignment; then 409."
    )

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
        default=600, ge=1, description="Members of a room, counted once each; then 409."
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

    @model_validator(mode="before")
    @classmethod
    def _with_public_defaults(cls, given: dict[str, Any]) -> dict[str, Any]:
        with suppress(ValidationError):  # it is reported where the field is checked
            if TypeAdapter(bool).validate_python(given.get("public", False)):
                return {**PUBLIC_DEFAULTS, **given}
        return given

    @field_validator("public")
    @classmethod
    def _with_a_name(cls, value: bool, about: ValidationInfo) -> bool:
        hosts, url = (about.data.get(name) for name in ("allowed_hosts", "public_url"))
        if value and (hosts == "*" or not (hosts or url)):
            raise ValueError("HEADLIGHT_ALLOWED_HOSTS or HEADLIGHT_PUBLIC_URL must name the host")
        return value

    @field_validator("trusted_proxies")
    @classmethod
    def _of_addresses(cls, value: str) -> str:
        for one in filter(None, value.split(",")):
            ip_network(one.strip())
        return value

    @field_validator("database_url")
    @classmethod
    def _with_async_driver(cls, value: str | None) -> str | None:
        if value is None:
            return None
        try:
            url = make_url(value)
        except ArgumentError as error:
            raise ValueError("not a database URL") from error
        if url.get_backend_name() not in DRIVERS:
            raise ValueError("the database must be SQLite or PostgreSQL")
        driver = DRIVERS.get(url.drivername, url.drivername)
        return url.set(drivername=driver).render_as_string(hide_password=False)

    @property
    def database(self) -> str:
        """The SQLAlchemy URL of the database, with an async driver."""
        return self.database_url or f"sqlite+aiosqlite:///{self.data_dir / 'headlight.db'}"

    @property
    def hosts(self) -> list[str]:
        """The configured hosts, including that of the public address."""
        named = [name for name in self.allowed_hosts.split(",") if name]
        public = urlsplit(self.public_url).hostname if self.public_url else None
        return [*named, f"[{public}]" if ":" in public else public] if public else named

    @property
    def proxies(self) -> list[str]:
        """Addresses and networks of the trusted proxies."""
        return [one.strip() for one in self.trusted_proxies.split(",") if one.strip()]

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
        found = {f"zoo-{name}": f"zoo/{name}" for name in names}
        return {id_: path for id_, path in found.items() if id_ not in self.bundles}

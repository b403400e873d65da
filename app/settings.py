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

# What people write in a URL, and the driver that speaks it without blocking the event loop.
DRIVERS = {
    "sqlite": "sqlite+aiosqlite",
    "postgres": "postgresql+asyncpg",
    "postgresql": "postgresql+asyncpg",
}

# What stands in for the defaults on the internet, where everyone is a stranger.
PUBLIC_DEFAULTS = {
    "max_text_characters": 1_000,
    "max_interventions": 32,
    "max_values": 4_000_000,
    "max_positions": 512,
    "max_queue": 32,
    "max_wait_seconds": 20.0,
    "max_request_seconds": 15.0,
    "max_stall_seconds": 15.0,
    "max_unsent_bytes": 250_000_000,
    "max_shares_per_minute": 10,
    "max_shares_bytes_per_address": 200_000_000,
}


class Settings(BaseSettings):
    """Every setting has a default that serves a class on the local network.

    Raises `pydantic.ValidationError` where a value is not what the setting takes.
    """

    model_config = SettingsConfigDict(env_prefix="HEADLIGHT_", frozen=True, env_ignore_empty=True)

    host: str = Field(
        default="0.0.0.0", description="Address to listen on; 127.0.0.1 keeps others out."
    )
    port: int = Field(
        default=8000, ge=0, le=65535, description="Port to listen on; 0 takes a free one."
    )
    public_url: str | None = Field(
        default=None,
        pattern=r"^https?://[^\s?#]+$",
        description="Address that share links begin with; without it, the one that was asked.",
    )
    allowed_hosts: str = Field(
        default="",
        pattern=r"^((\*\.)?[A-Za-z0-9_.:\[\]-]+(,(\*\.)?[A-Za-z0-9_.:\[\]-]+)*|\*)?$",
        description="Hosts to answer to, beside addresses and local names: name,*.name,…",
    )
    trusted_proxies: str = Field(
        default="",
        description="Addresses or networks of proxies that say who asks (X-Forwarded-For, -Proto).",
    )
    public: bool = Field(
        default=False, description="On the internet: only the hosts named, lower limits, HSTS."
    )
    metrics: bool = Field(default=False, description="Answer /metrics, for Prometheus.")
    log: Literal["text", "json"] = Field(
        default="text", description="Log lines to read, or a JSON object a line."
    )
    log_requests: bool = Field(default=False, description="Log a line for each request.")
    data_dir: Path = Field(default=ROOT / "data", description="Folder for the database and caches.")
    database_url: str | None = Field(
        default=None,
        description="sqlite:///path or postgresql://user:password@host/name; "
        "without it, an SQLite file in the data folder.",
    )
    rates_url: str | None = Field(
        default=None,
        pattern=r"^rediss?://\S+$",
        description="redis://:password@host:port, where several servers count shares together; "
        "without it, each counts its own.",
    )
    models: str = Field(
        default="en-zh",
        pattern=r"^[a-z0-9-]+(=[^,]+)?(,[a-z0-9-]+(=[^,]+)?)*$",
        description="Models to serve, the first by default: id=path,… (the path of a bundle; "
        "an id alone is a bundle that ships with Headlight).",
    )
    zoo: bool = Field(
        default=True, description="Serve the small models of the zoo beside those of MODELS."
    )
    device: Literal["auto", "cpu", "cuda"] = Field(
        default="auto", description="Where models run; auto is the GPU if there is one."
    )
    engines: int | None = Field(
        default=None,
        ge=0,
        le=64,
        description="Processes that run models; 0: threads of the server's own process. "
        "Without it, one a GPU, or else one for every two cores.",
    )
    ray_address: str | None = Field(
        default=None,
        pattern=r"^[^\s/]+:\d+$",
        description="host:port of a Ray cluster that runs the models; without it, none.",
    )
    draft: bool = Field(
        default=True,
        description="Whether CTranslate2, if it is installed, drafts greedy translations; "
        "they are the same without.",
    )
    max_models: int = Field(
        default=2, ge=1, description="Models loaded at once; the least recently used makes room."
    )
    max_body_bytes: int = Field(default=100_000, ge=1_000, description="Size of a request's body.")
    max_text_characters: int = Field(default=2_000, ge=1, description="Length of a sentence.")
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
    max_batch: int = Field(default=8, ge=1, description="Requests that the model runs at once.")
    max_wait_seconds: float = Field(
        default=30.0, gt=0, description="Longest wait for the model; then 503."
    )
    max_work: float = Field(
        default=1_000_000,
        gt=0,
        description="Work of one request: layers × rows × tokens; also what a client may ask for "
        "at once.",
    )
    work_per_second: float = Field(
        default=20_000,
        gt=0,
        description="Work that a client may ask for in the end; then 429.",
    )
    max_clients_per_address: int = Field(
        default=64, ge=1, description="Pages at one address that count as clients of their own."
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
        description="Longest wait for a client that reads nothing.",
    )
    max_unsent_bytes: int = Field(
        default=500_000_000,
        ge=1_000_000,
        description="Bytes of replies that wait for slow clients; then the slowest is cut off.",
    )
    max_cache_bytes: int = Field(
        default=256_000_000, ge=0, description="Bytes of replies kept in memory."
    )
    max_shares_per_minute: int = Field(
        default=60, ge=1, description="Shares that one address may make."
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
        description="Days after which a share is deleted; without it, shares are kept for good.",
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
        """SQLAlchemy URL of the database, with an async driver."""
        return self.database_url or f"sqlite+aiosqlite:///{self.data_dir / 'headlight.db'}"

    @property
    def hosts(self) -> list[str]:
        """The hosts that are named, that of the public address among them."""
        named = [name for name in self.allowed_hosts.split(",") if name]
        public = urlsplit(self.public_url).hostname if self.public_url else None
        return [*named, f"[{public}]" if ":" in public else public] if public else named

    @property
    def proxies(self) -> list[str]:
        """Addresses and networks of the proxies to believe."""
        return [one.strip() for one in self.trusted_proxies.split(",") if one.strip()]

    @property
    def bundles(self) -> dict[str, str]:
        """Models by id: what `model.adapters.encoder_decoder.load` takes."""
        pairs = (entry.partition("=") for entry in self.models.split(","))
        return {name: path or name for name, _, path in pairs}

    @property
    def zoo_bundles(self) -> dict[str, str]:
        """The models of the zoo by id, but for ids that `models` has taken."""
        names = sorted(path.name for path in ZOO.iterdir()) if self.zoo else []
        found = {f"zoo-{name}": f"zoo/{name}" for name in names}
        return {id_: path for id_, path in found.items() if id_ not in self.bundles}

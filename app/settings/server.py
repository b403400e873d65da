"""Settings of the server itself: addresses, limits of connections, logs, and the database.

All groups of settings share the environment's prefix and the project's folders, which are here.
"""

from ipaddress import ip_network
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict
from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

ROOT = Path(__file__).resolve().parents[2]

ZOO = ROOT / "model" / "checkpoints" / "zoo"

# An installed package must not write into its own folder.
DATA = ROOT / "data" if (ROOT / "requirements.txt").is_file() else Path.home() / ".headlight"


class Part(BaseSettings):
    """A group of settings: one field each, read from `HEADLIGHT_…` in the environment."""

    model_config = SettingsConfigDict(env_prefix="HEADLIGHT_", frozen=True, env_ignore_empty=True)


class NetworkSettings(Part):
    """Where to listen, whom to trust, and what one client may take."""

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
    max_body_bytes: int = Field(default=250_000, ge=1_000, description="Size of a request's body.")
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
        for address in filter(None, value.split(",")):
            ip_network(address.strip())
        return value

    @property
    def hosts(self) -> list[str]:
        """The configured hosts, including that of the public address."""
        named = [name for name in self.allowed_hosts.split(",") if name]
        public = urlsplit(self.public_url).hostname if self.public_url else None
        return [*named, f"[{public}]" if ":" in public else public] if public else named

    @property
    def proxies(self) -> list[str]:
        """Addresses and networks of the trusted proxies."""
        return [proxy.strip() for proxy in self.trusted_proxies.split(",") if proxy.strip()]


# Maps the scheme people write in a URL to the driver that does not block the event loop.
DRIVERS = {
    "sqlite": "sqlite+aiosqlite",
    "postgres": "postgresql+asyncpg",
    "postgresql": "postgresql+asyncpg",
}


class StorageSettings(Part):
    """Where data is kept, how much of it, and for how long."""

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
    list_collections: bool = Field(
        default=True,
        description="Whether teachers can list collections on the shelf, where anyone can copy "
        "them; 0: only those that come with Headlight are on it.",
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

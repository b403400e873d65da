"""The database, shares and assignments."""

from pathlib import Path

from pydantic import Field, field_validator
from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

from app.settings.base import DATA, Part

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

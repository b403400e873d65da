"""Settings: one field each, read from `HEADLIGHT_…` in the environment."""

from contextlib import suppress
from typing import Any

from pydantic import TypeAdapter, ValidationError, model_validator

from app.settings.models_and_limits import (
    ModelSettings,
    ReaderTextSettings,
    RoomSettings,
    TrainingSettings,
)
from app.settings.server import DATA, ROOT, ZOO, NetworkSettings, StorageSettings

__all__ = ["DATA", "PUBLIC_DEFAULTS", "ROOT", "ZOO", "Settings"]

# Defaults for a server on the internet, where clients are not trusted.
PUBLIC_DEFAULTS = {
    "list_collections": False,  # texts of strangers, which nobody has read
    "max_text_characters": 1_000,
    "max_long_characters": 20_000,
    "max_long_seconds": 60.0,
    "max_interventions": 32,
    "max_values": 4_000_000,
    "max_positions": 512,
    "max_queue": 256,
    "max_streams": 32,
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


class Settings(
    NetworkSettings,
    StorageSettings,
    ModelSettings,
    RoomSettings,
    TrainingSettings,
    ReaderTextSettings,
):
    """Headlight's configuration; every setting has a default that suits a class on a LAN.

    Raises `pydantic.ValidationError` if a value is invalid.
    """

    @model_validator(mode="before")
    @classmethod
    def _with_public_defaults(cls, values: dict[str, Any]) -> dict[str, Any]:
        with suppress(ValidationError):  # it is reported where the field is checked
            if TypeAdapter(bool).validate_python(values.get("public", False)):
                return {**PUBLIC_DEFAULTS, **values}
        return values

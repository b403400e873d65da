"""What all groups of settings have in common."""

from pydantic_settings import BaseSettings, SettingsConfigDict


class Part(BaseSettings):
    """A group of settings: one field each, read from `HEADLIGHT_…` in the environment."""

    model_config = SettingsConfigDict(env_prefix="HEADLIGHT_", frozen=True, env_ignore_empty=True)

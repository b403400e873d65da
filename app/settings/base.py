"""What all groups of settings share: the environment's prefix, and the project's folders."""

from pathlib import Path

from pydantic_settings import BaseSettings, SettingsConfigDict

ROOT = Path(__file__).resolve().parents[2]
ZOO = ROOT / "model" / "checkpoints" / "zoo"
# An installed package must not write into its own folder.
DATA = ROOT / "data" if (ROOT / "requirements.txt").is_file() else Path.home() / ".headlight"


class Part(BaseSettings):
    """A group of settings: one field each, read from `HEADLIGHT_…` in the environment."""

    model_config = SettingsConfigDict(env_prefix="HEADLIGHT_", frozen=True, env_ignore_empty=True)

"""Writes the notes of a release, the changelog of its version: `python -m deploy.release`."""

import re

from app import __version__
from deploy.third_party import ROOT

FOLDER = ROOT / "dist"


def notes(changelog: str, version: str) -> str:
    """Return the section of a version. Raises `ValueError` if there is none, or it is empty."""
    heading = rf"^## \[{re.escape(version)}\].*?$\n(.*?)(?=^## \[|\Z)"
    section = re.search(heading, changelog, re.MULTILINE | re.DOTALL)
    if section is None or not section[1].strip():
        raise ValueError(f"CHANGELOG.md says nothing of {version}; describe it there first")
    return section[1].strip() + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    (FOLDER / "NOTES.md").write_text(notes(changelog, __version__), encoding="utf-8")

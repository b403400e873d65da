"""What each head of a model does over many sentences, as plain data: `heads.json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from model.corpus.index import HEADS


def read_survey(folder: Path, digest: str) -> dict[str, Any] | None:
    """Return the survey in a folder; None if there is none, or one of other weights."""
    try:
        survey: dict[str, Any] = json.loads((folder / HEADS).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return survey if survey["digest"] == digest else None


def write_survey(folder: Path, survey: dict[str, Any]) -> None:
    """Write a survey, one head per line."""
    heads = ",\n".join(
        json.dumps(one, ensure_ascii=False, allow_nan=False) for one in survey["heads"]
    )
    rest = {name: value for name, value in survey.items() if name != "heads"}
    text = json.dumps(rest, ensure_ascii=False, allow_nan=False)
    folder.mkdir(parents=True, exist_ok=True)
    content = f'{text[:-1]}, "heads": [\n{heads}\n]}}\n'
    (folder / HEADS).write_text(content, encoding="utf-8")

"""What each head of a model does over many sentences, as plain data: `heads.json`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model.corpus.index import HEADS
from model.files import as_type, read_json


@dataclass(frozen=True)
class SurveyedHead:
    """What is always read of a head; the rest depends on what was measured."""

    place: str
    head: int
    described: list[tuple[str, float]]


def read_survey(folder: Path, digest: str) -> dict[str, Any] | None:
    """Return the survey in a folder; None if there is none, or one of other weights.

    Raises `FileError` for one that is damaged.
    """
    path = folder / HEADS
    if not path.exists():
        return None
    survey = read_json(path)
    if survey.get("digest") != digest:
        return None
    as_type(path, list[SurveyedHead], survey.get("heads"), "heads")
    return survey


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

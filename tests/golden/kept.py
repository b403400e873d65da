"""The golden files of shares, by their format."""

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import zstandard

from tests.golden.look import GOLDEN

FORMATS = sorted(int(file.stem) for file in (GOLDEN / "shares").glob("*.json"))


@dataclass(frozen=True)
class Row:
    """A share as stored in a database, with its additional replies."""

    id: str
    created: str
    state: dict[str, Any]
    model: dict[str, Any]
    trace: bytes
    asks: list[dict[str, Any]]
    answers: list[bytes]


def pages(number: int) -> list[dict[str, Any]]:
    """Return the shares of a format, and what their pages showed."""
    found: list[dict[str, Any]] = json.loads((GOLDEN / f"shares/{number}.json").read_text())
    return found


def put(number: int, data_dir: Path) -> Path:
    """Copy the database of a format to a server's data folder; return its path."""
    data_dir.mkdir(parents=True, exist_ok=True)
    file = data_dir / "headlight.db"
    packed = (GOLDEN / f"shares/{number}.db.zst").read_bytes()
    file.write_bytes(zstandard.decompress(packed))
    return file


def rows(database: Path) -> list[Row]:
    """Read the shares in a database without the server's code."""
    with closing(sqlite3.connect(database)) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        trace, answer = ("trace", "answer")
        if "contents" in tables:  # since migration 0004, rows have digests
            trace = "(SELECT content FROM contents WHERE digest = shares.digest)"
            answer = "(SELECT content FROM contents WHERE digest = answers.digest)"
        wanted = f"SELECT id, created, state, model, {trace} FROM shares ORDER BY rowid"
        found = connection.execute(wanted).fetchall()
        wanted = f"SELECT question, {answer} FROM answers WHERE share = ? ORDER BY n"
        asked = [connection.execute(wanted, one[:1]).fetchall() for one in found]
    return [
        Row(
            identity,
            created,
            json.loads(state),
            json.loads(model),
            trace,
            [json.loads(question) for question, _ in more],
            [answer for _, answer in more],
        )
        for (identity, created, state, model, trace), more in zip(found, asked, strict=True)
    ]

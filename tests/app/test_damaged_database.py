"""A database with damage anywhere: each share opens as it was, or is reported as damaged."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from app.store.ids import new_id
from app.store.storage_errors import DamagedError
from app.store.store import Answer, Share, open_store
from model.errors import FileError

CASES = 60  # bits flipped, one in each part of the file
Whole = dict[str, tuple[Share | None, list[tuple[int, bytes] | None]]]


def url(file: Path) -> str:
    return f"sqlite+aiosqlite:///{file}"


async def fill(file: Path) -> Whole:
    """Store shares of one page and of several, some with replies; return them as they open."""
    random = Random(1)
    async with open_store(url(file)) as store:
        ids = []
        for n in range(6):
            state = {"source": "The cat sat. " * (1 + 60 * n), "head": n}
            more = [Answer({"trace": {"head": k}}, random.randbytes(400)) for k in range(n % 3)]
            model = {"id": "tiny", "layers": {"encoder": 3}}
            added = await store.add(3, state, model, random.randbytes(900 * n), more)
            ids.append(added.id)
        return {
            one: (await store.find(one), [await store.find_answer(one, k) for k in range(3)])
            for one in ids
        }


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, Whole]:
    file = tmp_path_factory.mktemp("whole") / "it.db"
    whole = asyncio.run(fill(file))
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return file.read_bytes(), whole


def damaged(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the file with a flipped bit, a page of zeros, or its end missing."""
    random = Random(2)
    size = len(content)
    for n in range(CASES):
        place = n * size // CASES + random.randrange(size // CASES)
        flipped = bytearray(content)
        flipped[place] ^= 1 << random.randrange(8)
        yield f"bit at {place}", bytes(flipped)
    for page in range(0, size, 4096):
        yield f"page at {page}", content[:page] + bytes(4096) + content[page + 4096 :]
    for end in (50, 4096, size // 2, size - 4096, size - 10):
        yield f"cut at {end}", content[:end]


async def open_all(file: Path, whole: Whole) -> tuple[int, int]:
    """Return the numbers of shares that open as they were and that are damaged."""
    opened = broken = 0
    async with open_store(url(file)) as store:
        for share_id, (share, answers) in whole.items():
            try:
                found = await store.find(share_id)
                replies = [await store.find_answer(share_id, k) for k in range(3)]
            except DamagedError:
                broken += 1
            else:
                assert (found, replies) == (share, answers)
                opened += 1
    return opened, broken


async def test_damage_anywhere_is_noticed(stored: tuple[bytes, Whole], tmp_path: Path) -> None:
    content, whole = stored
    opened = broken = refused = 0
    for number, (name, bad) in enumerate(damaged(content)):
        file = tmp_path / f"{number}.db"
        file.write_bytes(bad)
        try:
            counts = await open_all(file, whole)
        except FileError as error:
            refused += error.path == file
        except BaseException as error:
            raise AssertionError(name) from error
        else:
            opened, broken = opened + counts[0], broken + counts[1]
    assert opened > 4 * broken > 0
    assert refused


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"no database at all " * 300, "damaged, or not a database"), ("9999", "newer version")],
)
async def test_another_file_is_refused_by_name(
    stored: tuple[bytes, Whole], tmp_path: Path, content: bytes | str, message: str
) -> None:
    file = tmp_path / "it.db"
    file.write_bytes(content if isinstance(content, bytes) else stored[0])
    if isinstance(content, str):
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("UPDATE alembic_version SET version_num = ?", (content,))
            connection.commit()
    with pytest.raises(FileError, match=rf"it\.db: .*{message}"):
        async with open_store(url(file)):
            pass


async def test_an_unknown_share_of_a_whole_database_is_unknown(
    stored: tuple[bytes, Whole], tmp_path: Path
) -> None:
    (tmp_path / "it.db").write_bytes(stored[0])
    async with open_store(url(tmp_path / "it.db")) as store:
        assert await store.find(new_id()) is None

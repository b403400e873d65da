"""A database with damage anywhere: everything opens as it was, or is reported as damaged."""

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from app.assignments.store import Assignments
from app.collections.store import Collections
from app.shares.formats import Answer
from app.shares.store import Shares
from app.store.documents import new_id
from app.store.storage_errors import DamagedError
from model.errors import FileError
from tests.serving.storage import open_shares

CASES = 40  # bits flipped, one in each part of the file
Whole = dict[tuple[str, str], object]  # what was stored, by its kind and id


def url(file: Path) -> str:
    return f"sqlite+aiosqlite:///{file}"


async def read(store: Shares, kind: str, row_id: str) -> object:
    """Return all that a reader can get."""
    if kind == "share":
        return await store.find(row_id), [await store.find_answer(row_id, k) for k in range(3)]
    if kind == "collection":
        return await Collections(store.store).find(row_id)
    tasks = Assignments(store.store)
    return await tasks.find(row_id), await tasks.submissions(row_id)


async def fill(file: Path) -> Whole:
    """Store rows of one page and of several; return them as they are read."""
    random = Random(1)
    async with open_shares(url(file)) as store:
        ids = []
        for n in range(6):
            state = {"source": "The cat sat. " * (1 + 60 * n), "head": n}
            more = [Answer({"trace": {"head": k}}, random.randbytes(400)) for k in range(n % 3)]
            model = {"id": "tiny", "layers": {"encoder": 3}}
            added = await store.add(3, state, model, random.randbytes(900 * n), more)
            ids.append(("share", added.id))
        for n in (0, 3):
            document = {"title": "猫", "note": "a note " * 300 * n, "n": 0.1 * n}
            listed, key, _ = await Collections(store.store).add(document, "192.0.2.1")
            await Collections(store.store).change(listed.id, {**document, "title": str(n)}, key, 1)
            task, _ = await Assignments(store.store).add(document, "192.0.2.1")
            for k in range(3 * n):
                answers = {"answers": [["猫"], [str(k)] * 9 * k]}
                await Assignments(store.store).submit(task.id, f"member {k}", answers)
            ids += [("collection", listed.id), ("assignment", task.id)]
        return {(kind, one): await read(store, kind, one) for kind, one in ids}


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


async def open_all(file: Path, whole: Whole) -> Counter[str]:
    """Return the numbers of rows that open as they were, and of damaged ones by kind."""
    counts = Counter[str]()
    async with open_shares(url(file)) as store:
        for (kind, row_id), before in whole.items():
            try:
                found = await read(store, kind, row_id)
            except DamagedError as error:
                counts[error.kind] += error.kind == kind
            else:
                assert found == before, kind
                counts["opened"] += 1
    return counts


async def test_damage_anywhere_is_noticed(stored: tuple[bytes, Whole], tmp_path: Path) -> None:
    content, whole = stored
    counts = Counter[str]()
    for number, (name, bad) in enumerate(damaged(content)):
        file = tmp_path / f"{number}.db"
        file.write_bytes(bad)
        try:
            counts += await open_all(file, whole)
        except FileError as error:
            counts["refused"] += error.path == file
        except BaseException as error:
            raise AssertionError(name) from error
    assert counts.keys() == {"opened", "refused", *(kind for kind, _ in whole)}
    assert counts["opened"] > counts.total() / 2


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
        async with open_shares(url(file)):
            pass


async def test_an_unknown_id_in_a_whole_database_is_unknown(
    stored: tuple[bytes, Whole], tmp_path: Path
) -> None:
    (tmp_path / "it.db").write_bytes(stored[0])
    async with open_shares(url(tmp_path / "it.db")) as store:
        assert await store.find(new_id()) is None
        assert await Collections(store.store).find(new_id()) is None
        assert await Assignments(store.store).find(new_id()) is None

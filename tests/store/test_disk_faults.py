"""A disk that fails at any operation of any writer of files: the problem is named, nothing is half.

The database is in `test_storage_faults.py` and `test_storage_writes.py`.
"""

import asyncio
import errno
import json
import time
from collections.abc import Callable
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

import pytest
from safetensors import SafetensorError

from app.assets.static_files import Vendor
from app.engine.child_process import receive
from app.engine.fair_queue import Client
from app.engine.model_listing import Listing
from app.handouts import service as handouts
from app.heads import indexing
from app.heads.indexing import ABOUT, STATE, Indexing, IndexLimits, Kept
from app.http.problems import ProblemError
from app.local_models import ExportedModels
from app.operator_commands import write_archive
from app.pages import health
from app.runs import run_process
from app.runs.kept_models import KeptModels
from app.runs.training_runs import RunLimits, Runs
from app.store.disk_files import FULL, UNAVAILABLE, disk_problem
from app.store.documents import new_id
from app.store.storage_errors import StorageError
from model.bundle.ctranslate2_export import exported
from model.bundle.weights import CHECKPOINTS, load_bundle, save_bundle
from model.live_training import live_run as live_run
from model.live_training.options_and_events import LiveOptions, state_path
from tests.serving.failing_disk import FailingDisk
from tests.serving.storage import add, open_shares

LIMITS = IndexLimits(1, 1, 60.0, 10, 1.0, 1, 0)
OPTIONS = LiveOptions(task="copy", longest=2, steps=10, d_model=8, batch=100)

# A writer writes below a folder, raises or returns the kind of a problem, and leaves nothing half.
Writer = Callable[[Path, FailingDisk], Any]


async def new_text(folder: Path, disk: FailingDisk) -> None:
    texts = Indexing(LIMITS, folder / "corpora")
    try:
        with disk.broken():
            texts.start("m", "path", "digest", ("A",), "", Client("a", 1))
    except StorageError:
        assert not [*texts.folder.glob("*")]
        raise
    finally:
        await texts.__aexit__(None, None, None)


async def progress_of_a_text(folder: Path, disk: FailingDisk) -> str | None:
    """Write how far a text is, and that it is done: it has failed for a reason, or is gone."""

    async def build(wanted: Any, _: float, heard: Callable[[int, int], None]) -> dict[str, Any]:
        heard(1, 1)
        (wanted.folder / "rows.npy").write_bytes(b"rows")
        return {"state": "done", "sentences": 1}

    texts = Indexing(LIMITS, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(indexing, "build", build)
        made, _ = texts.start("m", "path", "digest", ("A",), "", Client("a", 1))
        with disk.broken():
            await asyncio.gather(*texts._tasks.values())
    if not made.folder.exists():
        return disk_problem(OSError(disk.code, ""))
    names = {path.name for path in made.folder.iterdir()}
    told = json.loads((made.folder / STATE).read_bytes())
    assert names == ({ABOUT, STATE, "rows.npy"} if told["state"] == "done" else {ABOUT, STATE})
    return told.get("why")  # type: ignore[no-any-return]


async def kept_model(folder: Path, disk: FailingDisk) -> None:
    listing = Listing({}, {}, 1)
    model = load_bundle(CHECKPOINTS / "zoo/copy")
    models = KeptModels(folder / "kept", 4, 2.0, listing)

    def write(bundle: Path) -> None:
        save_bundle(bundle, model.model.state_dict(), model.model.config, model.tokenizer, "copy")

    try:
        with disk.broken():
            await models.add(write, "address")
    except StorageError:
        assert not [*models.folder.glob("*")]
        assert not [*listing]
        raise
    assert len([*listing]) == 1


async def fork_of_a_run(folder: Path, disk: FailingDisk) -> None:
    runs = Runs(RunLimits(1, 4, 1.0, 1, 0, 60.0, 60.0, 10**9), folder)
    runs.folder, runs._closing = folder, True  # so that no process is started
    parent, _ = runs.start(OPTIONS, Client("a", 1))
    state = state_path(parent.folder, 5)
    state.parent.mkdir(parents=True)
    state.write_bytes(b"state")
    before = {*folder.iterdir()}
    try:
        with disk.broken():
            runs.start(OPTIONS, Client("b", 1), (parent, 5))
    except StorageError:
        assert {*folder.iterdir()} == before
        assert [*runs._runs] == [parent.id]
        raise


async def training(folder: Path, disk: FailingDisk) -> str | None:
    """Train in this process: each snapshot that was told is there, and the end says why."""
    server, child = Pipe()
    wanted = run_process.Wanted(lambda: None, folder / "run", OPTIONS, 1.0, 1.0, 1, 0)

    def train() -> None:
        with child, disk.broken():
            run_process.main(child, wanted)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("signal.signal", lambda *_: None)
        patch.setattr(live_run, "in_background", lambda *_: None)
        patch.setattr(live_run, "EXAMPLES", 40)
        patch.setattr(live_run, "HELD_OUT", 8)
        patch.setattr(live_run, "OBSERVED", 1)
        training = asyncio.create_task(asyncio.to_thread(train))
        told = []
        try:
            while True:
                told.append(await asyncio.to_thread(receive, server))
        except EOFError:
            await training
    for event in told:
        if "snapshot" in event:
            assert state_path(wanted.folder, event["snapshot"]["step"]).is_file()
    return told[-1]["failed"]["why"] if "failed" in told[-1] else None


async def readiness_check(folder: Path, disk: FailingDisk) -> None:
    try:
        with disk.broken():
            health._check_write(folder)
    finally:
        assert not [*folder.iterdir()]


async def compressed_copies(folder: Path, disk: FailingDisk) -> None:
    source = folder.parent / "plotly.js"
    source.write_bytes(b"plot" * 100)
    vendor = Vendor({"plotly.js": source}, folder / "cache")
    with disk.broken():
        vendor._compress()
    path, _ = vendor.find("plotly.js", ["br", "gzip"])
    assert path.is_file()
    whole = {vendor._copy("plotly.js", encoding) for encoding in ("br", "gzip")}
    copies = {copy for copy in vendor.cache.glob("*") if copy.suffix != ".lock"}
    assert copies <= whole
    if copies != whole:
        raise OSError(disk.code, "served uncompressed")


async def drafts(folder: Path, disk: FailingDisk) -> None:
    cache, bundle = folder / "drafts", load_bundle(CHECKPOINTS / "zoo/copy")
    try:
        with disk.broken():
            exported(bundle, cache)
    except OSError:
        assert not [path for path in cache.glob("*") if path.suffix != ".lock"]
        raise


async def archive(folder: Path, disk: FailingDisk) -> None:
    file = folder / "shares.zip"
    file.write_bytes(b"the archive of yesterday")
    async with open_shares(f"sqlite+aiosqlite:///{folder.parent}/headlight.db") as store:
        await add(store)
        try:
            with disk.broken():
                await write_archive(store.store, file)
        except OSError:
            assert [*folder.iterdir()] == [file]
            assert file.read_bytes() == b"the archive of yesterday"
            raise


def _export(into: Path, _: Path) -> None:
    into.mkdir()
    for name in handouts.MODEL_FILES:
        (into / name).write_bytes(b"[]" * 32)


async def exported_model(folder: Path, disk: FailingDisk) -> None:
    """Export a model: this process makes the folders, another one writes into them."""

    async def export(into: Path, bundle: Path) -> None:
        _export(into, bundle)

    models = ExportedModels(folder / "exported", {"abc": CHECKPOINTS / "zoo/copy"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.local_models._export_into", export)
        try:
            with disk.broken():
                await models.export("abc")
        except StorageError:
            assert not [*folder.glob("exported/*")]
            raise
    assert models.folder("abc")


async def handout_with_model(folder: Path, disk: FailingDisk) -> None:
    model, earlier = folder / "abc", folder / "abc/packed-earlier.html"
    _export(model, folder)
    earlier.write_text("the blocks of an earlier version")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(handouts, "whole_worker_script", lambda: "worker")
        patch.setattr(handouts, "WASM", model / "graphs.json")
        try:
            with disk.broken():
                handouts.packed_model(model)
        except StorageError:
            assert [*model.glob("packed*[!k]")] == [earlier]  # and the lock
            raise
    assert len([*model.glob("packed*.html")]) == 1
    assert not earlier.exists()


WRITERS: dict[Writer, int] = {  # and at least how many operations each needs
    new_text: 7,
    progress_of_a_text: 9,
    kept_model: 10,
    fork_of_a_run: 2,
    training: 10,
    readiness_check: 2,
    compressed_copies: 5,
    drafts: 4,
    archive: 5,
    exported_model: 10,
    handout_with_model: 3,
}


@pytest.mark.parametrize(("code", "stays"), [(errno.ENOSPC, True), (errno.EIO, False)])
@pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: writer.__name__)
async def test_any_operation_of_any_writer_may_fail(
    tmp_path: Path, writer: Writer, code: int, stays: bool
) -> None:
    """Fill the disk before each operation, and let each fail alone."""
    problem = FULL if code == errno.ENOSPC else UNAVAILABLE
    for nth in range(1, 500):
        folder = tmp_path / str(nth) / "data"
        folder.mkdir(parents=True)
        disk = FailingDisk(folder, nth, code, stays)
        try:
            kind = await writer(folder, disk)
        except (StorageError, OSError) as error:
            if not disk.has_failed:
                raise
            kind = error.kind if isinstance(error, StorageError) else disk_problem(error)
        if not disk.has_failed:
            assert kind is None
            break
        # A temporary file can be opened in two ways, of which one may fail.
        survived = kind is None and not stays and writer is readiness_check
        assert kind == problem or survived, disk.done
    assert nth > WRITERS[writer], disk.done


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (OSError(errno.ENOSPC, ""), FULL),
        (OSError(errno.EDQUOT, ""), FULL),
        (OSError(errno.EROFS, ""), UNAVAILABLE),
        (PermissionError(errno.EACCES, ""), UNAVAILABLE),
        (SafetensorError("I/O error: No space left on device (os error 28)"), FULL),
        (SafetensorError("I/O error: Input/output error (os error 5)"), UNAVAILABLE),
        (SafetensorError("header too large"), None),
        (FileNotFoundError(errno.ENOENT, ""), None),
        (BrokenPipeError(errno.EPIPE, ""), None),
        (ValueError("28"), None),
    ],
)
def test_the_problem_of_an_error(error: Exception, problem: str | None) -> None:
    assert disk_problem(error) == problem


WHOLE = {"model": "m", "digest": "d", "title": "", "given": 1, "key": "0" * 64}


@pytest.mark.parametrize(
    "damage", [b"", b"[]", b'{"model": "m", "created": 1}', b"\xff", b"{}", b'{"state": 1', None]
)
async def test_no_text_ends_the_sweeper(tmp_path: Path, damage: bytes | None) -> None:
    """A damaged text is deleted, and an expired one beside it as well; what is new stays."""
    texts = Indexing(LIMITS, tmp_path)
    names = [new_id() for _ in range(4)]
    for name in names:
        (tmp_path / name).mkdir()
        indexing._write(tmp_path / name / ABOUT, {**WHOLE, "created": time.time()})
        indexing._write(tmp_path / name / STATE, {"state": "done"})
    damaged, expired, whole, half = (tmp_path / name for name in names)
    if damage is not None:
        (damaged / STATE).write_bytes(damage)
        (damaged / ABOUT).write_bytes(damage)
        with pytest.raises(ProblemError, match="no text with this id"):
            texts.find(damaged.name)
        texts.admit(Client("a", 1))  # it keeps nobody's text out
    indexing._write(expired / ABOUT, {**WHOLE, "created": 0.0})
    (half / STATE).unlink()
    (tmp_path / "a file").write_bytes(b"")
    find = texts.find

    def slowly(text_id: str) -> Kept:
        try:
            return find(text_id)
        finally:  # a new text is written to its end while the sweeper reads it
            if text_id == half.name:
                indexing._write(half / STATE, {"state": "queued"})

    texts.find = slowly  # type: ignore[method-assign]
    await texts._sweep()
    assert damaged.exists() == (damage is None)
    assert not expired.exists()
    assert whole.exists()
    assert half.exists()


async def test_a_text_that_cannot_be_read_now_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts, name = Indexing(LIMITS, tmp_path), new_id()
    (tmp_path / name).mkdir()
    indexing._write(tmp_path / name / ABOUT, {**WHOLE, "created": time.time()})
    indexing._write(tmp_path / name / STATE, {"state": "done"})
    with monkeypatch.context() as patched:

        def fail(path: Path) -> bytes:
            raise OSError(errno.EIO, "the disk")

        patched.setattr(Path, "read_bytes", fail)
        await texts._sweep()
        with pytest.raises(StorageError) as failed:
            texts.find(name)
    assert failed.value.kind == UNAVAILABLE
    assert texts.find(name).state == {"state": "done"}

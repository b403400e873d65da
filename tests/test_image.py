"""The files that the Dockerfile copies are enough to serve, checked without Docker."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.servers import ROOT, own_environment, running_app

DOCKERFILE = (ROOT / "Dockerfile").read_text()
LAST_STAGE = DOCKERFILE.rpartition("\nFROM ")[2]


def copied() -> list[tuple[str, str]]:
    """Return (from, to) of the files that the last stage copies from the repository."""
    found: list[tuple[str, str]] = re.findall(r"^COPY (?!--)(\S+) (\S+)$", LAST_STAGE, re.MULTILINE)
    return found


def test_dockerignore_lets_through_exactly_what_is_copied() -> None:
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    let_through = {line[1:] for line in lines if line.startswith("!")}
    packages = {"requirements.txt", "requirements.lock", "requirements-scale.lock"}
    assert let_through == packages | {name for name, _ in copied()}


def test_image_serves_and_is_healthy(tmp_path: Path) -> None:
    root = tmp_path / "srv"
    root.mkdir()
    for name, place in copied():
        target = root / place
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, target)
    (check,) = re.findall(r"^  CMD python (.+)$", LAST_STAGE, re.MULTILINE)
    with running_app(tmp_path / "data", root=root) as server:
        environment = own_environment() | {"HEADLIGHT_PORT": server.url.rpartition(":")[2]}
        ask = ["/bin/sh", "-c", f"{sys.executable} {check}"]
        assert subprocess.run(ask, env=environment, check=False).returncode == 0
        server.kill()
        gone = subprocess.run(ask, env=environment, check=False, capture_output=True)
        assert gone.returncode != 0

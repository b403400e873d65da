"""Every promise of SECURITY.md names tests that are there."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROMISES = re.search(
    r"## What is promised\n.*?\|---\|---\|\n(.*?)\n\n",
    (ROOT / "SECURITY.md").read_text(),
    re.DOTALL,
)
assert PROMISES
ROWS = [row.strip("| ").split(" | ") for row in PROMISES[1].splitlines()]


@cache
def names_in(path: str) -> set[str]:
    """Return the names of a file's tests that nothing marks as skipped."""
    tree = ast.parse((ROOT / path).read_text())
    return {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
        and not any("skip" in ast.unparse(one) for one in node.decorator_list)
    }


def test_there_are_promises() -> None:
    assert len(ROWS) > 15


@pytest.mark.parametrize(("promise", "held"), ROWS, ids=[row[0][:40] for row in ROWS])
def test_a_promise_is_held_by_tests_that_are_there(promise: str, held: str) -> None:
    assert promise.endswith(("**", "."))
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", held)
    assert named
    assert re.sub(r"`[^`]*`", "", held).strip() == ""
    for path, test in named:
        assert test in names_in(path), f"{path}::{test}"

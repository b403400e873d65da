"""Every guarantee of SECURITY.md names tests that exist."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GUARANTEES = re.search(
    r"## Guarantees\n.*?\|---\|---\|\n(.*?)\n\n",
    (ROOT / "SECURITY.md").read_text(),
    re.DOTALL,
)
assert GUARANTEES
ROWS = [row.strip("| ").split(" | ") for row in GUARANTEES[1].splitlines()]


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


def test_there_are_guarantees() -> None:
    assert len(ROWS) > 15


@pytest.mark.parametrize(("guarantee", "tests"), ROWS, ids=[row[0][:40] for row in ROWS])
def test_a_guarantee_names_tests_that_exist(guarantee: str, tests: str) -> None:
    assert guarantee.endswith(("**", "."))
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", tests)
    assert named
    assert re.sub(r"`[^`]*`", "", tests).strip() == ""
    for path, test in named:
        assert test in names_in(path), f"{path}::{test}"

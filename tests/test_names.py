"""Names say what they hold out of their sentence too: `token` or `limit`, not `one` or `most`.

Counts the definitions (variables, parameters, functions, classes) whose whole name is one of
`WORDS`, in each package. A count may only go down; whoever lowers it lowers `REMAINING`.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# Never a name alone, in any case and with any underscores around it.
WORDS = frozenset(
    (
        "one",
        "own",
        "at",
        "found",
        "shown",
        "wanted",
        "left",
        "known",
        "told",
        "there",
        "here",
        "said",
        "given",
        "asked",
        "taken",
        "made",
        "seen",
        "kept",
        "held",
        "heard",
        "say",
        "says",
        "it",
        "that",
        "this",
        "them",
        "they",
        "its",
        "what",
        "who",
        "which",
        "where",
        "when",
        "how",
        "much",
        "many",
        "more",
    )
)
# Left over: fields of the API's schemas and of dataclasses, and what others import.
REMAINING = {"app": 115, "bench": 24, "deploy": 2, "headlight": 9, "model": 1375}


def defined(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield each name that is defined, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, node.lineno


def test_counts_what_is_a_word_alone() -> None:
    """Parameters, variables, functions and classes count; longer names and uses do not."""
    tree = ast.parse("def told(one, row): _found = [it for it in row]; other_row = one")
    names = [name for name, _ in defined(tree) if name.lower().strip("_") in WORDS]
    assert Counter(names) == {"told": 1, "one": 1, "_found": 1, "it": 1}


@pytest.mark.parametrize("package", REMAINING)
def test_no_name_is_a_word_alone(package: str) -> None:
    """No package has more such names than it had."""
    places = [
        f"{path.relative_to(ROOT)}:{line} {name}"
        for path in sorted((ROOT / package).rglob("*.py"))
        for name, line in defined(ast.parse(path.read_text(encoding="utf-8")))
        if name.lower().strip("_") in WORDS
    ]
    excess = ["more names say nothing alone than before; all of them:", *places]
    assert len(places) <= REMAINING[package], "\n".join(excess)

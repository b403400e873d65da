"""What is published agrees: one version, one name, and files in their usual forms."""

import re

import pytest
import yaml

from app import __version__
from deploy.release import notes
from headlight.other_headlight_package import DISTRIBUTION
from tests.servers import ROOT

TEMPLATES = sorted((ROOT / ".github").rglob("*.yml"))


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def test_the_version_is_one() -> None:
    """It is in `app/__init__.py`; the citation and the changelog must follow."""
    citation = yaml.safe_load(read("CITATION.cff"))
    assert citation["version"] == __version__
    heading = rf"^## \[{re.escape(__version__)}\] - {citation['date-released']}$"
    assert re.search(heading, read("CHANGELOG.md"), re.MULTILINE)
    assert "version =" not in read("pyproject.toml").partition("[tool.")[0]


def test_the_citation_has_what_the_format_requires() -> None:
    """Required by version 1.2.0 of the Citation File Format."""
    citation = yaml.safe_load(read("CITATION.cff"))
    assert citation.keys() >= {"authors", "cff-version", "message", "title"}
    assert citation["cff-version"] == "1.2.0"
    assert citation["authors"] == [{"name": "The Headlight authors"}]


def test_the_changelog_has_the_headings_of_its_form() -> None:
    sections = re.findall(r"^## (.+)$", read("CHANGELOG.md"), re.MULTILINE)
    assert sections[0] == "[Unreleased]"
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", one) for one in sections[1:])
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert {*re.findall(r"^### (.+)$", read("CHANGELOG.md"), re.MULTILINE)} <= kinds


@pytest.mark.parametrize("path", ["README.md", "README.zh.md", "docs/python.md", "pyproject.toml"])
def test_the_distribution_is_named(path: str) -> None:
    assert DISTRIBUTION in read(path)
    assert not re.search(r"pip install '?headlight['\s\[]", read(path))


def test_a_page_says_how_to_contribute() -> None:
    text = read("CONTRIBUTING.md")
    for subject in ("Set up", "The loop", "Where things go", "A view", "A model", "A lesson"):
        assert f"**{subject}.**" in text
    assert len(text.split()) < 700  # one page


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_templates_and_workflows_are_read(path: object) -> None:
    assert yaml.safe_load((ROOT / str(path)).read_text(encoding="utf-8"))


def test_the_workflow_runs_what_a_change_must_pass() -> None:
    jobs = yaml.safe_load(read(".github/workflows/checks.yml"))["jobs"]
    assert jobs["linux"]["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13"]
    assert any(step.get("run") == ".ci/run" for step in jobs["linux"]["steps"])
    assert jobs["wheel"]["strategy"]["matrix"]["system"] == ["macos-latest", "windows-latest"]


def test_the_notes_are_those_of_the_version() -> None:
    sections = "[Unreleased]", "[0.2.0] - 2027-01-01\n\n- New.", "[0.1.0] - 2026-01-01\n\n- Old."
    text = "".join(f"## {section}\n\n" for section in sections)
    assert notes(text, "0.2.0") == "- New.\n"
    assert notes(text, "0.1.0") == "- Old.\n"
    with pytest.raises(ValueError, match=r"says nothing of 0\.3\.0"):
        notes(text, "0.3.0")
    assert "headlight-attention" in notes(read("CHANGELOG.md"), __version__)

"""Every feature is documented, and links in the documentation are not broken."""

import re
import shlex
import subprocess
from argparse import ArgumentParser
from collections.abc import Iterable
from pathlib import Path

import httpx
import pytest
from fastapi.routing import iter_route_contexts

from app.main import create_app
from app.settings import Settings
from tests.code_links import LINK, Stop, line_of, moved, renumbered, stops
from tests.pages.test_catalog import STILTED
from tests.servers import AppServer

ROOT = Path(__file__).parents[1]
DOCS = sorted((ROOT / "docs").glob("*.md"))
READMES = [ROOT / "README.md", ROOT / "README.zh.md"]
PAGES = [
    *READMES,
    *(ROOT / f"{name}.md" for name in ("SECURITY", "CHANGELOG", "CONTRIBUTING")),
    *DOCS,
    *sorted((ROOT / "docs/views").glob("*.md")),
]
PINS = ["requirements.lock", "requirements-dev.lock", "pyproject.toml"]
VIEWS = sorted(path.parent for path in (ROOT / "static/js/views").glob("*/view.js"))


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def page(path: str) -> str:
    return (ROOT / path).read_text()


def heading_anchor(heading: str) -> str:
    """Return the anchor that a Markdown heading gets on the code hosts."""
    words = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return words.replace(" ", "-")


def tracked(pattern: str = "") -> set[str]:
    """Return the repository's files, including new ones, without ignored ones."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", pattern or "."],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return set(listed.stdout.splitlines())


def missing(names: Iterable[str], path: str, form: str) -> list[str]:
    """Return the names that a page does not have in this form."""
    text = page(path)
    return [name for name in names if form.format(name) not in text]


def test_every_setting_is_documented() -> None:
    settings = [setting.upper() for setting in Settings.model_fields]
    assert missing(settings, "docs/settings.md", "`HEADLIGHT_{}`") == []


def test_no_setting_is_documented_that_is_not_there() -> None:
    known = {f"HEADLIGHT_{setting.upper()}" for setting in Settings.model_fields}
    for path in PAGES:
        assert set(re.findall(r"HEADLIGHT_[A-Z_]*[A-Z]\b", path.read_text())) <= known, path


def test_every_route_is_documented() -> None:
    routes = {context.path for context in iter_route_contexts(create_app().routes)}
    text = "".join(path.read_text() for path in DOCS)
    assert {route for route in routes if f"{route}`" not in text} == set()


def test_every_view_is_documented() -> None:
    assert missing([view.name for view in VIEWS], "docs/page.md", "{}/") == []


def test_every_make_target_is_documented() -> None:
    targets = re.findall(r"^([a-z]+):", page("Makefile"), re.MULTILINE)
    assert missing(targets, "docs/development.md", "`make {}`") == []


def test_every_page_is_in_the_index() -> None:
    pages = {path.name for path in DOCS} - {"README.md"}
    assert missing(pages, "docs/README.md", "]({})") == []


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_links_are_not_broken(path: Path) -> None:
    text = re.sub(r"```.*?```|`[^`]*`", "", path.read_text(), flags=re.DOTALL)
    links = re.findall(r"\]\(([^)\s]+)\)|(?:src|srcset|href)=\"([^\"]+)\"", text)
    for link in filter(lambda one: not re.match(r"https?:", one), map("".join, links)):
        file, _, anchor = link.partition("#")
        target = path.parent / file if file else path
        assert target.exists(), link
        if anchor and target.suffix == ".md":
            headings = re.findall(r"^#+ (.+)$", target.read_text(), re.MULTILINE)
            assert anchor in map(heading_anchor, headings), link


FILE = re.compile(r"`((?:\w[\w-]*/)+[\w.-]+\.(?:py|js|css|toml|html|json))`")
NAME_ALONE = re.compile(r"`([\w-]+\.(?:py|js))`")
BESIDE = ("", "static", "static/js", "model")  # folders that a page may leave out of a path
FROM_PACKAGES = {"swagger-ui-bundle.js"}


def test_files_that_are_named_without_a_folder_are_there() -> None:
    present = {Path(file).name for file in tracked()}
    named = {(name(path), file) for path in PAGES for file in NAME_ALONE.findall(path.read_text())}
    assert len(named) > 50
    assert {pair for pair in named if pair[1] not in present | FROM_PACKAGES} == set()


def test_files_that_are_named_are_there() -> None:
    named = {(name(path), file) for path in PAGES for file in FILE.findall(path.read_text())}
    assert len(named) > 100
    assert {
        (path, file)
        for path, file in named
        if not any((ROOT / folder / file).exists() for folder in BESIDE)
    } == set()


def test_the_line_that_defines_a_name() -> None:
    python = "def run(\n    x\n) -> None:\n    x = 1\n\n\nclass Engine:\n    def run(self): ...\n"
    assert line_of("run", python) == 1
    assert line_of("run.x", python) == 4
    assert line_of("Engine.run", python) == 8
    assert line_of("run.run", python) is None
    script = "export function make() {\n  go();\n  return {\n    go(patch) {\n    },\n  };\n}\n"
    assert line_of("make.go", script) == 4
    assert line_of("go.patch", script) is None


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_links_to_code_are_of_the_line_that_defines_the_name(path: Path) -> None:
    """`make links` writes the numbers."""
    wrong = [
        f"{stop.name} is in line {stop.line} of {name(stop.path)}, not in {stop.number}"
        for stop in stops(path)
        if stop.number != stop.line
    ]
    assert not wrong, "make links: " + "; ".join(wrong)


def test_a_link_to_code_follows_its_name() -> None:
    page_text = page("docs/development.md")
    (first, *_) = [link for link in LINK.finditer(page_text) if link["name"] == "TraceRequest"]
    stop = Stop(ROOT / "docs/development.md", first["name"], ROOT / "app/gone.py", 1)
    assert moved(stop) == ROOT / "app/traces/schemas.py"
    assert renumbered(stop.page) == page_text


def test_pages_are_in_plain_english() -> None:
    phrases = {*STILTED} - {r"\bthe machine\b"}  # a computer is one, the model is not
    assert [
        (name(path), phrase)
        for path in PAGES
        for phrase in phrases
        if re.search(phrase, path.read_text(), re.IGNORECASE)
    ] == []


@pytest.mark.parametrize("path", READMES, ids=name)
def test_the_documented_tree_matches_the_folders(path: Path) -> None:
    (tree,) = re.findall(r"```text\n(model/.*?)```", path.read_text(), re.DOTALL)
    shown: set[str] = set()
    room = ""
    for line in tree.splitlines():
        indent, entry = re.match(r"( *)(\S+)", line).groups()  # type: ignore[union-attr]
        room = room if indent else entry
        shown.add(room + entry if indent else entry)
    there = tracked()
    for entry in shown:
        assert any(one == entry or one.startswith(entry.rstrip("/") + "/") for one in there), entry
    top = {one.partition("/")[0] + "/" for one in there if "/" in one and one[0] != "."}
    assert top <= shown


def test_both_readmes_show_the_same_commands() -> None:
    shown = [re.findall(r"```sh\n(.*?)```", path.read_text(), re.DOTALL) for path in READMES]
    without_comments = [re.sub(r" *#.*", "", "".join(blocks)) for blocks in shown]
    assert without_comments[0] == without_comments[1]


@pytest.mark.parametrize("line", re.findall(r"^curl .+$", page("README.md"), re.MULTILINE))
def test_the_requests_in_api_md_get_replies(live_server: AppServer, line: str) -> None:
    curl = ArgumentParser()
    curl.add_argument("-s", action="store_true")
    curl.add_argument("-H", action="append", default=[])
    curl.add_argument("-d")
    curl.add_argument("url")
    asked = curl.parse_args(shlex.split(line)[1:])
    answer = httpx.request(
        "POST" if asked.d else "GET",
        asked.url.replace("localhost:8000", live_server.url),
        headers=dict(header.split(": ") for header in asked.H),
        content=asked.d,
    )
    assert answer.is_success
    assert answer.json()


@pytest.mark.parametrize("path", ["package-lock.json", ".npmrc", *PINS])
def test_pins_name_no_host(path: str) -> None:
    assert not re.search(r"https?://|\"resolved\"", page(path))

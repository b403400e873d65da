"""The rooms of the house and the doors between them: who may import whom."""

import ast
import re
import sys
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# What the Transformer is made of. A web framework in this list would be a mistake.
MODEL_USES = {
    "annotated_types",
    "cachetools",
    "filelock",
    "model",
    "numpy",
    "opencc",
    "sacrebleu",
    "safetensors",
    "tokenizers",
    "torch",
}
NOT_FOR_APP = {"tests", "bench", "pytest", "httpx", "playwright"}

# The browser's one-of-a-kind files, and what only they may say; the entries hand it to them.
ENTRIES = ("workspace.js", "embed.js")
ONLY_IN = {
    "api.js": r"\bfetch\(|\bXMLHttpRequest\b|\bWebSocket\b|\bEventSource\b",
    "link.js": r"\bpushState\(|\breplaceState\(|\blocation\.(search|hash|href)\b",
    "chart.js": r"\bPlotly\b",
}


def python_imports(path: Path) -> Iterator[str]:
    """Yield the full names of the modules that a Python file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} imports relatively"
            assert node.module is not None
            yield node.module


def javascript_imports(path: Path) -> list[str]:
    """Return the specifiers that a module imports, exports from or loads later."""
    code = without_comments(path)
    static = r"""^\s*(?:import|export)\b[^;'"]*?\bfrom\s*['"]([^'"]+)['"]"""
    bare = r"""^\s*import\s*['"]([^'"]+)['"]"""
    later = r"""\bimport\(\s*['"]([^'"]+)['"]"""
    return [
        name
        for pattern in (static, bare, later)
        for name in re.findall(pattern, code, re.MULTILINE)
    ]


def without_comments(path: Path) -> str:
    return re.sub(r"/\*.*?\*/|(?<![:\"'])//[^\n]*", "", path.read_text(), flags=re.DOTALL)


def files(folder: str, suffix: str) -> list[Path]:
    found = sorted((ROOT / folder).rglob(f"*{suffix}"))
    assert found, f"nothing in {folder}/"
    return found


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", files("model", ".py"), ids=name)
def test_model_knows_nothing_of_the_web(path: Path) -> None:
    strangers = {
        module
        for module in python_imports(path)
        if module.partition(".")[0] not in MODEL_USES | sys.stdlib_module_names
    }
    assert not strangers


@pytest.mark.parametrize("path", files("app", ".py"), ids=name)
def test_app_does_without_what_only_tests_have(path: Path) -> None:
    assert not {module.partition(".")[0] for module in python_imports(path)} & NOT_FOR_APP


def test_what_is_imported_is_pinned() -> None:
    pinned = {
        re.split(r"[\[=]", line)[0].lower()
        for line in (ROOT / "requirements.txt").read_text().splitlines()
        if "==" in line
    }
    imported = {
        module.partition(".")[0]
        for room in ("app", "model")
        for path in files(room, ".py")
        for module in python_imports(path)
    }
    carriers = packages_distributions()
    for module in imported - sys.stdlib_module_names - {"app", "model"}:
        assert pinned & {one.lower().replace("_", "-") for one in carriers[module]}, module


@pytest.mark.parametrize("path", files("static/js", ".js"), ids=name)
def test_scripts_import_only_files_that_are_there(path: Path) -> None:
    for specifier in javascript_imports(path):
        assert specifier.startswith("."), f"{specifier}: nothing is loaded from elsewhere"
        assert (path.parent / specifier).resolve().is_file(), specifier


@pytest.mark.parametrize("path", files("static/js", ".js"), ids=name)
def test_only_the_index_imports_a_view(path: Path) -> None:
    views = ROOT / "static/js/views"
    if path == views / "index.js":
        return
    for specifier in javascript_imports(path):
        target = (path.parent / specifier).resolve()
        assert target.parent != views or target.name == "index.js", specifier
        assert path.parent != views or target.parent != views, specifier


@pytest.mark.parametrize("path", files("static/js", ".js"), ids=name)
@pytest.mark.parametrize("owner", ONLY_IN)
def test_one_file_touches_each_outside_thing(path: Path, owner: str) -> None:
    if path.name not in (owner, *ENTRIES):
        assert not re.findall(ONLY_IN[owner], without_comments(path))


@pytest.mark.parametrize("path", files("templates", ".html"), ids=name)
def test_templates_hold_no_script_and_no_style(path: Path) -> None:
    text = path.read_text()
    assert not re.findall(r"<style|\sstyle=|\son[a-z]+=|javascript:", text)
    assert not re.findall(r"<script(?![^>]*\bsrc=)(?![^>]*application/json)", text)
    assert not re.findall(r"""(?:src|href)=["'](?:https?:)?//""", text)

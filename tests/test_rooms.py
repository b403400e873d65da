"""The rooms of the house and the doors between them: who may import whom."""

import ast
import re
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# What the Transformer is made of. A web framework in this list would be a mistake.
MODEL_USES = {
    "annotated_types",
    "cachetools",
    "ctranslate2",
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

# The page's folders from the ground up: each imports what lies below it, or beside it.
JS_RANKS = ("lib", "data", "compute", "state", "draw", "parts", "views", "chrome", "pages")
# From the bottom up: a file imports what stands in its own room or in one below, never above.
RANKS = {
    "model": (
        "errors",
        "limits",
        "stopping",
        "text",
        "trace",
        "transformer",
        "decode",
        "explain",
        "bundle",
        "adapters",
        "__init__",  # the front door: what others than `model` itself come in by
        "train",
        "measure",
        "commands",
        "__main__",
    ),
    "app": (
        "__init__",
        "settings",
        "off_loop",
        "store",
        "engine",
        "schemas",
        "http",
        "assets",
        "preview",
        "readiness",
        "services",
        "handout",
        "notebook",
        "answers",
        "routes",
        "main",
        "server",
        "__main__",
    ),
}
OFFLINE = ("model.train", "model.measure", "model.commands")

# The browser's one-of-a-kind files, and what only they may say; the entries hand it to them.
ENTRIES = ("workspace.js", "embed.js", "handout.js")
ONLY_IN = {
    "connection.js": r"\bfetch\(|\bXMLHttpRequest\b|\bWebSocket\b|\bEventSource\b",
    "address.js": r"\bpushState\(|\breplaceState\(|\blocation\.(search|hash|href)\b",
    "plotly.js": r"\bPlotly\b",
    "arrow-keys.js": r"\bArrow(Left|Right|Up|Down)\b",
    "text-input.js": r"\bcomposition(start|end)\b",
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


def room(module: str) -> str:
    """Return the room of a full name: "text" for `model.text.tokens`, "main" for `app.main`."""
    return [*module.split("."), "__init__"][1]


@pytest.mark.parametrize("path", [*files("model", ".py"), *files("app", ".py")], ids=name)
def test_imports_go_only_downwards(path: Path) -> None:
    package, *_ = inside = path.relative_to(ROOT).with_suffix("").parts
    ranks = RANKS[package]
    own = ranks.index(room(".".join(inside)))
    for module in python_imports(path):
        if module.partition(".")[0] == package:
            assert ranks.index(room(module)) <= own, module


@pytest.mark.parametrize("package", RANKS)
def test_modules_do_not_import_in_circles(package: str) -> None:
    """Between rooms ranks see to it; within one this does."""
    graph = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts): {*python_imports(path)}
        for path in files(package, ".py")
    }
    TopologicalSorter(graph).prepare()  # raises CycleError


@pytest.mark.parametrize("path", files("app", ".py"), ids=name)
def test_app_imports_nothing_that_runs_offline(path: Path) -> None:
    assert not [module for module in python_imports(path) if module.startswith(OFFLINE)]


@pytest.mark.parametrize("folder", ["model", "app"])
def test_nothing_imports_an_entry(folder: str) -> None:
    for path in files(folder, ".py"):
        assert not [m for m in python_imports(path) if m.endswith("__main__")], path


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
def test_scripts_import_only_downwards(path: Path) -> None:
    folder, *inside = path.relative_to(ROOT / "static/js").parts
    for specifier in javascript_imports(path):
        target = (path.parent / specifier).resolve().relative_to(ROOT / "static/js").parts
        assert JS_RANKS.index(target[0]) <= JS_RANKS.index(folder), specifier
        if folder == target[0] == "views" and len(inside) > 1:
            assert inside[0] == target[1], f"{specifier}: a view imports no other view"


@pytest.mark.parametrize("path", files("static/js", ".js"), ids=name)
def test_only_chrome_and_pages_look_up_ids(path: Path) -> None:
    if path.relative_to(ROOT / "static/js").parts[0] not in ("chrome", "pages"):
        found = re.findall(
            r"""getElementById|(?:find|querySelector)\(\s*["'`]#""", without_comments(path)
        )
        assert not found


@pytest.mark.parametrize("path", files("static/js", ".js"), ids=name)
def test_a_figure_looks_at_nothing_of_the_page(path: Path) -> None:
    """Several stand on one: what is the page's is handed to them, or is its focus alone."""
    if path.relative_to(ROOT / "static/js").parts[0] in ("parts", "views", "draw"):
        page = "documentElement|body|title|add|remove|querySelector|getElement|forms"
        assert not re.findall(
            rf"(?<![\w.])document\.({page})|(?<![\w.])window\.(add|inner|scroll|location|history)",
            without_comments(path),
        )


@pytest.mark.parametrize("path", files("static/js", ".js"), ids=name)
@pytest.mark.parametrize("owner", ONLY_IN)
def test_one_file_touches_each_outside_thing(path: Path, owner: str) -> None:
    if path.name not in (owner, *ENTRIES):
        assert not re.findall(ONLY_IN[owner], without_comments(path))


# A model's own names: what they are called, what a model without a table had, a stage's name in a
# link, a sentence with the word in it; and a mark of Plotly's.
NAMED_IN = {
    "state/model-part-names.js",
    "data/model.js",
    "views/worksheet/sheet-model.js",
    "data/examples.js",
    "draw/plotly-space.js",
}
COMMENTS = re.compile(r"/\*.*?\*/|(?<=\s)//[^\n]*", re.DOTALL)
FOR_THE_READER = re.compile(r'\bt\(\s*"(?:[^"\\]|\\.)*"')


@pytest.mark.parametrize("path", files("static/js", ".js"), ids=name)
def test_scripts_do_not_spell_what_a_model_says_of_itself(path: Path) -> None:
    if path.relative_to(ROOT / "static/js").as_posix() in NAMED_IN:
        return
    code = FOR_THE_READER.sub("", COMMENTS.sub("", path.read_text()))
    assert not re.findall(r"\b(?:en|de)coder\b|\bcross\b(?!-)", code)


@pytest.mark.parametrize("path", files("templates", ".html"), ids=name)
def test_templates_hold_no_script_and_no_style(path: Path) -> None:
    text = path.read_text()
    assert not re.findall(r"<style|\sstyle=|\son[a-z]+=|javascript:", text)
    assert not re.findall(r"<script(?![^>]*\bsrc=)(?![^>]*application/json)", text)
    assert not re.findall(r"""(?:src|href)=["'](?:https?:)?//""", text)

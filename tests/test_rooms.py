"""The allowed imports between modules of the server, the model and the page."""

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from graphlib import TopologicalSorter
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# The dependencies of `model`. It must not need a web framework.
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
# Not installed everywhere: only this room says its name, and is imported only for such a model.
HUGGING_FACE = {"transformers", "gguf", "onnx"}
NOT_FOR_APP = {"tests", "bench", "pytest", "httpx", "playwright"}
ONLY_AT_SCALE = {"ray"}  # for app/scale, which is imported only where a cluster is named

# The page's folders from the ground up: each imports what lies below it, or beside it.
JS_RANKS = ("lib", "data", "compute", "state", "draw", "parts", "views", "chrome", "pages")
# Ranks from the bottom up: a file imports from its own folder or lower ones, never higher ones.
RANKS = {
    "model": (
        "errors",
        "number_ranges",
        "cancellation",
        "text",
        "trace",
        "transformer",
        "decode",
        "explain",
        "long",
        "imported",
        "lab",
        "bundle",
        "adapters",
        "__init__",  # the front door: what others than `model` itself come in by
        "train",
        "measure",
        "recipe",
        "zoo",
        "live",
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
        "lessons",
        "launch",
        "scale",
        "runs",
        "readiness",
        "dependencies",
        "handout_file",
        "answers",
        "routes",
        "main",
        "server",
        "__main__",
    ),
    "headlight": ("arrays", "models", "display", "serving", "__init__"),
}
OURS = {*RANKS}
TRAINS = ("model.train", "model.measure", "model.commands", "model.live.run")
OFFLINE = (
    "model.train",
    "model.measure",
    "model.commands",
    # Of the zoo the tasks alone are for the server.
    *(f"model.zoo.{name}" for name in ("training", "measuring", "carrying", "recipes", "page")),
)

# The browser's one-of-a-kind files, and what only they may say; the entries hand it to them.
ENTRIES = (
    "workspace.js",
    "embed.js",
    "handout.js",
    "lab.js",
    "lab-embed.js",
    "learn.js",
    "zoo.js",
    "train.js",
)
ONLY_IN = {
    "connection.js": r"\bfetch\(|\bXMLHttpRequest\b|\bWebSocket\b|\bEventSource\b",
    "address.js": r"\bpushState\(|\breplaceState\(|\blocation\.(search|hash|href)\b",
    "plotly.js": r"\bPlotly\b",
    "arrow-keys.js": r"\bArrow(Left|Right|Up|Down)\b",
    "text-input.js": r"\bcomposition(start|end)\b",
}


@cache
def python_imports(path: Path) -> tuple[str, ...]:
    """Return the full names of the modules that a Python file imports anywhere."""
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} imports relatively"
            assert node.module is not None
            found.append(node.module)
    return tuple(found)


@cache
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


@cache
def without_comments(path: Path) -> str:
    return re.sub(r"/\*.*?\*/|(?<![:\"'])//[^\n]*", "", path.read_text(), flags=re.DOTALL)


def files(folder: str, suffix: str) -> list[Path]:
    found = sorted((ROOT / folder).rglob(f"*{suffix}"))
    assert found, f"nothing in {folder}/"
    return found


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


Rule = Callable[[Path], Iterable[object]]


def for_each(paths: Sequence[Path]) -> Callable[[Rule], Callable[[], None]]:
    """Make a test of a rule that yields the violations in a file; the test lists all of them."""

    def test_of(rule: Rule) -> Callable[[], None]:
        def test() -> None:
            wrong = [f"{name(path)}: {found}" for path in paths for found in rule(path)]
            assert not wrong, "\n".join(wrong)

        test.__doc__ = rule.__doc__
        return test

    return test_of


PYTHON = [path for package in RANKS for path in files(package, ".py")]
SCRIPTS = files("static/js", ".js")


@for_each(files("model", ".py"))
def test_model_knows_nothing_of_the_web(path: Path) -> Iterator[str]:
    more = HUGGING_FACE if {"huggingface", "imported"} & {*path.parts} else set[str]()
    for module in python_imports(path):
        if module.partition(".")[0] not in MODEL_USES | more | sys.stdlib_module_names:
            yield module


@for_each([*files("model", ".py"), *files("app", ".py")])
def test_the_server_does_without_the_package_for_notebooks(path: Path) -> Iterable[str]:
    return [module for module in python_imports(path) if module.partition(".")[0] == "headlight"]


@for_each(files("app", ".py"))
def test_app_does_without_what_only_tests_have(path: Path) -> Iterable[str]:
    return {module.partition(".")[0] for module in python_imports(path)} & NOT_FOR_APP


def room(module: str) -> str:
    """Return the room of a full name: "text" for `model.text.tokens`, "main" for `app.main`."""
    return [*module.split("."), "__init__"][1]


@for_each(PYTHON)
def test_imports_go_only_downwards(path: Path) -> Iterator[str]:
    package, *_ = inside = path.relative_to(ROOT).with_suffix("").parts
    ranks = RANKS[package]
    own = ranks.index(room(".".join(inside)))
    for module in python_imports(path):
        if module.partition(".")[0] == package and ranks.index(room(module)) > own:
            yield module


@for_each(PYTHON)
def test_only_one_room_needs_a_cluster(path: Path) -> Iterable[str]:
    if path.is_relative_to(ROOT / "app/scale"):
        return []
    return {module.partition(".")[0] for module in python_imports(path)} & ONLY_AT_SCALE


def imported_by(modules: str) -> set[str]:
    """Return all modules that a new process has imported after importing these."""
    code = f"import sys, {modules}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr
    return {*done.stdout.split()}


def test_nothing_of_a_cluster_is_imported_without_one() -> None:
    imported = imported_by("app.server, app.__main__")
    packages = {module.partition(".")[0] for module in imported}
    assert "torch" in packages
    assert not packages & (ONLY_AT_SCALE | {"redis"})
    assert "app.scale" not in imported


def test_engines_are_launched_before_pytorch_is_imported() -> None:
    code = "import sys, app.__main__; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr
    imported = done.stdout.split()
    assert "app.launch" in imported
    assert not {"torch", "fastapi"} & {*imported}


@pytest.mark.parametrize("package", RANKS)
def test_modules_do_not_import_in_circles(package: str) -> None:
    """Ranks prevent cycles between folders; this test finds those within one."""
    graph = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts): {*python_imports(path)}
        for path in files(package, ".py")
    }
    TopologicalSorter(graph).prepare()  # raises CycleError


@for_each(files("app", ".py"))
def test_app_imports_nothing_that_runs_offline(path: Path) -> Iterable[str]:
    """A training run has its own process, which imports the training code after its start."""
    if path == ROOT / "app/runs/run_process.py":
        return []
    return [module for module in python_imports(path) if module.startswith(OFFLINE)]


def test_a_server_brings_no_training_in() -> None:
    imported = imported_by("app.server, app.__main__, app.runs.run_process")
    assert "model.live.options" in imported
    assert not {one for one in imported if one.startswith(TRAINS)}


@for_each(PYTHON)
def test_nothing_imports_an_entry(path: Path) -> Iterable[str]:
    return [module for module in python_imports(path) if module.endswith("__main__")]


def pinned(requirements: str) -> set[str]:
    lines = (ROOT / requirements).read_text().splitlines()
    return {re.split(r"[\[=]", line)[0].lower() for line in lines if "==" in line}


def test_what_is_imported_is_pinned() -> None:
    assert pinned("requirements-scale.txt") >= ONLY_AT_SCALE
    imported = {module.partition(".")[0] for path in PYTHON for module in python_imports(path)}
    assert pinned("requirements-hf.txt") == HUGGING_FACE
    imported -= ONLY_AT_SCALE | HUGGING_FACE
    carriers = packages_distributions()
    for module in imported - sys.stdlib_module_names - OURS:
        assert pinned("requirements.txt") & {
            one.lower().replace("_", "-") for one in carriers[module]
        }, module


@for_each(SCRIPTS)
def test_scripts_import_only_files_that_are_there(path: Path) -> Iterator[str]:
    for specifier in javascript_imports(path):
        if not specifier.startswith("."):
            yield f"{specifier}: nothing is loaded from elsewhere"
        elif not (path.parent / specifier).resolve().is_file():
            yield specifier


@for_each(SCRIPTS)
def test_scripts_import_only_downwards(path: Path) -> Iterator[str]:
    folder, *inside = path.relative_to(ROOT / "static/js").parts
    for specifier in javascript_imports(path):
        target = (path.parent / specifier).resolve().relative_to(ROOT / "static/js").parts
        if JS_RANKS.index(target[0]) > JS_RANKS.index(folder):
            yield specifier
        if folder == target[0] == "views" and len(inside) > 1 and inside[0] != target[1]:
            yield f"{specifier}: a view imports no other view"


@for_each(SCRIPTS)
def test_only_chrome_and_pages_look_up_ids(path: Path) -> Iterable[str]:
    if path.relative_to(ROOT / "static/js").parts[0] in ("chrome", "pages"):
        return []
    return re.findall(
        r"""getElementById|(?:find|querySelector)\(\s*["'`]#""", without_comments(path)
    )


@for_each(SCRIPTS)
def test_a_figure_looks_at_nothing_of_the_page(path: Path) -> Iterable[object]:
    """A page may have several figures, so a figure gets all that it needs of the page."""
    if path.relative_to(ROOT / "static/js").parts[0] not in ("parts", "views", "draw"):
        return []
    page = "documentElement|body|title|add|remove|querySelector|getElement|forms"
    return re.findall(
        rf"(?<![\w.])document\.({page})|(?<![\w.])window\.(add|inner|scroll|location|history)",
        without_comments(path),
    )


@for_each(SCRIPTS)
def test_one_file_touches_each_outside_thing(path: Path) -> Iterator[str]:
    for owner, touch in ONLY_IN.items():
        if path.name not in (owner, *ENTRIES) and (
            found := re.search(touch, without_comments(path))
        ):
            yield found[0]


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


@for_each(SCRIPTS)
def test_scripts_do_not_spell_what_a_model_says_of_itself(path: Path) -> Iterable[str]:
    if path.relative_to(ROOT / "static/js").as_posix() in NAMED_IN:
        return []
    code = FOR_THE_READER.sub("", COMMENTS.sub("", path.read_text()))
    return re.findall(r"\b(?:en|de)coder\b|\bcross\b(?!-)", code)


@for_each(files("templates", ".html"))
def test_templates_hold_no_script_and_no_style(path: Path) -> Iterator[str]:
    text = path.read_text()
    yield from re.findall(r"<style|\sstyle=|\son[a-z]+=|javascript:", text)
    yield from re.findall(r"<script(?![^>]*\bsrc=)(?![^>]*application/json)", text)
    yield from re.findall(r"""(?:src|href)=["'](?:https?:)?//""", text)

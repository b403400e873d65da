"""The allowed imports between modules of the server and the model."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import TopologicalSorter
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.source_files import ROOT, files, for_each

# The dependencies of `model`. It must not need a web framework.
MODEL_USES = {
    "annotated_types",
    "cachetools",
    "ctranslate2",
    "filelock",
    "model",
    "numpy",
    "opencc",
    "pydantic",
    "sacrebleu",
    "safetensors",
    "tokenizers",
    "torch",
}
# Not installed everywhere: only this room says its name, and is imported only for such a model.
HUGGING_FACE = {"transformers", "huggingface_hub", "gguf", "onnx"}
FOR_PAGES = {"onnx"}  # for model/web, which is imported only to export a model to a page
NOT_FOR_APP = {"tests", "bench", "pytest", "httpx", "playwright"}
ONLY_IN_NOTEBOOKS = {"anywidget", "traitlets"}  # the extra `notebook`, for headlight/widget.py
ONLY_AT_SCALE = {"ray"}  # for app/scale, which is imported only where a cluster is named
# Ranks from the bottom up: a file imports from its own folder or lower ones, never higher ones.
RANKS = {
    "model": (
        "errors",
        "request_limits",
        "progress",
        "file_reading",
        "device",
        "text",
        "trace",
        "transformer",
        "decode",
        "explain",
        "corpus",
        "long",
        "imported",
        "lab",
        "bundle",
        "adapters",
        "web",
        "__init__",  # the front door: what others than `model` itself come in by
        "train",
        "measure",
        "recipe",
        "zoo",
        "live_training",
        "commands",
        "__main__",
    ),
    "app": (
        "__init__",
        "settings",
        "http",
        "store",
        "engine",
        "assets",
        "scale",
        "subjects",  # SUBJECTS
        "operator_commands",
        "main",
        "server",
        "command",
        "__main__",
    ),
    "headlight": (
        "other_headlight_package",
        "figure_notices",
        "array_forms",
        "array_checks",
        "array_tokens",
        "arrays",
        "chosen_layers",
        "models",
        "display",
        "serving",
        "explanations",
        "files",
        "widget",
        "public_names",
        "__init__",
        "doctor",
        "command",
        "__main__",
    ),
}
# Subjects of the server, in an order in which each imports only earlier ones: those that its
# docstring names.
SUBJECTS = (
    "traces",
    "local_models",
    "figures",
    "lab",
    "zoo",
    "runs",
    "heads",
    "models",
    "long_texts",
    "shares",
    "handouts",
    "lessons",
    "collections",
    "worksheets",
    "rooms",
    "assignments",
    "studies",
    "pages",
    "site",
)
NAMED = re.compile(r"`([a-z_]+)`")  # in a docstring
OURS = {*RANKS}
TRAINS = ("model.train", "model.measure", "model.commands", "model.live_training.live_run")
OFFLINE = (
    "model.train",
    "model.measure",
    "model.commands",
    "model.web",
    # Of the zoo the tasks alone are for the server.
    *(f"model.zoo.{name}" for name in ("training", "measuring", "documentation_page")),
)


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


PYTHON = [path for package in RANKS for path in files(package, ".py")]


@for_each(files("model", ".py"))
def test_model_knows_nothing_of_the_web(path: Path) -> Iterator[str]:
    more = HUGGING_FACE if {"huggingface", "imported"} & {*path.parts} else set[str]()
    more |= FOR_PAGES if "web" in path.parts else set()
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


def rank(package: str, module: str) -> int:
    folder = room(module)
    return RANKS[package].index("subjects" if package == "app" and folder in SUBJECTS else folder)


@for_each(PYTHON)
def test_imports_go_only_downwards(path: Path) -> Iterator[str]:
    package, *_ = inside = path.relative_to(ROOT).with_suffix("").parts
    highest = rank(package, ".".join(inside))
    for module in python_imports(path):
        if module.partition(".")[0] == package and rank(package, module) > highest:
            yield module


def files_of(subject: str) -> list[Path]:
    """Return the files of a subject, the one with its docstring first."""
    file = ROOT / f"app/{subject}.py"
    return [file] if file.exists() else files(f"app/{subject}", ".py")


def subjects_imported(subject: str) -> set[str]:
    """Return the other subjects that the files of a subject import."""
    modules = {
        module
        for path in files_of(subject)
        for module in python_imports(path)
        if module.startswith("app.")
    }
    return {room(module) for module in modules} & {*SUBJECTS} - {subject}


@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_subject_imports_the_earlier_ones_that_its_docstring_names(subject: str) -> None:
    docstring = ast.get_docstring(ast.parse(files_of(subject)[0].read_text()))
    assert docstring is not None
    imported = subjects_imported(subject)
    assert imported == {*NAMED.findall(docstring)} & {*SUBJECTS} - {subject}
    assert imported <= {*SUBJECTS[: SUBJECTS.index(subject)]}


def test_all_of_the_server_has_a_rank() -> None:
    app = ROOT / "app"
    rooms = {path.parent.name for path in app.glob("*/__init__.py")}
    rooms |= {path.stem for path in app.glob("*.py")}
    assert rooms == {*SUBJECTS, *RANKS["app"]} - {"subjects"}


@for_each(PYTHON)
def test_only_one_room_needs_a_cluster(path: Path) -> Iterable[str]:
    if path.is_relative_to(ROOT / "app/scale"):
        return []
    return {module.partition(".")[0] for module in python_imports(path)} & ONLY_AT_SCALE


@cache
def imported_by(*groups: str) -> list[set[str]]:
    """Return all modules that a new process has imported after importing each group."""
    code = "; ".join(f"import sys, {modules}; print(*sys.modules)" for modules in groups)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr
    return [{*line.split()} for line in done.stdout.splitlines()]


SERVER = ("app.command", "app.server", "app.runs.run_process, app.heads.index_process")


def test_nothing_of_a_cluster_is_imported_without_one() -> None:
    _, imported, _ = imported_by(*SERVER)
    packages = {module.partition(".")[0] for module in imported}
    assert "torch" in packages
    assert not packages & (ONLY_AT_SCALE | {"redis"})
    assert "app.scale" not in imported


def test_engines_are_launched_before_pytorch_is_imported() -> None:
    imported, *_ = imported_by(*SERVER)
    assert "app.engine.start_engines" in imported
    assert not {"torch", "fastapi"} & imported


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
    """What does has a process of its own, which imports such code after its start."""
    apart = ("runs/run_process.py", "heads/index_process.py", "site.py")
    if path in [ROOT / "app" / file for file in apart]:
        return []
    return [module for module in python_imports(path) if module.startswith(OFFLINE)]


def test_a_server_brings_no_training_in() -> None:
    *_, imported = imported_by(*SERVER)
    assert "model.live_training.options_and_events" in imported
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
    assert pinned("requirements-hf.txt") == {name.replace("_", "-") for name in HUGGING_FACE}
    assert pinned("requirements-web.txt") >= FOR_PAGES
    assert "anywidget" in pinned("requirements-dev.txt")
    imported -= ONLY_AT_SCALE | HUGGING_FACE | ONLY_IN_NOTEBOOKS
    carriers = packages_distributions()
    for module in imported - sys.stdlib_module_names - OURS:
        assert pinned("requirements.txt") & {
            one.lower().replace("_", "-") for one in carriers[module]
        }, module

"""No pattern, and no function, that a reader's text reaches takes more than linear time.

Every compiled pattern of `app` and `model` is collected, from modules, from calls of `re`,
`fnmatch` and `glob`, and from the fields of requests, and measured with texts made to hurt it
(`tests/time_growth.py`).
"""

import ast
import fnmatch
import importlib
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI, Request

from app.assets.languages import negotiate
from app.heads.index_process import sentences_of
from app.http.host_names import AllowedHosts
from app.http.replies import csv_of
from model.bundle.weights import CHECKPOINTS
from model.text.tokens import Tokenizer, fits, normalise
from model.text.writing_systems import Detector, fold
from tests.time_growth import Case, texts_against, uses, worse_than_linear

ROOT = Path(__file__).parent.parent
Pattern = tuple[str, str, int, frozenset[str]]  # name, source, flags, methods
METHODS = ("match", "fullmatch", "search", "finditer", "findall", "sub", "split")
CALLS = {f"re.{name}" for name in METHODS}
OF_SHELLS = ("fnmatch", "fnmatchcase", "filter", "translate")
# Read only what the project itself, or whoever trains or runs it, has written.
OURS = (
    "app.assets.bundles",
    "app.handouts.handout_html",
    "app.lessons",
    "app.settings",
    "model.commands",
    "model.imported",
    "model.measure",
    "model.recipe",
    "model.train",
)
# Loops over patterns that are constants of their modules.
LOOPS = (
    "app.engine.start_engines: pattern",
    "model.adapters.huggingface.hub: pattern",
    "model.adapters.huggingface.open_folder: pattern",
)


def patterns() -> Iterator[Pattern]:
    """Yield the patterns: name, source, flags, and the methods by which they are used."""
    for path in sorted([*(ROOT / "app").rglob("*.py"), *(ROOT / "model").rglob("*.py")]):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        if name.startswith(OURS) or "migrations" in name:
            continue
        source = path.read_text()
        if re.search(r"\bre\.|pattern=|\bfnmatch|glob\(", source):
            yield from _of_module(name, ast.parse(source))


def _of_module(name: str, tree: ast.Module) -> Iterator[Pattern]:
    module = importlib.import_module(name)
    for variable, value in vars(module).items():
        held = value.values() if isinstance(value, dict) else [value]
        for pattern in held:
            if isinstance(pattern, re.Pattern):
                yield f"{name}.{variable}", pattern.pattern, pattern.flags, _methods(variable)
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        called, at = ast.unparse(call.func), f"{name}:{call.lineno}"
        if called in CALLS:
            yield at, _evaluated(call.args[0], module), 0, frozenset({called[3:]})
        shells = _shell_pattern(call, module)
        if shells is not None and f"{name}: {ast.unparse(shells)}" not in LOOPS:
            yield at, fnmatch.translate(_evaluated(shells, module)), 0, frozenset({"match"})
        for word in call.keywords:
            if word.arg == "pattern" and called in ("Field", "Header", "Query", "Path"):
                yield at, _evaluated(word.value, module), 0, frozenset({"search"})


def _shell_pattern(call: ast.Call, module: Any) -> ast.expr | None:
    """Return the argument that is a pattern of a shell, which Python translates and compiles."""
    called = ast.unparse(call.func)
    if called.endswith((".glob", ".rglob")):
        return call.args[0]
    function = vars(module).get(called)
    for name in OF_SHELLS:
        if called == f"fnmatch.{name}" or function is getattr(fnmatch, name):
            return call.args[-1]
    return None


def _evaluated(expression: ast.expr, module: Any) -> str:
    """Return a pattern that the project has written: compiling a reader's takes long."""
    written = ast.unparse(expression)
    try:
        return str(eval(written, vars(module)))
    except NameError as error:
        pytest.fail(f"{module.__name__} compiles what is not constant: {written}: {error}")


@cache
def _uses() -> dict[str, set[str]]:
    """Return the methods that are called of each variable, in all files."""
    called = re.compile(rf"\b(\w+)(?:\[[^\]]*\])?\.({'|'.join(METHODS)})\b")
    uses = defaultdict[str, set[str]](set)
    for path in (path for package in ("app", "model") for path in ROOT.glob(f"{package}/**/*.py")):
        for variable, method in called.findall(path.read_text()):
            uses[variable].add(method)
    return uses


def _methods(variable: str) -> frozenset[str]:
    """Return the methods of a pattern that are used anywhere; `search` if none is seen."""
    return frozenset(_uses().get(variable, {"search"}))


def cases_of(patterns: Iterable[Pattern]) -> Iterator[Case]:
    for name, source, flags, methods in patterns:
        compiled = re.compile(source, flags)
        for method in sorted(methods):
            for text in texts_against(source, flags & ~re.UNICODE):
                yield f"{name}.{method}", uses(compiled, method), text


NUMBER = r"[+-]?[0-9]*\.?[0-9]+"


@pytest.mark.parametrize(
    ("source", "method"),
    [
        (rf"{NUMBER}( {NUMBER})*", "fullmatch"),
        (r"(?:[0-9]+ ?)*", "fullmatch"),
        (r"(?:^|[.!?]\s)\W*\w|\bI\b", "finditer"),
        (r"<b>(.*?)</b>", "sub"),
    ],
)
def test_what_is_not_linear_is_found(source: str, method: str) -> None:
    function = uses(re.compile(source), method)
    cases = ((source, function, text) for text in texts_against(source))
    assert len(worse_than_linear(cases)) == 1


@pytest.mark.parametrize(
    "source",
    [
        "from fnmatch import fnmatchcase\ndef of(p): return fnmatchcase('name', p)",
        "import fnmatch\ndef of(p): return fnmatch.filter(['name'], p)",
        "from pathlib import Path\ndef of(p): return [*Path().rglob(p)]",
        "import re\ndef of(p): return re.search(p, 'name')",
    ],
)
def test_a_pattern_that_someone_else_wrote_is_noticed(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "compiles_patterns.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(pytest.fail.Exception, match="not constant: p: name"):
        [*_of_module("compiles_patterns", ast.parse(source))]
    sys.modules.pop("compiles_patterns")


def test_every_pattern_is_linear() -> None:
    all_patterns = [*patterns()]
    assert len({name for name, *_ in all_patterns}) > 30
    assert worse_than_linear(cases_of(all_patterns)) == []


# What makes a text long to read: marks without words, one word, accents to sort, bytes, scripts.
UNITS = (
    "! ",
    "AB. ",
    "a",
    "word ",
    "中",
    "著",
    "’",
    "\u0301\u0323",
    "\u0308",
    "😀",
    "\u1100",
    "<2zh>",
    "\t",
    "\n",
)
STARTS = ("", "AB CD ")


def negotiated(header: str, value: str) -> str:
    """Return the language of a request with a header."""
    headers = [(header.encode(), value.encode())]
    return negotiate(
        Request({"type": "http", "query_string": b"", "headers": headers}), ["en", "zh"]
    )


def cases_of_functions() -> Iterator[Case]:
    functions: dict[str, Callable[[str], object]] = {
        "fold": fold,
        "normalise": normalise,
        "language": Detector(("en", "zh")).language,
        "csv": lambda text: csv_of(["answer"], [[text]]),
        "sentences": lambda text: sentences_of(text, "sentences"),
        "cookie": lambda text: negotiated("cookie", f'lang="{text}"'),
        "quoted cookie": lambda text: negotiated("cookie", 'lang="' + '\\"' * len(text) + '"'),
        "preferred languages": lambda text: negotiated("accept-language", f"{text}," * 2),
        "host": AllowedHosts(FastAPI(), ["*.example.org"], local=True).answers_to,
    }
    for name in ("en-zh", "zoo/who"):
        encode = Tokenizer.load(CHECKPOINTS / name / "tokenizer.json").encode
        functions[f"encode {name}"] = encode
    functions["encode to fit"] = lambda text: fits(text, 32, encode)
    for name, function in functions.items():
        many = 1 if name.startswith("encode") else 4
        for start, unit in product(STARTS, UNITS):
            yield name, function, partial(_repeated, start, unit, many)


def _repeated(start: str, unit: str, many: int, size: int) -> str:
    return start + (unit * size * many)[: size * many]


def test_every_function_of_a_text_is_linear() -> None:
    assert worse_than_linear(cases_of_functions()) == []

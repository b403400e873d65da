"""The allowed imports between the page's scripts, and what only one file may touch."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from tests.rooms import ROOT, files, for_each

# The page's folders from the ground up: each imports what lies below it, or beside it.
JS_RANKS = ("lib", "data", "compute", "state", "draw", "parts", "views", "chrome", "pages")
# The browser's one-of-a-kind files, and what only they may say; the entries hand it to them.
ENTRIES = (
    "workspace.js",
    "embed.js",
    "handout.js",
    "lab.js",
    "lab-embed.js",
    "learn.js",
    "collection.js",
    "collections.js",
    "assignment.js",
    "assignments.js",
    "speaker.js",
    "zoo.js",
    "heads.js",
    "head.js",
    "train.js",
    "room.js",
)
ONLY_IN = {
    "connection.js": r"\bfetch\(|\bXMLHttpRequest\b|\bWebSocket\b|\bEventSource\b",
    "address.js": r"\bpushState\(|\breplaceState\(|\blocation\.(search|hash|href)\b",
    "plotly.js": r"\bPlotly\b",
    "arrow-keys.js": r"\bArrow(Left|Right|Up|Down)\b",
    "text-input.js": r"\bcomposition(start|end)\b",
}


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


SCRIPTS = files("static/js", ".js")


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

"""The allowed imports between the page's scripts, and what only one file may touch."""

import os
import re
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from tests.source_files import ROOT, files, for_each

# The page's folders from the ground up: each imports what is below it, or beside it in its folder.
CORE = tuple(f"core/{name}" for name in ("wire", "compute", "store", "draw", "figure", "page"))
RANKS = ("lib", *CORE, "views", "a subject", "pages")
# What a subject imports of others. `long` and `compare-models` are for one view each, which
# imports them: they import no other folder than lib and core.
USES = {
    "views/attention": {"long"},
    "views/compare": {"compare-models"},
    "ask": {"lab"},
    "assignment": {"ask", "room"},
    "collection": {"ask", "learn"},
    "handout": {"workspace"},
    "learn": {"ask", "lab", "opening", "room", "train", "workspace", "zoo"},
    "room": {"ask", "lab"},
    "share": {"ask"},
    "study": {"assignment"},
    "workspace": {"compare-models"},
}
FOR_ONE_VIEW = ("compare-models", "long")
# Folders with what is drawn in any element of any page.
FIGURES = (
    *("core/draw", "core/figure", "views", "compare-models"),
    *("lab/figure", "lab/formulas", "long/map"),
)
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
    "shelf.js",
    "assignment.js",
    "assignments.js",
    "results.js",
    "teach.js",
    "study.js",
    "worksheet.js",
    "studies.js",
    "speaker-notes.js",
    "zoo.js",
    "heads.js",
    "attention-head.js",
    "train.js",
    "room.js",
    "model-worker.js",
    "site.js",
    "site-lab.js",
    "site-learn.js",
    "offline.js",
    "first-paint.js",
)
ONLY_IN = {
    "connection.js": r"\bfetch\(|\bXMLHttpRequest\b|\bWebSocket\b|\bEventSource\b",
    "address.js": r"\bpushState\(|\breplaceState\(|\blocation\.(search|hash|href)\b",
    "plotly.js": r"\bPlotly\b",
    "pointing.js": r"\bArrow(Left|Right|Up|Down)\b",
    "controls.js": r"\bcomposition(start|end)\b",
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


@cache
def place(path: Path) -> str:
    """Return a script's path in `static/js`."""
    return path.relative_to(ROOT / "static/js").as_posix()


PLACES = {place(path) for path in SCRIPTS}


def subject(script: str) -> str:
    """Return a script's folder: `lib`, `core`, `pages`, a view's or a subject's."""
    first, *inside = script.split("/")
    return f"views/{inside[0]}" if first == "views" and len(inside) > 1 else first


def rank(script: str) -> int:
    first, second, *_ = script.split("/")
    name = f"core/{second}" if first == "core" else first
    return RANKS.index(name if name in RANKS else "a subject")


@cache
def imported(path: Path) -> list[tuple[str, str, str]]:
    """Return a script with each script that it imports, and how that is written there."""
    folder = Path(place(path)).parent
    targets = [(os.path.normpath(folder / name), name) for name in javascript_imports(path)]
    return [(place(path), target, name) for target, name in targets if target in PLACES]


@for_each(SCRIPTS)
def test_scripts_import_only_downwards(path: Path) -> Iterator[str]:
    for script, target, specifier in imported(path):
        used = subject(target) in USES.get(subject(script), set())
        if rank(target) > rank(script) and not used:
            yield specifier


@for_each(SCRIPTS)
def test_views_and_subjects_import_only_others_that_they_may(path: Path) -> Iterator[str]:
    for script, target, specifier in imported(path):
        user, other = subject(script), subject(target)
        if user.startswith("views/") and other == "views":
            yield f"{specifier}: a view does not know the others"
        both = {user, other}.isdisjoint({"lib", "core", "views", "pages"})
        upward = rank(target) >= rank(script)
        if both and upward and user != other and other not in USES.get(user, set()):
            yield f"{specifier}: {user} may not import {other}"


@for_each([path for path in SCRIPTS if subject(place(path)) in FOR_ONE_VIEW])
def test_what_is_for_one_view_imports_no_view(path: Path) -> Iterator[str]:
    for _, target, specifier in imported(path):
        if rank(target) >= RANKS.index("views") and subject(target) != subject(place(path)):
            yield specifier


def test_subjects_use_each_other_in_no_ring() -> None:
    TopologicalSorter(USES).prepare()  # raises CycleError


def test_every_use_that_is_allowed_is_made() -> None:
    made = {
        (subject(script), subject(target))
        for path in SCRIPTS
        for script, target, _ in imported(path)
    }
    allowed = {(user, other) for user, others in USES.items() for other in others}
    assert allowed <= made


@for_each(SCRIPTS)
def test_only_subjects_and_pages_look_up_ids(path: Path) -> Iterable[str]:
    free = rank(place(path)) > RANKS.index("views") or place(path).startswith("core/page/")
    if free and not place(path).startswith(FIGURES):
        return []
    return re.findall(
        r"""getElementById|(?:find|querySelector)\(\s*["'`]#""", without_comments(path)
    )


@for_each([path for path in SCRIPTS if place(path).startswith(FIGURES)])
def test_a_figure_looks_at_nothing_of_the_page(path: Path) -> Iterable[object]:
    """A page may have several figures, so a figure gets all that it needs of the page."""
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
    "core/store/model-part-names.js",
    "core/wire/model-description.js",
    "views/worksheet/stage-contents.js",
    "core/store/examples-and-tasks.js",
    "views/space/points-in-3d.js",
    "local/sweep.js",  # in place of the server, which knows the graphs
}
COMMENTS = re.compile(r"/\*.*?\*/|(?<=\s)//[^\n]*", re.DOTALL)
FOR_THE_READER = re.compile(r'\bt\(\s*"(?:[^"\\]|\\.)*"')


@for_each(SCRIPTS)
def test_scripts_do_not_spell_what_a_model_says_of_itself(path: Path) -> Iterable[str]:
    if place(path) in NAMED_IN:
        return []
    code = FOR_THE_READER.sub("", COMMENTS.sub("", path.read_text()))
    return re.findall(r"\b(?:en|de)coder\b|\bcross\b(?!-)", code)


@for_each(files("templates", ".html"))
def test_templates_hold_no_script_and_no_style(path: Path) -> Iterator[str]:
    text = path.read_text()
    yield from re.findall(r"<style|\sstyle=|\son[a-z]+=|javascript:", text)
    yield from re.findall(r"<script(?![^>]*\bsrc=)(?![^>]*application/json)", text)
    yield from re.findall(r"""(?:src|href)=["'](?:https?:)?//""", text)

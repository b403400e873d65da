"""One script and one stylesheet per page, assembled from the files in `static/`.

Loading a page's 170 modules one by one is slow on a slow network. Each page's modules are therefore
linked into one script when it is first requested: every module keeps its text and gets its own
scope, in order of dependency,

    const $0 = (() => { …its code…; return { plane, row }; })();
    const $1 = (() => { const { plane, row } = $0; …

The modules must have only static imports by name from a relative path, exports at the declaration,
and no import cycles. Anything else is rejected, and a test links every page.
"""

import gzip
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

import brotli

from app.assets.static_files import BROTLI, STATIC

IMPORT = re.compile(r'^import (\* as \w+|\{[^}]*\}) from "(\.[^"]+)";$', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|const|class) (\w+))", re.MULTILINE)
NOTHING = re.compile(r"^export \{\};$", re.MULTILINE)
STRANGE = re.compile(r"^\s*(?:import|export)\b.*|\bimport\(", re.MULTILINE)
SPACE = re.compile(r"\s*\n\s*")  # between rules
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
# What nothing needs that runs: comments on lines of their own, those of types, and indentation.
# A test compares the tokens with those of the files.
LEFT_OUT = re.compile(
    r"^\s*/\*\*(?:(?!\*/).)*\*/\n|/\*\*(?:(?!\*/)[^`\n])*\*/ ?|^\s*//[^\n]*\n|^\s+",
    re.MULTILINE | re.DOTALL,
)

BASE = ["theme", "base"]
VIEW_SHEETS = ("views", "long")  # folders with one stylesheet for each view
FRAME = ["core/page", "workspace/sentence"]
FIGURE = [
    *("core/figure", "workspace/navigation", "workspace/inspector", "core/controls"),
    "workspace/changes",
]
LESSON = ["opening/pairing", "train/run"]
LAB = ["lab/lab"]
SHARE = ["share/share", "core/short-link", "ask/ask", "ask/predict"]
LINK = ["core/short-link"]
NARROW = ["phone", "core/plotly"]
# The views that need no server, and with the one of a long text.
SHORT_TEXT = re.findall(
    r'"\./([\w-]+)/view\.js"', (STATIC / "js/views/view-groups-in-handout.js").read_text()
)
IN_HANDOUT = sorted([*SHORT_TEXT, "long-text"])
ROOM = ["room/room", "room/room-question", "ask/own-question"]


def _left_out(*modules: str) -> dict[str, str]:
    return dict.fromkeys(modules, "handout/modules-left-out")


# Which module stands in the place of another: pages in one file leave some out.
WITHOUT_PLOTLY = _left_out("core/figure/zoom", "views/space/points-in-3d", "core/draw/plotly")
# A page whose model runs in it.
WITHOUT_HOST = WITHOUT_PLOTLY | {
    "views/view-groups": "views/view-groups-in-site",
    "learn/lesson-address": "learn/lesson-address-in-site",
}
WITHOUT_SERVER = {
    **WITHOUT_PLOTLY,
    **_left_out("lib/npz", "core/wire/api", "core/figure/problem-wording"),
    "views/view-groups": "views/view-groups-in-handout",
}
WITHOUT_MAP = WITHOUT_SERVER | _left_out("long/map/view")
SIMPLE = WITHOUT_MAP | _left_out(
    *("compare-models/model-comparison", "compare-models/comparison-view"),
    "views/qkv/score-breakdown",
)


@dataclass(frozen=True)
class Page:
    """A page: the stylesheets before and after those of its views."""

    before: list[str]
    after: list[str]
    views: Sequence[str] | None = None
    """The views whose stylesheets it has; None: all."""
    instead: Mapping[str, str] = field(default_factory=dict)
    """Modules that stand in for others, as paths in `static/js` without the suffix."""
    module: str | None = None
    """Its module in `static/js/pages`, without the suffix; None: the one of the same name."""

    def sheets(self, folder: Path) -> list[str]:
        """Return all stylesheets of the page, as paths in `folder` without the suffix."""
        sheets_by_path = {
            path.stem: path for sheets in VIEW_SHEETS for path in folder.glob(f"{sheets}/*.css")
        }
        views = [
            sheets_by_path[name]
            for name in (sorted(sheets_by_path) if self.views is None else self.views)
        ]
        paths = [path.relative_to(folder).with_suffix("").as_posix() for path in views]
        return [*BASE, *self.before, *paths, *self.after]


PAGES = {
    "workspace": Page(
        [
            *FRAME,
            *SHARE,
            *FIGURE,
            "core/export",
            "workspace/help",
            "workspace/model-menu",
            "opening/pairing",
            "opening/opening",
            "tour/tour",
            "core/glossary",
            *ROOM,
        ],
        [*NARROW, "core/projector", "accessibility"],
    ),
    "embed": Page(
        [*FRAME, *FIGURE, "workspace/place-bar", "ask/ask", "ask/predict"],
        [*NARROW, "pages/embed"],
    ),
    "handout": Page(
        [*FRAME, *FIGURE, "core/export"],
        [*NARROW, "pages/handout"],
        views=SHORT_TEXT,
        instead=SIMPLE,
    ),
    "full-handout": Page(
        [*FRAME, *FIGURE, "core/export"],
        [*NARROW, "pages/handout"],
        views=SHORT_TEXT,
        instead=WITHOUT_MAP,
        module="handout",
    ),
    "long-handout": Page(
        [*FRAME, *FIGURE, "core/export"],
        [*NARROW, "pages/handout"],
        views=IN_HANDOUT,
        instead=WITHOUT_SERVER,
        module="handout",
    ),
    "widget": Page(
        [*FRAME, *FIGURE, "core/export"],
        [*NARROW, "pages/handout"],
        instead=WITHOUT_PLOTLY,
    ),
    "site": Page(
        [
            *(*FRAME, *FIGURE, "core/export", "workspace/help", "workspace/model-menu"),
            *("core/glossary", "workspace/place-bar", "opening/pairing", "opening/opening"),
        ],
        [*NARROW, "pages/site", "accessibility"],
        instead=WITHOUT_HOST,
    ),
    "handout-with-model": Page(
        [
            *(*FRAME, *FIGURE, "core/export", "workspace/help", "workspace/model-menu"),
            *("core/glossary", "workspace/place-bar"),
        ],
        [*NARROW, "pages/site", "accessibility"],
        instead=WITHOUT_HOST,
    ),
    "lab": Page(
        [*FRAME, *SHARE, *ROOM, *FIGURE, *LAB, "core/export"],
        ["lab/page", "core/projector", "accessibility"],
        views=[],
    ),
    "site-lab": Page(
        [*FRAME, *FIGURE, *LAB, "core/export"],
        ["lab/page", "core/projector", "pages/site", "accessibility"],
        views=[],
        instead=WITHOUT_HOST,
    ),
    "lab-embed": Page(["core/page", *FIGURE, *LAB], ["pages/embed"], views=[]),
    "lab-handout": Page([*FRAME, *FIGURE, *LAB], ["lab/page"], views=[]),
    "learn": Page(
        [*FRAME, *FIGURE, *LAB, *LESSON, "core/glossary", "ask/predict", *LINK, *ROOM],
        [*NARROW, "learn/learn", "accessibility"],
    ),
    "site-learn": Page(
        [*FRAME, *FIGURE, *LAB, *LESSON, "core/glossary", "ask/predict", *LINK],
        [*NARROW, "learn/learn", "pages/site", "accessibility"],
        instead=WITHOUT_HOST,
    ),
    "collection": Page(
        [
            *(*FRAME, *FIGURE, *LAB, *LESSON, "core/glossary", "ask/predict"),
            *(*LINK, *ROOM, "learn/learn"),
        ],
        [*NARROW, "collection/collection", "accessibility"],
    ),
    "collections": Page(
        [*FRAME, "learn/learn", "room/room"],
        [*NARROW, "collection/collection", "accessibility"],
        views=[],
    ),
    "collection-handout": Page(
        [*FRAME, *FIGURE, *LAB, "learn/learn"],
        [*NARROW, "pages/handout", "collection/collection"],
        views=IN_HANDOUT,
        instead=WITHOUT_SERVER,
    ),
    "assignment": Page(
        [
            *FRAME,
            "learn/learn",
            "ask/predict",
            "ask/own-question",
            "room/room",
            "room/room-question",
            *LINK,
        ],
        [*NARROW, "assignment/assignment", "accessibility"],
        views=[],
    ),
    "assignments": Page(
        [*FRAME, "learn/learn", "collection/collection", "room/room"],
        [*NARROW, "assignment/assignment", "accessibility"],
        views=[],
    ),
    "teach": Page(
        [*FRAME, "learn/learn", "collection/collection", "room/room"],
        [*NARROW, "room/pages", "accessibility"],
        views=[],
    ),
    "shelf": Page(
        [*FRAME, "learn/learn", "collection/collection", "room/room"],
        [*NARROW, "accessibility"],
        views=[],
    ),
    "results": Page(
        [*FRAME, "learn/learn", "room/room"], [*NARROW, "room/pages", "accessibility"], views=[]
    ),
    "study": Page(
        [*FRAME, "learn/learn", *LINK, "room/room"],
        [*NARROW, "assignment/assignment", "study/study", "accessibility"],
        views=[],
    ),
    "studies": Page(
        [*FRAME, "learn/learn", "collection/collection", "room/room"],
        [*NARROW, "assignment/assignment", "study/study", "accessibility"],
        views=[],
    ),
    "worksheet": Page(
        [*FRAME, "learn/learn", "room/room"],
        [*NARROW, "worksheet/worksheet", "accessibility"],
        views=[],
    ),
    "speaker-notes": Page(["core/page"], ["learn/speaker"], views=[]),
    "zoo": Page([*FRAME, *FIGURE, "room/room"], [*NARROW, "zoo/zoo", "accessibility"]),
    "heads": Page(
        [*FRAME, "core/controls", "room/room"], [*NARROW, "heads/heads", "accessibility"], views=[]
    ),
    "attention-head": Page(
        [*FRAME, *FIGURE, "room/room"], [*NARROW, "heads/heads", "accessibility"]
    ),
    "train": Page(
        [*FRAME, *FIGURE, "train/run", "workspace/place-bar", "room/room"],
        [*NARROW, "train/train", "accessibility"],
    ),
    "room": Page(["core/page", "room/room"], ["room/pages", "accessibility"], views=[]),
    "docs": Page([*FRAME, "room/room"], [*NARROW, "pages/docs", "accessibility"], views=[]),
    "problem": Page([], ["core/page"], views=[]),
}


@dataclass(frozen=True)
class Bundle:
    """A file made from several, in the requested encodings; each is made once."""

    content: bytes
    media_type: str

    @cached_property
    def gzip(self) -> bytes:
        """The content compressed for any browser."""
        return gzip.compress(self.content, 9, mtime=0)

    @cached_property
    def br(self) -> bytes:
        """The content compressed for browsers over https."""
        compressed: bytes = brotli.compress(self.content, quality=BROTLI)
        return compressed

    def encoded(self, accepted: list[str]) -> tuple[bytes, str | None]:
        """Return the content for a client that accepts these encodings, and its encoding."""
        if "br" in accepted:
            return self.br, "br"
        if "gzip" in accepted:
            return self.gzip, "gzip"
        return self.content, None


@cache
def bundle(name: str, digest: str) -> Bundle | None:
    """Return a page's script (`workspace.js`) or stylesheet (`workspace.css`); None if unknown.

    `digest` is that of the files in `static/`; each change creates another bundle.
    """
    page, _, kind = name.rpartition(".")
    if page not in PAGES:
        return None
    if kind == "css":
        return Bundle(stylesheet(page).encode(), "text/css")
    if kind == "js" and (STATIC / f"js/pages/{page}.js").is_file():
        return Bundle(script(page).encode(), "text/javascript")
    return None


def stylesheet(page: str, folder: Path = STATIC / "css") -> str:
    """Return a page's stylesheets, concatenated."""
    sheets = "\n".join((folder / f"{name}.css").read_text() for name in PAGES[page].sheets(folder))
    return SPACE.sub("\n", COMMENT.sub("", sheets)).strip()


def script(page: str, folder: Path = STATIC / "js") -> str:
    """Return a page's module linked with all modules that it needs, without doc comments.

    Raises `ValueError` for a module that cannot be linked, or that imports itself.
    """
    entry = PAGES.get(page, Page([], []))
    linker = Linker(folder.resolve(), entry.instead)
    return "".join(map(linker.linked, linker.needed(f"pages/{entry.module or page}.js")))


def scripts_with_shared(pages: Sequence[str]) -> tuple[str, list[str]]:
    """Return what all of some pages need, and the rest of each: classic scripts, in this order.

    A classic script sees the constants of those before it, which a module does not. The pages have
    to have the same modules in the place of others.
    """
    linker = Linker((STATIC / "js").resolve(), PAGES[pages[0]].instead)
    needed = [linker.needed(f"pages/{page}.js") for page in pages]
    shared = [path for path in needed[0] if all(path in others for others in needed)]
    rest = [[path for path in paths if path not in shared] for paths in needed]
    texts = ["".join(map(linker.linked, paths)) for paths in (shared, *rest)]
    first, *others = (f'"use strict";\n{text}' for text in texts)
    return first, others


def stripped(code: str) -> str:
    """Return a module's code without what nothing needs that runs it."""
    return LEFT_OUT.sub("", code)


class Linker:
    """Links the modules of a folder, some of them with another in their place."""

    def __init__(self, folder: Path, instead: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.scopes: dict[Path, str] = {}
        self.instead = {
            folder / f"{name}.js": folder / f"{replacement}.js"
            for name, replacement in (instead or {}).items()
        }

    def needed(self, entry: str) -> list[Path]:
        """Return a module, by its path in the folder, after all that it needs, each once."""
        needed: dict[Path, None] = {}
        opened: set[Path] = set()

        def visit(path: Path) -> None:
            if path in opened and path not in needed:
                raise ValueError(f"{path} imports itself through other modules")
            opened.add(path)
            for statement in IMPORT.finditer(path.read_text()):
                target = self._target(path, statement)
                if target not in needed:
                    visit(target)
            needed[path] = None

        visit(self.folder / entry)
        return list(needed)

    def linked(self, path: Path) -> str:
        """Return a module as a statement that binds what it exports."""
        code = path.read_text()

        def bind(statement: re.Match[str]) -> str:
            names, name = statement[1], self._scope(self._target(path, statement))
            if names.startswith("*"):
                return f"const {names.removeprefix('* as ')} = {name};"
            return f"const {names.replace(' as ', ': ')} = {name};"

        exports = ", ".join(EXPORT.findall(code))
        bound = NOTHING.sub("", EXPORT.sub("", IMPORT.sub(bind, stripped(code)))).strip()
        strange = STRANGE.search(COMMENT.sub("", bound))
        if strange:
            raise ValueError(f"{path}: cannot be linked: {strange[0]}")
        return f"const {self._scope(path)} = (() => {{\n{bound}\nreturn {{ {exports} }};\n}})();\n"

    def _target(self, path: Path, statement: re.Match[str]) -> Path:
        target = (path.parent / statement[2]).resolve()
        return self.instead.get(target, target)

    def _scope(self, path: Path) -> str:
        """Return the name of a module's scope in the script."""
        return self.scopes.setdefault(path, f"${len(self.scopes)}")

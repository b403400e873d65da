"""Links from the documentation to lines of code: where the name in a link is defined.

    [`Engine.run`](../app/engine/engine.py#L142)

A link is kept by its name. `python -m tests.code_links` (`make links`) writes the
numbers anew, and the path too if the file has moved and only one file of that kind defines the
name; `tests/test_docs.py` checks them.
"""

import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from os.path import relpath
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\[`(?P<name>[^`]+)`\]\((?P<path>[^)#\s]+)#L(?P<number>\d+)\)")
CONTINUES = re.compile(r"\s*[)\]}]")  # a line that belongs to the statement before it
# How a name is defined, in Python or JavaScript: the first form that a file has counts.
DEFINITIONS = (
    r"^\s*(?:export )?(?:async )?(?:def|class|function\*?|const|let) {name}\b",
    r"^\s+(?:async )?\*?{name}\((?:.*\{{)?$",  # a method in JavaScript
    r"^\s*(?:self\.)?{name}(?:: [^=]+)? = ",
    r"^\s+{name}:",
)


@dataclass(frozen=True)
class Stop:
    """A link to a line of code."""

    page: Path
    name: str  # `run`, or `Engine.run`: what is defined within what
    path: Path
    number: int

    @property
    def line(self) -> int | None:
        """The number of the line that defines the name now; None if no line does."""
        return line_of(self.name, self.path.read_text()) if self.path.is_file() else None


def stops(page: Path) -> Iterator[Stop]:
    """Yield the links of a page to lines of code."""
    for link in LINK.finditer(page.read_text()):
        path = (page.parent / link["path"]).resolve()
        yield Stop(page, link["name"], path, int(link["number"]))


def line_of(name: str, code: str) -> int | None:
    """Return the number of the line that defines a name; None if no line does."""
    lines = code.splitlines()
    first, last = 0, len(lines)
    for part in name.split("."):
        index = _defined(part, lines, first, last)
        if index is None:
            return None
        first, last = index + 1, _end(lines, index)
    return first


def _defined(name: str, lines: list[str], first: int, last: int) -> int | None:
    for form in DEFINITIONS:
        pattern = re.compile(form.format(name=re.escape(name)))
        for index in range(first, last):
            if pattern.search(lines[index]):
                return index
    return None


def _end(lines: list[str], index: int) -> int:
    """Return the index after the lines that belong to the definition at `index`."""
    indent = _indent(lines[index])
    for end in range(index + 1, len(lines)):
        line = lines[end]
        if line.strip() and _indent(line) <= indent and not CONTINUES.match(line):
            return end
    return len(lines)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


@cache
def tracked() -> tuple[str, ...]:
    """Return the repository's files."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return tuple(listed.stdout.splitlines())


def moved(stop: Stop) -> Path | None:
    """Return the only file that defines the name of a stop whose file has gone; else None."""
    folder = stop.path.relative_to(ROOT).parts[0]
    paths = [
        ROOT / path
        for path in tracked()
        if path.startswith(f"{folder}/") and path.endswith(stop.path.suffix)
    ]
    defining = [path for path in paths if path.is_file() and line_of(stop.name, path.read_text())]
    return defining[0] if len(defining) == 1 else None


def renumbered(page: Path, report: Callable[[str], object] = print) -> str:
    """Return a page's text with the present lines of its links; report those without one."""

    def written(link: re.Match[str]) -> str:
        path = (page.parent / link["path"]).resolve()
        stop = Stop(page, link["name"], path, int(link["number"]))
        if not path.is_file() and (found := moved(stop)):
            stop = Stop(page, stop.name, found, stop.number)
        if stop.line is None:
            report(f"{page.relative_to(ROOT)}: nothing defines {stop.name} in {link['path']}")
            return link[0]
        return f"[`{stop.name}`]({relpath(stop.path, page.parent)}#L{stop.line})"

    return LINK.sub(written, page.read_text())


def main() -> None:
    """Write the numbers of all links to lines of code."""
    for page in PAGES:
        before, after = page.read_text(), renumbered(page)
        if after != before:
            page.write_text(after)
            print(f"{page.relative_to(ROOT)} written")


if __name__ == "__main__":
    main()

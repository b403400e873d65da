"""The browser is told of every module before it asks for the first."""

import re
from pathlib import Path

from tests.servers import ROOT

JS = ROOT / "static/js"


def imported(path: Path, found: set[Path]) -> set[Path]:
    """All modules that a module needs, itself among them."""
    if path not in found:
        found.add(path)
        for name in re.findall(r"""^import [^;]*? from "(\.[^"]+)";$""", path.read_text(), re.M):
            imported((path.parent / name).resolve(), found)
    return found


def test_every_module_is_preloaded() -> None:
    listed = re.findall(r'"([\w/-]+\.js)"', (ROOT / "templates/parts/modules.html").read_text())
    needed = imported(JS / "main.js", set()) - {JS / "main.js"}
    assert set(listed) == {path.relative_to(JS).as_posix() for path in needed}

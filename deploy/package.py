"""Build hooks of `headlight-attention`: what `pip install .` and `python -m build` install.

In the repository, `app`, `model` and `headlight` are next to each other. Top-level packages named
`app` and `model` would collide with other people's code, so the wheel has everything below
`headlight`: `headlight/app`, `headlight/model`, and the files that they read, in the same places
next to them. Only the imports of `app` and `model` are rewritten.
"""

from __future__ import annotations

import ast
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

PACKAGES = ("app", "model")
FOLDERS = ("static", "templates", "locale", "lessons")
FILES = ("LICENSE", "THIRD_PARTY_NOTICES.md")
# Notebooks need no cluster.
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc", "*.d.ts", "scale")
IMPORTS = re.compile(rf"^(\s*)from ({'|'.join(PACKAGES)})(?=[. ])")
ITSELF = "headlight"
LEAST = {"torch": "2.6"}  # older than what is pinned


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Puts everything below `headlight`, with rewritten imports."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files to a wheel; a source distribution has the repository's own files."""
        if self.target_name != "wheel":
            return
        self.folder = Path(tempfile.mkdtemp(prefix="headlight-wheel-"))
        root = Path(self.root)
        for name in (*PACKAGES, *FOLDERS):
            shutil.copytree(root / name, self.folder / name, ignore=LEFT_OUT)
        for name in FILES:
            shutil.copy2(root / name, self.folder / name)
        (self.folder / "py.typed").touch()
        for path in (root / ITSELF).glob("*.py"):
            shutil.copy2(path, self.folder / path.name)
        for path in self.folder.rglob("*.py"):
            path.write_text(below_headlight(path.read_text(encoding="utf-8")), encoding="utf-8")
        build_data["force_include"][str(self.folder)] = ITSELF

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the copies."""
        if self.target_name == "wheel":
            shutil.rmtree(self.folder)


class CustomMetadataHook(MetadataHookInterface):
    """Takes the dependencies from the requirements, as minimum versions.

    The extra `hf` adds `transformers`, `notebook` what `headlight.Widget` needs.
    """

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the version and the dependencies."""
        root = Path(self.root)
        metadata["dependencies"] = _least(root / "requirements.txt")
        metadata["optional-dependencies"] = {
            "hf": _named(root / "requirements-hf.txt", "transformers"),
            "notebook": _named(root / "requirements-dev.txt", "anywidget"),
        }
        about = (root / "app" / "__init__.py").read_text(encoding="utf-8")
        metadata["version"] = re.findall(r'^__version__ = "(.+)"', about, re.MULTILINE)[0]


def _named(requirements: Path, library: str) -> list[str]:
    return [line for line in _least(requirements) if line.startswith(library)]


def _least(requirements: Path) -> list[str]:
    """Return what a requirements file pins, as minimum versions: those of `LEAST` where it has one.

    Whoever installs the package has a torch that fits the machine already; a newer one is large.
    """
    lines = requirements.read_text(encoding="utf-8").splitlines()
    ranges = []
    for line in lines:
        name, pin, rest = line.partition("==")
        if pin and line[0] not in "#-":
            version, space, marker = rest.partition(" ")
            ranges.append(f"{name}>={LEAST.get(name, version)}{space}{marker}")
    return ranges


def below_headlight(source: str) -> str:
    """Return a module with `from app…` and `from model…` as `from headlight.app…` and so on.

    Raises `ValueError` for `import app` and the like, which cannot be rewritten.
    """
    lines = source.splitlines(keepends=True)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import) and {a.name.split(".")[0] for a in node.names} & {
            *PACKAGES
        }:
            raise ValueError(
                f"line {node.lineno}: write `from … import …`: {lines[node.lineno - 1]}"
            )
        if isinstance(node, ast.ImportFrom):
            start = node.lineno - 1
            lines[start] = IMPORTS.sub(rf"\1from {ITSELF}.\2", lines[start])
    return "".join(lines)

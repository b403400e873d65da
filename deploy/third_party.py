"""Third-party software: the packages that Headlight runs on, and their files that it serves."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from app.assets.static_files import vendored

ROOT = Path(__file__).parents[1]
LICENCE_FILE = re.compile(r"licen[cs]e|copying|notice", re.IGNORECASE)
# Licences (SPDX) of packages whose metadata names none, a family, or omits bundled software.
LICENCES = {
    "aiosqlite": "MIT",
    "annotated-types": "MIT",
    "colorama": "BSD-3-Clause",
    "deflate": "MIT",
    "h11": "MIT",
    "jinja2": "BSD-3-Clause",
    "markdown-it-py": "MIT",
    "mdit-py-plugins": "MIT",
    "mdurl": "MIT",
    "mpmath": "BSD-3-Clause",
    "opencc": "Apache-2.0",
    "safetensors": "Apache-2.0",
    "segno": "BSD-3-Clause",
    "sympy": "BSD-3-Clause",
    "tokenizers": "Apache-2.0",
    "torch": "BSD-3-Clause",
    "uvloop": "MIT OR Apache-2.0",
}
PAGES = ("homepage", "home", "source", "source code", "repository", "github", "code")


@dataclass(frozen=True)
class Package:
    """An installed package; `hashes` are the SHA-256 (hex) of the files that pip accepts."""

    name: str
    version: str
    licence: str  # SPDX
    page: str
    hashes: tuple[str, ...]
    needs: tuple[str, ...]
    texts: tuple[Path, ...]  # installed files with its licence


@dataclass(frozen=True)
class Script:
    """A library of scripts and styles that is served to browsers, and the names of its files."""

    name: str
    version: str
    licence: str  # SPDX
    page: str
    npm: str  # the npm package with identical files
    files: tuple[str, ...]
    texts: tuple[str, ...]  # files in deploy/licenses


@dataclass(frozen=True)
class Pin:
    """An entry of a lock: one version, and the SHA-256 (hex) of each of its files."""

    requirement: Requirement
    hashes: tuple[str, ...]

    @property
    def name(self) -> str:
        """Normalised name: lower case, with hyphens."""
        return canonicalize_name(self.requirement.name)

    @property
    def version(self) -> str:
        """Pinned version."""
        return str(self.requirement.specifier).removeprefix("==")

    @property
    def here(self) -> bool:
        """Whether this platform needs it."""
        return self.requirement.marker is None or self.requirement.marker.evaluate()


def pins(file: str) -> list[Pin]:
    """Return the entries of a lock, or the lines of a requirements file that have a version."""
    lines = (ROOT / file).read_text().replace("\\\n", " ").splitlines()
    entries = [line.partition(" --hash=")[0] for line in lines]
    return [
        Pin(Requirement(entry), tuple(re.findall(r"--hash=sha256:([0-9a-f]{64})\b", line)))
        for entry, line in zip(entries, lines, strict=True)
        if re.match(r"[\w.-]+(\[\w+\])?==", entry)
    ]


def packages() -> list[Package]:
    """Return all packages that Headlight runs on here, including torch, by name."""
    torch = [pin for pin in pins("requirements.txt") if pin.name == "torch"]
    locked = [pin for pin in pins("requirements.lock") if pin.here]
    return sorted(map(_package, locked + torch), key=lambda package: package.name)


def scripts() -> list[Script]:
    """Return the libraries that `app.assets.static_files.vendored` serves, with versions."""
    served = vendored()
    plotly = served["plotly.min.js"].read_text()
    swagger = served["swagger-ui-bundle.js"].read_text()
    return [
        Script(
            "plotly.js",
            _found(r"\* plotly\.js v([\d.]+)", plotly),
            "MIT",
            "https://plotly.com/javascript/",
            "plotly.js-dist-min",
            ("plotly.min.js",),
            ("plotly.js", "maplibre-gl"),
        ),
        Script(
            "Swagger UI",
            _found(r'PACKAGE_VERSION:"([\d.]+)"', swagger),
            "Apache-2.0",
            "https://swagger.io/tools/swagger-ui/",
            "swagger-ui-dist",
            ("swagger-ui-bundle.js", "swagger-ui.css"),
            ("swagger-ui",),
        ),
    ]


def _found(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    if not match:
        raise LookupError(f"a served file has changed: {pattern} is not in it")
    return match[1]


def _package(pin: Pin) -> Package:
    installed = distribution(pin.name)
    return Package(
        pin.name,
        pin.version,
        _licence(pin.name, installed),
        _page(installed),
        pin.hashes,
        tuple(_needs(installed)),
        tuple(
            Path(str(file.locate()))
            for file in installed.files or []
            if ".dist-info" in file.parts[0] and LICENCE_FILE.search(file.name)
        ),
    )


def _licence(name: str, installed: Distribution) -> str:
    licence = (
        LICENCES.get(name)
        or _field(installed, "License-Expression")
        or _field(installed, "License")
    )
    if not licence or "\n" in licence:  # nothing, or the licence's text
        raise LookupError(f"{name} names no licence: look it up and add it to LICENCES")
    return licence


def _page(installed: Distribution) -> str:
    """Return the address of the source or the home page."""
    urls = [line.split(", ", 1) for line in installed.metadata.get_all("Project-URL") or []]
    named = {label.lower(): url for label, url in urls}
    listed = (named[label] for label in PAGES if label in named)
    return _field(installed, "Home-page") or next(listed, "")


def _field(installed: Distribution, name: str) -> str:
    """Return a field of the metadata, or ""; from Python 3.12 `metadata[name]` warns if absent."""
    return str((installed.metadata.get_all(name) or [""])[0])


def _needs(installed: Distribution) -> Iterator[str]:
    for line in installed.requires or []:
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield canonicalize_name(requirement.name)

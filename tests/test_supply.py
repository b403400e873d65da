"""Installed packages are pinned, and everything shipped is listed."""

import json
import re
from importlib.metadata import distribution

import pytest
from cyclonedx.output.json import JsonV1Dot6
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from app.assets.static_files import vendored
from deploy.notices import FILE, content
from deploy.sbom import bom
from deploy.third_party import packages, pins, scripts
from tests.servers import ROOT

LOCKS = ("requirements.lock", "requirements-dev.lock")
LOCKED = [pin for lock in LOCKS for pin in pins(lock)]
APART = {"torch"}  # pinned by version only: each platform has a different build
CUDA = ("nvidia-", "cuda-", "triton")  # pinned by builds of torch with CUDA


def closure(names: set[tuple[str, str]], seen: set[str]) -> set[str]:
    """Return the names of all packages that are installed for these (name, extra)."""
    found: set[str] = set()
    for name, extra in names:
        key = f"{name}[{extra}]"
        if key in seen or name.startswith(CUDA):
            continue
        seen.add(key)
        needed = {
            (str(canonicalize_name(one.name)), which)
            for one in map(Requirement, distribution(name).requires or [])
            if one.marker is None or one.marker.evaluate({"extra": extra})
            for which in ("", *one.extras)
        }
        found |= {name} | closure(needed, seen)
    return found


def test_every_package_is_locked_by_version_and_hashes() -> None:
    assert len(LOCKED) > 100
    for pin in LOCKED:
        assert re.fullmatch(r"[\w.]+", pin.version), pin.name
        assert pin.hashes, pin.name
        assert len(set(pin.hashes)) == len(pin.hashes), pin.name


def test_a_package_is_locked_once() -> None:
    names = [pin.name for pin in LOCKED]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", ["numpy", "pydantic-core", "uvloop", "ctranslate2"])
def test_the_hashes_are_those_of_other_platforms_too(name: str) -> None:
    """Each of these packages has a wheel for each Python and platform."""
    (pin,) = [pin for pin in LOCKED if pin.name == name]
    assert len(pin.hashes) > 10


def test_the_locks_are_those_of_the_requirements() -> None:
    locked = {pin.name: pin.version for pin in LOCKED}
    for file in ("requirements.txt", "requirements-dev.txt"):
        wanted = {pin.name: pin.version for pin in pins(file) if pin.name not in APART}
        assert wanted.items() <= locked.items()
    runtime = {pin.name for pin in pins("requirements.lock")}
    assert {pin.name for pin in pins("requirements.txt")} - runtime == APART


@pytest.mark.parametrize("n", [1, 2])
def test_the_locks_hold_all_that_is_needed(n: int) -> None:
    """The second lock has only what the first lacks."""
    file = ("requirements.txt", "requirements-dev.txt")[n - 1]
    wanted = {(pin.name, extra) for pin in pins(file) for extra in ("", *pin.requirement.extras)}
    locked = {pin.name: pin.version for lock in LOCKS[:n] for pin in pins(lock)}
    for name in closure(wanted, set()) - APART:
        assert locked.get(name) == distribution(name).version, name


def test_pip_takes_only_what_has_a_hash() -> None:
    """Hashes are required in set-up and in the image; only torch is pinned by version."""
    for path in ("Makefile", "Dockerfile"):
        text = (ROOT / path).read_text().replace("\\\n", " ")
        text = text.replace("$(PIP_INSTALL) ", "pip install ")
        installs = re.findall(r"pip install (?!--quiet)([^\n&]+)", text)
        assert len(installs) >= 2
        for one in installs:
            assert "--require-hashes -r requirements.lock" in one or re.search(
                r"\$\$?\(grep '\^torch==' requirements\.txt\)\s*$", one
            ), one


def test_npm_takes_only_what_has_a_hash() -> None:
    lock = json.loads((ROOT / "package-lock.json").read_text())
    for name, package in lock["packages"].items():
        assert not name or package["integrity"].startswith("sha512-"), name
    assert '"ci"' in (ROOT / "Makefile").read_text()


def test_the_notices_name_every_package_that_runs() -> None:
    text = FILE.read_text()
    for pin in pins("requirements.lock"):
        if pin.here:
            row = (
                rf"^\| \[{re.escape(pin.name)}\]\(http\S+\)( \*)? \| {re.escape(pin.version)} \| \S"
            )
            assert re.search(row, text, re.MULTILINE), pin.name
    assert "| [torch](" in text


def test_the_notices_name_every_file_that_is_served() -> None:
    named = {file: one for one in scripts() for file in one.files}
    assert named.keys() == vendored().keys()
    for file, one in named.items():
        assert f"| `{file}` | [{one.name}]({one.page}) | {one.version} | {one.licence} |" in (
            FILE.read_text()
        )


def test_the_notices_are_those_of_what_is_installed() -> None:
    assert FILE.read_text() == content(), "make notices"


def test_every_licence_has_its_text() -> None:
    """The text is in the installed package or in the notices."""
    text = FILE.read_text()
    for one in packages():
        assert one.texts or f"\n### {one.licence}\n" in text, one.name
        assert all(path.is_file() for path in one.texts), one.name
    listed = re.search(r"built from these packages.*?```", text, re.DOTALL)
    assert listed
    for licences in re.findall(r"^(\S+(?: OR \S+)*) +@?[\w./-]+ \d", listed[0], re.MULTILINE):
        for licence in licences.split(" OR "):
            assert f"\n### {licence}\n" in text, licence


def test_what_is_listed_of_plotly_is_of_the_version_that_is_served() -> None:
    (plotly,) = [one for one in scripts() if one.name == "plotly.js"]
    assert f"plotly.js {plotly.version} is built from" in FILE.read_text()


def test_the_bill_of_materials_names_all_of_it() -> None:
    told = json.loads(JsonV1Dot6(bom()).output_as_string())
    found = {one["purl"]: one for one in told["components"]}
    for one in packages():
        entry = found.pop(f"pkg:pypi/{one.name}@{one.version}")
        assert entry["licenses"]
        (place,) = [ref for ref in entry["externalReferences"] if ref["type"] == "distribution"]
        hashes = {digest["content"] for digest in place.get("hashes", [])}
        assert hashes == set(one.hashes)
    files = {file["name"] for entry in found.values() for file in entry["components"]}
    assert files == vendored().keys()
    assert told["specVersion"] == "1.6"
    needs = {one["ref"]: one.get("dependsOn", []) for one in told["dependencies"]}
    (fastapi,) = [one for one in packages() if one.name == "fastapi"]
    assert any(
        ref.startswith("pkg:pypi/starlette@")
        for ref in needs[f"pkg:pypi/fastapi@{fastapi.version}"]
    )

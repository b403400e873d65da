"""Writes sbom.json, a CycloneDX bill of materials: ``python -m deploy.sbom``."""

import hashlib

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from app import __version__
from app.assets.static_files import vendored
from deploy.third_party import ROOT, Package, Script, packages, scripts

FILE = ROOT / "sbom.json"
LICENCE = LicenseFactory()


def bom() -> Bom:
    """Return Headlight and all components that it runs on or serves, with their dependencies."""
    headlight = component("headlight", __version__, "MIT", ComponentType.APPLICATION)
    headlight.purl = PackageURL("pypi", name="headlight-attention", version=__version__)
    document = Bom()
    document.metadata.component = headlight
    run = {package.name: of_package(package) for package in packages()}
    served = [of_script(script) for script in scripts()]
    document.components = {*run.values(), *served}
    document.register_dependency(headlight, [*run.values(), *served])
    for package in packages():
        document.register_dependency(
            run[package.name], [run[need] for need in package.needs if need in run]
        )
    return document


def component(
    name: str, version: str, licence: str, kind: ComponentType = ComponentType.LIBRARY
) -> Component:
    """Return a component with only a name, a version and a licence (SPDX)."""
    licences = [LICENCE.make_from_string(licence)]
    return Component(name=name, version=version, type=kind, licenses=licences)


def of_package(package: Package) -> Component:
    """Return a Python package as a component, with the hashes of the files that pip accepts."""
    described = component(package.name, package.version, package.licence)
    described.purl = PackageURL("pypi", name=package.name, version=package.version)
    described.bom_ref.value = str(described.purl)
    described.external_references = {
        ExternalReference(type=ExternalReferenceType.WEBSITE, url=XsUri(package.page)),
        ExternalReference(
            type=ExternalReferenceType.DISTRIBUTION,
            url=XsUri(str(described.purl)),
            hashes=[
                HashType(alg=HashAlgorithm.SHA_256, content=digest) for digest in package.hashes
            ],
        ),
    }
    return described


def of_script(script: Script) -> Component:
    """Return a library for browsers; its files are subcomponents, with their hashes."""
    described = component(script.name, script.version, script.licence)
    described.purl = PackageURL("npm", name=script.npm, version=script.version)
    described.bom_ref.value = str(described.purl)
    served = vendored()
    described.components = {
        Component(
            name=name,
            type=ComponentType.FILE,
            hashes=[
                HashType(
                    alg=HashAlgorithm.SHA_256,
                    content=hashlib.sha256(served[name].read_bytes()).hexdigest(),
                )
            ],
        )
        for name in script.files
    }
    return described


if __name__ == "__main__":
    FILE.write_text(JsonV1Dot6(bom()).output_as_string(indent=2) + "\n")

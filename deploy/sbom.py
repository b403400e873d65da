"""Writes sbom.json, a CycloneDX bill of materials: ``python -m deploy.sbom``."""

import hashlib

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from app import __version__
from app.assets.files import vendored
from deploy.parts import ROOT, Package, Script, packages, scripts

FILE = ROOT / "sbom.json"
LICENCE = LicenseFactory()


def bom() -> Bom:
    """Return Headlight and all components that it runs on or serves, with their dependencies."""
    headlight = component("headlight", __version__, "MIT", ComponentType.APPLICATION)
    made = Bom()
    made.metadata.component = headlight
    run = {one.name: of_package(one) for one in packages()}
    served = [of_script(one) for one in scripts()]
    made.components = {*run.values(), *served}
    made.register_dependency(headlight, [*run.values(), *served])
    for one in packages():
        made.register_dependency(run[one.name], [run[need] for need in one.needs if need in run])
    return made


def component(
    name: str, version: str, licence: str, kind: ComponentType = ComponentType.LIBRARY
) -> Component:
    """Return a component with only a name, a version and a licence (SPDX)."""
    licences = [LICENCE.make_from_string(licence)]
    return Component(name=name, version=version, type=kind, licenses=licences)


def of_package(one: Package) -> Component:
    """Return a Python package as a component, with the hashes of the files that pip accepts."""
    made = component(one.name, one.version, one.licence)
    made.purl = PackageURL("pypi", name=one.name, version=one.version)
    made.bom_ref.value = str(made.purl)
    made.external_references = {
        ExternalReference(type=ExternalReferenceType.WEBSITE, url=XsUri(one.page)),
        ExternalReference(
            type=ExternalReferenceType.DISTRIBUTION,
            url=XsUri(str(made.purl)),
            hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest) for digest in one.hashes],
        ),
    }
    return made


def of_script(one: Script) -> Component:
    """Return a library for browsers; its files are subcomponents, with their hashes."""
    made = component(one.name, one.version, one.licence)
    made.purl = PackageURL("npm", name=one.npm, version=one.version)
    made.bom_ref.value = str(made.purl)
    served = vendored()
    made.components = {
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
        for name in one.files
    }
    return made


if __name__ == "__main__":
    FILE.write_text(JsonV1Dot6(bom()).output_as_string(indent=2) + "\n")

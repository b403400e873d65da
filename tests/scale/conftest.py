"""Fixtures for tests of several machines: a cluster with two replicas of the shipped model."""

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scale.cluster import deploy, of_cluster, running_cluster


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests that need Ray, which only `make scale` installs."""
    if importlib.util.find_spec("ray") is None:
        reason = "ray is not installed; `make scale` does it"
        for item in items:
            if item.path.is_relative_to(Path(__file__).parent) and "cluster" in getattr(
                item, "fixturenames", ()
            ):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def cluster() -> Iterator[str]:
    """Start a cluster with two replicas; yield its address. Servers find its token."""
    own = of_cluster()
    with pytest.MonkeyPatch.context() as patch, running_cluster(own) as address:
        deploy(["--cpus=0.5", "--least=2", "--most=2"], own, address)
        for name, value in own.items():
            patch.setenv(name, value)
        yield address

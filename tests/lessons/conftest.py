"""Models for lessons, each opened once."""

from collections.abc import Callable
from functools import cache

import pytest

from model import Adapter, load

Models = Callable[[str | None], Adapter]


def opened(name: str | None) -> Adapter:
    """Return a model by the id that a link names; None is the default."""
    folder = (name or "en-zh").replace("zoo-", "zoo/", 1)
    return load(folder, "cpu")


@pytest.fixture(scope="session")
def models() -> Models:
    return cache(opened)

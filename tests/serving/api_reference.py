"""The reference of the API, as the server would write it."""

from functools import cache
from typing import Any

from app.main import create_app


@cache
def reference() -> dict[str, Any]:
    """Return the reference; making it takes longer than all that a test asks of it."""
    return create_app().openapi()

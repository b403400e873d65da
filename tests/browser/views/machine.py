"""The model, modified from the page and through the API."""

import json
from typing import Any

import httpx

from tests.browser.workspace import Workspace

SOURCE = "My mother bought a new book yesterday."
START: dict[str, Any] = {
    "source": SOURCE, "view": "whatif", "block": "cross", "layer": 1, "head": 2, "effect": "tokens"
}  # fmt: skip
PLACE = "decoder.1.cross"
OFF = {"at": PLACE, "head": 2, "do": "zero"}


def trace(url: str, **request: object) -> dict[str, Any]:
    """Return the API's document of a run."""
    body = {"source": SOURCE, "select": [f"{PLACE}.weights"], **request}
    reply = httpx.post(f"{url}/api/trace", json=body, timeout=60).raise_for_status()
    found: dict[str, Any] = reply.json()
    return found


def said(workspace: Workspace) -> Any:
    """Return the interventions in the address bar."""
    return json.loads(workspace.link.get("interventions", "[]"))

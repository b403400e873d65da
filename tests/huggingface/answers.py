"""What a server of tiny random models answers, to compare the page with."""

import json
from typing import Any

from tests.browsing.api import client
from tests.browsing.workspace import Workspace

TEXT = "The cat sat on the mat"


def candidates(workspace: Workspace, model: str, text: str, row: int) -> list[str]:
    """The tokens that the server predicts at a row, best first."""
    asked = {"text": text, "model": model, "select": ["*.candidates"]}
    found = client.post(f"{workspace.url}/api/trace", json=asked).json()
    [tensor] = found["tensors"].values()
    return [found["pieces"][str(id_)]["text"] for id_ in tensor["data"][row]]


def run(workspace: Workspace, **asked: Any) -> dict[str, Any]:
    """The output of a run, from the API."""
    body = {"model": "llama", "text": TEXT, "select": [], **asked}
    found = client.post(f"{workspace.url}/api/trace", json=body).raise_for_status().json()
    output: dict[str, Any] = found["output"]
    return output


def steps_of(workspace: Workspace, **asked: Any) -> list[dict[str, Any]]:
    """The steps of a decoding, from the API."""
    body = {"model": "llama", "text": TEXT, **asked}
    lines = client.post(f"{workspace.url}/api/decode", json=body).raise_for_status().text
    return [line["step"] for line in map(json.loads, lines.splitlines()) if "step" in line]

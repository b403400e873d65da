"""Helpers for the decoding view, and for comparing it with the API."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.browser import api
from tests.browser.workspace import Workspace

SOURCE = "The dog is tired, so it sleeps."
BEAM: dict[str, Any] = {"method": "beam", "beam": 3, "length_penalty": 1.0}
NODES = """() => [...document.querySelectorAll(".tree [data-node]")].map((node) => ({
    ids: node.dataset.node.split(",").map(Number), state: node.dataset.state,
    best: node.hasAttribute("data-best"), score: Number(node.dataset.score),
    text: [...node.querySelectorAll("text")].map((it) => it.textContent) }))"""
DRAWN = ".theatre[data-drawn=all]"

Array = NDArray[np.float64]


def begin(workspace: Workspace, **link: object) -> None:
    """Open the view and wait until all of it is there."""
    start = {"source": SOURCE, "view": "decoding", "layer": 1, "head": 2, "lang": "en"}
    workspace.go(**{**start, **link})
    workspace.find(DRAWN).wait_for()


def trace(workspace: Workspace, *select: str, **request: object) -> dict[str, Any]:
    """Return the trace from the API."""
    return api.trace(workspace.url, *select, **{"source": SOURCE} | request)


def logprobs(workspace: Workspace, **request: object) -> Array:
    """Return the log-softmax of the logits, row by row, in float64."""
    reply = trace(workspace, "decoder.logits", **request)
    logits = np.array(reply["tensors"]["decoder.logits"]["data"], dtype=float)
    shifted = logits - logits.max(axis=-1, keepdims=True)
    found: Array = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return found


def ids(reply: dict[str, Any]) -> list[int]:
    return [token["id"] for token in reply["output"]["tokens"]]


def number(text: str) -> float:
    return float(text.replace("−", "-"))


def written(workspace: Workspace) -> str:
    return workspace.find("#output").inner_text()

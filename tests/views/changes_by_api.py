"""The model, modified from the page and through the API."""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray
from playwright.sync_api import Page, expect

from tests.browsing import api
from tests.browsing.printed import read
from tests.browsing.workspace import Workspace

SOURCE = "My mother bought a new book yesterday."
START: dict[str, Any] = {
    "source": SOURCE, "view": "whatif", "block": "cross", "layer": 1, "head": 2, "effect": "tokens"
}  # fmt: skip
PLACE = "decoder.1.cross"
OFF = {"at": PLACE, "head": 2, "do": "zero"}
ROWS = """() => [...document.querySelectorAll(".token-changes tbody tr")].map((row) =>
    [...row.querySelectorAll("td.number")].map((cell) => cell.textContent.replace("−", "-")))"""
BOTH = """() => document.documentElement?.dataset.status === "ready"
    && document.querySelector(".whatif-main[aria-busy=false]")"""


def trace(url: str, **request: object) -> dict[str, Any]:
    """Return the API's document of a run."""
    return api.trace(url, f"{PLACE}.weights", **{"source": SOURCE} | request)


def said(workspace: Workspace) -> Any:
    """Return the interventions in the address bar."""
    return json.loads(workspace.link.get("interventions", "[]"))


def weights(document: dict[str, Any], head: int = 2) -> NDArray[Any]:
    return np.array(document["tensors"][f"{PLACE}.weights"]["data"][head])


def chips(workspace: Workspace) -> list[str]:
    return workspace.find(".change-chip > span").all_inner_texts()


def probabilities(page: Page, count: int) -> NDArray[Any]:
    """Return the table's numbers of each token: before, after, change."""
    expect(page.locator(".token-changes tbody tr")).to_have_count(count)
    page.wait_for_function(BOTH)
    return np.array([[read(cell) for cell in row[:3]] for row in page.evaluate(ROWS)])


def figures(workspace: Workspace) -> list[NDArray[Any]]:
    """Return attention before, after, and the difference, as drawn."""
    expect(workspace.find(".trio .chart[data-drawn]")).to_have_count(3)
    workspace.settled()
    return [chart.values for chart in workspace.charts(".trio")]


def effects(url: str, *made: object) -> tuple[dict[str, Any], NDArray[Any]]:
    """Return the unchanged run, and its tokens' probabilities before and after, from the API."""
    before = trace(url)
    after = trace(url, target=before["output"]["text"], interventions=list(made))
    both = np.exp([before["output"]["logprobs"], after["output"]["logprobs"]])
    return before, np.stack([*both, both[1] - both[0]], axis=1)

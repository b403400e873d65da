"""The content of a page, independent of wording and markup: places, tokens, numbers."""

import re
from pathlib import Path
from typing import Any

import numpy as np

from tests.browsing.workspace import Workspace

GOLDEN = Path(__file__).parent
# The model of golden links and traces, under the shipped one's id, which some links name.
BUNDLE = GOLDEN / "bundle"
MODELS = {"models": f"en-zh={BUNDLE}"}
MATRICES = ("attention", "compare")  # views whose first chart is the weights of the place
NUMBER = re.compile(r"\d+\.\d+")
LOOK = """() => {
    const said = (selector) => document.querySelector(selector)?.textContent.trim() ?? "";
    const checked = (selector) => document.querySelector(`${selector} input:checked`);
    const { block = "", layer = "" } = checked("#map")?.dataset ?? {};
    const [view, head] = ["[name=choice-view]", "#heads input"].map(
        (selector) => document.querySelector(`${selector}:checked`)?.value ?? "");
    return {
        place: [view, block, layer, head],
        source: document.querySelector("#source").value ?? said("#source"),
        output: said("#output"),
        pair: [said("#pair-query"), said("#pair-key")],
        caption: said("#caption"),
    };
}"""


def look(workspace: Workspace) -> dict[str, Any]:
    """Return the place, both texts, the pair, the caption's weights and the matrix."""
    workspace.settled()
    seen: dict[str, Any] = workspace.page.evaluate(LOOK)
    seen["caption"] = NUMBER.findall(seen["caption"])
    if seen["place"][0] in MATRICES:
        plotted, _ = workspace.figure()
        seen["figure"] = [
            [None if np.isnan(value) else round(float(value), 4) for value in row]
            for row in plotted
        ]
    return seen


def differences(seen: dict[str, Any], golden: dict[str, Any]) -> list[str]:
    """Return the differences between pages; a number may differ in its last digit."""
    wrong = [
        f"{name}: {seen[name]} was {golden[name]}"
        for name in ("place", "source", "output", "pair")
        if seen[name] != golden[name]
    ]
    # A view may open at its own finding; a caption may say more.
    if golden["place"][0] == "attention" and not all(
        any(same(now, then) for now in seen["caption"]) for then in golden["caption"]
    ):
        wrong.append(f"caption: {seen['caption']} was {golden['caption']}")
    if "figure" in golden:
        now, then = (np.array(one.get("figure", []), float) for one in (seen, golden))
        if now.shape != then.shape or not np.allclose(now, then, atol=2e-4, equal_nan=True):
            wrong.append(f"figure: {now} was {then}")
    return wrong


def missing(workspace: Workspace, shows: list[str]) -> list[str]:
    """Return the texts and numbers that the view should show but does not.

    Numbers may differ in the last digit, and be in cells of its charts, which are canvases.
    """
    text = workspace.find("#view").inner_text()
    cells = (value for chart in workspace.charts() for value in chart.values.flat)
    numbers = [*NUMBER.findall(text), *(f"{value:.2f}" for value in cells)]
    return [
        one
        for one in shows
        if not (
            any(same(one, other) for other in numbers) if NUMBER.fullmatch(one) else one in text
        )
    ]


def same(one: str, other: str) -> bool:
    """Return whether two numbers with the same decimals differ at most in their last digit."""
    decimals = len(one.partition(".")[2])
    if decimals != len(other.partition(".")[2]):
        return False
    return abs(float(one) - float(other)) < 1.5 * 10.0**-decimals

"""What a screen reader is told about the cell of a matrix: tokens and numbers, also on Escape."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browsing.workspace import Workspace

START: dict[str, Any] = {
    "source": "The dog is tired, so it sleeps.",
    "target": "这只狗很累。",
    "block": "encoder",
    "layer": 1,
    "head": 2,
}
NUMBER = r"−?\d(\.\d+)?"
WEIGHT = rf"query .+, key .+: {NUMBER}"
FIGURES: dict[str, tuple[dict[str, Any], str]] = {
    "attention": ({"view": "attention"}, WEIGHT),
    "compare": (
        {"view": "compare", "b": "The cat is tired, so it sleeps."},
        rf"query .+, key .+: A {NUMBER}, B {NUMBER}, Δ [+−]?{NUMBER}",
    ),
    "waves": (
        {"view": "positions", "part": "waves"},
        rf"Positional encoding: .+ position \d+, feature \d+ {NUMBER}",
    ),
    "similarity": (
        {"view": "positions", "part": "likeness"},
        rf"Similarity: \d+ .+ \d+ .+ {NUMBER}",
    ),
    "shuffled": (
        {"view": "positions", "part": "shuffle"},
        rf"With positions: as written: .+ .+ {NUMBER}",
    ),
}


@pytest.mark.parametrize("figure", FIGURES)
def test_every_cell_that_keys_reach_is_announced_until_escape(
    workspace: Workspace, figure: str
) -> None:
    link, says = FIGURES[figure]
    said = workspace.find("#announce")
    workspace.open(**START, **link)
    workspace.settled()
    workspace.find("#view .matrix").first.focus()
    heard = []
    for key in ("ArrowUp", "ArrowRight", "ArrowRight"):
        workspace.page.keyboard.press(key)
        expect(said).to_have_text(re.compile(rf"^{says}$"))
        heard.append(said.inner_text())
        expect(workspace.find("#view .mark.cell:not([hidden])").first).to_be_attached()
    assert len(set(heard)) == 3, heard
    workspace.page.keyboard.press("Escape")
    expect(said).to_have_text("Unpinned.")
    assert "query" not in workspace.link


def test_positions_without_a_token_are_reached_too(workspace: Workspace) -> None:
    workspace.open(**START, view="positions", part="likeness", length=20)
    workspace.settled()
    workspace.find("#view .matrix").first.focus()
    for _ in range(20):
        workspace.page.keyboard.press("ArrowDown")
    expect(workspace.find("#announce")).to_have_text(re.compile(rf"^Similarity: 19 0 .+{NUMBER}$"))


@pytest.mark.parametrize("view", ["attention", "compare"])
def test_a_second_click_and_the_button_say_so_too(workspace: Workspace, view: str) -> None:
    said = workspace.find("#announce")
    workspace.open(**START, **FIGURES[view][0])
    workspace.settled()
    for off in ("click", "button"):
        workspace.page.mouse.click(*workspace.cell(4, 5))
        expect(said).to_have_text(re.compile("^query .+, key .+: "))
        if off == "button" and view == "attention":
            workspace.find("#unpin").click()
        else:
            workspace.page.mouse.click(*workspace.cell(4, 5))
        expect(said).to_have_text("Unpinned.")

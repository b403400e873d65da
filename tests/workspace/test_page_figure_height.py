"""The main figure is as large as the parts above it leave room for, and legible on a projector."""

from typing import Any

import pytest

from tests.browsing.legible import SMALL_LABELS
from tests.browsing.workspace import Workspace

LONG = (
    "The animal didn't cross the street because it was too tired and the old man who sat "
    "in front of the door of the library was reading a book about the history of the city."
)
SHORT = {"en": "My mother bought a new book yesterday.", "zh": "我妈妈昨天买了一本新书。"}
ROWS = """() => document.querySelector("#view .chart").picture.geometry.cellHeight"""
# As a user types it; on a projector, the field is hidden.
TYPE = """(text) => {
    const field = document.querySelector("#source");
    field.value = text;
    field.dispatchEvent(new Event("input", { bubbles: true }));
}"""
HIGH = """(rows) => {
    const { cellHeight } = document.querySelector("#view .chart").picture.geometry;
    return Math.abs(cellHeight - rows) <= rows / 20;
}"""


@pytest.mark.parametrize(
    ("lang", "projector"), [("en", {}), ("zh", {"projector": 1})], ids=["desk", "projector"]
)
def test_rows_are_as_high_after_another_sentence_as_when_loaded(
    workspace: Workspace, lang: str, projector: dict[str, Any]
) -> None:
    workspace.page.set_viewport_size({"width": 1920, "height": 1080})
    place = {"lang": lang, "layer": 2, "head": 0, **projector}
    workspace.load(**place, source=SHORT[lang])
    workspace.settled()
    rows = workspace.page.evaluate(ROWS)
    workspace.load(**place, source=LONG)
    workspace.settled()
    assert workspace.page.evaluate(ROWS) < rows
    workspace.page.evaluate(TYPE, SHORT[lang])
    workspace.says(SHORT[lang])
    workspace.settled()
    workspace.page.wait_for_function(HIGH, arg=rows)


# What the last row of a lecture hall reads on a small projector.
SMALLEST_PROJECTED = 18
PROJECTED_VIEWS = (
    "() => [...document.querySelectorAll('#projector-view option')].map((o) => o.value)"
)


def test_all_letters_of_a_small_projector_are_large(workspace: Workspace) -> None:
    workspace.page.set_viewport_size({"width": 1280, "height": 720})
    workspace.open(source=SHORT["en"], layer=2, head=0, projector=1)
    projected = workspace.page.evaluate(PROJECTED_VIEWS)
    assert len(projected) > 10
    for view in projected:
        workspace.find("#projector-view").select_option(view)
        workspace.drawn()
        workspace.settled()
        assert workspace.page.evaluate(SMALL_LABELS, SMALLEST_PROJECTED) == [], view

"""The height of the main figure follows the present height of the parts above it."""

from typing import Any

import pytest

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

"""The view of hidden units shows what the API records, and changes a unit."""

from typing import Any

import numpy as np
from playwright.sync_api import expect

from tests.browsing import api
from tests.browsing.workspace import Workspace

SOURCE = "The old bridge is beautiful, but it is not safe."
UNIT, TOKEN = 180, 10
PLACE = "encoder.2.ffn.hidden"
START: dict[str, Any] = {
    "source": SOURCE, "view": "feed-forward", "block": "encoder", "layer": 2, "unit": UNIT,
    "query": TOKEN,
}  # fmt: skip
TABLE = """(table) => [...table.querySelectorAll("tr")].map((row) =>
    [...row.querySelectorAll("td:not(:nth-child(2))")].map((cell) => Number(cell.textContent)))"""


def test_a_unit_at_each_token_and_the_units_that_stand_out(workspace: Workspace) -> None:
    reply = api.trace(workspace.url, PLACE, source=SOURCE)
    values = np.asarray(api.arrays(reply)[PLACE])
    workspace.open(**START)
    of_unit, of_token = workspace.find(".unit-values").all()
    expect(of_unit.locator("tr")).to_have_count(len(values))
    shown = np.nan_to_num([row[0] for row in of_unit.evaluate(TABLE)])  # NaN: a power of ten
    assert np.allclose(shown, values[:, UNIT], atol=0.0051)
    others = np.delete(values, TOKEN, axis=0).max(0)
    best = np.argsort(-(values[TOKEN] - others))[:8]
    buttons = of_token.locator("button").all()
    assert [int(button.get_attribute("data-index") or "") for button in buttons] == best.tolist()
    expected = np.stack([values[TOKEN], others])[:, best].T
    assert np.allclose(np.nan_to_num(of_token.evaluate(TABLE)), expected, atol=0.0051)
    expect(workspace.find("#caption")).to_contain_text(f"unit {UNIT + 1} is active at")

    of_token.locator("button").nth(1).click()
    workspace.settled()
    assert workspace.link["unit"] == str(best[1])
    of_unit.locator("button").nth(3).click()
    assert workspace.link["query"] == "3"


def test_a_unit_can_be_switched_off(workspace: Workspace) -> None:
    workspace.open(**START)
    workspace.find(".feed-forward .of-unit").get_by_text("zero").click()
    workspace.settled()
    change = f'[{{"at":"{PLACE}","units":[{UNIT}],"do":"zero"}}]'
    assert workspace.link["interventions"] == change
    values = workspace.find(".unit-values").first.evaluate(TABLE)
    assert {row[0] for row in values} == {0}

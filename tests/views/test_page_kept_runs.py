"""Runs kept side by side, compared with the API's runs."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.browsing import api
from tests.browsing.watch import Watch
from tests.browsing.workspace import Workspace
from tests.views.changes_by_api import said
from tests.views.test_page_as_trained import share, without_model

FATHER, MOTHER = "My father is a teacher.", "My mother is a teacher."
OFF = {"at": "decoder.2.cross", "do": "zero"}
START = {"source": FATHER, "view": "whatif", "effect": "runs", "block": "cross", "layer": 2}
ALL = """() => {
    const numbers = [...document.querySelectorAll(".token-changes tbody td")];
    return numbers.length > 0 && numbers.every((cell) => cell.textContent);
}"""
LINES = ".runs-summary tbody tr"


def output(url: str, source: str, **more: object) -> tuple[str, list[float]]:
    """Return what a run writes, and the log-probability of each token."""
    found = api.trace(url, source=source, **more)["output"]
    return found["text"], found["logprobs"]


def number(text: str) -> float:
    return float(text.replace("−", "-").replace("<0.01", "0").replace(">-0.01", "0"))


def cells(workspace: Workspace, selector: str) -> list[list[str]]:
    """Return the texts of a table's cells, once every run has answered."""
    workspace.page.wait_for_function(ALL)
    rows = workspace.find(selector)
    return [row.locator("th, td").all_inner_texts() for row in rows.all()]


def test_runs_are_kept_compared_opened_and_removed(workspace: Workspace) -> None:
    workspace.open(**START)
    keep = workspace.find(".keep-run button")
    keep.click()
    expect(keep).to_be_disabled()
    workspace.find("#source").fill(MOTHER)
    expect(workspace.find(LINES)).to_have_count(2)
    expect(keep).to_be_enabled()
    keep.click()
    workspace.go(**START, interventions=[OFF], kept=json.loads(workspace.link["kept"]))
    lines = workspace.find(LINES)
    expect(lines).to_have_count(3)
    texts = [output(workspace.url, FATHER), output(workspace.url, MOTHER)]
    texts.append(output(workspace.url, FATHER, interventions=[OFF]))
    given = [texts[0][1]]
    given.append(output(workspace.url, MOTHER, target=texts[0][0])[1])
    given.append(output(workspace.url, FATHER, target=texts[0][0], interventions=[OFF])[1])
    rows = cells(workspace, ".token-changes tbody tr")
    for n, (text, logprobs) in enumerate(texts):
        expect(lines.nth(n).locator("td").nth(1)).to_have_text(text)
        own, delta = lines.nth(n).locator("td.number").all_inner_texts()
        assert number(own) == pytest.approx(sum(logprobs), abs=0.00501)
        if n:
            assert number(delta) == pytest.approx(sum(given[n]) - sum(given[0]), abs=0.00501)
    assert len(rows) == len(given[0])
    for i, (_, first, *others) in enumerate(rows):
        assert number(first) == pytest.approx(given[0][i], abs=0.00501)
        for n, text in enumerate(others, 1):
            assert number(text) == pytest.approx(given[n][i] - given[0][i], abs=0.00502)
    expect(lines.nth(2)).to_have_attribute("aria-current", "true")
    expect(lines.nth(2).locator(".run-changes")).to_contain_text("all heads: off")
    lines.nth(1).get_by_role("button", name="Open run B").click()
    expect(workspace.find("#source")).to_have_value(MOTHER)
    expect(workspace.find("#output")).to_have_text(texts[1][0])
    assert said(workspace) == []
    expect(lines).to_have_count(2)
    lines.nth(1).get_by_role("button", name="Remove run B").click()
    assert json.loads(workspace.link["kept"]) == [{"source": FATHER}]
    workspace.page.go_back()
    assert len(json.loads(workspace.link["kept"])) == 2


def test_a_share_holds_them(workspace: Workspace) -> None:
    kept = [{"source": FATHER}, {"source": MOTHER}]
    workspace.open(**START, kept=kept, interventions=[OFF])
    expect(workspace.find(".token-changes tbody tr").first).to_be_visible()
    seen = cells(workspace, ".token-changes tbody tr")
    summary = [row[:5] for row in cells(workspace, LINES)]
    made = share(workspace)
    without_model(workspace)
    workspace.page.goto(f"{workspace.url}/s/{made}")
    expect(workspace.find(".token-changes tbody tr").first).to_be_visible()
    assert cells(workspace, ".token-changes tbody tr") == seen
    assert [row[:5] for row in cells(workspace, LINES)] == summary
    expect(workspace.find(".keep-run button")).to_be_hidden()


def test_a_changed_run_is_opened_and_one_that_does_not_fit_says_why(
    workspace: Workspace, watch: Watch
) -> None:
    changed = {"source": FATHER, "interventions": [OFF]}
    workspace.open(
        **START, kept=[{"source": FATHER}, changed], interventions=[OFF], **{"as": "trained"}
    )
    workspace.find(LINES).nth(1).get_by_role("button", name="Open run B").click()
    expect(workspace.find(LINES).nth(1)).to_have_attribute("aria-current", "true")
    expect(workspace.find("#output")).to_have_text(
        output(workspace.url, FATHER, interventions=[OFF])[0]
    )
    assert "as" not in workspace.link
    # A run that does not fit says why.
    watch.expect("422")
    wrong = {"source": FATHER, "interventions": [{"at": "decoder.9.cross", "do": "zero"}]}
    workspace.open(**START, kept=[{"source": FATHER}, wrong])
    line = workspace.find(LINES).nth(1)
    expect(line.locator(".bad")).to_have_text("A change to the model cannot be made.")
    expect(line.locator(".bad")).to_have_attribute("title", re.compile("must be a place"))
    expect(workspace.find(LINES).nth(0).locator("td").nth(1)).not_to_have_text("…")

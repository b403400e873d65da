"""Added vectors in what-if: the step that is chosen, compared with the API and with a patch."""

import json
from typing import Any

import numpy as np
from playwright.sync_api import Locator, expect

from tests.browsing.legible import overflow
from tests.browsing.watch import Watch
from tests.browsing.workspace import Workspace
from tests.views.changes_by_api import SOURCE, START, said, trace

FATHER = SOURCE.replace("mother", "father")
STEP = {"to": {"source": FATHER, "row": 2}, "minus": {"source": SOURCE, "row": 2}}
ADDED = {"at": "source.input", "rows": [2], "do": {"add": STEP}}


def opened(workspace: Workspace) -> Locator:
    panel = workspace.find(".of-vector")
    panel.locator("summary").click()
    expect(panel.get_by_label("Token that the step ends at").locator("option")).to_have_count(10)
    return panel


def test_the_step_between_the_words_that_differ_makes_one_the_other(workspace: Workspace) -> None:
    workspace.open(**START, query=1)
    panel = opened(workspace)
    begins, ends = (
        panel.get_by_label(f"Token that the step {verb} at") for verb in ("begins", "ends")
    )
    expect(begins.locator("option:checked")).to_have_text("3 ·mother")
    expect(ends.locator("option:checked")).to_have_text("3 ·father")
    panel.get_by_label("only at some tokens").check()
    expect(panel.locator(".row-tokens [aria-pressed=true]")).to_have_text("·mother")
    assert said(workspace) == []
    panel.get_by_label("add this vector").check()
    assert said(workspace) == [ADDED]
    # At the input, the sum is what the other sentence has there.
    other = trace(workspace.url, source=FATHER)["output"]
    expect(workspace.find("#output")).to_have_text(other["text"])
    with_it = trace(workspace.url, interventions=[ADDED])["output"]
    np.testing.assert_allclose(with_it["logprobs"], other["logprobs"], atol=1e-4)
    expect(workspace.find(".change-chip")).to_contain_text("token 3 of “" + FATHER)


def test_what_is_added_can_be_changed_and_taken_away(workspace: Workspace) -> None:
    workspace.open(**START, query=1, interventions=json.dumps([ADDED]))
    panel = opened(workspace)
    on = panel.get_by_label("add this vector")
    expect(on).to_be_checked()
    expect(panel.locator(".row-tokens [aria-pressed=true]")).to_have_count(1)
    times = panel.get_by_role("spinbutton", name="Times")
    times.fill("-2")
    times.press("Enter")
    assert said(workspace) == [ADDED | {"do": {"add": STEP | {"times": -2}}}]
    panel.get_by_label("Where the vector is added").select_option("encoder.1.ffn.norm")
    moved: dict[str, Any] = {"at": "encoder.1.ffn.norm", "do": {"add": STEP | {"times": -2}}}
    assert said(workspace) == [moved]
    panel.get_by_label("Token that the step ends at").select_option("5")
    step = STEP | {"to": {"source": FATHER, "row": 5}, "times": -2}
    assert said(workspace) == [moved | {"do": {"add": step}}]
    sentence = panel.get_by_label("Sentence that the step ends in")
    sentence.fill("The dog sleeps.")
    sentence.press("Enter")
    dog = {"source": "The dog sleeps."}
    expect(panel.get_by_label("Token that the step ends at").locator("option")).to_have_count(7)
    [made] = said(workspace)
    assert made["do"]["add"]["to"].items() >= dog.items()
    changed = trace(workspace.url, interventions=[made])["output"]["text"]
    expect(workspace.find("#output")).to_have_text(changed)
    sentence.blur()
    workspace.page.go_back()
    expect(sentence).to_have_value(FATHER)
    on.uncheck()
    assert said(workspace) == []
    expect(workspace.find("#changes")).to_be_hidden()


def test_it_asks_nothing_before_it_is_opened_and_again_what_failed(
    workspace: Workspace, watch: Watch
) -> None:
    workspace.page.set_viewport_size({"width": 390, "height": 800})
    workspace.open(**START)
    workspace.settled()
    asked: list[str] = []
    workspace.page.on("request", lambda request: asked.append(request.post_data or ""))
    workspace.settled()
    assert not asked
    opened(workspace)
    assert [FATHER in one for one in asked if FATHER in one] == [True]
    assert not overflow(workspace.page, 390)
    # Tokens that could not be had are asked for again.
    watch.expect("net::ERR|Failed to load")
    workspace.open(**START)
    workspace.settled()
    workspace.page.route("**/api/trace", lambda route: route.abort())
    panel = workspace.find(".of-vector")
    panel.locator("summary").click()
    expect(panel.get_by_role("alert")).to_be_visible()
    expect(panel.get_by_label("add this vector")).to_be_disabled()
    panel.locator("summary").click()
    workspace.page.unroute("**/api/trace")
    opened(workspace)
    expect(panel.get_by_role("alert")).to_be_hidden()
    expect(panel.get_by_label("add this vector")).to_be_enabled()

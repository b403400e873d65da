"""A reader's changes of a share: run if the model is served, marked, and undone."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browsing.workspace import Workspace
from tests.views.test_page_as_trained import share, without_model
from tests.workspace.test_page_requests import posts

START = {"source": "The cat sits.", "block": "cross", "layer": 1, "head": 4, "view": "attention"}


@pytest.fixture
def shared(workspace: Workspace) -> Workspace:
    """The page with its own share."""
    workspace.open(**START)
    made = share(workspace)
    workspace.page.goto(f"{workspace.url}/s/{made}")
    workspace.drawn()
    return workspace


def test_what_a_reader_changes_is_marked_and_taken_back(shared: Workspace) -> None:
    seen = shared.charts()[0].values
    expect(shared.find("#departed")).to_be_hidden()
    expect(shared.find("#frozen-says")).to_contain_text("exactly as its author saw it")
    shared.find("#heads label").nth(2).click()
    shared.page.wait_for_url(re.compile("head=2"))
    expect(shared.find("#departed")).to_be_hidden()  # only another place of the same run
    shared.find("#heads label").nth(4).click()

    shared.find("#source").fill("A dog sleeps.")
    shared.find("#source").press("Enter")
    expect(shared.find("#departed")).to_contain_text("Changed from the share")
    shared.says("A dog sleeps.")
    shared.drawn()
    expect(shared.find("#source-tokens")).to_contain_text("dog")
    expect(shared.find("#frozen-says")).not_to_contain_text("exactly")
    assert "/s/" in shared.page.url
    shared.page.reload()
    shared.drawn()
    expect(shared.find("#source")).to_have_value("A dog sleeps.")
    expect(shared.find("#departed")).to_be_visible()
    shared.settled()

    asked = posts(shared)
    shared.find("#return").click()
    expect(shared.find("#departed")).to_be_hidden()
    shared.settled()
    expect(shared.find("#source")).to_have_value("The cat sits.")
    np.testing.assert_array_equal(shared.charts()[0].values, seen)
    assert asked == [], "it is what was saved"
    shared.page.go_back()
    expect(shared.find("#source")).to_have_value("A dog sleeps.")
    shared.find("#return").click()
    shared.settled()
    shared.page.mouse.click(*shared.cell(2, 1))
    shared.find("#switch-head").click()
    expect(shared.find("#departed")).to_be_visible()
    expect(shared.find(".change-chip")).to_contain_text("head 5: off")
    expect(shared.find(".runs.removed .chart[data-drawn]")).to_be_visible()
    shared.find("#changes .which-run label").first.click()
    expect(shared.find("#departed")).to_be_visible()
    shared.find("#changes").get_by_text("Undo all").click()
    expect(shared.find("#departed")).to_be_hidden()


def test_what_was_changed_can_be_shared_again_and_in_a_frame_be_changed(
    shared: Workspace, workspace: Workspace
) -> None:
    shared.find("#source").fill("A dog sleeps.")
    shared.find("#source").press("Enter")
    shared.says("A dog sleeps.")
    shared.drawn()
    first = shared.page.url
    shared.page.goto(f"{shared.url}/s/{share(shared)}")
    shared.drawn()
    assert shared.page.url.partition("?")[0] != first.partition("?")[0]
    expect(shared.find("#source")).to_have_value("A dog sleeps.")
    expect(shared.find("#departed")).to_be_hidden()
    workspace.open(**START, interventions=[{"at": "decoder.1.cross", "head": 4, "do": "zero"}])
    made = share(workspace)
    workspace.page.goto(f"{workspace.url}/embed/{made}")
    workspace.drawn()
    workspace.find(".change-chip button").click()
    expect(workspace.find("#departed")).to_be_visible()
    expect(workspace.find("#changes")).to_be_hidden()
    workspace.find("#return").click()
    expect(workspace.find(".change-chip")).to_be_visible()
    expect(workspace.find("#departed")).to_be_hidden()


def test_nothing_is_changed_where_the_model_is_gone(workspace: Workspace) -> None:
    workspace.open(**START)
    made = share(workspace)
    without_model(workspace)
    workspace.page.goto(f"{workspace.url}/s/{made}?source=Another&layer=0")
    workspace.drawn()
    expect(workspace.find("#source")).to_have_value("The cat sits.")
    expect(workspace.find("#source")).to_have_attribute("readonly", "")
    expect(workspace.find("#switches")).to_be_hidden()
    expect(workspace.find("#departed")).to_be_hidden()

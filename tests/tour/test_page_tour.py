"""The tour: six stops over the page as it is."""

import re

import pytest
from playwright.sync_api import expect

from tests.browsing.axe import violations
from tests.browsing.legible import overflow
from tests.browsing.workspace import Workspace

DONE = "#tour .task.done"
START = {"source": "My mother bought a new book yesterday.", "layer": 2, "head": 0}


def following(workspace: Workspace) -> None:
    workspace.find("#tour .turns button").last.click()
    workspace.drawn()


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_link_to_a_stop_alone_goes_where_the_stop_is(workspace: Workspace, lang: str) -> None:
    workspace.load(tour=5, lang=lang)
    expect(workspace.find("#switch-head")).to_have_class(re.compile("tour-target"))
    workspace.settled()
    link = workspace.link
    needed = {"en": ("0", "4"), "zh": ("2", "5")}[lang]
    assert (link["tour"], link["block"], link["layer"], link["head"]) == ("5", "cross", *needed)
    assert "query" in link
    expect(workspace.find(DONE)).to_have_count(0)
    workspace.find("#switch-head").click()
    expect(workspace.find(DONE)).to_be_visible()


def test_a_link_to_a_stop_and_a_place_keeps_the_place(workspace: Workspace) -> None:
    workspace.load(**START, tour=5, view="attention", block="cross")
    workspace.settled()
    link = workspace.link
    assert (link["layer"], link["head"]) == ("2", "0")
    assert "query" not in link


def test_each_stop_has_something_to_do(workspace: Workspace) -> None:
    page = workspace.page
    workspace.load(**START, view="attention")
    workspace.menu("#tour-open")
    assert (workspace.link["tour"], workspace.link["view"]) == ("1", "alignment")
    expect(workspace.find("#tour")).to_be_focused()
    expect(workspace.find(DONE)).to_have_count(0)
    workspace.find("#source").fill("My father bought a new book yesterday.")
    expect(workspace.find(DONE)).to_be_visible()

    following(workspace)
    expect(workspace.find("#source-tokens")).to_have_class(re.compile("tour-target"))
    workspace.find("#source-tokens .chip").nth(2).click()
    expect(workspace.find(DONE)).to_be_visible()

    following(workspace)
    assert (workspace.link["tour"], workspace.link["view"]) == ("3", "attention")
    workspace.find("#heads label").nth(4).click()
    expect(workspace.find(DONE)).to_be_visible()

    following(workspace)
    assert "query" in workspace.link, "a cell is pinned"
    workspace.find("#check-cell").click()
    expect(workspace.find(DONE)).to_be_visible()
    assert workspace.link["view"] == "worksheet"

    following(workspace)
    before = workspace.find("#output").inner_text()
    workspace.find("#switch-head").click()
    said = workspace.find(DONE)
    expect(said).to_be_visible()
    after = workspace.find("#output").inner_text()
    if before == after:
        expect(said).to_contain_text("writes the same")
    else:
        expect(said).to_contain_text(f"“{before}”, without it “{after}”")

    following(workspace)
    workspace.find("#share").click()
    expect(workspace.find(DONE)).to_be_visible()
    expect(workspace.find("#tour")).to_contain_text("6 of 6")
    page.keyboard.press("Escape")
    following(workspace)
    expect(workspace.find("#tour")).to_be_hidden()
    assert "tour" not in workspace.link


def test_a_stop_is_part_of_the_link(workspace: Workspace) -> None:
    workspace.load(**START, view="attention", tour=3)
    expect(workspace.find("#tour")).to_contain_text("3 of 6")
    expect(workspace.find(DONE)).to_have_count(0)
    following(workspace)
    assert workspace.link["tour"] == "4"
    workspace.page.go_back()
    expect(workspace.find("#tour")).to_contain_text("3 of 6")
    workspace.find("#tour").get_by_text("Leave the tour").click()
    expect(workspace.find("#tour")).to_be_hidden()
    expect(workspace.find(".tour-target")).to_have_count(0)


@pytest.mark.parametrize(("width", "lang"), [(1280, "en"), (320, "zh")])
def test_no_stop_hides_what_it_is_about(workspace: Workspace, width: int, lang: str) -> None:
    workspace.page.set_viewport_size({"width": width, "height": 740})
    workspace.load(**START, view="attention", lang=lang)
    workspace.menu("#tour-open")
    for stop in range(1, 7):
        expect(workspace.find("#tour")).to_contain_text(f"{stop} ")
        workspace.settled()
        (panel,) = workspace.boxes("#tour")
        (target,) = workspace.boxes(".tour-target")
        apart = (
            panel["x"] >= target["x"] + target["width"]
            or target["x"] >= panel["x"] + panel["width"]
            or panel["y"] >= target["y"] + target["height"]
            or target["y"] >= panel["y"] + panel["height"]
        )
        assert apart, (stop, panel, target)
        assert not overflow(workspace.page, width)
        if stop in (1, 4):
            assert violations(workspace.page, ".band", ".figure") == []
        if stop < 6:
            following(workspace)


def test_the_first_calculation_has_moderate_numbers(workspace: Workspace) -> None:
    for lang in ["zh"]:
        workspace.page.goto(f"{workspace.url}/?tour=1&lang={lang}")
        workspace.drawn()
        for _ in range(3):
            following(workspace)
        workspace.page.wait_for_url(re.compile("query="))
        weight = float(workspace.find("#working b").last.inner_text())
        assert 0.2 <= weight <= 0.8
        values = workspace.charts()[0].values
        assert weight == pytest.approx(values[int(workspace.link["query"])].max(), abs=1e-4)

"""The two models that ship, one with eight heads per encoder layer and one with four."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app.settings import Settings
from tests.browsing.fixtures import PATIENCE_MS
from tests.browsing.watch import Watch
from tests.browsing.workspace import Workspace
from tests.servers import AppServer, running_app

TEXT = "The cat sat on the mat."


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory, server_cache: Path) -> Iterator[AppServer]:
    settings = {"models": Settings().models, "zoo": "false"}
    data = tmp_path_factory.mktemp("both")
    with running_app(data, settings, warm=True, cache=server_cache) as server:
        yield server


@pytest.fixture
def workspace(page: Page, watch: Watch, both: AppServer) -> Workspace:
    page.set_default_timeout(PATIENCE_MS)
    return Workspace(page, both.url)


def test_the_page_opens_on_the_first_changes_to_the_other_and_compares_them(
    workspace: Workspace,
) -> None:
    workspace.open(source=TEXT, view="attention", block="encoder", layer=2, head=6)
    heads = workspace.find("#heads input")
    expect(heads).to_have_count(8)
    workspace.find("#model").select_option("en-zh-4-heads")
    expect(heads).to_have_count(4)
    workspace.settled()
    link = workspace.link
    assert (link["source"], link["block"]) == (TEXT, "encoder")
    assert int(link["head"]) < 4
    rows, _ = workspace.figure()
    assert rows.sum(-1) == pytest.approx(1, abs=1e-3)
    workspace.open(source=TEXT, view="compare", other="model", block="encoder", layer=1, head=1)
    expect(workspace.find(".trio-b .chart[data-drawn]")).to_be_visible()
    workspace.settled()
    assert workspace.link["model_b"] == "en-zh-4-heads"
    a, b, delta = (chart.values for chart in workspace.charts(".trio"))
    assert a.shape == b.shape == delta.shape
    assert delta == pytest.approx(b - a, abs=1e-5)
    expect(workspace.find(".others input")).to_have_count(4)

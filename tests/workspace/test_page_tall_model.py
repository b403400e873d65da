"""The map of a model with many layers stays on the screen, and with it the place that is shown."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browsing.fixtures import PATIENCE_MS
from tests.browsing.watch import Watch
from tests.browsing.workspace import Workspace, cell_of
from tests.servers import AppServer, running_app

pytest.importorskip("transformers")
LAYERS = 30
FLOORS = "all => all.map((one) => one.dataset.floor ?? one.textContent)"


@pytest.fixture(scope="module")
def tall(tmp_path_factory: pytest.TempPathFactory, server_cache: Path) -> Iterator[AppServer]:
    from tests.model import tiny_huggingface as tiny

    folder = tmp_path_factory.mktemp("tall")
    name, config, options, words = tiny.TINY["llama"]
    with pytest.MonkeyPatch.context() as patch:
        taller = (name, config, {**options, "num_hidden_layers": LAYERS}, words)
        patch.setitem(tiny.TINY, "llama", taller)
        path = tiny.make("llama", folder / "llama")
    with running_app(
        folder / "data", {"models": f"tall=hf:{path}"}, warm=True, cache=server_cache
    ) as server:
        yield server


@pytest.fixture
def workspace(page: Page, watch: Watch, tall: AppServer) -> Workspace:
    page.set_default_timeout(PATIENCE_MS)
    return Workspace(page, tall.url)


def floors(workspace: Workspace) -> list[str]:
    """Layers that are drawn, counted from 0, and folds by what they say, from the top down."""
    found: list[str] = workspace.find("#map :is(.floor, .fold)").evaluate_all(FLOORS)
    return found


def on_screen(workspace: Workspace, layer: int) -> None:
    expect(workspace.find("#map :checked")).to_have_attribute("data-layer", str(layer))
    (cell,) = workspace.boxes(f"{cell_of('decoder', layer)} canvas")
    (part,) = workspace.boxes("#map")
    assert part["y"] + part["height"] <= 720
    assert part["y"] < cell["y"] < 720 - cell["height"]


def test_of_thirty_layers_those_around_the_place_are_drawn_and_a_fold_opens(
    workspace: Workspace,
) -> None:
    page = workspace.page
    page.set_viewport_size({"width": 1280, "height": 720})
    place = {"source": "The cat sat", "block": "decoder", "head": 0}
    for layer in (0, 14, LAYERS - 1):
        workspace.open(**place, layer=layer)
        on_screen(workspace, layer)
    workspace.open(**place, layer=15)
    assert floors(workspace) == ["29", "18 – 29", "16", "15", "14", "2 – 14", "0"]
    painted = workspace.find("#map .floor canvas").evaluate_all(
        "all => all.every((one) => one.getContext('2d').getImageData(0, 0, one.width, 1)"
        ".data.some(Boolean))"
    )
    assert painted, "each has its picture"
    workspace.find("#stage").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    on_screen(workspace, 15)
    workspace.find("#map .fold").first.focus()
    page.keyboard.press("Enter")
    assert floors(workspace) == [str(layer) for layer in reversed(range(LAYERS))]
    on_screen(workspace, 15)
    expect(workspace.find("#map :checked")).to_be_focused()
    workspace.place("decoder", 22)
    assert workspace.link["layer"] == "22"
    assert floors(workspace) == ["29", "25 – 29", "23", "22", "21", "2 – 21", "0"]
    on_screen(workspace, 22)

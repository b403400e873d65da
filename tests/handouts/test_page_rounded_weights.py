"""A figure of very many weights on a disk: one head is exact, the others are close."""

import re
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Page, expect

from headlight import Shown, show
from tests.browsing.watch import Watch
from tests.browsing.workspace import Workspace
from tests.package.test_arrays import weights

TOKENS, HEADS, LAYERS = 140, 12, 6
LAYER, HEAD = 4, 7


@pytest.fixture(scope="module")
def layers() -> list[NDArray[np.float32]]:
    return [weights(HEADS, TOKENS, TOKENS, seed=number) for number in range(LAYERS)]


@pytest.fixture(scope="module")
def figure(layers: list[NDArray[np.float32]]) -> Shown:
    return show(layers, [f"w{n}" for n in range(TOKENS)], layer=LAYER, head=HEAD)


@pytest.fixture
def opened(
    page: Page, watch: Watch, workspace: Workspace, figure: Shown, tmp_path: Path
) -> Workspace:
    file = figure.save(tmp_path / "figure.html")
    watch.expect(f"request to elsewhere: {file.as_uri()}")
    page.goto(file.as_uri())
    workspace.drawn()
    return workspace


def drawn(workspace: Workspace) -> NDArray[np.float64]:
    return workspace.figure()[0]


def bound(workspace: Workspace) -> float:
    said = re.search(r"by at most ([\d.]+), so", workspace.find(".notices").inner_text())
    assert said
    return float(said[1])


def test_the_head_on_which_it_opens_is_exact(
    opened: Workspace, layers: list[NDArray[np.float32]]
) -> None:
    expect(opened.find("#caption")).to_contain_text(f"Layer {LAYER + 1}, head {HEAD + 1}")
    np.testing.assert_allclose(drawn(opened), layers[LAYER][HEAD], atol=1e-7)
    opened.page.mouse.click(*opened.cell(3, 2))
    weight = f"{layers[LAYER][HEAD][3, 2]:.4f}"
    expect(opened.find("#working")).to_contain_text(weight)


def test_another_head_is_as_close_as_it_says_and_its_numbers_have_fewer_digits(
    opened: Workspace, layers: list[NDArray[np.float32]]
) -> None:
    most = bound(opened)
    for layer in (LAYER, 0, LAYERS - 1):
        if layer != LAYER:
            opened.place("encoder", layer)
        opened.find("#heads label").nth(2).click()
        expect(opened.find("#caption")).to_contain_text(f"Layer {layer + 1}, head 3")
        opened.settled()
        seen, true = drawn(opened), layers[layer][2]
        assert 0 < np.abs(seen - true).max() <= most
        np.testing.assert_allclose(seen.sum(-1), 1, atol=1e-3)
    opened.page.mouse.click(*opened.cell(3, 2))
    expect(opened.find("#working")).to_contain_text(re.compile(r"≈ 0\.\d\d$|<0.01$"))


def test_every_view_draws_and_the_exact_head_stays_exact(
    opened: Workspace, watch: Watch, layers: list[NDArray[np.float32]]
) -> None:
    names = opened.find("#views label").all_inner_texts()
    assert {"Attention", "Lines", "Heads", "Compare"} <= set(names)
    for index, name in enumerate(names):
        opened.find("#views label").nth(index).click()
        opened.settled()
        picture = opened.find("#view").locator("canvas, svg").first
        expect(picture, f"{name} draws").to_be_attached()
        expect(opened.find(".not-frozen")).to_be_hidden()
        watch.check()
    opened.find("#views label").nth(names.index("Attention")).click()
    opened.settled()
    np.testing.assert_allclose(drawn(opened), layers[LAYER][HEAD], atol=1e-7)

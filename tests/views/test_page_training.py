"""Attention during training as drawn, compared with every snapshot of the API."""

import re
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Page, expect

from tests.browsing.printed import two
from tests.browsing.workspace import Workspace
from tests.servers import AppServer
from tests.workspace.test_page_export import save

PLACE: dict[str, Any] = {"view": "training", "block": "cross", "layer": 1, "head": 3}
CROSS = "decoder.1.cross.weights"
SHOWN = "() => [...document.querySelectorAll('#view .atlas')].map((it) => it.toDataURL())[0]"


@pytest.fixture(scope="module")
def told(live_server: AppServer) -> list[dict[str, Any]]:
    """The API's reply about each example."""
    url = f"{live_server.url}/api/models/en-zh/learning"
    with httpx.Client(trust_env=False, timeout=60) as client:
        count = len(client.get(url).json()["examples"])
        return [client.get(f"{url}/{n}").json() for n in range(count)]


def weights(told: dict[str, Any], place: int, name: str = CROSS) -> NDArray[Any]:
    """Return a snapshot's weights (head, query, key)."""
    step = told["snapshots"][place]["step"]
    return np.array(told["tensors"][f"{step}.{name}"]["data"]) / 255


def shows(workspace: Workspace, told: dict[str, Any], place: int, head: int = 3) -> None:
    """Compare the large picture, the text and the numbers with a snapshot of an example."""
    workspace.settled()  # an untrained model writes the same for every sentence
    snapshot = told["snapshots"][place]
    expect(workspace.find(".step-now")).to_contain_text(f"{snapshot['step']:,}")
    expect(workspace.find(".said .text")).to_have_text(told["texts"][place])
    for bleu in snapshot["bleu"].values():
        expect(workspace.find(".measured")).to_contain_text(f"{bleu:.1f}")
    expect(workspace.find(".measured")).to_contain_text(f"{snapshot['loss']:.2f}")
    np.testing.assert_allclose(workspace.figure()[0], weights(told, place)[head], atol=1e-6)


def test_the_slider_keys_and_playing_go_through_the_training(
    workspace: Workspace, told: list[dict[str, Any]]
) -> None:
    last = len(told[0]["snapshots"]) - 1
    workspace.open(**PLACE)
    shows(workspace, told[0], last)
    trained = workspace.page.evaluate(SHOWN)
    asked: list[str] = []
    workspace.page.on("request", lambda request: asked.append(request.url))
    slider = workspace.find(".timeline input")
    slider.fill("0")
    shows(workspace, told[0], 0)
    assert workspace.link["snapshot"] == str(told[0]["snapshots"][0]["step"])
    assert workspace.page.evaluate(SHOWN) != trained, "the thumbnails are of this step too"
    slider.press("ArrowRight")
    shows(workspace, told[0], 1)
    slider.press("End")
    shows(workspace, told[0], last)
    assert "snapshot" not in workspace.link
    assert not [url for url in asked if not url.startswith(("data:", "blob:"))]
    # It plays and keys go through it.
    page = workspace.page
    page.keyboard.press("Home")
    shows(workspace, told[0], 0)
    page.keyboard.press("ArrowRight")
    shows(workspace, told[0], 1)
    page.keyboard.press("End")
    page.keyboard.press(" ")
    play = workspace.find(".transport .play")
    expect(play).to_contain_text("Pause")
    expect(workspace.find(".step-now")).to_contain_text(f"{told[0]['snapshots'][1]['step']:,}")
    page.keyboard.press(" ")
    expect(play).to_contain_text("Play")
    page.get_by_role("button", name="Back").click()
    shows(workspace, told[0], 0)


def test_a_head_and_a_sentence_are_picked(workspace: Workspace, told: list[dict[str, Any]]) -> None:
    first = str(told[0]["snapshots"][0]["step"])
    workspace.open(**PLACE, snapshot=first)
    workspace.page.get_by_role("button", name="Layer 2, head 6").click()
    shows(workspace, told[0], 0, head=5)
    assert workspace.link["head"] == "5"
    expect(workspace.find("#caption")).to_contain_text("Layer 2, head 6")

    chosen = told[-1]
    workspace.find("#option-example").select_option(str(chosen["example"]))
    shows(workspace, chosen, 0, head=5)
    rows = [token["text"].strip() for token in chosen["output"]["tokens"]]
    written = workspace.find("#view .rows .label .token:last-child").all_inner_texts()
    assert [re.sub(r"^·|[₀-₉]+$", "", text) for text in written] == rows
    workspace.page.go_back()
    shows(workspace, told[0], 0, head=5)


def test_a_pinned_row_stays_while_the_steps_go_by(
    workspace: Workspace, told: list[dict[str, Any]]
) -> None:
    workspace.open(**PLACE)
    chips = workspace.find("#source-tokens .as-key, #source-tokens .as-query")
    lit = chips.count()
    workspace.page.mouse.click(*workspace.cell(2, 4))
    assert (workspace.link["row"], workspace.link["col"]) == ("2", "4")
    expect(workspace.find("#view .tip b")).to_have_text(
        f"≈ {two(weights(told[0], len(told[0]['snapshots']) - 1)[3, 2, 4])}"
    )
    assert chips.count() == lit, "the sentence that was typed is another one"
    workspace.page.mouse.move(0, 0)
    writes = told[0]["output"]["tokens"][2]["text"].strip()
    for place in (0, 1):
        workspace.find(".timeline input").fill(str(place))
        finding = workspace.find("#caption")
        expect(finding).to_contain_text(re.compile(f"while writing {re.escape(writes)}"))
        expect(finding).to_contain_text(f"{weights(told[0], place)[3, 2].max():.2f}")
    link = workspace.link
    workspace.page.reload()
    workspace.drawn()
    shows(workspace, told[0], 1)
    assert workspace.link == link
    workspace.find("#view .matrix").press("Escape")
    assert "row" not in workspace.link
    # Masked cells have no number.
    workspace.open(**PLACE | {"block": "decoder"}, snapshot=0)
    expect(workspace.find("#view .key .pattern")).to_contain_text("masked")
    drawn = workspace.figure()[0]
    np.testing.assert_array_equal(np.isnan(drawn), ~np.tri(len(drawn), dtype=bool))


def test_a_share_keeps_the_sentence_and_a_frame_shows_it(
    workspace: Workspace, page: Page, told: list[dict[str, Any]], tmp_path: Path
) -> None:
    first = told[1]["snapshots"][0]["step"]
    workspace.open(**PLACE, example=1, snapshot=first)
    table = save(workspace, "CSV", tmp_path)
    name = f"headlight-en-zh-training-cross-layer-2-head-4-example-2-step-{first}.csv"
    assert table.name == name
    lines = table.read_text("utf-8-sig").splitlines()
    found = [float(line.rpartition(",")[2]) for line in lines if line.startswith(CROSS)]
    np.testing.assert_allclose(found, weights(told[1], 0).ravel(), atol=1e-6)
    url = workspace.share()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for path in (url, url.replace("/s/", "/embed/")):
        page.goto(path)
        workspace.drawn()
        shows(workspace, told[1], 0)
    assert any("/asks/0" in path for path in asked)
    assert not [path for path in asked if "/learning" in path], "it is frozen"


def test_it_is_translated_and_a_model_that_was_not_watched_says_so(
    workspace: Workspace, told: list[dict[str, Any]]
) -> None:
    workspace.open(**PLACE, lang="zh")
    shows(workspace, told[0], len(told[0]["snapshots"]) - 1)
    for selector in ("> .note", ".said > span", ".measured", ".below .note", ".transport"):
        expect(workspace.find(f".training {selector}")).to_contain_text(
            re.compile("[\u4e00-\u9fff]")
        )

    # A model that was not watched says so.
    def without(route: Any) -> None:
        models = [{**model, "examples": 0} for model in route.fetch().json()]
        route.fulfill(json=models)

    workspace.page.route("**/api/models", without)
    workspace.load(**PLACE)
    expect(workspace.find(".nothing-here")).to_have_text(
        "This model has no snapshots of its training."
    )
    expect(workspace.find(".training")).to_be_hidden()


def test_the_curves_are_those_of_the_snapshots(
    workspace: Workspace, told: list[dict[str, Any]]
) -> None:
    snapshots = told[0]["snapshots"]
    workspace.open(**PLACE)
    shows(workspace, told[0], len(snapshots) - 1)
    button = workspace.page.get_by_role("button", name="Loss and BLEU curves")
    button.click()
    plot = workspace.find(".timeline .plot")
    plot.locator(".scatterlayer .trace").first.wait_for()
    expect(workspace.find(".chart-of-steps")).to_be_hidden()
    drawn = plot.evaluate("it => it.data.map(({name, x, y}) => ({name, x, y}))")
    steps = [snapshot["step"] for snapshot in snapshots]
    assert {curve["name"]: (curve["x"], curve["y"]) for curve in drawn} == {
        "BLEU en → zh": (steps, [snapshot["bleu"]["en-zh"] for snapshot in snapshots]),
        "BLEU zh → en": (steps, [snapshot["bleu"]["zh-en"] for snapshot in snapshots]),
        "Dev loss": (steps, [snapshot["loss"] for snapshot in snapshots]),
    }
    plot.locator(".scatterlayer .trace").first.locator(".point").nth(7).click(force=True)
    shows(workspace, told[0], 7)
    button.click()
    expect(plot).to_be_hidden()
    expect(workspace.find(".chart-of-steps svg")).to_be_visible()

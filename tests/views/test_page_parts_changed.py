"""Sublayers, hidden units and pairs of heads: as changed from the page and through the API."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

from tests.browsing.api import client
from tests.browsing.legible import overflow
from tests.browsing.watch import Watch
from tests.browsing.workspace import Workspace
from tests.shipped_head_counts import IN_ALL
from tests.views.changes_by_api import BOTH, PLACE, SOURCE, START, effects, probabilities, said
from tests.views.test_page_as_trained import share

CELLS = """() => Object.fromEntries(
    [...document.querySelectorAll(".head-map [data-at]")].map((cell) =>
        [cell.dataset.name, Number(cell.querySelector("text").textContent.replace("−", "-"))]))"""
MAP = START | {"effect": "heads"}


def swept(url: str, **request: object) -> dict[str, dict[str, Any]]:
    """Return the effects of a sweep through the API, by the map's names."""
    reply = client.post(f"{url}/api/sweep", json={"source": SOURCE, **request})
    lines = [json.loads(line) for line in reply.raise_for_status().text.splitlines()]
    found = {}
    for one in (one for line in lines if "done" in line for one in line["changes"]):
        name = one["at"] if one["head"] is None else f"{one['at']} {one['head']}"
        if one["also"]:
            name += f" + {one['also']['at']} {one['also']['head']}"
        found[name] = one
    return found


def tried(workspace: Workspace, count: int) -> dict[str, float]:
    expect(workspace.find(".head-map")).to_have_attribute("data-drawn", str(count))
    found: dict[str, float] = workspace.page.evaluate(CELLS)
    return found


def made(workspace: Workspace, count: int) -> list[Any]:
    """Return the changes once there are so many, and the run with them is shown."""
    expect(workspace.find(".change-chip")).to_have_count(count)
    workspace.page.wait_for_function(BOTH)
    found: list[Any] = said(workspace)
    return found


def step(slider: Locator, key: str, times: int) -> None:
    slider.focus()
    for _ in range(times):
        slider.press(key)


def test_a_sublayer_is_scaled_switched_off_and_back(workspace: Workspace) -> None:
    workspace.open(**START)
    panel = workspace.find(".of-sublayer")
    expect(panel.locator("select")).to_have_value(PLACE)
    expect(panel.locator("option:checked")).to_have_text("Cross-attention, layer 2")
    expect(panel.locator(".of-unit")).to_be_hidden()
    panel.locator("select").select_option("decoder.1.ffn")
    step(panel.get_by_role("slider", name="Scale of its output"), "ArrowLeft", 3)
    expect(workspace.find(".change-chip")).to_have_text("Decoder, feed-forward, layer 2: ×0.5×")
    assert made(workspace, 1) == [{"at": "decoder.1.ffn.output", "do": {"scale": 0.5}}]
    panel.get_by_label("switched off: adds nothing").check()
    expect(workspace.find(".change-chip")).to_have_text("Decoder, feed-forward, layer 2: off×")
    off = {"at": "decoder.1.ffn.output", "do": "zero"}
    assert made(workspace, 1) == [off]
    expect(panel.get_by_role("slider", name="Scale of its output")).to_be_disabled()
    _, expected = effects(workspace.url, off)
    np.testing.assert_allclose(probabilities(workspace.page, len(expected)), expected, atol=0.00501)
    workspace.page.reload()
    assert made(workspace, 1) == [off]
    workspace.find(".of-sublayer").locator("select").select_option("decoder.1.ffn")
    workspace.find(".of-sublayer").get_by_label("switched off: adds nothing").uncheck()
    expect(workspace.find("#changes")).to_be_hidden()


def test_a_hidden_unit_is_set_and_the_output_of_a_head_scaled(
    workspace: Workspace, watch: Watch
) -> None:
    workspace.open(**START)
    panel = workspace.find(".of-sublayer")
    panel.locator("select").select_option("encoder.0.ffn")
    number = panel.get_by_label("Hidden unit")
    number.fill("17")
    number.press("Tab")
    panel.get_by_text("zero", exact=True).click()
    unit = {"at": "encoder.0.ffn.hidden", "units": [16]}
    assert made(workspace, 1) == [unit | {"do": "zero"}]
    panel.get_by_text("set", exact=True).click()
    step(panel.get_by_role("slider", name="Value of the unit"), "ArrowRight", 6)
    expect(workspace.find(".change-chip")).to_have_text(
        "Encoder, feed-forward, layer 1, unit 17: set to 4×"
    )
    four = unit | {"do": {"fill": 4}}
    assert made(workspace, 1) == [four]
    _, expected = effects(workspace.url, four)
    np.testing.assert_allclose(probabilities(workspace.page, len(expected)), expected, atol=0.00501)
    panel.get_by_text("as computed", exact=True).click()
    expect(workspace.find("#changes")).to_be_hidden()
    head = workspace.find(".of-head")
    step(head.get_by_role("slider", name="Scale of its output"), "ArrowRight", 3)
    expect(workspace.find(".change-chip")).to_have_text("Cross-attention, layer 2, head 3: ×2×")
    assert made(workspace, 1) == [{"at": f"{PLACE}.mix", "head": 2, "do": {"scale": 2}}]
    expect(workspace.find("#heads label.changed")).to_have_count(1)
    watch.expect("status of 422")
    gone = {"at": "encoder.0.ffn.hidden", "units": [99_999], "do": "zero"}
    workspace.go(**START, interventions=json.dumps([gone]))
    expect(workspace.find(".change-problem")).to_contain_text("units[0] must be from 0 to 1023")
    expect(workspace.find(".change-chip.bad")).to_have_count(1)


def test_the_map_of_sublayers_is_that_of_the_sweep(workspace: Workspace) -> None:
    workspace.open(**MAP, parts="sublayers")
    shown, known = tried(workspace, 15), swept(workspace.url, over="sublayers")
    deltas = {name: sum(one["delta"]) for name, one in known.items()}
    assert shown == pytest.approx(deltas, abs=0.0051)
    most = min(deltas, key=deltas.__getitem__)
    assert most == "decoder.2.cross.output"
    expect(workspace.find("#caption")).to_contain_text("Cross-attention, layer 3 matters most")
    cell = workspace.find(f'.head-map [data-name="{most}"]')
    cell.click()
    assert made(workspace, 1) == [{"at": most, "do": "zero"}]
    assert workspace.link["layer"] == "2"
    expect(cell).to_have_attribute("aria-pressed", "true")
    cell.click()
    expect(workspace.find("#changes")).to_be_hidden()
    workspace.page.set_viewport_size({"width": 390, "height": 800})
    assert not overflow(workspace.page, 390), "it fits a phone"
    # A link with parts that its change does not have still opens.
    workspace.open(**MAP, ablation="uniform", parts="sublayers")
    tried(workspace, IN_ALL)
    expect(workspace.find('input[name$="option-parts"]:checked')).to_have_value("heads")


def test_the_map_of_tokens_has_each_head_and_token(workspace: Workspace) -> None:
    workspace.open(**MAP, parts="tokens", ablation="uniform")
    known = {name: one["delta"] for name, one in swept(workspace.url, effect="uniform").items()}
    known = {name: delta for name, delta in known.items() if ".cross" in name}
    cells = {f"{name} → {n}": one for name, delta in known.items() for n, one in enumerate(delta)}
    assert len(known) == 24
    assert tried(workspace, len(cells)) == pytest.approx(cells, abs=0.0051)
    expect(workspace.find(".sweep-rows")).to_be_hidden()
    most = min(cells, key=cells.__getitem__)
    head = most.split(" → ")[0].split()
    place = f"Cross-attention, layer {int(head[0].split('.')[1]) + 1}, head {int(head[1]) + 1}"
    expect(workspace.find("#caption")).to_contain_text(f"depends most on a single head, {place}")
    workspace.find(f'.head-map [data-name="{most}"]').click()
    assert made(workspace, 1) == [{"at": head[0], "head": int(head[1]), "do": "uniform"}]
    pressed = workspace.find('.head-map [aria-pressed="true"]')
    expect(pressed).to_have_count(len(cells) // 24)


def test_the_map_of_pairs_shows_which_stand_in_for_each_other(workspace: Workspace) -> None:
    place = "decoder.2.cross"
    workspace.open(**MAP | {"layer": 2}, parts="pairs")
    shown = tried(workspace, 36)
    known = swept(workspace.url, over="pairs", among=[place])
    numbers = {name: sum(one["interaction"] or one["delta"]) for name, one in known.items()}
    assert shown == pytest.approx(numbers, abs=0.0051)
    most = min((name for name in numbers if "+" in name), key=numbers.__getitem__)
    one, other = (int(part.split()[-1]) for part in most.split(" + "))
    expect(workspace.find("#caption")).to_contain_text(
        f"Cross-attention, layer 3, heads {one + 1} and {other + 1} stand in for each other most"
    )
    workspace.find(f'.head-map [data-name="{most}"]').click()
    assert made(workspace, 1) == [{"at": place, "heads": [one, other], "do": "zero"}]
    expect(workspace.find("#heads label.changed")).to_have_count(2)
    workspace.find("#changes").get_by_text("Undo all").click()
    expect(workspace.find("#changes")).to_be_hidden()


def test_a_share_and_its_handout_say_the_same(
    workspace: Workspace, tmp_path: Path, watch: Watch
) -> None:
    watch.expect("request to elsewhere: file:")
    made = [
        {"at": "encoder.1.self.output", "do": "zero"},
        {"at": "decoder.0.ffn.hidden", "units": [16], "rows": [0], "do": {"fill": 3}},
        {
            "at": "source.input",
            "rows": [2],
            "do": {"add": {"to": {"source": "My father bought it.", "row": 2}, "times": 0.5}},
        },
    ]
    words = [
        "Encoder self-attention, layer 2: off",
        "Decoder, feed-forward, layer 1, unit 17: set to 3, only at",
        "Encoder, input: plus 0.5 × token 3 of “My father bought it.”, only at mother",
    ]
    workspace.open(**START, interventions=json.dumps(made))
    chips = workspace.find(".change-chip > span")
    expect(chips).to_contain_text(words)
    shared = share(workspace)
    workspace.page.goto(f"{workspace.url}/s/{shared}")
    workspace.drawn()
    expect(chips).to_contain_text(words)
    assert (
        client.get(f"{workspace.url}/api/shares/{shared}").json()["state"]["interventions"] == made
    )
    file = tmp_path / "handout.html"
    handout = client.get(f"{workspace.url}/s/{shared}/handout.html")
    file.write_bytes(handout.raise_for_status().content)
    workspace.page.goto(file.as_uri())
    workspace.drawn()
    expect(chips).to_contain_text(words)

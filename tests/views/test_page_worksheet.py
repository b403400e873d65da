"""The worksheet's numbers, compared with those of the API."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import expect

from tests.browsing import api
from tests.browsing.printed import read
from tests.browsing.watch import Watch
from tests.browsing.workspace import Workspace
from tests.servers import AppServer

START: dict[str, Any] = {
    "source": "The dog is tired, so it sleeps.",
    "target": "这只狗很累，所以它睡觉。",
    "view": "worksheet",
    "layer": 1,
    "head": 2,
    "query": 3,
    "key": 1,
}
STAGES = {"encoder": 10, "decoder": 8, "cross": 10}
Array = NDArray[np.float64]
# A table's cells by its place in a stage, as text.
TABLE = """([stage, nth]) => [
    ...[...document.querySelectorAll(`.sheet[data-stage=${stage}] table`)][nth].rows,
].map((row) => [...row.cells].map((cell) => cell.textContent))"""


def table(workspace: Workspace, stage: str, nth: int = 0) -> list[list[str]]:
    rows: list[list[str]] = workspace.page.evaluate(TABLE, [stage, nth])
    return rows


def column(rows: list[list[str]], of: int) -> Array:
    """Return the numbers of a column of a table; they have real minus signs."""
    body = [row[of] for row in rows[1:] if row[0].strip().isdigit()]
    return np.array([float(text.replace("−", "-")) for text in body])


def vectors(url: str, *names: str) -> list[Array]:
    """Return tensors of the head of START from the API."""
    names = tuple(f"decoder.1.cross.{name}" for name in names)
    found = api.tensors(url, *names, source=START["source"], target=START["target"])
    return [found[name][START["head"]] for name in names]


def test_the_tables_are_what_the_model_recorded(workspace: Workspace) -> None:
    """tests/js holds how each stage is computed, for every kind of model."""
    workspace.open(**START, block="cross", step="all")
    (i, j), (q, k, v, mix, scores, weights) = (
        (START["query"], START["key"]),
        vectors(workspace.url, "q", "k", "v", "mix", "scores", "weights"),
    )
    for nth, vector in enumerate((q[i], k[j], v[j])):
        rows = table(workspace, "project", nth)
        for computed_and_recorded in (3, 4):
            np.testing.assert_allclose(column(rows, computed_and_recorded), vector[:4], atol=2e-4)
    products = q[i] * k[j]
    strongest = np.argsort(-np.abs(products))[:8]
    rows = table(workspace, "score")
    assert [int(row[0]) - 1 for row in rows[1:9]] == strongest.tolist()
    np.testing.assert_allclose(column(rows, 3), products[strongest], atol=1e-3)
    rows = table(workspace, "mix")
    np.testing.assert_allclose(column(rows, rows[0].index("computed")), mix[i][:4], atol=1e-3)
    rows = table(workspace, "softmax")[1:-1]
    assert [read(row[1]) for row in rows] == pytest.approx(scores[i], abs=2e-4)
    assert [read(row[4]) for row in rows] == pytest.approx(weights[i], rel=0.05, abs=2e-4)


def test_every_stage_agrees_and_says_by_how_much(workspace: Workspace) -> None:
    for block in STAGES:
        workspace.open(**START, block=block, step="all")
        sections = workspace.find(".sheet")
        expect(sections).to_have_count(STAGES[block])
        verdicts = workspace.find(".sheet .verdict").all_inner_texts()
        assert len(verdicts) == {"encoder": 9, "decoder": 6, "cross": 9}[block]
        for verdict in verdicts:
            pattern = r"✓ Agrees with the model: largest difference (.+), over \d+ numbers\."
            found = re.fullmatch(pattern, verdict)
            assert found, verdict
            assert 0 < read(found[1]) < 1e-4, verdict
    # What was replaced differs and says so.
    instead = '[{"at": "encoder.1.self", "head": 2, "do": "uniform"}]'
    workspace.open(**START, block="encoder", interventions=instead)
    expect(workspace.find(".verdict").first).to_contain_text("✗ Differs from the model")
    differing = workspace.find(".contents button").filter(has_text="differs")
    assert [button.locator(".title").inner_text() for button in differing.all()] == ["Score"]


def test_a_first_layer_starts_from_embedding_and_is_printed_whole(workspace: Workspace) -> None:
    workspace.open(**{**START, "layer": 0}, block="encoder")
    expect(workspace.find(".contents button").first).to_contain_text("agrees")
    rows = table(workspace, "input")
    embedding, position, x = (column(rows, at) for at in (1, 2, 3))
    np.testing.assert_allclose(embedding + position, x, atol=2e-4)
    # Printed light with all stages and nothing around them.
    workspace.page.emulate_media(color_scheme="dark", media="print")
    workspace.open(**START, block="encoder")
    for stage in workspace.find(".sheet").all():
        assert stage.is_visible()
    for chrome in (".top", ".band", ".rail", ".turning", ".contents", ".cell-picker"):
        assert not workspace.find(chrome).first.is_visible(), chrome
    colour = "() => getComputedStyle(document.documentElement).getPropertyValue('--paper').trim()"
    assert workspace.page.evaluate(colour) == "#ffffff"


def test_stepping_by_keys_and_buttons_is_in_the_link(workspace: Workspace) -> None:
    workspace.open(**START, block="encoder")
    shown = workspace.find(".sheet:not(.elsewhere)")
    expect(shown).to_have_attribute("data-stage", "input")
    workspace.page.keyboard.press("ArrowRight")
    workspace.page.keyboard.press("Space")
    expect(shown).to_have_attribute("data-stage", "score")
    assert workspace.link["step"] == "score"
    workspace.find(".turning button").first.click()
    expect(shown).to_have_attribute("data-stage", "project")
    expect(workspace.find(".contents [aria-current=step]")).to_contain_text("Projections")
    workspace.find(".contents button").nth(9).click()
    assert workspace.link["step"] == "close"
    expect(workspace.find(".turning button").nth(1)).to_be_disabled()
    workspace.page.get_by_role("button", name="Show all", exact=True).click()
    expect(shown).to_have_count(10)
    workspace.page.reload()
    workspace.drawn()
    expect(shown).to_have_count(10)


def test_the_cell_is_changed_from_inside_and_opened_by_the_inspector(workspace: Workspace) -> None:
    workspace.open(**START, block="decoder", step="softmax")
    workspace.find(".cell-picker select").last.select_option("2")
    workspace.page.get_by_role("button", name="query below").last.click()
    assert (workspace.link["query"], workspace.link["key"]) == ("4", "2")
    expect(workspace.find("[data-stage=softmax] tr.here th")).to_have_text("只")
    workspace.find(".cell-picker select").last.select_option("7")
    expect(workspace.find("#caption")).to_contain_text("may not look at")
    expect(workspace.find("[data-stage=softmax] tr.here td").nth(1)).to_have_text("masked")
    # The inspector opens the cell.
    workspace.open(**{**START, "view": "attention"}, block="cross")
    workspace.page.get_by_role("button", name="Check this cell").click()
    workspace.drawn()
    link = workspace.link
    assert (link["view"], link["query"], link["key"]) == ("worksheet", "3", "1")
    workspace.page.go_back()
    workspace.drawn()
    assert workspace.link["view"] == "attention"
    # Decoder self attention leads on to cross attention.
    workspace.open(**START, block="decoder", step="ffn")
    expect(workspace.find(".sheet:not(.elsewhere)")).to_have_attribute("data-stage", "cross")
    workspace.page.get_by_role("button", name="Continue with cross-attention").click()
    expect(workspace.find(".sheet")).to_have_count(10)
    assert (workspace.link["block"], workspace.link["query"]) == ("cross", "3")


def test_copied_as_text_without_the_async_clipboard(workspace: Workspace) -> None:
    workspace.page.add_init_script(
        "Object.defineProperty(navigator, 'clipboard', { value: undefined });"
        "document.addEventListener('copy', () => (window.copied = document.activeElement.value));"
    )
    workspace.load(**START, block="cross")
    workspace.page.get_by_role("button", name="Copy as text").click()
    expect(workspace.find(".copied")).to_have_text("Copied.")
    text: str = workspace.page.evaluate("() => window.copied")
    assert START["source"] in text
    assert text.count("✓") == 10
    q, k = vectors(workspace.url, "q", "k")
    dot = float(q[START["query"]] @ k[START["key"]])
    printed = re.search(r"qᵢ · kⱼ = Σ_c q_ic k_jc = (−?[\d.]+)", text)
    assert printed
    assert float(printed[1].replace("−", "-")) == pytest.approx(dot, abs=1e-3)
    assert [line for line in text.splitlines() if line.startswith("10. Add and norm again")]


def test_matrices_that_are_too_large_are_not_blamed_on_the_sentence(
    workspace: Workspace, launch: Callable[..., AppServer], watch: Watch
) -> None:
    server = launch(max_values="300000")
    watch.expect("422")
    workspace.page.goto(f"{server.url}/?source=Hi&view=worksheet&block=encoder&layer=0&head=0")
    expect(workspace.find("#view")).to_contain_text("numbers; this server sends at most 300,000")
    assert "Shorten" not in workspace.find("#view").inner_text()

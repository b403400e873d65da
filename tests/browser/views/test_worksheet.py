"""The worksheet's numbers, compared with the layer recomputed from its input in float64."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import expect

from tests.browser import api
from tests.browser.api import client
from tests.browser.printed import read
from tests.browser.watch import Watch
from tests.browser.workspace import Workspace
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
INPUTS = {  # of query and key, in layer 1
    "encoder": ("encoder.0.ffn.norm", "encoder.0.ffn.norm"),
    "decoder": ("decoder.0.ffn.norm", "decoder.0.ffn.norm"),
    "cross": ("decoder.1.self.norm", "encoder.2.ffn.norm"),
}
PLACES = {"encoder": "encoder.1.self", "decoder": "decoder.1.self", "cross": "decoder.1.cross"}
STAGES = {"encoder": 10, "decoder": 8, "cross": 10}
Array = NDArray[np.float64]
# A table's cells by its place in a stage, as text.
TABLE = """([stage, nth]) => [
    ...[...document.querySelectorAll(`.sheet[data-stage=${stage}] table`)][nth].rows,
].map((row) => [...row.cells].map((cell) => cell.textContent))"""


def ask(url: str, block: str) -> tuple[dict[str, Array], dict[str, Array]]:
    """Return the inputs with the mask, and the layer's parameters, from the API."""
    place = PLACES[block]
    names = [*dict.fromkeys(INPUTS[block]), f"{place}.mask"]
    trace = api.tensors(url, *names, source=START["source"], target=START["target"])
    chosen = f"{place}.*,{place.split('.')[0]}.1.ffn.*"
    reply = client.get(f"{url}/api/models/en-zh/parameters?select={chosen}")
    return trace, api.arrays(reply.raise_for_status().json())


def normed(x: Array, gain: Array, bias: Array) -> Array:
    result: Array = (x - x.mean()) / np.sqrt(x.var() + 1e-5) * gain + bias
    return result


def by_hand(url: str, block: str) -> dict[str, Any]:
    """Compute all stages of the cell of START in float64, each from the one before."""
    trace, learnt = ask(url, block)
    place, (i, j, head) = PLACES[block], (START["query"], START["key"], START["head"])
    x, memory = (trace[name] for name in INPUTS[block])

    def at(name: str) -> Array:
        return learnt[f"{place}.{name}"]

    def heads(x: Array, letter: str) -> Array:  # (H, N, d_k)
        whole = x @ at(f"W_{letter}") + at(f"b_{letter}")
        return whole.reshape(len(x), 8, -1).transpose(1, 0, 2)

    q, k, v = heads(x[i : i + 1], "q"), heads(memory, "k"), heads(memory, "v")
    scores = (q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1]))[:, 0]  # (H, M)
    open_ = trace[f"{place}.mask"][i].astype(bool)
    powers = np.where(open_, np.exp(scores), 0)
    weights = powers / powers.sum(axis=-1, keepdims=True)
    mix = (weights[:, None] @ v)[:, 0]  # (H, d_k)
    output = mix.ravel() @ at("W_o") + at("b_o")
    norm = normed(x[i] + output, at("gain"), at("bias"))
    found = {"q": q[head, 0], "k": k[head, j], "v": v[head, j], "scores": scores[head]}
    found |= {"weights": weights[head], "mix": mix[head], "output": output, "norm": norm}
    if block != "decoder":
        ffn = f"{place.split('.')[0]}.1.ffn"
        hidden = np.maximum(0, norm @ learnt[f"{ffn}.W_1"] + learnt[f"{ffn}.b_1"])
        out = hidden @ learnt[f"{ffn}.W_2"] + learnt[f"{ffn}.b_2"]
        close = normed(norm + out, learnt[f"{ffn}.gain"], learnt[f"{ffn}.bias"])
        found |= {"hidden": hidden, "ffn": out, "close": close}
    return found


def table(workspace: Workspace, stage: str, nth: int = 0) -> list[list[str]]:
    rows: list[list[str]] = workspace.page.evaluate(TABLE, [stage, nth])
    return rows


def column(rows: list[list[str]], of: int) -> Array:
    """Return the numbers of a column of a table; they have real minus signs."""
    body = [row[of] for row in rows[1:] if row[0].strip().isdigit()]
    return np.array([float(text.replace("−", "-")) for text in body])


@pytest.mark.parametrize("block", PLACES)
def test_every_stage_is_what_the_layer_computes(workspace: Workspace, block: str) -> None:
    workspace.open(**START, block=block, step="all")
    expected = by_hand(workspace.url, block)
    for nth, letter in enumerate("qkv"):
        rows = table(workspace, "project", nth)
        np.testing.assert_allclose(column(rows, 3), expected[letter][:4], atol=2e-4)
        np.testing.assert_allclose(column(rows, 4), expected[letter][:4], atol=2e-4)
    products = expected["q"] * expected["k"]
    strongest = np.argsort(-np.abs(products))[:8]
    rows = table(workspace, "score")
    assert [int(row[0]) - 1 for row in rows[1:9]] == strongest.tolist()
    np.testing.assert_allclose(column(rows, 3), products[strongest], atol=1e-3)
    for name in ("mix", "output", "norm", "ffn", "close"):
        if name in expected:
            rows = table(workspace, name, 1 if name == "output" else 0)
            head = rows[0].index("computed")
            np.testing.assert_allclose(column(rows, head), expected[name][:4], atol=1e-3)
            np.testing.assert_allclose(column(rows, head + 1), expected[name][:4], atol=1e-3)
    if "hidden" in expected:
        firing = int((expected["hidden"] > 0).sum())
        said = workspace.find("[data-stage=hidden].sheet p").first.inner_text()
        assert said.startswith(f"{firing} of {expected['hidden'].size} hidden units are active")
        unit = int(expected["hidden"].argmax())
        assert f"unit {unit + 1} ({expected['hidden'][unit]:.4f})" in said


@pytest.mark.parametrize("block", PLACES)
def test_the_row_of_the_softmax(workspace: Workspace, block: str) -> None:
    workspace.open(**START, block=block, step="softmax")
    expected = by_hand(workspace.url, block)
    rows = table(workspace, "softmax")[1:-1]
    assert len(rows) == len(expected["weights"])
    for row, score, weight in zip(rows, expected["scores"], expected["weights"], strict=True):
        assert float(row[1].replace("−", "-")) == pytest.approx(score, abs=2e-4)
        if weight:
            highest = expected["scores"][expected["weights"] > 0].max()
            assert read(row[2]) == pytest.approx(score - highest, abs=4e-4)
            assert read(row[3]) == pytest.approx(np.exp(score - highest), rel=0.05, abs=4e-4)
            assert read(row[4]) == pytest.approx(weight, rel=0.05, abs=2e-4)
        else:
            assert row[2] == "masked"
    said = workspace.find("#caption").inner_text()
    assert said.endswith(f"with weight {expected['weights'][START['key']]:.4f}.")


@pytest.mark.parametrize("block", PLACES)
def test_every_stage_agrees_and_says_by_how_much(workspace: Workspace, block: str) -> None:
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


def test_a_first_layer_starts_from_embedding_and_position(workspace: Workspace) -> None:
    workspace.open(**{**START, "layer": 0}, block="encoder")
    expect(workspace.find(".contents button").first).to_contain_text("agrees")
    rows = table(workspace, "input")
    embedding, position, x = (column(rows, at) for at in (1, 2, 3))
    np.testing.assert_allclose(embedding + position, x, atol=2e-4)


def test_stepping_by_keys_and_buttons_is_in_the_link(workspace: Workspace) -> None:
    workspace.open(**START, block="encoder")
    shown = workspace.find(".sheet:not(.elsewhere)")
    expect(shown).to_have_attribute("data-stage", "input")
    workspace.page.keyboard.press("ArrowRight")
    workspace.page.keyboard.press("Space")
    expect(shown).to_have_attribute("data-stage", "score")
    assert workspace.link["step"] == "score"
    workspace.find(
        ".turning button",
    ).first.click()
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


def test_the_cell_is_changed_from_inside(workspace: Workspace) -> None:
    workspace.open(**START, block="decoder", step="softmax")
    workspace.find(".cell-picker select").last.select_option("2")
    workspace.page.get_by_role("button", name="query below").last.click()
    assert (workspace.link["query"], workspace.link["key"]) == ("4", "2")
    expect(workspace.find("[data-stage=softmax] tr.here th")).to_have_text("只")
    workspace.find(".cell-picker select").last.select_option("7")
    expect(workspace.find("#caption")).to_contain_text("may not look at")
    expect(workspace.find("[data-stage=softmax] tr.here td").nth(1)).to_have_text("masked")


def test_the_inspector_opens_the_cell(workspace: Workspace) -> None:
    workspace.open(**{**START, "view": "attention"}, block="cross")
    workspace.page.get_by_role("button", name="Check this cell").click()
    workspace.drawn()
    link = workspace.link
    assert (link["view"], link["query"], link["key"]) == ("worksheet", "3", "1")
    workspace.page.go_back()
    workspace.drawn()
    assert workspace.link["view"] == "attention"


def test_decoder_self_attention_leads_on_to_cross_attention(workspace: Workspace) -> None:
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
    workspace.load(**START, block="encoder")
    expected = by_hand(workspace.url, "encoder")
    workspace.page.get_by_role("button", name="Copy as text").click()
    expect(workspace.find(".copied")).to_have_text("Copied.")
    text: str = workspace.page.evaluate("() => window.copied")
    assert START["source"] in text
    assert text.count("✓") == 10
    dot = float(expected["q"] @ expected["k"])
    printed = re.search(r"q_i · k_j = Σ_c q_ic k_jc = (−?[\d.]+)", text)
    assert printed
    assert float(printed[1].replace("−", "-")) == pytest.approx(dot, abs=1e-3)
    assert [line for line in text.splitlines() if line.startswith("10. Add and norm again")]


def test_printed_light_with_all_stages_and_nothing_around_them(workspace: Workspace) -> None:
    workspace.page.emulate_media(color_scheme="dark", media="print")
    workspace.open(**START, block="encoder")
    for stage in workspace.find(".sheet").all():
        assert stage.is_visible()
    for chrome in (".top", ".band", ".rail", ".turning", ".contents", ".cell-picker"):
        assert not workspace.find(chrome).first.is_visible(), chrome
    colour = "() => getComputedStyle(document.documentElement).getPropertyValue('--paper').trim()"
    assert workspace.page.evaluate(colour) == "#ffffff"


def test_what_was_replaced_differs_and_says_so(workspace: Workspace) -> None:
    instead = '[{"at": "encoder.1.self", "head": 2, "do": "uniform"}]'
    workspace.open(**START, block="encoder", interventions=instead)
    expect(workspace.find(".verdict").first).to_contain_text("✗ Differs from the model")
    differing = workspace.find(".contents button").filter(has_text="differs")
    assert [button.locator(".title").inner_text() for button in differing.all()] == ["Score"]


def test_matrices_that_are_too_large_are_not_blamed_on_the_sentence(
    workspace: Workspace, launch: Callable[..., AppServer], watch: Watch
) -> None:
    server = launch(max_values="300000")
    watch.expect("422")
    workspace.page.goto(f"{server.url}/?source=Hi&view=worksheet&block=encoder&layer=0&head=0")
    expect(workspace.find("#view")).to_contain_text("numbers; this server sends at most 300,000")
    assert "Shorten" not in workspace.find("#view").inner_text()

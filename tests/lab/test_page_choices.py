"""The choices beside the matrices: convention, padding, norm, scoring, memory."""

import json
import math
from typing import Any

from playwright.sync_api import expect

from tests.lab.by_hand import Lab


def test_padding_norms_scorings_and_a_memory_come_with_their_matrices(lab: Lab) -> None:
    # Padding is typed as a row.
    lab.open()
    lab.page.get_by_text("More parts").click()
    lab.page.get_by_label("Padding").check()
    lab.cell("padding", 0, 2).fill("1")
    own = math.exp(1 / math.sqrt(3))
    weights = [f"{own / (own + 1):.4f}", f"{1 / (own + 1):.4f}", "0"]
    lab.expect_row("Weights", 0, weights)
    lab.expect_row("Mask", 1, ["0", "0", "−∞"])
    lab.step("Mask").locator("td[data-at='1,2']").hover()
    expect(lab.cell("padding", 0, 2)).to_have_attribute("data-lit", "from")
    cell = lab.cell("padding", 0, 2)
    cell.fill("2")
    expect(cell).to_have_accessible_description("1 for padding, 0 for a token.")
    assert lab.link["padding"] == ["0_0_2"]
    # The norm has a gamma and a beta.
    lab.open()
    toggle = lab.page.get_by_label("γ and β of the norm")
    expect(toggle).to_have_count(0)
    lab.page.locator("select[name=norm]").select_option("post")
    lab.page.get_by_text("More parts").click()
    toggle.check()
    lab.cell("gamma", 0, 0).fill("0")
    lab.cell("beta", 0, 0).fill("3")
    for row in range(3):
        expect(lab.step("Layer norm").locator(f"td[data-at='{row},0']")).to_have_text("3")
    # Additive scoring has a w for each head.
    lab.page.get_by_label("Example").select_option("heads")
    lab.page.locator("select[name=scoring]").select_option("additive")
    expect(lab.page.locator("[data-of=w] tbody th")).to_have_text(["Head 1", "Head 2"])
    for col in range(3):
        lab.cell("w", 1, col).fill("0")
    second = lab.step("Scores").locator("[data-head='1'] td[data-at]")
    expect(second).to_have_text(["0"] * 9)
    expect(lab.step("Scores").locator("[data-head='0'] td[data-at]").first).not_to_have_text("0")
    # A memory has names of its own.
    lab.page.get_by_label("Example").select_option("memory")
    expect(lab.step("Weights").locator("thead th")).to_have_text(["the", "cat", "sits"])
    lab.page.locator("[data-of=memory] input.name").nth(1).fill("dog")
    expect(lab.step("Weights").locator("thead th")).to_have_text(["the", "dog", "sits"])
    expect(lab.step("Weights").locator("tbody th")).to_have_text(["le", "chat"])
    group = lab.page.get_by_role("group", name="Memory tokens")
    group.get_by_role("button", name="One more").click()
    expect(lab.step("Key vectors").locator("tbody tr")).to_have_count(4)


def test_the_convention_transposes_everything_and_the_request_is_what_programs_send(
    lab: Lab,
) -> None:
    sent: list[dict[str, Any]] = []
    lab.page.on("request", lambda one: sent.append(json.loads(one.post_data or "{}")))
    lab.open()
    lab.page.locator("select[name=mask]").select_option("causal")
    expect(lab.step("Mask")).to_be_visible()
    identity = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert sent[-1] == {
        "x": identity, "w_q": identity, "w_k": identity, "w_v": identity,
        "convention": "row", "heads": 1, "scoring": "scaled", "mask": "causal",
    }  # fmt: skip
    lab.page.get_by_label("Example").select_option("heads")
    expect(lab.step("Output")).to_be_visible()
    weights = lab.step("Weights").locator("table").first.locator("td[style]")
    rows = weights.all_inner_texts()
    lab.page.get_by_text("columns, W x").click()
    lab.expect_row("Output", 0, ["1.1603", "1.2776", "1.3748"])
    assert weights.all_inner_texts() == [rows[3 * j + i] for i in range(3) for j in range(3)]
    expect(lab.page.locator("[data-of=w_q] tbody tr")).to_have_count(6)
    expect(lab.page.locator("[data-of=x] thead input.name").first).to_have_value("the")
    assert lab.link["convention"] == ["column"]
    expect(lab.page.get_by_label("Example")).to_have_value("heads")

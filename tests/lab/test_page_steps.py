"""The steps: their numbers, where each comes from, and hidden ones as an exercise."""

from playwright.sync_api import expect

from tests.lab.by_hand import FINDING, OWN, Lab


def test_it_opens_on_the_identity_and_a_hidden_step_is_asked_for(lab: Lab) -> None:
    lab.open()
    other = f"{(1 - OWN) / 2:.4f}"
    lab.expect_row("Weights", 0, [f"{OWN:.4f}", other, other])
    expect(lab.page.locator(FINDING)).to_have_text(f"the looks most at the: {OWN:.2f}.")
    expect(lab.step("Mask")).to_have_count(0)
    assert lab.link["x"] == ["1_0_0*0_1_0*0_0_1"]
    lab.page.get_by_role("button", name="Hide Weights as an exercise").click()
    expect(lab.step("Weights").get_by_role("button", name="Reveal")).to_be_focused()
    step = lab.step("Weights")
    expect(step).not_to_contain_text("0.4711")
    expect(lab.page.locator(FINDING)).to_have_text("Compute the hidden numbers by hand.")
    first = step.get_by_role("textbox").first
    for text, right in [("0.46", False), ("0.5", False), ("x", False), ("0.47", True)]:
        first.fill(text)
        expect(first).to_have_attribute("aria-invalid", "false" if right else "true")
    expect(step.get_by_role("status")).to_have_text("")
    for n in (1, 2):
        step.get_by_role("textbox").nth(n).fill("0.2645")
    expect(step.get_by_role("status")).to_have_text("Correct, within rounding.")
    step.get_by_role("button", name="Next row").click()
    expect(step.get_by_label("Row", exact=True)).to_have_value("1")
    assert lab.link["hidden"] == ["weights*1"]
    lab.page.reload()
    expect(lab.step("Weights").get_by_role("textbox")).to_have_count(3)
    step.get_by_role("button", name="Reveal").click()
    lab.expect_row("Weights", 0, ["0.4711", "0.2645", "0.2645"])


def test_a_number_that_is_pointed_at_lights_what_it_was_computed_from(lab: Lab) -> None:
    lab.open()
    lab.page.get_by_label("Example").select_option("note")
    expect(lab.page.locator(".about")).to_contain_text("This is a mistake")
    lab.expect_row("Weights", 1, ["0.1554", "0.4223", "0.4223"])
    lab.expect_row("Weighted sum of the values", 0, ["0.8446", "0.5777"])
    lab.step("Query vectors").locator("td[data-at='2,1']").hover()
    lit = lab.page.locator(".lab-matrices [data-lit]")
    expect(lit).to_have_count(4)
    for matrix, row, col in [("x", 2, 0), ("x", 2, 1), ("w_q", 0, 1), ("w_q", 1, 1)]:
        expect(lab.cell(matrix, row, col)).to_have_attribute("data-lit", "from")
    card = lab.page.locator(".arithmetic")
    expect(card).to_have_text("1·0 +1·1 = 1")
    weights = lab.step("Weights").locator("td[data-at='1,2']")
    weights.click()
    lab.page.mouse.move(0, 0)
    expect(lab.step("Scores").locator("[data-lit=from]")).to_have_text(["0", "1", "1"])
    expect(card).to_contain_text("= 0.4223187983")
    lab.page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    lab.step("Weights").locator(".scrolled").focus()
    lab.page.keyboard.press("ArrowDown")
    lab.page.keyboard.press("ArrowDown")
    expect(lab.page.locator("#announce")).to_contain_text("= 0.15536240")


def test_every_example_is_worked_out(lab: Lab) -> None:
    lab.open()
    steps = {
        "causal": "Mask", "relative": "Position term", "ffn": "Layer norm of the feed-forward",
        "window": "Mask", "additive": "Scores", "loss": "Loss",
    }  # fmt: skip
    for example, step in steps.items():
        lab.page.get_by_label("Example").select_option(example)
        expect(lab.step(step)).to_be_visible()
        expect(lab.page.get_by_label("Example")).to_have_value(example)
        expect(lab.page.locator(".lab-figure .problem:visible")).to_have_count(0)
    # Shuffled words have the same outputs until there are positions.
    lab.page.get_by_label("Example").select_option("shuffle")
    says = lab.page.locator(FINDING)
    expect(says).to_contain_text("each has the same output as before")
    moves = lab.page.locator(".lab-finding td[data-at]")
    expect(moves).to_have_text(["0", "0", "0", "0"])
    lab.page.locator("select[name=relative]").select_option("sinusoidal")
    expect(says).to_contain_text("their outputs change")
    expect(lab.step("Positional encoding")).to_be_visible()
    lab.page.get_by_role("button", name="Back to the order as written").click()
    expect(moves).to_have_count(0)
    names = lab.page.locator("[data-of=x] input.name")
    assert [one.input_value() for one in names.all()] == ["the", "dog", "bites", "him"]

"""Formulas among the examples, for numbers of one's own."""

from playwright.sync_api import expect

from model.lab.compute import scaling
from tests.lab.by_hand import Lab


def test_why_scores_are_divided(lab: Lab) -> None:
    lab.open("?lang=en")
    lab.page.get_by_label("Example").select_option("Why divide by √dₖ?")
    says = lab.page.locator("[data-formula=why] .finding")
    found = scaling(6, 0)
    dot, scaled = found["dot"], found["scaled"]
    expect(says).to_contain_text(
        f"At dₖ = 64 the products have a standard deviation of {dot.spread[6]:.2f}"
    )
    assert lab.page.locator("[data-formula=why] svg").count() == 3
    slider = lab.page.locator("[name=dk]")
    slider.fill("9")
    expect(says).to_contain_text(f"gradient is {dot.gradient[9]:.2f}")
    expect(says).to_contain_text(f"and {scaled.gradient[9]:.2f}.")
    rows = lab.page.locator("[data-formula=why] .both-ways table").last.locator("tbody tr")
    weights = [f"{one:.2f}" if one >= 0.005 else "<0.01" for one in dot.weights[9]]
    expect(rows.first.locator("td")).to_have_text(weights)
    lab.page.get_by_role("button", name="Draw other vectors").click()
    again = scaling(6, 1)["dot"]
    expect(says).to_contain_text(f"gradient is {again.gradient[9]:.2f}")
    assert (lab.link["f_dk"], lab.link["f_seed"]) == (["9"], ["1"])
    lab.page.reload()
    expect(says).to_contain_text(f"gradient is {again.gradient[9]:.2f}")
    lab.page.locator("[name=keys]").fill("40")
    expect(lab.page.locator("[data-why=keys]")).to_have_text("A whole number from 2 to 32.")
    lab.page.locator(".jumps-fold > summary").click()
    lab.page.get_by_role("link", name="What a layer costs").click()
    expect(lab.page.locator("[data-formula=layer-costs]")).to_be_visible()
    expect(says).to_be_hidden()
    assert lab.link["show"] == ["layer-costs"]


def test_formulas_stand_among_the_examples_for_numbers_of_ones_own(lab: Lab) -> None:
    lab.open("?lang=en")
    example = lab.page.get_by_label("Example")
    lab.cell("x", 0, 0).fill("7")
    own = {
        "why": "[data-formula=why]",
        "encoding": "[data-formula=encoding]",
        "warm-up": "[data-formula=warm-up]",
        "cache": "[data-formula=cache]",
        "one-weight": "[data-formula=one-weight]",
        "layer-costs": "[data-formula=layer-costs]",
    }
    for name, place in own.items():
        example.select_option(name)
        expect(lab.page.locator(place)).to_be_in_viewport()
        expect(lab.page.locator(".lab-body")).to_be_hidden()
        assert lab.link["show"] == [name]
        for other in own.values():
            expect(lab.page.locator(other)).to_be_visible(visible=other == place)
    lab.page.reload()
    expect(lab.page.locator("[data-formula=layer-costs]")).to_be_visible()
    expect(example).to_have_value("layer-costs")
    expect(lab.page.get_by_role("button", name="Share", exact=True)).to_be_hidden()
    example.select_option("your own")  # as it was left
    expect(lab.cell("x", 0, 0)).to_have_value("7")
    lab.expect_row("Query vectors", 0, ["7", "0", "0"])
    assert "show" not in lab.link
    example.select_option("warm-up")
    example.select_option("causal")
    expect(lab.step("Mask")).to_be_visible()
    lab.page.goto(f"{lab.url}/lab?show=encoding&lang=en")
    encoding = ["0.8415", "0.5403", "0.0998", "0.9950", "0.0100", "1.0000", "0.0010", "1.0000"]
    expect(lab.page.locator("[data-formula=encoding] tbody td[style]")).to_have_text(encoding)
    lab.page.locator("[name=pos]").fill("0")
    expect(lab.page.locator("[data-formula=encoding] tbody td[style]")).to_have_text(["0", "1"] * 4)
    lab.page.get_by_label("Example").select_option("warm-up")
    expect(lab.page.locator("[data-formula=warm-up] tbody tr").nth(2)).to_have_text(
        "4,0006.988 · 10⁻⁴the peak"
    )
    lab.page.locator("[name=warmup]").fill("100")
    expect(lab.page.locator("[data-formula=warm-up] tbody tr").nth(2)).to_have_text(
        "1004.419 · 10⁻³the peak"
    )
    lab.page.get_by_label("Example").select_option("layer-costs")
    first = lab.page.locator("[data-formula=layer-costs] tbody tr").first
    expect(first).to_have_text("Self-attentionn² · d1,280,00011")
    lab.page.locator("[name=n]").fill("x")
    expect(lab.page.locator("[name=n]")).to_have_attribute("aria-invalid", "true")
    expect(first).to_have_text("Self-attentionn² · d1,280,00011")
    example.select_option("cache")
    lab.page.locator("[name=length]").last.fill("13")
    cells = lab.page.locator("[data-formula=cache] tbody tr").first.locator("td")
    expect(cells).to_have_text(["1", "13"])
    example.select_option("one-weight")
    rows = lab.page.locator("[data-formula=one-weight] tbody tr")
    expect(rows.nth(1)).to_have_text("10.500.620.47−0.38")
    lab.page.locator("[name=steps]").fill("9")
    expect(rows).to_have_count(8)
    expect(rows.last.locator("th")).to_have_text("9")

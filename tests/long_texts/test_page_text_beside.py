"""The text beside the map: shaded by what is pinned, and searched."""

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browsing.axe import violations
from tests.browsing.workspace import Workspace
from tests.long_texts.reading import HEAD, LAYER, Run, opened

# How light each token of the text is, 765 without a shade.
SHADES = """() => [...document.querySelectorAll(".long-text span")].map((span) =>
    (span.style.backgroundColor.match(/\\d+/g) ?? [255, 255, 255]).map(Number)
        .reduce((sum, one) => sum + one))"""


def test_the_pinned_row_is_told_shades_the_text_and_words_are_found(
    there: Workspace, run: Run
) -> None:
    page = opened(there, query=300)
    top = int(run.weights[300].argmax())
    caption = page.locator("#caption")
    expect(caption).to_contain_text(f"Layer {LAYER + 1}, head {HEAD + 1}")
    expect(caption.locator(".as-query sub")).to_have_text("301")
    expect(caption.locator(".as-key sub").first).to_have_text(str(top + 1))
    expect(caption).to_contain_text(f"{run.weights[300, top]:.2f}")
    shades = page.evaluate(SHADES)
    assert len(shades) == run.tokens
    assert shades[top] < 765
    page.locator(".ways label", has_text="what looks at it").click()
    page.locator(".long-text span").nth(40).click()
    column = run.weights[:, 40]
    expect(page.locator(".reader .darkest")).to_contain_text(f"{column.max():.2f}")
    assert (there.link["key"], there.link["shade"]) == ("40", "column")
    darkest = int(np.argmin(page.evaluate(SHADES)))
    assert darkest == int(np.nanargmax(np.where(column > 0, column, np.nan)))
    field = page.locator(".find input")
    field.fill("RIVER")
    expect(page.locator(".find output")).to_have_text("match 1 of 12")
    found = page.locator(".long-text .found")
    assert "".join(found.all_inner_texts()).strip() == "river"
    field.press("Enter")
    expect(page.locator(".find output")).to_have_text("match 2 of 12")
    field.fill("zebra")
    expect(page.locator(".find output")).to_have_text("not found")


@pytest.mark.parametrize(("lang", "width"), [("en", 390), ("zh", 1440)])
def test_nothing_is_in_the_way_of_anyone(there: Workspace, lang: str, width: int) -> None:
    page = there.page
    page.set_viewport_size({"width": width, "height": 844})
    opened(there, lang=lang, query=30, key=12)
    assert violations(page) == []
    if lang == "zh":
        expect(page.locator("#caption")).to_contain_text("第 2 层第 3 个头")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

"""Attention by hand in a site: typed matrices are computed in the page, without a server."""

from urllib.parse import parse_qs

import numpy as np
from playwright.sync_api import Locator, Page, expect

from app.figures.links import Link
from app.lab import by_hand
from model.lab.compute import compute
from tests.site.opened_site import LOADED, Opened

ROUNDED = 5e-5  # four decimals are shown


def cells(page: Page, step: str) -> Locator:
    return page.locator(f"[data-of={step}] td[data-at]")


def link_of(page: Page) -> str:
    fragment: str = page.evaluate("location.hash.slice(1)")
    return fragment


def assert_computed(page: Page, step: str) -> None:
    """Compare the numbers of a step with those of the server's code for the page's link."""
    shown = [float(text.replace("−", "-")) for text in cells(page, step).all_inner_texts()]
    expected = compute(by_hand(Link("lab", link_of(page))))[step].ravel()
    np.testing.assert_allclose(shown, expected, atol=ROUNDED, err_msg=step)


def test_typed_numbers_are_computed_in_the_page(opened: Opened) -> None:
    page = opened.page
    page.goto(f"{opened.address}lab.html")
    expect(cells(page, "weights")).to_have_count(9, timeout=LOADED)
    page.locator('[data-of=x] input[data-at="0,1"]').fill("2")
    expect(cells(page, "q").nth(1)).to_have_text("2")
    assert parse_qs(link_of(page))["x"] == ["1_2_0*0_1_0*0_0_1"]
    for step in ("q", "products", "scores", "weights", "mix"):
        assert_computed(page, step)
    page.get_by_label("Example", exact=True).select_option("loss")
    expect(cells(page, "loss")).to_have_count(1)
    for step in ("weights", "probabilities", "wanted", "losses", "loss"):
        assert_computed(page, step)
    opened.assert_quiet()


def test_a_link_opens_the_same_in_the_other_language(opened: Opened) -> None:
    page = opened.page
    page.goto(
        f"{opened.address}lab.html#x=1_0*0_1*1_1&w_q=1_0*0_1&w_k=1_0*0_1&w_v=1_0*0_1&scoring=dot"
    )
    expect(cells(page, "weights").first).to_have_text("0.4223", timeout=LOADED)
    page.locator("#language").click()
    expect(page.get_by_role("heading", name="手算注意力").first).to_be_visible()
    expect(cells(page, "weights").first).to_have_text("0.4223", timeout=LOADED)
    assert page.url.startswith(f"{opened.address}lab-zh.html#")
    page.locator(".jumps-fold summary").click()
    page.locator(".jumps a[data-to=encoding]").click()
    expect(page.locator('[data-formula="encoding"] .result table').first).to_be_visible()
    assert parse_qs(link_of(page))["show"] == ["encoding"]
    opened.assert_quiet()

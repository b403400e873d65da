"""Figures in real notebooks."""

import re
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, expect

from tests.serving.jupyter import ROOT, TOKEN, jupyter, write_notebook

RUN_MS = 180_000
# A notebook that is still opening drops a key, and nothing says when it has opened.
AGAIN_MS, TRIES = 1_000, 60
# Each notebook by the page that opens it. JupyterLab opens again what was open before in the same
# workspace, so each test has its own.
WIDGETS = {"in-lab": "lab/workspaces/widget/tree", "in-notebook": "notebooks"}
SETUP = """\
import headlight
from headlight import Intervention
model = headlight.load("en-zh")
widget = headlight.Widget(model, "The cat sat on the mat.", block="cross", layer=2, head=1)
widget"""
MOVE = """\
widget.layer, widget.head, widget.pinned = 1, 4, (2, 3)
widget.changes = [Intervention("decoder.1.cross", "zero", 4)]
print("written", widget.trace.output.text)"""
# JupyterLab takes what the page sends on a thread beside the cells: the run may still be going on.
READ = """\
import time
for _ in range(600):
    if widget.trace.request.interventions != widget.changes:
        time.sleep(0.1)
print("read", widget.layer, widget.head, widget.pinned, [c.do for c in widget.changes])
print("output", widget.trace.output.text, len(widget.trace.request.interventions))"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("notebooks")
    shutil.copy2(ROOT / "docs" / "headlight.ipynb", folder / "headlight.ipynb")
    for name in WIDGETS:
        write_notebook(folder / f"{name}.ipynb", SETUP, MOVE, READ)
    with jupyter(folder) as address:
        yield address


@pytest.fixture
def errors() -> list[str]:
    return []


@pytest.fixture
def page(browser: Browser, errors: list[str]) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 1600, "height": 1000})
    page.on("pageerror", lambda error: errors.append(str(error)))
    # On a busy machine Jupyter may ask which kernel to take.
    page.add_locator_handler(
        page.locator(".jp-Dialog"), lambda dialog: dialog.locator(".jp-mod-accept").last.click()
    )
    yield page
    page.close()
    assert not [error for error in errors if "headlight" in error.lower()]


def test_it_draws_and_answers_a_click(page: Page, address: str) -> None:
    page.goto(f"{address}/lab/workspaces/clicks/tree/headlight.ipynb?token={TOKEN}", timeout=RUN_MS)
    expect(page.get_by_text("| Idle")).to_be_visible(timeout=RUN_MS)  # the kernel has started
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.locator(".lm-Menu-itemLabel", has_text=re.compile("^Run All Cells$")).click()
    figure = page.frame_locator("iframe[title=Headlight]").first
    caption = figure.locator("#caption")
    expect(caption).to_contain_text("Layer", timeout=RUN_MS)
    chart = figure.locator("#view .chart[data-drawn]")
    chart.scroll_into_view_if_needed()
    chart.click(position={"x": 200, "y": 200})
    expect(figure.locator("#inspector")).to_contain_text(re.compile(r"0\.\d{4}|1\.0000"))


@pytest.mark.parametrize("name", WIDGETS)
def test_the_widget_and_python_move_each_other(page: Page, address: str, name: str) -> None:
    """The cells run one by one; between them, the reader clicks."""
    page.goto(f"{address}/{WIDGETS[name]}/{name}.ipynb?token={TOKEN}", timeout=RUN_MS)
    run(page, 0)
    figure = page.frame_locator("iframe[title=Headlight]").first
    expect(figure.locator("#caption")).to_contain_text("Layer 3, head 2", timeout=RUN_MS)
    run(page, 1)
    written = text_of(page, "written")
    expect(figure.locator("#caption")).to_contain_text("Layer 2, head 5")
    expect(figure.locator(".change-chip")).to_have_count(1)
    expect(figure.locator("#translation, #output").first).to_contain_text(written)
    other_head(figure)
    figure.locator("#switch-head").click()
    expect(figure.locator(".change-chip")).to_have_count(2)
    expect(figure.locator("#stage")).to_have_attribute("aria-busy", "false")
    run(page, 2)
    assert text_of(page, "read") == "1 6 (2, 3) ['zero', 'zero']"
    assert text_of(page, "output").endswith(" 2")


def run(page: Page, index: int) -> None:
    """Run a cell."""
    cell = page.locator(".jp-CodeCell").nth(index)
    for _ in range(TRIES):
        cell.locator(".cm-content").click(timeout=RUN_MS)
        page.keyboard.press("Control+Enter")
        try:
            expect(cell.locator(".jp-InputPrompt")).not_to_have_text("[ ]:", timeout=AGAIN_MS)
        except AssertionError:
            continue
        return
    raise AssertionError("the cell does not run")


def text_of(page: Page, name: str) -> str:
    """Wait for a line that a cell prints, and return it without its name."""
    output = page.locator(".jp-OutputArea-output", has_text=re.compile(rf"^{name} ", re.MULTILINE))
    expect(output).to_be_visible(timeout=RUN_MS)
    lines = output.inner_text().splitlines()
    return next(line.removeprefix(f"{name} ") for line in lines if line.startswith(f"{name} "))


def other_head(figure: FrameLocator) -> None:
    """Click the seventh head."""
    figure.locator("#heads label").nth(6).click()

"""Attention by hand: cells as in a spreadsheet, live steps, and a link with the whole state."""

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from model.lab.scaling import scaling
from tests.browser.axe import violations
from tests.browser.watch import Watch
from tests.servers import AppServer

FINDING = ".lab-finding .finding"
OWN = math.exp(1 / math.sqrt(3)) / (math.exp(1 / math.sqrt(3)) + 2)
PASTE = """([input, text]) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", text);
    const paste = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true });
    return input.dispatchEvent(paste);
}"""
COPY = """(input) => {
    const clipboardData = new DataTransfer();
    const copy = new ClipboardEvent("copy", { clipboardData, bubbles: true, cancelable: true });
    input.dispatchEvent(copy);
    return clipboardData.getData("text/plain");
}"""


class Lab:
    """Helpers for the page of the lab."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url

    def open(self, query: str = "") -> None:
        self.page.goto(f"{self.url}/lab{query}")
        expect(self.page.locator(".worked li").first).to_be_visible()

    def cell(self, matrix: str, row: int, col: int) -> Locator:
        return self.page.locator(f'.lab-matrices [data-of="{matrix}"] input[data-at="{row},{col}"]')

    def step(self, name: str) -> Locator:
        return self.page.locator(".worked li").filter(
            has=self.page.get_by_role("heading", name=name, exact=True)
        )

    def expect_row(self, step: str, row: int, numbers: list[str]) -> None:
        cells = self.step(step).locator("tbody tr").nth(row).locator("td")
        expect(cells).to_have_text(numbers)

    @property
    def link(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.page.url).query)


@pytest.fixture
def lab(context: BrowserContext, watch: Watch, live_server: AppServer) -> Iterator[Lab]:
    page = context.new_page()
    yield Lab(page, live_server.url)
    page.close()


def test_it_opens_on_the_identity_example(lab: Lab) -> None:
    lab.open()
    other = f"{(1 - OWN) / 2:.4f}"
    lab.expect_row("Weights", 0, [f"{OWN:.4f}", other, other])
    expect(lab.page.locator(FINDING)).to_have_text(f"the looks most at the: {OWN:.2f}.")
    expect(lab.step("Mask")).to_have_count(0)
    assert lab.link["x"] == ["1_0_0*0_1_0*0_0_1"]


def test_numbers_update_while_typing(lab: Lab) -> None:
    lab.open()
    lab.cell("x", 0, 0).click()
    lab.page.keyboard.type("2")  # replaces the content, as in a spreadsheet
    lab.expect_row("Query vectors", 0, ["2", "0", "0"])
    lab.page.keyboard.type("/5")
    lab.expect_row("Query vectors", 0, ["0.4000", "0", "0"])
    lab.page.keyboard.press("Control+z")
    lab.expect_row("Query vectors", 0, ["1", "0", "0"])
    expect(lab.cell("x", 0, 0)).to_have_value("1")
    lab.page.keyboard.press("Control+y")
    lab.expect_row("Query vectors", 0, ["0.4000", "0", "0"])
    lab.page.reload()
    lab.expect_row("Query vectors", 0, ["0.4000", "0", "0"])
    expect(lab.cell("x", 0, 0)).to_have_value("2/5")


SLOW = """
const ask = window.fetch;
window.asked = [];
window.fetch = async (path, options) => {
    if (path !== "/api/lab") return ask(path, options);
    window.asked.push(JSON.parse(options.body).x[0][0]);
    await new Promise((resolve) => setTimeout(resolve, 500));
    return ask(path, options);
};
"""
SEEN = """() => {
    const cell = document.querySelector(".worked [data-of=q] td[data-at='0,0']");
    window.seen = [];
    new MutationObserver(() => window.seen.push(cell.textContent))
        .observe(cell, { characterData: true, subtree: true });
}"""


def test_steps_move_while_one_types_faster_than_the_server_answers(lab: Lab) -> None:
    lab.page.add_init_script(SLOW)
    lab.open()
    lab.page.evaluate(SEEN)
    lab.cell("x", 0, 0).click()
    lab.page.keyboard.press("F2")
    lab.page.keyboard.type("2345", delay=150)  # behind the 1
    lab.expect_row("Query vectors", 0, ["12345", "0", "0"])
    seen, asked = lab.page.evaluate("[window.seen, window.asked]")
    assert len(seen) > 1  # not the last one only
    assert asked[-1] == 12345
    assert [str(one) for one in asked[1:]] == seen  # each requested number was shown


def test_keys_of_a_spreadsheet(lab: Lab) -> None:
    lab.open()
    keys = lab.page.keyboard
    lab.cell("w_q", 0, 0).click()
    for key, row, col in [
        ("ArrowRight", 0, 1), ("ArrowDown", 1, 1), ("ArrowLeft", 1, 0), ("ArrowLeft", 1, 0),
        ("Enter", 2, 0), ("Shift+Enter", 1, 0), ("Tab", 1, 1), ("Tab", 1, 2), ("Tab", 2, 0),
        ("Shift+Tab", 1, 2), ("ArrowUp", 0, 2),
    ]:  # fmt: skip
        keys.press(key)
        expect(lab.cell("w_q", row, col)).to_be_focused()
    keys.press("F2")
    keys.type("5")
    keys.press("ArrowLeft")
    keys.type("1")
    expect(lab.cell("w_q", 0, 2)).to_have_value("015")
    keys.press("Escape")
    expect(lab.cell("w_q", 0, 2)).to_have_value("0")
    keys.press("ArrowDown")
    expect(lab.cell("w_q", 1, 2)).to_be_focused()


def test_cells_are_copied_to_and_pasted_from_a_sheet(lab: Lab) -> None:
    lab.open()
    lab.cell("x", 0, 0).click()
    lab.page.keyboard.press("Shift+ArrowRight")
    lab.page.keyboard.press("Shift+ArrowDown")
    expect(lab.page.locator("[data-of=x] .picked")).to_have_count(4)
    assert lab.cell("x", 1, 1).evaluate(COPY) == "1\t0\n0\t1"
    corner = lab.cell("w_q", 1, 1)
    corner.click()
    handle = corner.element_handle()
    assert not lab.page.evaluate(PASTE, [handle, "7\t8\t9\n-1\t1/2\t3\n4\t5\t6"])
    lab.expect_row("Query vectors", 1, ["0", "7", "8", "9"])
    lab.expect_row("Query vectors", 2, ["0", "−1", "0.5000", "3"])
    expect(lab.page.locator("[data-of=w_q] .pasted")).to_be_hidden()
    assert lab.link["w_q"] == ["1_0_0_0*0_7_8_9*0_-1_1/2_3*0_4_5_6"]  # it has grown
    lab.page.keyboard.press("Control+a")
    lab.page.keyboard.press("Delete")
    lab.expect_row("Query vectors", 1, ["0", "0", "0", "0"])


def test_a_paste_that_is_ragged_or_too_large_says_so_beside_the_matrix(lab: Lab) -> None:
    lab.open()
    handle = lab.cell("x", 0, 0).element_handle()
    lab.cell("x", 0, 0).click()
    lab.page.evaluate(PASTE, [handle, "7\t8\t9\n5\t4"])
    says = lab.page.locator("[data-of=x] .pasted")
    expect(says).to_have_text(
        "Row 2 of the pasted table has 2 cells, not 3: the other cells do not change."
    )
    lab.expect_row("Query vectors", 1, ["5", "4", "0"])
    lab.page.evaluate(PASTE, [handle, "\n".join(["\t".join(["NaN"] + ["2"] * 8)] * 9)])
    expect(says).to_contain_text("9 × 9 pasted: only 8 × 8 fits here")
    expect(lab.cell("x", 0, 0)).to_have_accessible_description(
        "Not a number. Write 0.5, −2 or 1/3."
    )
    lab.page.get_by_role("button", name="Undo").click()
    expect(lab.cell("x", 0, 0)).to_have_value("7")


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


def test_a_hidden_step_is_asked_for(lab: Lab) -> None:
    lab.open()
    lab.page.get_by_role("button", name="Hide Weights as an exercise").click()
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


def test_fractions(lab: Lab) -> None:
    lab.open()
    lab.page.get_by_text("fractions", exact=True).click()
    lab.cell("w_v", 0, 0).fill("1/3")
    lab.expect_row("Value vectors", 0, ["1/3", "0", "0"])
    assert lab.link["fractions"] == ["1"]


def test_shuffled_words_have_the_same_outputs_until_there_are_positions(lab: Lab) -> None:
    lab.open()
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


def test_a_bad_cell_keeps_what_was_typed_and_says_why(lab: Lab) -> None:
    lab.open()
    cell = lab.cell("w_v", 1, 2)
    cell.fill("a_1*%")
    expect(cell).to_have_value("a_1*%")
    expect(cell).to_have_attribute("aria-invalid", "true")
    expect(cell).to_have_accessible_description("Not a number. Write 0.5, −2 or 1/3.")
    lab.expect_row("Value vectors", 1, ["0", "1", "0"])
    says = lab.page.locator(".lab-steps > .problem")
    expect(says).to_have_text(
        "A marked cell cannot be used: the steps still show the previous numbers."
    )
    lab.page.get_by_role("button", name="Share", exact=True).click()
    expect(lab.page.locator("#shared-says")).to_have_text(
        "A marked cell cannot be used. Correct it, then share."
    )
    lab.page.reload()  # nothing typed is lost
    expect(cell).to_have_value("a_1*%")
    expect(says).to_have_text("A marked cell cannot be used. Correct it to see the steps.")
    cell.fill("1000001")
    expect(cell).to_have_accessible_description("At most 1,000,000 in size.")
    cell.fill("0.1")
    expect(cell).to_have_attribute("aria-invalid", "false")
    lab.expect_row("Value vectors", 1, ["0", "1", "0.1000"])


def test_the_convention_transposes_everything(lab: Lab) -> None:
    lab.open()
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


def test_padding_is_typed_as_a_row(lab: Lab) -> None:
    lab.open()
    lab.page.get_by_label("Padding").check()
    lab.cell("padding", 0, 2).fill("1")
    own = math.exp(1 / math.sqrt(3))
    row = [f"{own / (own + 1):.4f}", f"{1 / (own + 1):.4f}", "0"]
    lab.expect_row("Weights", 0, row)
    lab.expect_row("Mask", 1, ["1", "1", "0"])
    lab.step("Mask").locator("td[data-at='1,2']").hover()
    expect(lab.cell("padding", 0, 2)).to_have_attribute("data-lit", "from")
    cell = lab.cell("padding", 0, 2)
    cell.fill("2")
    expect(cell).to_have_accessible_description("1 for padding, 0 for a token.")
    assert lab.link["padding"] == ["0_0_2"]


def test_the_norm_has_a_gamma_and_a_beta(lab: Lab) -> None:
    lab.open()
    toggle = lab.page.get_by_label("γ and β of the norm")
    expect(toggle).to_have_count(0)
    lab.page.locator("select[name=norm]").select_option("post")
    toggle.check()
    lab.cell("gamma", 0, 0).fill("0")
    lab.cell("beta", 0, 0).fill("3")
    for row in range(3):
        expect(lab.step("Layer norm").locator(f"td[data-at='{row},0']")).to_have_text("3")


def test_additive_scoring_has_a_w_for_each_head(lab: Lab) -> None:
    lab.open()
    lab.page.get_by_label("Example").select_option("heads")
    lab.page.locator("select[name=scoring]").select_option("additive")
    expect(lab.page.locator("[data-of=w] tbody th")).to_have_text(["Head 1", "Head 2"])
    for col in range(3):
        lab.cell("w", 1, col).fill("0")
    second = lab.step("Scores").locator("[data-head='1'] td[data-at]")
    expect(second).to_have_text(["0"] * 9)
    expect(lab.step("Scores").locator("[data-head='0'] td[data-at]").first).not_to_have_text("0")


@pytest.mark.parametrize("example", ["causal", "window", "relative", "additive", "ffn", "loss"])
def test_every_example_is_worked_out(lab: Lab, example: str) -> None:
    lab.open()
    lab.page.get_by_label("Example").select_option(example)
    own = {
        "causal": "Mask", "window": "Mask", "relative": "Position term", "additive": "Scores",
        "ffn": "Layer norm of the feed-forward", "loss": "Loss",
    }  # fmt: skip
    expect(lab.step(own[example])).to_be_visible()
    expect(lab.page.get_by_label("Example")).to_have_value(example)
    expect(lab.page.locator(".lab-figure .problem:visible")).to_have_count(0)


def test_a_memory_has_names_of_its_own(lab: Lab) -> None:
    lab.open()
    lab.page.get_by_label("Example").select_option("memory")
    expect(lab.step("Weights").locator("thead th")).to_have_text(["the", "cat", "sits"])
    lab.page.locator("[data-of=memory] input.name").nth(1).fill("dog")
    expect(lab.step("Weights").locator("thead th")).to_have_text(["the", "dog", "sits"])
    expect(lab.step("Weights").locator("tbody th")).to_have_text(["le", "chat"])
    group = lab.page.get_by_role("group", name="Memory tokens")
    group.get_by_role("button", name="One more").click()
    expect(lab.step("Key vectors").locator("tbody tr")).to_have_count(4)


def test_the_request_is_what_programs_send(lab: Lab) -> None:
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


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_it_is_accessible(lab: Lab, theme: Any, width: int) -> None:
    lab.page.emulate_media(color_scheme=theme)
    lab.page.set_viewport_size({"width": width, "height": 844})
    lab.open("?lang=zh")
    expect(lab.page.get_by_role("heading", name="手算注意力")).to_be_visible()
    lab.page.get_by_label("示例").select_option("loss")
    expect(lab.step("损失")).to_be_visible()
    assert lab.page.evaluate("document.documentElement.scrollWidth") == width
    assert not violations(lab.page), violations(lab.page)


def shared(lab: Lab) -> str:
    lab.page.get_by_role("button", name="Share", exact=True).click()
    link = lab.page.locator("#shared-link")
    expect(link).to_be_visible()
    return link.input_value()


def test_a_share_opens_on_what_was_seen_and_a_change_leaves_it(lab: Lab) -> None:
    lab.open()
    lab.page.get_by_label("Example").select_option("shuffle")
    lab.cell("w_v", 0, 0).fill("1/3")
    lab.expect_row("Value vectors", 0, ["0.3333", "1", "1"])
    url = shared(lab)
    assert "/s/" in url
    code = lab.page.locator("#embed-code").input_value()
    assert 'title="Headlight: Attention by hand"' in code
    asked: list[str] = []
    lab.page.on("request", lambda one: asked.append(urlsplit(one.url).path))
    lab.page.goto(f"{url}?lang=en")
    lab.expect_row("Value vectors", 0, ["0.3333", "1", "1"])
    expect(lab.cell("w_v", 0, 0)).to_have_value("1/3")
    expect(lab.page.locator(FINDING)).to_contain_text("each has the same output as before")
    expect(lab.page.locator("#frozen")).to_be_visible()
    assert "/api/lab" not in asked  # the frozen steps are shown
    assert urlsplit(lab.page.url).path == urlsplit(url).path
    lab.cell("x", 0, 0).fill("5")
    lab.expect_row("Query vectors", 0, ["5", "1", "1"])
    expect(lab.page.locator("#frozen")).to_be_hidden()
    assert urlsplit(lab.page.url).path == "/lab"
    lab.page.goto(url)
    lab.expect_row("Query vectors", 0, ["1", "1", "1"])


def test_a_share_stands_in_a_frame(lab: Lab, context: BrowserContext) -> None:
    lab.open()
    url = shared(lab)
    lab.page.goto(url.replace("/s/", "/embed/"))
    lab.expect_row("Query vectors", 0, ["1", "0", "0"])
    expect(lab.page.locator(".lab-choices")).to_have_count(0)
    lab.cell("x", 0, 0).fill("4")
    lab.expect_row("Query vectors", 0, ["4", "0", "0"])
    link = lab.page.get_by_role("link", name=re.compile("Attention by hand"))
    expect(link).to_have_attribute("href", re.compile(r"^/s/\w{13}\?lang=en$"))


def test_exported_files(lab: Lab, watch: Watch, tmp_path: Path) -> None:
    watch.expect(r"request to elsewhere: file://.*/headlight-by-hand\.html$")
    lab.open("?lang=en")
    lab.page.get_by_role("button", name="Hide Weights as an exercise").click()
    saved = {}
    for kind in ("CSV", "LaTeX", "JSON", "HTML"):
        panel = lab.page.locator("#export-panel")
        if panel.is_hidden():
            lab.page.get_by_role("button", name="Export").click()
        with lab.page.expect_download() as download:
            panel.get_by_role("button", name=re.compile(f"^{kind} ")).click()
        saved[kind] = tmp_path / download.value.suggested_filename
        download.value.save_as(saved[kind])
    assert saved["CSV"].read_text("utf-8-sig").startswith("tensor,head,query,query_token,key")
    assert r"\[ A = \mathrm{softmax} ( S ) \]" in saved["LaTeX"].read_text()
    assert json.loads(saved["JSON"].read_text())["steps"]["mix"]
    lab.page.goto(saved["HTML"].as_uri())  # from disk, without a server
    step = lab.step("Weights")
    step.get_by_role("textbox").first.fill("0.47")
    expect(step.locator("[data-verdict=right]")).to_have_count(1)
    step.get_by_role("button", name="Reveal").click()
    lab.expect_row("Weights", 0, [f"{OWN:.4f}", f"{(1 - OWN) / 2:.4f}", f"{(1 - OWN) / 2:.4f}"])
    lab.step("Scores").locator("td[data-at='1,1']").hover()
    expect(lab.page.locator(".arithmetic")).to_contain_text("= 0.5773502692")
    expect(lab.cell("x", 0, 0)).not_to_be_editable()


FIGURES = """async ([modules, answer]) => {
    const load = (name) => import(`${modules}${name}`);
    const { createLabFigure } = await load("parts/lab/lab-figure.js");
    const { createPageContext } = await load("parts/page-context.js");
    const { preset } = await load("state/lab-presets.js");
    const live = document.createElement("p");
    const page = createPageContext(window, { live });
    const compute = async (body) => {
        const headers = { "Content-Type": "application/json" };
        const asked = { method: "POST", headers, body: JSON.stringify(body) };
        return (await fetch("/api/lab", asked)).json();
    };
    document.body.replaceChildren(live);
    const figures = ["identity", "note"].map((name) => {
        const root = document.createElement("section");
        document.body.append(root);
        const choices = name === "note";
        return createLabFigure({ root, page, lab: preset(name), compute, choices });
    });
    window.figures = figures;
}"""


def test_several_figures_stand_on_one_page(lab: Lab) -> None:
    lab.open()
    script = lab.page.locator("script[type=module]").get_attribute("src") or ""
    modules = script.split("/page/")[0] + "/js/"
    lab.page.evaluate(FIGURES, [modules, None])
    first, second = lab.page.locator("section.here, body > section").all()
    expect(first.locator(".lab-choices")).to_have_count(0)
    expect(second.locator("[data-of=weights] td[data-at]").first).to_have_text("0.4223")
    expect(first.locator("[data-of=weights] td[data-at]").first).to_have_text(f"{OWN:.4f}")
    second.get_by_text("columns, W x").click()
    expect(second.get_by_label("columns, W x")).to_be_checked()
    first.locator("[data-of=x] input[data-at='0,0']").fill("a")
    expect(first.get_by_text("Not a number.")).to_be_visible()
    expect(second.get_by_text("Not a number.")).to_have_count(0)
    ids = lab.page.locator("[id]").evaluate_all("all => all.map(({id}) => id)")
    assert len(ids) == len(set(ids))
    lab.page.evaluate("window.figures[0].destroy()")
    expect(first.locator("*")).to_have_count(0)
    expect(second.locator(".worked li").first).to_be_visible()


def test_the_workspace_leads_here(lab: Lab) -> None:
    lab.page.goto(lab.url)
    lab.page.get_by_role("link", name="By hand", exact=True).click()
    expect(lab.page.locator(".worked li").first).to_be_visible()


def test_why_scores_are_divided(lab: Lab) -> None:
    lab.open("?lang=en")
    lab.page.get_by_label("Example").select_option("Why divide by √d_k?")
    says = lab.page.locator("#scaling .finding")
    found = scaling(6, 0)
    dot, scaled = found["dot"], found["scaled"]
    expect(says).to_contain_text(
        f"At d_k = 64 the products have a standard deviation of {dot.spread[6]:.2f}"
    )
    assert lab.page.locator("#scaling svg").count() == 3
    slider = lab.page.locator("[name=dk]")
    slider.fill("9")
    expect(says).to_contain_text(f"gradient is {dot.gradient[9]:.2f}")
    expect(says).to_contain_text(f"and {scaled.gradient[9]:.2f}.")
    rows = lab.page.locator("#scaling .both-ways table").last.locator("tbody tr")
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
    lab.page.get_by_role("link", name="What a layer costs").click()
    expect(lab.page.locator("#costs")).to_be_visible()
    expect(says).to_be_hidden()
    assert lab.link["show"] == ["layer-costs"]


def test_formulas_stand_among_the_examples(lab: Lab) -> None:
    lab.open("?lang=en")
    example = lab.page.get_by_label("Example")
    lab.cell("x", 0, 0).fill("7")
    own = {"why": "#scaling", "encoding": "#position", "warm-up": "#rate", "layer-costs": "#costs"}
    for name, place in own.items():
        example.select_option(name)
        expect(lab.page.locator(place)).to_be_in_viewport()
        expect(lab.page.locator(".lab-body")).to_be_hidden()
        assert lab.link["show"] == [name]
        for other in own.values():
            expect(lab.page.locator(other)).to_be_visible(visible=other == place)
    lab.page.reload()
    expect(lab.page.locator("#costs")).to_be_visible()
    expect(example).to_have_value("layer-costs")
    expect(lab.page.get_by_role("button", name="Share", exact=True)).to_be_hidden()
    example.select_option("your own")  # as it was left
    expect(lab.cell("x", 0, 0)).to_have_value("7")
    lab.expect_row("Query vectors", 0, ["7", "0", "0"])
    assert "show" not in lab.link
    example.select_option("warm-up")
    example.select_option("causal")
    expect(lab.step("Mask")).to_be_visible()


def test_formulas_for_numbers_of_ones_own(lab: Lab) -> None:
    lab.page.goto(f"{lab.url}/lab?show=encoding&lang=en")
    encoding = ["0.8415", "0.5403", "0.0998", "0.9950", "0.0100", "1.0000", "0.0010", "1.0000"]
    expect(lab.page.locator("#position tbody td[style]")).to_have_text(encoding)
    lab.page.locator("[name=pos]").fill("0")
    expect(lab.page.locator("#position tbody td[style]")).to_have_text(["0", "1"] * 4)
    lab.page.get_by_label("Example").select_option("warm-up")
    expect(lab.page.locator("#rate tbody tr").nth(2)).to_have_text("4,0006.988 · 10⁻⁴the peak")
    lab.page.locator("[name=warmup]").fill("100")
    expect(lab.page.locator("#rate tbody tr").nth(2)).to_have_text("1004.419 · 10⁻³the peak")
    lab.page.get_by_label("Example").select_option("layer-costs")
    first = lab.page.locator("#costs tbody tr").first
    expect(first).to_have_text("Self-attentionn² · d1,280,00011")
    lab.page.locator("[name=n]").fill("x")
    expect(lab.page.locator("[name=n]")).to_have_attribute("aria-invalid", "true")
    expect(first).to_have_text("Self-attentionn² · d1,280,00011")


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1920, 1080)])
def test_a_projector_shows_the_matrices_and_the_steps_alone(
    lab: Lab, width: int, height: int
) -> None:
    page = lab.page
    page.set_viewport_size({"width": width, "height": height})
    lab.open("?projector=1")
    root = page.locator(":root")
    expect(root).to_have_attribute("data-projector", "")
    for hidden in (".top", ".heading", ".lab-choices"):
        expect(page.locator(hidden)).to_be_hidden()
    page.wait_for_function("document.documentElement.scrollHeight <= innerHeight + 4")
    size = "parseFloat(getComputedStyle(document.querySelector('.number-table td')).fontSize)"
    assert page.evaluate(size) >= (22 if width == 1920 else 15)
    lab.cell("x", 0, 0).fill("2")
    expect(root).to_have_attribute("data-projector", "")
    assert lab.link["projector"] == ["1"]
    page.keyboard.press("Escape")
    expect(page.locator(".top")).to_be_visible()
    assert "projector" not in lab.link
    lab.cell("x", 0, 0).press("p")
    expect(page.locator(".top")).to_be_visible()
    page.locator("h1:visible").click()
    page.keyboard.press("p")
    expect(page.locator(".top")).to_be_hidden()
    page.locator("#projector-leave").click()
    expect(page.locator(".top")).to_be_visible()

"""Cells as in a spreadsheet: typing, keys, copying, pasting, bad numbers."""

import pytest
from playwright.sync_api import expect

from tests.lab.by_hand import Lab

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


def test_numbers_update_while_typing_and_may_be_fractions(lab: Lab) -> None:
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
    lab.page.get_by_text("fractions", exact=True).click()
    lab.cell("w_v", 0, 0).fill("1/3")
    lab.expect_row("Value vectors", 0, ["2/15", "0", "0"])
    assert lab.link["fractions"] == ["1"]


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
    # A paste that is ragged or too large says so beside the matrix.
    lab.open()
    first = lab.cell("x", 0, 0).element_handle()
    lab.cell("x", 0, 0).click()
    lab.page.evaluate(PASTE, [first, "7\t8\t9\n5\t4"])
    says = lab.page.locator("[data-of=x] .pasted")
    expect(says).to_have_text(
        "Row 2 of the pasted table has 2 cells, not 3: the other cells do not change."
    )
    lab.expect_row("Query vectors", 1, ["5", "4", "0"])
    lab.page.evaluate(PASTE, [first, "\n".join(["\t".join(["NaN"] + ["2"] * 8)] * 9)])
    expect(says).to_contain_text("9 × 9 pasted: only 8 × 8 fits here")
    expect(lab.cell("x", 0, 0)).to_have_accessible_description(
        "Not a number. Write 0.5, −2 or 1/3."
    )
    lab.page.get_by_role("button", name="Undo").click()
    expect(lab.cell("x", 0, 0)).to_have_value("7")


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


def test_nothing_moves_while_a_number_is_typed(lab: Lab) -> None:
    lab.page.set_viewport_size({"width": 390, "height": 844})
    lab.open()
    cell, note = lab.cell("x", 0, 1), lab.page.locator(".cell-note:popover-open")
    places = "boxes => boxes.map((box) => JSON.stringify(box.getBoundingClientRect()))"
    cell.focus()
    before = lab.page.locator(".matrix-box").evaluate_all(places)
    for text in ("", "-", "1/", "abc"):
        cell.fill(text)
        expect(cell).to_have_attribute("aria-invalid", "true")
        expect(note).to_have_text(
            "Not a number. Write 0.5, −2 or 1/3." if text else "Type a number."
        )
        assert lab.page.locator(".matrix-box").evaluate_all(places) == before
        table, shown = lab.page.locator(".is-x table").bounding_box(), note.bounding_box()
        assert table
        assert shown
        assert shown["y"] > table["y"] + table["height"], "no cell is covered"
        assert shown["x"] + shown["width"] <= 390
    lab.page.evaluate("scrollBy(0, 100)")
    moved = note.bounding_box()
    assert shown
    assert moved
    assert moved["y"] == pytest.approx(shown["y"] - lab.page.evaluate("scrollY"), abs=1)
    lab.page.keyboard.press("Tab")
    expect(note).to_have_count(0)
    cell.focus()
    expect(note).to_have_count(1)
    lab.page.keyboard.press("Escape")
    cell.fill("2")
    expect(note).to_have_count(0)


def test_the_names_are_one_stop_and_arrows_lead_through_them(lab: Lab) -> None:
    lab.open()
    names = lab.page.locator("[data-of=x] input.name")
    keys = lab.page.keyboard
    names.first.focus()
    for key, index in (("ArrowDown", 1), ("ArrowDown", 2), ("ArrowDown", 2), ("ArrowUp", 1)):
        keys.press(key)
        expect(names.nth(index)).to_be_focused()
    keys.type("new")
    expect(names.nth(1)).to_be_focused()
    expect(names.nth(1)).to_have_value("new")
    keys.press("Shift+Tab")
    expect(lab.cell("x", 0, 0)).to_be_focused()
    keys.press("Tab")
    expect(names.nth(1)).to_be_focused()

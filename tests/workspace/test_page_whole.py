"""The page as a whole: opens on something, answers to mouse and keys, fits, in two languages."""

import re
from typing import Any

import numpy as np
from playwright.sync_api import expect

from tests.browsing.workspace import Workspace

START: dict[str, Any] = {
    "source": "The dog is tired.", "target": "这只狗累了。",
    "block": "encoder", "layer": 0, "head": 1,
}  # fmt: skip

TONES = """(canvas) => {
    const image = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(image.data.buffer)).size;
}"""


def test_opens_on_a_sentence_that_is_traced(workspace: Workspace) -> None:
    workspace.open()
    assert workspace.find("#source").input_value()
    assert workspace.find("#output").inner_text()
    expect(workspace.find(".mark.row")).to_be_visible()
    said = workspace.find("#caption").inner_text()
    place = r"Layer \d, head \d(, supervised to align)?"
    assert re.fullmatch(place + r": .+\(\d\.\d\d( each)?\)\.", said), said
    assert "source" in workspace.link, "the address bar is a link from the start"


def test_captions_tokens_and_pickers_say_what_the_numbers_say(workspace: Workspace) -> None:
    workspace.open(**START)
    plotted, (_, (_, columns)) = workspace.figure()
    for row in range(1, len(plotted) - 1):
        workspace.page.mouse.move(*workspace.cell(row, 0))
        top = plotted[row].max()
        said = workspace.find("#caption").inner_text()
        assert f"({top:.2f}" in said
        if (np.round(plotted[row], 2) == round(float(top), 2)).sum() == 1:
            assert f"most at {columns[plotted[row].argmax()].strip('·')}" in said
    # Hovering a token lights it everywhere.
    workspace.find("#source-tokens .chip").nth(3).hover()
    expect(workspace.find(".labels.rows .label").nth(3)).to_have_class(re.compile(r"\blit\b"))
    expect(workspace.find(".labels.cols .label").nth(3)).to_have_class(re.compile(r"\blit\b"))
    expect(workspace.find(".mark.cell")).to_be_visible()
    workspace.page.mouse.move(*workspace.cell(1, 2))
    expect(workspace.find("#source-tokens .chip").nth(1)).to_have_class(re.compile("as-query"))
    expect(workspace.find("#source-tokens .chip").nth(2)).to_have_class(re.compile("as-key"))
    workspace.find(".labels.rows .label").nth(4).hover(force=True)
    expect(workspace.find("#source-tokens .chip").nth(4)).to_have_class(re.compile("as-query"))
    expect(workspace.find(".mark.col")).to_be_hidden()
    workspace.page.mouse.move(0, 0)
    expect(workspace.find("#source-tokens .chip").nth(4)).not_to_have_class(re.compile("as-query"))
    # Pickers are pictures of their heads.
    thumb = workspace.find("#heads canvas").nth(START["head"])
    pixels = thumb.evaluate(
        "c => [...c.getContext('2d').getImageData(0, 0, c.width, c.height).data]"
    )
    green = np.array(pixels).reshape(*plotted.shape, 4)[..., 1]
    order = np.argsort(plotted.ravel())
    assert (np.diff(green.ravel()[order]) <= 0).all(), "more attention is always darker"
    # Click pins and escape unpins.
    workspace.page.mouse.click(*workspace.cell(1, 2))
    workspace.page.mouse.move(0, 0)
    assert (workspace.link["query"], workspace.link["key"]) == ("1", "2")
    expect(workspace.find("#pair-title")).to_have_text("Pinned pair")
    workspace.page.keyboard.press("Escape")
    assert "query" not in workspace.link
    workspace.page.mouse.click(*workspace.cell(1, 2))
    workspace.find("#unpin").click()
    assert "query" not in workspace.link
    expect(workspace.find("#stage")).to_be_focused()
    workspace.page.mouse.click(*workspace.cell(1, 2))
    workspace.find("#check-cell").click()
    expect(workspace.find("#stage")).to_be_focused()


# Every size that the matrix has had, except that of an empty canvas.
SIZES = """(() => {
    window.sizes = new Set();
    const look = () => {
        const canvas = document.querySelector(".chart canvas");
        if (canvas && canvas.width !== 300) window.sizes.add(`${canvas.width} x ${canvas.height}`);
        requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
})()"""


def test_a_matrix_is_drawn_at_once_as_it_stays_and_without_plotly(workspace: Workspace) -> None:
    asked: list[str] = []
    workspace.page.on("request", lambda request: asked.append(request.url))
    workspace.page.add_init_script(SIZES)
    workspace.open()
    workspace.settled()
    assert workspace.find(".chart canvas").evaluate(TONES) > 10
    assert len(workspace.page.evaluate("[...sizes]")) == 1
    assert not [url for url in asked if "plotly" in url]


def test_a_row_that_is_pinned_alone_is_above_the_sheet_of_a_phone(workspace: Workspace) -> None:
    words = "The animal did not cross the street because it was too tired and the street too wide."
    workspace.page.set_viewport_size({"width": 390, "height": 640})
    workspace.open(source=words, view="attention", block="encoder", head=2)
    last = workspace.find("#view .labels.rows .label").last
    last.scroll_into_view_if_needed()
    last.click()
    assert "key" not in workspace.link
    expect(workspace.find("#pair-title")).to_have_text("Pinned row")
    row, sheet = workspace.find("#view .mark.row"), workspace.find("#inspector")
    workspace.page.wait_for_function(
        "([row, sheet]) => row.getBoundingClientRect().bottom <= sheet.getBoundingClientRect().top",
        arg=[row.element_handle(), sheet.element_handle()],
    )


def test_chinese_interface(workspace: Workspace) -> None:
    workspace.open(lang="zh")
    expect(workspace.find("html")).to_have_attribute("lang", "zh-Hans")
    assert re.match(r"第 \d 层第 \d 个头", workspace.find("#caption").inner_text())
    assert workspace.figure()[1][0][0] == "查询（谁在看）"
    assert workspace.find("#source-tokens .token").nth(1).get_attribute("lang") == "zh-Hans"
    source = workspace.link["source"]
    workspace.find("#language").click()
    workspace.drawn()
    expect(workspace.find("html")).to_have_attribute("lang", "en")
    assert workspace.link["source"] == source, "the other language at the same place"


def test_theme_is_chosen_and_kept(workspace: Workspace) -> None:
    workspace.open(**START)
    ground = workspace.pixels([(5, 400)])[0]
    workspace.menu("#theme")
    assert workspace.pixels([(5, 400)])[0] == (15, 18, 24) != ground
    workspace.page.reload()
    workspace.drawn()
    assert workspace.pixels([(5, 400)])[0] == (15, 18, 24)


def test_the_phone_has_a_bar_for_the_thumb_and_the_open_view_in_sight(workspace: Workspace) -> None:
    workspace.page.set_viewport_size({"width": 390, "height": 844})
    workspace.open(**START)
    bar = workspace.find(".thumbbar")
    expect(bar).to_be_in_viewport()
    bar.locator("[data-of=head] [data-step='1']").click()
    assert workspace.link["head"] == "2"
    workspace.view("qkv")
    assert workspace.link["view"] == "qkv"
    workspace.open(**START | {"view": "training"})
    expect(workspace.find("#views-open")).to_contain_text("Training")
    workspace.find("#views-open").click()
    expect(workspace.find("#views label:has(input[value=training])")).to_be_in_viewport(ratio=1)

"""WCAG 2.2 AA: axe-core on every view in both themes, and walks by keyboard and finger."""

import re
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browsing.axe import in_both_themes, violations
from tests.browsing.fixtures import PATIENCE_MS
from tests.browsing.legible import SMALL_LABELS, overflow
from tests.browsing.watch import Watch
from tests.browsing.workspace import Workspace
from tests.servers import AppServer

PLACE: dict[str, Any] = {
    "source": "The dog is tired.",
    "target": "这只狗累了。",
    "block": "encoder",
    "layer": 0,
    "head": 1,
}
# 720 px is a laptop's window at 200 % zoom, 320 px at 400 % (WCAG 1.4.4, 1.4.10).
WIDTHS = {"en": (1440, 720, 320), "zh": (1440, 390)}

VIEWS = "() => [...document.querySelectorAll('#views input')].map((input) => input.value)"
UNSAID_CHINESE = r"""() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) {
        const { data, parentElement } = walker.currentNode;
        const lang = parentElement.closest("[lang]").getAttribute("lang");
        const skipped = parentElement.closest("script, noscript, #announce");
        if (/\p{Script=Han}/u.test(data) && !lang.startsWith("zh") && !skipped)
            found.push(parentElement.outerHTML.slice(0, 120));
    }
    return found;
}"""
# A target needs 24 × 24 px (WCAG 2.5.8), except a word in a line of text.
SMALL_TARGETS = """() => {
    const targets = "button, a[href], select, textarea, input, [tabindex='0']";
    const found = [];
    for (const element of document.querySelectorAll(targets)) {
        const target = element.closest("label") ?? element;
        const seen = target.checkVisibility({ visibilityProperty: true });
        if (!seen || target.matches(".skip:not(:focus)")) continue;
        const { width, height } = target.getBoundingClientRect();
        if (width < 24 || height < 24)
            found.push(`${width}×${height} ${target.outerHTML.slice(0, 100)}`);
    }
    return found;
}"""


def views(workspace: Workspace) -> list[str]:
    """Return the names of the views that the page offers."""
    found: list[str] = workspace.page.evaluate(VIEWS)
    return found


def show(workspace: Workspace, view: str) -> None:
    """Go to another view as its tab does, without reloading the page."""
    workspace.find(f"#views input[value={view}]").evaluate("(input) => input.click()")
    expect(workspace.find("html")).to_have_attribute("data-view", view)
    workspace.settled()


@pytest.mark.parametrize("lang", WIDTHS)
def test_every_view_is_seen_and_heard_at_every_width(workspace: Workspace, lang: str) -> None:
    """Chinese text also has the right language for screen readers."""
    page = workspace.page
    workspace.open(**PLACE, lang=lang)
    wrong = []
    for view in views(workspace):
        show(workspace, view)
        wrong += [f"{view}: not said to be Chinese: {it}" for it in page.evaluate(UNSAID_CHINESE)]
        for width in WIDTHS[lang]:
            page.set_viewport_size({"width": width, "height": 844})
            workspace.settled()
            found = [f"small {it}" for it in page.evaluate(SMALL_LABELS)]
            if wide := overflow(page, width):
                found.append(f"{wide} px too wide")
            if width in (1440, 320):
                found += [f"target {it}" for it in page.evaluate(SMALL_TARGETS)]
            if width == 1440 and lang == "en":
                found += in_both_themes(page)
            wrong += [f"{view} at {width}: {it}" for it in found]
    assert not wrong, "\n".join(wrong)


def test_what_opens_over_the_page_and_the_other_pages_are_accessible(
    workspace: Workspace, watch: Watch
) -> None:
    page = workspace.page
    workspace.open(**PLACE, query=1, key=2)
    page.keyboard.press("?")
    assert in_both_themes(page) == []
    page.keyboard.press("Escape")
    workspace.share()
    assert in_both_themes(page, ".band") == []  # which the panel lies over
    page.goto(workspace.find("#shared-link").input_value())
    workspace.drawn()
    assert violations(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    workspace.settled()
    assert violations(page) == [], "on a phone"
    page.keyboard.press("p")
    workspace.settled()
    assert violations(page) == []
    watch.expect("status of 404")
    workspace.page.goto(f"{workspace.url}/nowhere")
    assert in_both_themes(workspace.page) == []
    workspace.page.goto(f"{workspace.url}/docs")
    expect(workspace.find(".opblock").first).to_be_visible()
    assert in_both_themes(workspace.page, "#reference") == []  # that is Swagger UI's own


def test_a_walk_with_keys_alone(workspace: Workspace) -> None:
    page, announce = workspace.page, workspace.find("#announce")
    workspace.load(**PLACE)
    page.keyboard.press("Tab")
    expect(workspace.find(".skip")).to_be_focused()
    expect(workspace.find(".skip")).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(workspace.find("#view")).to_be_focused()
    assert "#" not in page.url, "the address bar stays a link to what is seen"

    for stop in ("#share", "#direction", "#source", "#source-tokens .chip", "#views input"):
        tab_to(workspace, stop)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    expect(workspace.find("html")).to_have_attribute("data-view", "attention")
    tab_to(workspace, "#heads input")
    page.keyboard.press("ArrowDown")
    assert workspace.link["head"] == "2"
    said = r"Layer 1, head 3: .+ looks? .+\(\d\.\d\d( each)?\)\."
    expect(announce).to_have_text(re.compile(said))

    tab_to(workspace, "#view .matrix")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(announce).to_have_text(re.compile(r"query .+, key .+: \d\.\d{4}"))
    shown = page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle")
    assert shown == "solid", "where the keys go can be seen"
    page.keyboard.press("Escape")
    assert "query" not in workspace.link


def tab_to(workspace: Workspace, selector: str) -> None:
    """Press Tab until an element that the selector matches has the focus."""
    for _ in range(80):
        workspace.page.keyboard.press("Tab")
        script = "(selector) => document.activeElement.matches(selector)"
        if workspace.page.evaluate(script, selector):
            return
    raise AssertionError(f"Tab does not come to {selector}")


def test_help_opens_on_the_present_view_and_keys_of_one_character_can_be_switched_off(
    workspace: Workspace,
) -> None:
    workspace.open(**PLACE, view="positions", lang="zh", query=1)
    workspace.menu("#help")
    panel = workspace.find("#help-panel")
    expect(panel).to_be_visible()
    expect(panel.locator(".here h4")).to_be_focused()
    expect(panel.locator(".here h4")).to_be_in_viewport()
    expect(panel.locator(".help-view")).to_have_count(len(views(workspace)))
    for paragraph in panel.locator(".help-view p").all_inner_texts():
        assert re.search(r"[\u4e00-\u9fff]", paragraph), paragraph
    workspace.page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(workspace.find("#more")).to_be_focused()
    assert workspace.link["query"] == "1", "Escape closes the help and nothing else"
    # Keys of one character can be switched off.
    workspace.open(**PLACE)
    workspace.find("#source").focus()
    workspace.page.keyboard.type("?p")
    expect(panel).to_be_hidden()
    expect(workspace.find("#source")).to_have_value(re.compile(r"\?p"))
    workspace.menu("#help")
    workspace.find("#single-keys").uncheck()
    workspace.page.keyboard.press("Escape")
    for key in ("?", "p", "]"):
        workspace.page.keyboard.press(key)
    expect(panel).to_be_hidden()
    assert "projector" not in workspace.link
    assert workspace.link["view"] == "attention"
    workspace.page.reload()
    workspace.drawn()
    expect(workspace.find("#single-keys")).not_to_be_checked()


def test_a_walk_with_a_finger_at_320_px(profile: BrowserContext, live_server: AppServer) -> None:
    assert profile.browser
    context = profile.browser.new_context(viewport={"width": 320, "height": 640}, has_touch=True)
    watch = Watch(context)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    workspace = Workspace(page, live_server.url)
    workspace.open(**PLACE)
    workspace.find("#band-open").tap()
    workspace.find("#source-tokens .chip").nth(2).tap()
    assert workspace.link["query"] == "2"
    workspace.find("#unpin").tap()
    bar = workspace.find(".thumbbar")
    for box in workspace.boxes(".thumbbar button"):
        assert min(box["width"], box["height"]) >= 44
    bar.get_by_role("button", name="next head").tap()
    bar.get_by_role("button", name="next layer").tap()
    workspace.drawn()
    assert (workspace.link["layer"], workspace.link["head"]) == ("1", "2")
    label = workspace.find("#view .labels.rows .label").nth(3)
    label.evaluate("(label) => label.scrollIntoView({ block: 'center' })")
    workspace.settled()  # the larger layer may be drawn at another size
    x, y = workspace.cell(3, 2)
    page.touchscreen.tap(x, y)
    assert (workspace.link["query"], workspace.link["key"]) == ("3", "2")
    workspace.find("#unpin").tap()
    assert "query" not in workspace.link
    workspace.view("qkv")
    expect(workspace.find("html")).to_have_attribute("data-view", "qkv")
    context.close()
    watch.check()


def test_nothing_moves_where_that_is_wished_and_forced_colours_show_what_is_chosen(
    workspace: Workspace,
) -> None:
    workspace.page.emulate_media(reduced_motion="reduce")
    workspace.open(**PLACE)
    moving = """() => [...document.querySelectorAll("*")].filter((element) => {
        const { transitionDuration, animationName } = getComputedStyle(element);
        return transitionDuration.split(",").some((time) => parseFloat(time) > 0)
            || animationName !== "none";
    }).map((element) => element.outerHTML.slice(0, 80))"""
    assert workspace.page.evaluate(moving) == []
    # What is chosen is seen in forced colours.
    workspace.page.emulate_media(forced_colors="active")
    workspace.open(**PLACE, query=1, key=2)
    for chosen in (
        "#views :checked + span",
        "#heads :checked ~ canvas",
        ".chip.as-query",
        "#view .mark.row",
        "#view .label.lit >> nth=0",
    ):
        expect(workspace.find(chosen)).to_have_css("outline-style", "solid")

"""Collections: made, changed, presented, handed out; and what else becomes a link of one's own."""

import re
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, Page, expect

from tests.browsing.api import client
from tests.browsing.axe import in_both_themes
from tests.browsing.watch import Watch
from tests.browsing.workspace import Workspace
from tests.collections.collecting_page import collection, paste, save
from tests.lessons.lesson_reader import without_veils
from tests.servers import AppServer

SENTENCE = "/?source=The+cat+sat.&view=attention&block=cross&layer=2&head=0&query=1"
BY_HAND = "/lab?tokens=the%0Acat&x=1_0*0_1&w_q=1_0*0_1&w_k=1_0*0_1&w_v=1_0*0_1"
FIGURE = "/learn/query-key-value#figure-2"
MASKS = "/learn/masks#figure-1"
NARROW = {"width": 320, "height": 720}
FITS = "document.documentElement.scrollWidth <= innerWidth"


def titles(page: Page) -> list[str]:
    return [text.split("\n")[-1] for text in page.locator(".item > h2").all_inner_texts()]


def test_it_is_created_ordered_by_keyboard_and_read(
    new_page: Page, watch: Watch, live_server: AppServer
) -> None:
    watch.expect("422")
    new_page.goto(f"{live_server.url}/c?lang=en")
    expect(new_page.locator("#mine-list")).to_contain_text("None yet")
    new_page.get_by_label("Title of a new collection").fill("My week")
    new_page.keyboard.press("Enter")
    expect(new_page.locator("#editor .empty")).to_be_visible()
    paste(new_page, live_server.url + SENTENCE)
    paste(new_page, BY_HAND)
    field = new_page.get_by_label("Paste a link of this server")
    field.fill("https://example.org/elsewhere")
    new_page.keyboard.press("Enter")
    expect(new_page.locator(".adding .problem")).to_contain_text("cannot be used here")
    expect(field).to_have_value("https://example.org/elsewhere")
    paste(new_page, live_server.url + FIGURE)
    fields = [new_page.locator(f".row {one}").first for one in ("input", "textarea")]
    title, note = (field.bounding_box() for field in fields)
    assert title
    assert note
    assert (title["x"], title["width"]) == (note["x"], note["width"])  # one below the other
    up = new_page.get_by_role("button", name="Move up: Query, key, value")
    up.focus()
    new_page.keyboard.press("Enter")
    new_page.keyboard.press("Enter")
    expect(new_page.locator("#announce")).to_have_text("Moved to 1 of 3.")
    expect(up).to_be_disabled()
    new_page.locator(".row").nth(1).get_by_label("Note, for the page and the speaker").fill("<b>!")
    save(new_page)
    expect(new_page.get_by_role("button", name="Save", exact=True)).to_be_disabled()
    expect(new_page.get_by_role("button", name="Save", exact=True)).to_be_focused()
    new_page.get_by_role("link", name="As readers see it").click()
    expect(new_page.locator(".collection-head h1")).to_have_text("My week")
    assert titles(new_page) == ["Query, key, value", "The cat sat.", "Attention by hand"]
    expect(new_page.locator("#item-2 .note")).to_have_text("<b>!")
    new_page.get_by_role("button", name="Show the figure").nth(1).click()
    expect(new_page.locator("#item-2 .stand")).to_have_attribute("data-live", "yes")
    expect(new_page.locator("#item-2 .caption")).to_contain_text("it looks most at")
    new_page.locator("#item-3 .start").click()
    expect(new_page.locator("#item-3 .lab-figure")).to_be_visible()
    new_page.goto(f"{live_server.url}/c?lang=en")
    expect(new_page.get_by_role("link", name="My week")).to_be_visible()


def test_unsaved_changes_survive_and_items_are_dragged(
    new_page: Page, live_server: AppServer
) -> None:
    made = collection(live_server, SENTENCE, BY_HAND, FIGURE)
    new_page.set_viewport_size({"width": 1280, "height": 1400})  # nothing scrolls while dragging
    new_page.goto(made["edit_url"].replace("#", "?lang=en#"))
    rows = new_page.locator("#editor .row")
    expect(rows).to_have_count(3)
    links = rows.locator(".meta a")
    first, second, third = links.evaluate_all("all => all.map(one => one.getAttribute('href'))")
    for source, target, order in (
        (0, 2, [second, third, first]),  # down
        (2, 0, [first, second, third]),  # up
        (1, 1, [first, second, third]),
    ):
        rows.nth(source).locator(".handle").drag_to(rows.nth(target))
        expect(links).to_have_count(3)
        for at, link in enumerate(order):
            expect(links.nth(at)).to_have_attribute("href", link)
    rows.nth(0).locator(".handle").drag_to(rows.nth(1))
    expect(new_page.locator("#announce")).to_have_text("Moved to 2 of 3.")
    save(new_page)
    new_page.reload()
    expect(links.nth(1)).to_have_attribute("href", first)
    new_page.locator(".row").last.get_by_label("Title", exact=True).fill("A name")
    new_page.get_by_role("button", name="Remove: Attention by hand").click()
    new_page.reload()
    expect(new_page.locator("#editor .says")).to_contain_text("were kept in this browser")
    expect(new_page.locator(".row")).to_have_count(2)
    expect(new_page.locator(".row").last.get_by_label("Title", exact=True)).to_have_value("A name")
    new_page.get_by_role("button", name="Discard changes").click()
    expect(new_page.locator(".row")).to_have_count(3)
    new_page.get_by_role("button", name="Remove: The cat sat.").click()
    new_page.get_by_role("button", name="Undo").click()
    expect(new_page.locator(".row")).to_have_count(3)
    expect(new_page.get_by_role("button", name="Save", exact=True)).to_be_disabled()


def test_two_editors_lose_nothing(
    new_page: Page, other: Page, watch: Watch, live_server: AppServer
) -> None:
    watch.expect("412")
    made = collection(live_server, SENTENCE)
    for page in (new_page, other):
        page.goto(made["edit_url"].replace("#", "?lang=en#"))
        expect(page.locator("#editor .row")).to_have_count(1)
        assert made["edit_key"] not in page.url
    title = new_page.get_by_label("Title", exact=True).first
    title.fill("Mine")
    other.get_by_label("Title", exact=True).first.fill("Theirs")
    save(other)
    new_page.get_by_role("button", name="Save", exact=True).click()
    conflict = new_page.locator("#editor .conflict")
    expect(conflict).to_contain_text("Someone else saved this collection")
    expect(title).to_have_value("Mine")
    new_page.reload()
    expect(conflict).to_be_visible()
    expect(title).to_have_value("Mine")
    new_page.get_by_role("button", name="Save mine in its place").click()
    expect(new_page.locator("#editor .saving .says")).to_have_text("Saved.")
    path = f"{live_server.url}/api/collections/{made['id']}"
    assert client.get(path).json()["title"] == "Mine"
    other.get_by_label("Title", exact=True).first.fill("Again")
    other.get_by_role("button", name="Save", exact=True).click()
    other.get_by_role("button", name="Discard mine and load theirs").click()
    expect(other.get_by_label("Title", exact=True).first).to_have_value("Mine")
    # A reader without the key cannot edit.
    watch.expect("403")
    other.evaluate("localStorage.clear()")
    other.goto(f"{made['url']}?lang=en")
    expect(other.get_by_role("button", name="Present", exact=True)).to_be_visible()
    expect(other.locator("#collection-edit")).to_be_hidden()
    other.goto(f"{made['url']}?lang=en#edit=23456789abcdefghjkmnpqrstu")
    expect(other.locator("#editor .problem")).to_have_text("This edit key does not match.")
    expect(other.get_by_label("Title", exact=True)).to_have_count(0)


def test_the_handout_opens_without_a_network(
    new_page: Page, context: BrowserContext, watch: Watch, live_server: AppServer, tmp_path: Path
) -> None:
    made = collection(live_server, SENTENCE, BY_HAND, FIGURE, MASKS)
    new_page.goto(f"{made['url']}?lang=en")
    with new_page.expect_download() as saving:
        new_page.get_by_role("link", name="Handout").click()
    file = tmp_path / saving.value.suggested_filename
    saving.value.save_as(file)
    size = f"{file.stat().st_size / 1e6:.1f} MB"
    expect(new_page.locator("#collection-says")).to_contain_text(size)
    watch.expect(f"request to elsewhere: {file.as_uri()}")
    context.set_offline(True)
    try:
        new_page.goto(file.as_uri())
        expect(new_page.locator(".live .caption")).to_have_count(2)
        expect(new_page.locator("#item-1 .caption")).to_contain_text("it looks most at")
        expect(new_page.locator("#item-1 .note")).to_have_text("Note 1")
        steps = new_page.locator("#item-2 .lab-figure :is(.step, .matrix-box)")
        expect(steps.first).to_be_attached()
        # Nothing waits until it is scrolled to, which a picture of the page would show blank.
        drawn = "it.firstElementChild.checkVisibility({contentVisibilityAuto: true})"
        assert steps.evaluate_all(f"all => all.every(it => {drawn})")
        about = "w_q scores mask weights mix"  # as in the lesson
        shown = new_page.locator("#item-4 [data-of]").evaluate_all(
            "all => all.map(it => it.dataset.of)"
        )
        assert sorted(shown) == sorted(about.split())
        expect(new_page.locator("#item-3 .sentence-of")).to_contain_text("young dog")
    finally:
        context.set_offline(False)


def test_a_share_goes_into_a_collection(workspace: Workspace) -> None:
    workspace.open(source="The cat sat.", block="cross", layer=1)
    workspace.find("#more").click()
    workspace.find("#collect-open").click()
    workspace.find("#collecting form input").fill("From the workspace")
    workspace.page.keyboard.press("Enter")
    says = workspace.find("#collecting-says")
    expect(says).to_contain_text("Added to “From the workspace”.")
    workspace.find("#collecting li button").click()
    expect(workspace.find("#collecting li button")).to_be_enabled()
    says.get_by_role("link").click()
    page = workspace.page
    expect(page.locator("#editor .row")).to_have_count(2)
    expect(page.locator("#editor .row").first).to_contain_text("A shared figure")


def test_a_figure_with_a_sentence_of_ones_own_is_a_link(
    new_page: Page, other: Page, live_server: AppServer
) -> None:
    without_veils(new_page)
    new_page.goto(f"{live_server.url}/learn/what-a-head-does?lang=en")
    figure = new_page.locator("#figure-1")
    figure.scroll_into_view_if_needed()
    expect(figure.locator(".stand")).to_have_attribute("data-live", "yes")
    expect(figure.locator(".caption")).to_contain_text("book")
    figure.locator(".own-sentence input").fill("A dog chased my cat.")
    new_page.keyboard.press("Enter")
    expect(figure.locator(".caption")).not_to_contain_text("book")
    figure.get_by_role("button", name="Link", exact=True).click()
    link = figure.get_by_label("Short link")
    expect(link).to_have_value(re.compile(r"/learn/what-a-head-does\?share=\w{13}#figure-1$"))
    figure.get_by_role("button", name="QR code").click()
    picture = new_page.locator("#qr-picture")
    expect(picture).to_be_visible()
    assert picture.evaluate("(image) => image.decode().then(() => image.naturalWidth)") > 0
    expect(new_page.locator("#qr-link")).to_have_text(link.input_value())
    expect(new_page.locator("#qr-note")).to_be_visible()  # other machines cannot open 127.0.0.1
    new_page.keyboard.press("Escape")
    expect(new_page.locator("#qr")).to_be_hidden()
    expect(figure.get_by_role("button", name="QR code")).to_be_focused()
    url = link.input_value()
    other.goto(url)
    theirs = other.locator("#figure-1")
    expect(theirs.locator(".own-sentence input")).to_have_value("A dog chased my cat.")
    expect(theirs.locator(".caption")).to_have_text(figure.locator(".caption").inner_text())
    other.goto(url.replace("#", "x#").replace("share=", "share=2"))
    expect(other.locator("#figure-1 > .problem")).to_contain_text("There is no share")
    expect(other.locator("#figure-1 .stand")).to_have_attribute("data-live", "yes")


def test_a_share_asks_before_it_shows(workspace: Workspace, other: Page) -> None:
    workspace.open(source="The cat sat.", block="cross", layer=2, head=0, query=1)
    before = workspace.share()
    workspace.find("#telling summary").click()
    workspace.find("#telling select").select_option("looks")
    workspace.find("#telling button").click()
    expect(workspace.find("#shared-link")).not_to_have_value(before)
    url = workspace.find("#shared-link").input_value()
    for address in (url, url.replace("/s/", "/embed/")):
        other.goto(f"{address}?lang=en")
        expect(other.locator("#ask-says")).to_contain_text("which token gets the largest weight")
        expect(other.locator("#view")).to_be_hidden()
        other.locator("#ask .choose", has_text="sat").click()
        other.get_by_role("button", name="Reveal", exact=True).click()
        expect(other.locator("#ask .verdict")).to_contain_text("✓ You were right.")
        expect(other.locator("#view .cells, #view canvas, #view svg").first).to_be_visible()


def test_anyone_can_use_it(new_page: Page, live_server: AppServer) -> None:
    made = collection(live_server, SENTENCE, FIGURE)
    new_page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    for address, ready in (
        (f"{live_server.url}/c?lang=zh", "#mine-list .empty"),
        (f"{made['url']}?lang=zh", "#item-2 .still"),
        (made["edit_url"].replace("#", "?lang=zh#"), "#editor .row"),
    ):
        new_page.goto(address)
        expect(new_page.locator(ready).first).to_be_visible()
        assert in_both_themes(new_page) == [], address
        assert new_page.evaluate(FITS), address


def test_on_a_phone_nothing_covers_anything(new_page: Page, live_server: AppServer) -> None:
    new_page.set_viewport_size({"width": 390, "height": 844})
    none = collection(live_server)
    for address, above in (
        (f"{none['url']}?lang=en", ".collection-head"),
        (none["edit_url"].replace("#", "?lang=en#"), "#editor h2"),
    ):
        new_page.goto(address)
        expect(new_page.locator(".empty:visible")).to_have_count(1)
        assert box(new_page, ".empty:visible")["y"] >= bottom(new_page, above), address
    some = collection(live_server, SENTENCE)
    new_page.goto(some["edit_url"].replace("#", "?lang=en#"))
    words, row = "#editor .row .about-item", "#editor .row"
    expect(new_page.locator(words)).to_be_visible()
    for field in ("input", "textarea"):
        assert box(new_page, f"{words} {field}")["width"] == box(new_page, row)["width"]
    assert box(new_page, f"{words} input")["y"] >= bottom(new_page, f"{row} img")
    new_page.goto(f"{some['url']}?lang=en&projector=1")
    expect(new_page.get_by_role("button", name="Notes")).to_be_visible()
    for button in new_page.locator(".presenting > :visible").all():
        place = button.bounding_box()
        assert place is not None
        assert 0 <= place["x"] <= 390 - place["width"]


def box(page: Page, selector: str) -> Any:
    return page.locator(selector).first.bounding_box()


def bottom(page: Page, selector: str) -> float:
    where = box(page, selector)
    height: float = where["y"] + where["height"]
    return height

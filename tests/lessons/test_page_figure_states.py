"""The state of a lesson's figure: a room follows it, and a link opens it."""

import re
from collections.abc import Callable
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browsing.axe import violations
from tests.browsing.fixtures import PATIENCE_MS
from tests.browsing.legible import overflow
from tests.browsing.watch import Watch
from tests.lessons.lesson_reader import Reader, without_veils
from tests.rooms.classroom_page import code_of, reader
from tests.servers import AppServer


def present_here(teacher: Page, url: str) -> str:
    """Open a lesson and a room with it; return its code."""
    without_veils(teacher)
    teacher.goto(url)
    teacher.click("#more")
    teacher.click("[data-present]")
    return code_of(teacher)


def to_figure(page: Page, number: int) -> None:
    """Scroll to a figure, until it is live."""
    page.locator(f"#figure-{number}").evaluate("one => one.scrollIntoView()")
    expect(page.locator(f"#figure-{number} .stand")).to_have_attribute("data-live", "yes")


def expect_mode(student: Page, mode: str) -> None:
    expect(student.locator(".room-bar")).to_have_attribute("data-mode", mode)


def test_formulas_examples_of_the_zoo_and_glossed_sentences_follow(
    browser: Browser, live_server: AppServer
) -> None:
    with reader(browser) as teacher, reader(browser, 390, "zh-CN") as student:
        code = present_here(teacher, f"{live_server.url}/learn/far-words")
        student.goto(f"{live_server.url}/room/{code}")
        to_figure(teacher, 2)
        count = "#figure-2 tbody tr:first-child td >> nth=1"
        n, d = (f"#figure-2 input[name={name}]" for name in "nd")
        expect(student.locator(count)).to_have_text(teacher.locator(count).inner_text())
        teacher.fill(n, "700")
        expect(student.locator(n)).to_have_value("700")
        expect(student.locator(count)).to_have_text(f"{700**2 * 512:,}")
        expect_mode(student, "following")
        # A number that does not fit is not presented; the last one that did stays.
        teacher.fill(n, "many")
        teacher.fill(d, "64")
        expect(student.locator(d)).to_have_value("64")
        expect(student.locator(n)).to_have_value("700")
        student.fill(n, "5")
        expect_mode(student, "exploring")
        student.locator(".room-bar").get_by_role("button", name="回到课堂").click()
        expect(student.locator(count)).to_have_text(f"{700**2 * 64:,}")

        teacher.goto(f"{live_server.url}/learn/order")
        to_figure(teacher, 5)
        rows = "#figure-6 .zoo-answers tbody td:nth-child(2)"
        expect(student.locator(rows)).to_have_count(7)
        before = teacher.locator(rows).first.inner_text()
        teacher.click("#figure-6 >> text=Draw an example")
        expect(teacher.locator(rows).first).not_to_have_text(before)
        expect(student.locator(rows).first).to_have_text(teacher.locator(rows).first.inner_text())
        teacher.locator("#figure-6 input[type=range]").fill("1")
        expect(student.locator("#figure-6 input[type=range]")).to_have_value("1")
        expect_mode(student, "following")

        teacher.goto(f"{live_server.url}/learn/what-a-head-does")
        to_figure(teacher, 2)
        word = "#figure-2 .words.to li >> nth=2 >> button"
        teacher.click(word)
        expect(student.locator(word)).to_have_attribute("aria-pressed", "true")
        teacher.locator("#figure-2").get_by_role("textbox", name="Sentence").fill("I see a cat.")
        teacher.locator("#figure-2").get_by_role("button", name="Run").click()
        expect(student.locator("#figure-2 .words.to")).to_contain_text("猫")
        student.hover(word)  # pointing alone changes nothing that is presented
        expect_mode(student, "following")
        assert not overflow(student, 390)


def smaller(route: Route) -> None:
    """Serve the lesson with a short training run."""
    tiny = "task=copy&amp;longest=3&amp;steps=40&amp;d_model=16&amp;batch=200"
    reply = route.fetch()
    route.fulfill(response=reply, body=reply.text().replace("task=reverse", tiny))


def test_a_run_follows(browser: Browser, live_server: AppServer) -> None:
    with reader(browser) as teacher, reader(browser) as student, reader(browser) as late:
        for page in (teacher, student, late):
            page.route(re.compile(r"/(learn/training|room/\w+)(\?|$)"), smaller)
        code = present_here(teacher, f"{live_server.url}/learn/training")
        student.goto(f"{live_server.url}/room/{code}")
        to_figure(teacher, 1)
        asked: list[str] = []
        for page in (student, late):
            page.on("request", heard(asked))
        teacher.locator("#figure-1").get_by_role("button", name="Train", exact=True).click()
        status = "#figure-1 .run-status"
        expect(student.locator(f"{status} strong")).to_be_visible()
        expect(student.locator("#figure-1 >> text=Stop training")).to_be_hidden()
        for page in (teacher, student):
            state = page.locator(f"{status} strong")
            expect(state).to_have_text("Finished", timeout=4 * PATIENCE_MS)
        teacher.locator("#figure-1 .run-timeline input[type=range]").press("Home")
        late.goto(f"{live_server.url}/room/{code}")
        for page in (student, late):
            expect(page.locator("#figure-1 .step-now")).to_contain_text("Step 0")
            expect(page.locator(status)).to_have_text(teacher.locator(status).text_content() or "")
            expect_mode(page, "following")
        teacher.click("#figure-1 >> text=Newest")
        for page in (student, late):
            expect(page.locator("#figure-1 .step-now")).to_contain_text("Step 40")
        assert set(asked) == {"GET"}
        # The link that is presented opens the run outside of the room as well.
        link = student.request.get(f"{live_server.url}/api/rooms/{code}/state").json()["link"]
        late.goto(live_server.url + link)
        expect(late.locator("#figure-1 .step-now")).to_contain_text("Step 40")


def heard(methods: list[str]) -> Callable[..., None]:
    """Note the methods of requests about runs."""
    return lambda request: methods.append(request.method) if "/api/runs" in request.url else None


def test_a_figure_is_opened_in_the_state_of_its_link(lesson: Reader) -> None:
    slug, number, field, shown = "order", 6, "input[type=range]", ".zoo-answers tbody"
    lesson.open(f"/learn/{slug}")
    figure = lesson.figure(number)
    began = figure.locator(shown).inner_text()
    figure.locator(field).first.fill("3")
    expect(figure.locator(shown)).not_to_have_text(began, use_inner_text=True)
    changed = figure.locator(shown).inner_text()
    figure.get_by_role("button", name="Link", exact=True).click()
    link = figure.get_by_role("textbox", name="Short link").input_value()
    assert link.startswith(f"{lesson.url}/learn/{slug}?shows=")
    assert link.endswith(f"#figure-{number}")
    lesson.page.goto(link)
    expect(figure).to_be_in_viewport()
    expect(figure.locator(field).first).to_have_value("3")
    expect(figure.locator(shown)).to_have_text(changed, use_inner_text=True)
    expect(figure.get_by_role("alert").filter(visible=True)).to_have_count(0)
    state = "opening=1&source=I+see+a+cat.&word=0"
    lesson.page.goto(f"{lesson.url}/learn/what-a-head-does?lang=en&shows={quote(state)}#figure-2")
    words = lesson.figure(2).locator(".words.to button")
    expect(words.first).to_have_attribute("aria-pressed", "true")
    expect(words.filter(has_text="猫")).to_have_count(1)


ZOO = "task=reverse&models=reverse,reverse-learned,reverse-relative,reverse-rotary,reverse-none"


UNFITTING = {
    "far-words#figure-2": ["show=layer-costs&f_n=0"],  # beyond a limit
    "order#figure-6": [f"{ZOO}&length=1000&seed=1"],  # not measured
    "what-a-head-does#figure-2": ["opening=1&source=+"],
    "query-key-value#figure-1": ["x=1_0&w_q=1"],  # matrices that do not fit together
    "training#figure-1": ["run=../models"],
}


@pytest.mark.parametrize(("place", "states"), UNFITTING.items())
def test_links_that_do_not_fit_say_so_and_keep_the_figure(
    lesson: Reader, place: str, states: list[str]
) -> None:
    slug, _, figure = place.partition("#")
    lesson.open(f"/learn/{slug}")
    lesson.page.mouse.move(0, 0)  # a cell under it would show its calculation
    here = lesson.figure(int(figure[-1]))
    for matrices in here.locator(".lab-matrices").all():
        expect(matrices).to_contain_text("W", use_inner_text=True)
    usual = here.locator(".stand").inner_text()
    for state in states:
        lesson.page.goto(f"{lesson.url}/learn/{slug}?lang=en&shows={quote(state)}#{figure}")
        lesson.figure(int(figure[-1]))
        expect(here.locator("> .problem")).to_have_text(re.compile("does not fit this figure"))
        expect(here.locator(".stand")).to_have_text(usual, use_inner_text=True)


def test_a_run_that_is_gone_or_fails_is_said_and_tried_again(lesson: Reader, watch: Watch) -> None:
    watch.expect("status of 404")
    lesson.page.goto(f"{lesson.url}/learn/training?lang=en&shows=run%3D2222222222222#figure-1")
    gone = lesson.figure(1)
    expect(gone.locator(".run-head [role=alert]")).to_be_visible()
    expect(gone.get_by_role("button", name="Train", exact=True)).to_be_visible()
    watch.expect("ERR_FAILED")
    page = lesson.page
    page.route("**/learn/training*", smaller)
    asked: list[str] = []

    def once(route: Route) -> None:
        method = route.request.method
        offered = method == "GET" and route.request.url.endswith("/runs")
        (route.continue_ if offered or method in asked else route.abort)()
        asked.append("offered" if offered else method)

    page.route(re.compile(r"/api/runs(/\w{13})?$"), once)
    lesson.open("/learn/training")
    figure = lesson.figure(1)
    figure.get_by_role("button", name="Train", exact=True).click()
    page.evaluate("window.kept = true")
    again = figure.get_by_role("button", name="Try again")
    for method in ("POST", "GET"):  # to start it, and to watch it
        expect(again).to_be_visible()
        assert asked[-1] == method
        again.click()
    expect(figure.locator(".run-status strong")).to_have_text("Finished", timeout=4 * PATIENCE_MS)
    expect(again).to_be_hidden()
    assert page.evaluate("window.kept")
    expect(figure.locator("canvas").first).to_be_visible()
    expect(figure.locator(".curve svg")).to_have_count(2)
    expect(figure.locator("div.run")).to_have_css("display", "grid")  # not that of other views
    figure.get_by_role("slider", name="Step of the training").press("Home")
    expect(figure.locator(".step-now")).to_contain_text("Step 0")
    href = re.compile(r"/train\?run=.*step=0")
    expect(figure.get_by_role("link")).to_have_attribute("href", href)
    assert violations(page) == []

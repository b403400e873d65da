"""Lessons, collections and the lab in a room: figures that follow, and questions about them."""

import re

from playwright.sync_api import Browser, Page, expect

from tests.browsing.legible import overflow
from tests.collections.collecting_page import collection as collection_of
from tests.lessons.lesson_reader import without_veils
from tests.rooms.classroom_page import LINK, code_of, present, reader
from tests.servers import AppServer

ASK = ".room-bar >> text=Ask…"
WHOLE = """(selector) => {
  const all = [...document.querySelectorAll(selector)];
  const whole = (one) => one.scrollWidth <= one.clientWidth && one.scrollHeight <= one.clientHeight;
  return all.length > 0 && all.every(whole);
}"""


def present_here(teacher: Page) -> str:
    """Open a room with the button of a page that is no workspace; return its code."""
    teacher.click("#more")
    teacher.click("[data-present]")
    return code_of(teacher)


def test_a_lessons_figure_follows_on_a_screen_too_and_its_question_is_asked(
    browser: Browser, live_server: AppServer
) -> None:
    with (
        reader(browser) as teacher,
        reader(browser) as student,
        reader(browser, 390, "zh-CN") as chinese,
        reader(browser, 1920) as screen,
    ):
        without_veils(teacher)
        teacher.goto(f"{live_server.url}/learn/what-a-head-does")
        code = present_here(teacher)
        screen.goto(f"{live_server.url}/room/{code}?screen=1")
        for page in (student, chinese):
            page.goto(f"{live_server.url}/room/{code}")
        layer = "#figure-1 .step-by[aria-label=Layer] output"
        teacher.locator("#figure-1").evaluate("one => one.scrollIntoView()")
        expect(teacher.locator(layer)).to_be_visible()
        expect(student.locator(layer)).to_be_visible()
        before = student.locator(layer).text_content() or ""
        teacher.click("#figure-1 [aria-label='Previous layer']")
        after = teacher.locator(layer).text_content() or ""
        assert after != before
        expect(student.locator(layer)).to_have_text(after)
        expect(student.locator(".room-bar")).to_have_attribute("data-mode", "following")
        expect(screen.locator(layer)).to_have_text(after)
        # A screen has no controls: neither a click nor a key changes what it shows.
        controls = ".figure-bar .button", ".own-sentence input", ".open", ".sets .button"
        for control in (*(f"#figure-1 {one}" for one in controls), "#question-1 .button.strong"):
            expect(teacher.locator(control).first).to_be_visible()
            for one in screen.locator(control).all():
                expect(one).to_be_hidden()
        said = screen.locator("#figure-1 .caption").inner_text()
        screen.locator("#figure-1 .thread").nth(4).click(force=True)
        screen.keyboard.press("Tab")
        assert screen.evaluate("document.activeElement === document.body")
        screen.keyboard.press("p")  # would leave the projector's large letters
        expect(screen.locator(":root[data-projector]")).to_be_visible()
        assert screen.locator("#figure-1 .caption").inner_text() == said
        assert screen.locator("#figure-1 .thread.present").count() == 1
        teacher.click("#figure-1 >> text=Reset")
        for page in (student, screen):
            expect(page.locator(layer)).to_have_text(before)
        # One who changes the figure explores, and gets the presented one back.
        teacher.click("#figure-1 [aria-label='Previous layer']")
        expect(student.locator(layer)).to_have_text(after)
        student.click("#figure-1 [aria-label='Previous layer']")
        expect(student.locator(".room-bar")).to_have_attribute("data-mode", "exploring")
        student.click(".room-bar >> text=Back to the class")
        expect(student.locator(layer)).to_have_text(after)

        asked = teacher.locator("#question-1 .asks").text_content() or ""
        teacher.locator("#question-1").evaluate("one => one.scrollIntoView()")
        teacher.click(".room-bar >> text=Ask this question")
        expect(student.locator(".room-question .asks")).to_have_text(asked)
        expect(chinese.locator(".room-question .asks")).to_have_text(
            re.compile("[\u4e00-\u9fff]{4}")
        )
        student.click(".room-question .choose >> nth=0")
        student.click(".room-actions .strong")
        teacher.click(".room-actions >> text=Reveal")
        for page in (student, chinese):
            expect(page.locator(".class-answers .why")).not_to_be_empty()
        expect(chinese.locator(".class-answers .why")).to_have_text(
            re.compile("[\u4e00-\u9fff]{4}")
        )
        assert not overflow(chinese, 390)


def collection(server: AppServer) -> str:
    """Create a collection of a sentence and a figure of a lesson; return its path."""
    figure = "/learn/what-a-head-does#figure-1"
    made = collection_of(server, LINK, figure, title="For the class")
    return f"/c/{made['id']}"


def test_the_items_of_a_collection_are_presented(browser: Browser, live_server: AppServer) -> None:
    with reader(browser) as teacher, reader(browser, 390) as student, reader(browser) as screen:
        teacher.goto(live_server.url + collection(live_server))
        code = present_here(teacher)
        student.goto(f"{live_server.url}/room/{code}")
        screen.goto(f"{live_server.url}/room/{code}?screen=1")
        expect(student.locator("h1")).to_have_text("For the class")
        expect(screen.locator(".collection-head[data-current]")).to_be_visible()
        teacher.click("#projector")
        for n in (1, 2):
            teacher.keyboard.press("PageDown")
            expect(student.locator(f"#item-{n}")).to_be_in_viewport()
            expect(student.locator(f"#item-{n} [data-live=yes]")).to_be_visible()
            expect(screen.locator(f"#item-{n}[data-current]")).to_be_visible()
        layer = "#item-2 .step-by[aria-label=Layer] output"
        teacher.click("#item-2 [aria-label='Previous layer']")
        for page in (student, screen):
            expect(page.locator(layer)).to_have_text(teacher.locator(layer).text_content() or "")
        teacher.keyboard.press("PageUp")
        expect(screen.locator("#item-1[data-current]")).to_be_visible()
        expect(student.locator("#item-1")).to_be_in_viewport()
        expect(student.locator(".room-bar")).to_have_attribute("data-mode", "following")


def test_a_row_by_hand_is_asked_with_the_numbers_that_it_follows_from(
    browser: Browser, live_server: AppServer
) -> None:
    with reader(browser) as teacher, reader(browser, 390, "zh-CN") as student:
        teacher.goto(f"{live_server.url}/lab")
        expect(teacher.locator("#lab input[data-at='0,0']").first).to_be_visible()
        code = present_here(teacher)
        student.goto(f"{live_server.url}/room/{code}")
        teacher.click(ASK)
        form = ".of-lab"
        teacher.locator(f"{form} select").nth(0).select_option("scores")
        teacher.locator(f"{form} select").nth(1).select_option("1")
        teacher.click(f"{form} >> text=Ask to fill in the row")
        expect(student.locator(".room-question .asks")).to_contain_text("填写")
        expect(student.locator(".room-question .context table")).to_have_count(2)  # q and k
        fields = student.locator(".room-question .fill input")
        for field in fields.all():
            field.fill("1/2")
        student.click(".room-actions .strong")
        expect(teacher.locator(".room-actions .crowd")).to_have_text("1 answered")
        teacher.click(".room-actions >> text=Reveal")
        expect(student.locator(".fill .truth")).to_have_count(fields.count())
        expect(teacher.locator(".class-answers")).to_contain_text("1 answered")
        assert not overflow(student, 390)


def test_a_number_that_the_teacher_states_is_told_when_it_is_revealed(
    browser: Browser, live_server: AppServer
) -> None:
    with reader(browser) as teacher, reader(browser) as near, reader(browser) as far:
        code = present(teacher, live_server)
        heard: list[str] = []
        near.on("response", lambda reply: heard.append(reply.url))
        for page in (near, far):
            page.goto(f"{live_server.url}/room/{code}")
        teacher.click(ASK)
        teacher.click("text=A question of your own…")
        teacher.click(".own-question >> text=A number")
        teacher.fill(".own-question textarea", "How many heads has a layer?")
        teacher.fill(".own-question input >> nth=0", "eight")
        teacher.fill(".own-question input >> nth=1", "1")
        teacher.click(".own-question .strong")
        expect(teacher.locator(".own-question .wrong")).to_be_visible()
        teacher.fill(".own-question input >> nth=0", "8")
        teacher.click(".own-question .strong")
        for page, number in ((near, "7.5"), (far, "6")):
            expect(page.locator(".room-question .asks")).to_have_text("How many heads has a layer?")
            page.fill(".room-question .fill input", number)
            page.click(".room-actions .strong")
        state = f"{live_server.url}/api/rooms/{code}/state"
        assert "value" not in near.request.get(state).json()["question"]["ask"]
        teacher.reload()  # the number is not in the page
        expect(teacher.locator(".room-actions .crowd")).to_have_text("2 answered")
        teacher.click(".room-actions >> text=Reveal")
        for page in (teacher, near, far):
            expect(page.locator(".fill .truth")).to_contain_text("8")
            expect(page.locator(".class-answers")).to_contain_text("2 answered · 1 right")
        assert near.request.get(state).json()["question"]["ask"]["value"] == 8


def test_drawn_rows_are_shown_below_the_models(browser: Browser, live_server: AppServer) -> None:
    with reader(browser, 390) as teacher, reader(browser, 390) as student, reader(browser) as other:
        code = present(teacher, live_server, f"{LINK}&query=1&key=3")
        for page in (student, other):
            page.goto(f"{live_server.url}/room/{code}")
        # On a phone, the pinned pair covers no question.
        pinned = teacher.locator(".inspector[data-cell=pinned]")
        expect(pinned).to_be_visible()
        teacher.click(ASK)
        expect(teacher.locator(".room-kinds .button").first).to_be_visible()
        expect(pinned).to_be_hidden()
        teacher.click(".room-kinds >> text=Cancel")
        expect(pinned).to_be_visible()
        teacher.click(ASK)
        teacher.click(".room-kinds >> text=How is the row’s weight shared out?")
        for page, column in ((student, 0), (other, 3)):
            page.locator(".draw-share input").nth(column).fill("1")
            page.click(".room-actions .strong")
        expect(teacher.locator(".room-question .draw-share").first).to_be_visible()
        expect(teacher.locator(".room-question input")).to_have_count(0)  # it does not answer
        teacher.click("text=Discuss, then vote again")
        teacher.click('text="Vote again"')
        student.locator(".draw-share input").nth(0).fill("0")
        student.locator(".draw-share input").nth(3).fill("1")
        student.click(".room-actions .strong")
        expect(teacher.locator(".room-actions .crowd")).to_have_text("1 answered")
        teacher.click(".room-actions >> text=Reveal")
        for page in (teacher, student):
            tables = page.locator(".class-rows table")
            expect(tables).to_have_count(2)
            first, second = tables.all()
            expect(first.locator("tbody tr")).to_have_count(4)  # the model, the class, two students
            expect(second.locator("tbody tr")).to_have_count(3)
            apart = [float(one) for one in first.locator("tbody .apart").all_text_contents()[2:]]
            assert apart[0] < apart[1] <= 1  # the nearest first
            expect(page.locator(".class-answers")).to_contain_text(
                "1 with the model’s largest weight"
            )
            # The tokens above the cells are whole, however narrow the cells are.
            assert page.evaluate(WHOLE, ".class-rows thead th > span")
        assert not overflow(student, 390)


def test_what_was_presented_becomes_a_collection(browser: Browser, live_server: AppServer) -> None:
    with reader(browser) as teacher:
        code = present(teacher, live_server)
        teacher.click(".views >> text=Lines")
        state = f"{live_server.url}/api/rooms/{code}/state"
        lines = "async (url) => (await (await fetch(url)).json()).link.includes('view=lines')"
        teacher.wait_for_function(lines, arg=state)
        teacher.goto(f"{live_server.url}/learn/masks")
        teacher.locator("#figure-1").evaluate("one => one.scrollIntoView()")
        figure = "async (url) => (await (await fetch(url)).json()).link.endsWith('#figure-1')"
        teacher.wait_for_function(figure, arg=state)
        teacher.click(".room-bar .disclosure > .button")
        teacher.click(".room-bar .drop >> text=Save what was presented")
        link = teacher.locator(".room-bar .drop [role=status] a")
        expect(link).to_be_visible()
        teacher.goto(live_server.url + (link.get_attribute("href") or ""))
        expect(teacher.locator(".editor input").first).to_have_value(
            re.compile(f"{code[:3]} {code[3:]}", re.IGNORECASE)
        )
        teacher.goto(teacher.url.partition("#")[0])
        kinds = teacher.locator("#items > .item")
        expect(kinds.first).to_have_attribute("data-kind", "workspace")
        expect(kinds.last).to_have_attribute("data-kind", "figure")

"""A room in real browsers: a teacher presents, students follow, explore and come back."""

import pytest
from playwright.sync_api import Browser, Route, expect

from tests.browser.axe import violations
from tests.browser.classroom import LINK, from_menu, present, reader
from tests.browser.legible import overflow
from tests.browser.settling import settle
from tests.servers import AppServer


def test_students_follow_explore_and_come_back(browser: Browser, live_server: AppServer) -> None:
    with (
        reader(browser) as teacher,
        reader(browser, 1280) as wide,
        reader(browser, 390) as phone,
        reader(browser, 1280, "zh-CN") as chinese,
    ):
        code = present(teacher, live_server)
        wide.goto(f"{live_server.url}/room")
        wide.fill("#code", f"{code[:3]} {code[3:]}".upper())
        wide.keyboard.press("Enter")
        phone.goto(f"{live_server.url}/room/{code}")
        chinese.goto(f"{live_server.url}/room/{code}")
        expect(chinese.locator(".room-bar .says")).to_contain_text("正在跟随课堂")
        students = [wide, phone, chinese]
        for student in students:
            expect(student.locator("#source")).to_have_value("The cat sleeps.")
        teacher.fill("#source", "A dog barks.")
        teacher.click("#run")
        teacher.click(".views >> text=Lines")
        for student in students:
            expect(student.locator("#source")).to_have_value("A dog barks.")
            expect(student.locator("#view")).to_have_attribute("data-view", "lines")
        expect(teacher.locator(".room-bar .crowd")).to_have_text("3 of 3 in step, 0 exploring")

        wide.fill("#source", "My own sentence.")
        expect(wide.locator(".room-bar")).to_have_attribute("data-mode", "exploring")
        teacher.fill("#source", "Birds sing.")
        teacher.click("#run")
        expect(phone.locator("#source")).to_have_value("Birds sing.")
        expect(wide.locator(".room-bar .says")).to_contain_text("Birds sing.")
        assert wide.input_value("#source") == "My own sentence."
        expect(teacher.locator(".room-bar .crowd")).to_have_text("2 of 2 in step, 1 exploring")
        wide.reload()
        expect(wide.locator("#source")).to_have_value("My own sentence.")
        wide.click(".room-bar .button")
        expect(wide.locator("#source")).to_have_value("Birds sing.")


@pytest.mark.parametrize("width", [390, 320])
def test_the_door_fits_a_phone(browser: Browser, live_server: AppServer, width: int) -> None:
    with reader(browser, width) as student:
        student.goto(f"{live_server.url}/room")
        expect(student.locator("#code")).to_be_focused()
        assert not overflow(student, width)


@pytest.mark.parametrize("again", ["reload", "door"])
def test_a_teacher_takes_the_room_back(
    browser: Browser, live_server: AppServer, again: str
) -> None:
    with reader(browser) as teacher, reader(browser) as student:
        code = present(teacher, live_server)
        student.goto(f"{live_server.url}/room/{code}")
        if again == "reload":
            teacher.reload()
        else:  # the tab is gone
            other = teacher.context.new_page()
            teacher.close()
            teacher = other
            teacher.goto(f"{live_server.url}/room")
            teacher.click("#own-rooms button")
        expect(teacher.locator(".room-bar.teaching .says")).to_contain_text(
            f"{code[:3]} {code[3:]}".upper()
        )
        expect(teacher.locator("#source")).to_have_value("The cat sleeps.")
        teacher.fill("#source", "Still here.")
        teacher.click("#run")
        expect(student.locator("#source")).to_have_value("Still here.")
        from_menu(teacher, "End…")
        teacher.click(".room-bar >> text=End it")
        expect(student.locator(".room-bar")).to_have_attribute("data-mode", "over")
        expect(student.locator("#source")).to_have_value("Still here.")


def test_what_the_teacher_points_at_is_lit_for_students(
    browser: Browser, live_server: AppServer
) -> None:
    with reader(browser) as teacher, reader(browser) as student:
        code = present(teacher, live_server)
        student.goto(f"{live_server.url}/room/{code}")
        expect(student.locator("[data-status=ready]").first).to_be_visible()
        lit = ".chip.as-key:has-text('cat')"
        expect(student.locator(lit)).to_have_count(0)
        teacher.hover(".chip >> text=cat")
        expect(student.locator(lit)).to_be_visible()
        teacher.mouse.move(1, 790)
        expect(student.locator(lit)).to_have_count(0)


def test_a_held_back_stream_is_replaced_by_polling(
    browser: Browser, live_server: AppServer
) -> None:
    with reader(browser) as teacher, reader(browser) as student:
        code = present(teacher, live_server)
        student.route("**/events?*", lambda _: None)  # never answered
        student.goto(f"{live_server.url}/room/{code}")
        asked = []
        student.on("request", lambda request: asked.append(request.url))
        teacher.fill("#source", "Slow proxies.")
        teacher.click("#run")
        expect(student.locator("#source")).to_have_value("Slow proxies.")
        assert any("/state?" in url and "since=" in url for url in asked)


def test_the_lab_and_a_lesson_are_presented(browser: Browser, live_server: AppServer) -> None:
    with reader(browser) as teacher, reader(browser) as student:
        code = present(teacher, live_server)
        student.goto(f"{live_server.url}/room/{code}")
        teacher.goto(f"{live_server.url}/lab")
        cell = "#lab input[data-at='0,0']"
        student.wait_for_selector(cell)
        teacher.locator(cell).first.fill("7")
        expect(student.locator(cell).first).to_have_value("7")
        teacher.goto(f"{live_server.url}/learn/masks")
        question = student.locator("#question-1")
        expect(question).to_be_attached()
        expect(teacher.locator(".room-bar.teaching .says")).to_be_visible()
        teacher.locator("#question-1").evaluate("one => one.scrollIntoView()")
        expect(question).to_be_in_viewport()
        expect(student.locator(".room-bar")).to_have_attribute("data-mode", "following")


def test_a_remote_stops_at_each_question_and_the_class_with_it(
    browser: Browser, live_server: AppServer
) -> None:
    """The bar covers the top of the window, and the next figure begins in its upper half."""
    with reader(browser) as teacher, reader(browser, 390) as student:
        teacher.set_viewport_size({"width": 1280, "height": 720})
        code = present(teacher, live_server)
        teacher.goto(f"{live_server.url}/learn/many-heads?projector=1")
        expect(teacher.locator(".room-bar.teaching .says")).to_be_visible()
        student.goto(f"{live_server.url}/room/{code}")
        for n in (1, 2):
            question = f"#question-{n}"
            top = f"document.querySelector('{question} .kind').getBoundingClientRect().top"
            bar = "document.querySelector('.room-bar').getBoundingClientRect().bottom"
            for _ in range(12):
                teacher.keyboard.press("PageDown")
                settle(teacher)  # figures that come into sight are larger once they are live
                if teacher.evaluate(f"{top} < innerHeight / 2"):
                    break
            assert teacher.evaluate(f"{top} >= {bar}")
            student.wait_for_function(f"{top} < innerHeight / 2 && {top} >= {bar}")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_anyone_can_join_ask_and_answer(
    browser: Browser, live_server: AppServer, lang: str
) -> None:
    """Check the pages of a room at 320 px, in dark."""
    with reader(browser, 320) as teacher, reader(browser, 320) as student:
        pages = {"teacher": teacher, "student": student}
        wrong: list[str] = []

        def check(*who: str) -> None:
            for one in who:
                page = pages[one]
                # The bar lies over a header that is scrolled away.
                found = violations(page, "header.top")
                wrong.extend(f"{one} at {page.url}: {bad}" for bad in found)
                if wide := overflow(page, 320):
                    wrong.append(f"{one} at {page.url}: {wide} px too wide")

        for page in pages.values():
            page.emulate_media(color_scheme="dark", reduced_motion="reduce")
        student.goto(f"{live_server.url}/room?lang={lang}")
        check("student")
        student.goto(f"{live_server.url}/room?code=abc234&lang={lang}")
        expect(student.locator("#wrong")).to_be_visible()
        check("student")
        code = present(teacher, live_server, f"{LINK}&query=1&key=1&lang={lang}")
        student.goto(f"{live_server.url}/room/{code}?lang={lang}")
        expect(student.locator("[data-status=ready]").first).to_be_visible()
        check("teacher", "student")
        teacher.click(".room-bar .button >> nth=0")
        check("teacher")
        teacher.click(".room-kinds .button >> nth=0")
        student.click(".room-question .choose >> nth=0")
        student.click(".room-actions .strong")
        check("teacher", "student")
        teacher.click(".room-actions .strong")
        expect(student.locator(".class-answers p")).to_be_visible()
        expect(teacher.locator(".class-answers p")).to_be_visible()
        check("teacher", "student")
    assert not wrong, "\n".join(wrong)


def test_a_teacher_closes_the_room_and_removes_invented_members(
    browser: Browser, live_server: AppServer
) -> None:
    with reader(browser) as teacher, reader(browser, 390) as student, reader(browser) as late:
        code = present(teacher, live_server)
        student.goto(f"{live_server.url}/room/{code}")
        expect(student.locator(".room-bar")).to_have_attribute("data-mode", "following")
        for n in range(3):
            path = f"/api/rooms/{code}/state?member=invented-{n}&exploring=true"
            assert teacher.request.get(live_server.url + path).ok
        from_menu(teacher, "Members…")
        dialog = teacher.locator("dialog.members")
        expect(dialog).to_contain_text("4 here, 0 not connected")  # a poller comes back soon
        dialog.locator("text=Close to newcomers").click()
        expect(dialog).to_contain_text("Nobody new can come in.")
        expect(teacher.locator(".room-bar .closed")).to_have_text("closed to newcomers")

        late.goto(f"{live_server.url}/room/{code}")
        bar = late.locator(".room-bar")
        expect(bar).to_contain_text("The room is closed to newcomers.")
        # Nobody can invent members any more; those who were invented go.
        reply = teacher.request.get(f"{live_server.url}/api/rooms/{code}/state?member=invented-9")
        assert reply.status == 409
        teacher.keyboard.press("Escape")
        teacher.route("**/members", as_if_away)
        from_menu(teacher, "Members…")
        away = dialog.locator("li", has_text="Not connected now")
        expect(away.locator("b")).to_have_text("3")
        away.locator("text=Remove…").click()
        expect(dialog).to_contain_text("Remove these 3?")
        dialog.locator(".sure .strong").click()
        expect(dialog.locator(".status")).to_have_text("3 members were removed.")
        expect(dialog).to_contain_text("1 here, 0 not connected")

        dialog.locator("text=Open again").click()
        expect(dialog).to_contain_text("Whoever has the code can come in.")
        bar.locator("text=Try again").click()
        expect(bar).to_have_attribute("data-mode", "following")
        dialog.locator("form .button").click()
        expect(teacher.locator(".room-bar .crowd")).to_contain_text("of 2 in step")
        expect(student.locator(".room-bar")).to_have_attribute("data-mode", "following")


def as_if_away(route: Route) -> None:
    """Let the members that polled once be as those are who left some time ago."""
    reply = route.fetch()
    told = reply.json()
    for one in told["members"][1:]:
        one["here"] = False
    route.fulfill(response=reply, json=told)

"""A room in real browsers: a teacher presents, students follow, explore and come back."""

from urllib.parse import urljoin

from playwright.sync_api import Browser, Page, Route, expect

from tests.browsing.axe import violations
from tests.browsing.legible import overflow
from tests.browsing.page_settles import settle
from tests.rooms.classroom_page import LINK, from_menu, present, reader
from tests.servers import AppServer


def run(teacher: Page, text: str) -> None:
    teacher.fill("#source", text)
    teacher.click("#run")


def test_students_follow_explore_and_come_back(browser: Browser, live_server: AppServer) -> None:
    with (
        reader(browser) as teacher,
        reader(browser, 1280) as wide,
        reader(browser, 390, "zh-CN") as chinese,
    ):
        code = present(teacher, live_server)
        wide.goto(f"{live_server.url}/room")
        wide.fill("#code", f"{code[:3]} {code[3:]}".upper())
        wide.keyboard.press("Enter")
        chinese.goto(f"{live_server.url}/room/{code}")
        expect(chinese.locator(".room-bar .says")).to_contain_text("正在跟随课堂")
        students = [wide, chinese]
        for student in students:
            expect(student.locator("#source")).to_have_value("The cat sleeps.")
        run(teacher, "A dog barks.")
        teacher.click(".views >> text=Lines")
        for student in students:
            expect(student.locator("#source")).to_have_value("A dog barks.")
            expect(student.locator("#view")).to_have_attribute("data-view", "lines")
        expect(teacher.locator(".room-bar .crowd")).to_have_text("2 of 2 in step, 0 exploring")
        # What the teacher points at is lit for students.
        lit = ".chip.as-key:has-text('dog')"
        expect(wide.locator(lit)).to_have_count(0)
        teacher.hover(".chip >> text=dog")
        expect(wide.locator(lit)).to_be_visible()
        teacher.mouse.move(1, 790)
        expect(wide.locator(lit)).to_have_count(0)

        wide.fill("#source", "My own sentence.")
        expect(wide.locator(".room-bar")).to_have_attribute("data-mode", "exploring")
        run(teacher, "Birds sing.")
        expect(chinese.locator("#source")).to_have_value("Birds sing.")
        expect(wide.locator(".room-bar .says")).to_contain_text("Birds sing.")
        assert wide.input_value("#source") == "My own sentence."
        expect(teacher.locator(".room-bar .crowd")).to_have_text("1 of 1 in step, 1 exploring")
        wide.reload()
        expect(wide.locator("#source")).to_have_value("My own sentence.")
        wide.click(".room-bar .button")
        expect(wide.locator("#source")).to_have_value("Birds sing.")
        takes_back(teacher, code, wide, "reload")


def takes_back(teacher: Page, code: str, student: Page, again: str) -> None:
    """Let the teacher lose the page, take the room back, and end it."""
    sentence = teacher.input_value("#source")
    if again == "reload":
        teacher.reload()
    else:  # the tab is gone
        url, other = teacher.url, teacher.context.new_page()
        teacher.close()
        teacher = other
        teacher.goto(urljoin(url, "/room"))
        teacher.click("#own-rooms button")
    says = teacher.locator(".room-bar.teaching .says")
    expect(says).to_contain_text(f"{code[:3]} {code[3:]}".upper())
    expect(teacher.locator("#source")).to_have_value(sentence)
    run(teacher, "Still here.")
    expect(student.locator("#source")).to_have_value("Still here.")
    from_menu(teacher, "End…")
    teacher.click(".room-bar >> text=End it")
    expect(student.locator(".room-bar")).to_have_attribute("data-mode", "over")
    expect(student.locator("#source")).to_have_value("Still here.")


def test_a_held_back_stream_is_replaced_by_polling_and_a_teacher_comes_back_by_the_door(
    browser: Browser, live_server: AppServer
) -> None:
    with reader(browser) as teacher, reader(browser) as student:
        code = present(teacher, live_server)
        student.route("**/events?*", lambda _: None)  # never answered
        student.goto(f"{live_server.url}/room/{code}")
        asked = []
        student.on("request", lambda request: asked.append(request.url))
        run(teacher, "Slow proxies.")
        expect(student.locator("#source")).to_have_value("Slow proxies.")
        assert any("/state?" in url and "since=" in url for url in asked)
        takes_back(teacher, code, student, "door")


def test_the_lab_and_lessons_are_presented_and_a_remote_stops_at_each_question(
    browser: Browser, live_server: AppServer
) -> None:
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
        # The bar covers the top of the window; a question is whole below it.
        student.set_viewport_size({"width": 390, "height": 800})
        teacher.set_viewport_size({"width": 1280, "height": 720})
        teacher.goto(f"{live_server.url}/learn/many-heads?projector=1")
        expect(teacher.locator(".room-bar.teaching .says")).to_be_visible()
        expect(student.locator("h1")).to_have_text("Many heads")
        for n in (1, 2):
            stop = f"#question-{n}"
            top = f"document.querySelector('{stop} .kind').getBoundingClientRect().top"
            end = f"document.querySelector('{stop}').getBoundingClientRect().bottom"
            bar = "document.querySelector('.room-bar').getBoundingClientRect().bottom"
            whole = f"{top} >= {bar} && {end} <= innerHeight"
            for _ in range(12):
                teacher.keyboard.press("PageDown")
                settle(teacher)  # figures that come into sight are larger once they are live
                if teacher.evaluate(whole):
                    break
            assert teacher.evaluate(whole)
            student.wait_for_function(whole)


def test_anyone_can_join_ask_and_answer(browser: Browser, live_server: AppServer) -> None:
    """Check the pages of a room at 320 px, in dark, the teacher's in English."""
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
        teacher.goto(f"{live_server.url}/room?lang=en")
        expect(teacher.locator("#code")).to_be_focused()
        check("teacher")
        student.goto(f"{live_server.url}/room?code=abc234&lang=zh")
        expect(student.locator("#wrong")).to_be_visible()
        check("student")
        code = present(teacher, live_server, f"{LINK}&query=1&key=1&lang=en")
        student.goto(f"{live_server.url}/room/{code}?lang=zh")
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

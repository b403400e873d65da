"""A class is asked in real browsers: it votes twice, sends sentences, and may give nicknames."""

import csv
from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.rooms.classroom_page import LINK, OpenClass, code_of, from_menu, present, reader
from tests.servers import AppServer


def test_a_class_votes_twice_and_sees_its_answers_beside_the_models(open_class: OpenClass) -> None:
    teacher, phone, wide, _ = open_class(f"{LINK}&query=1&key=1")
    students = [phone, wide]
    for kind, context in ABOUT.items():
        teacher.click(".room-bar >> text=Ask…")
        teacher.click(f".room-kinds >> text={kind}")
        for page in (teacher, phone):
            expect(page.locator(".room-question .context")).to_have_text(context)
        teacher.click("text=End the question")
    teacher.click(".room-bar >> text=Ask…")
    teacher.click(".room-kinds >> text=Where does this row look?")
    for student, choice in zip(students, (0, 1), strict=True):
        student.click(f".room-question .choose >> nth={choice}")
        student.click(".room-actions .strong")
        expect(student.locator(".room-actions .crowd")).to_contain_text("Sent.")
        expect(student.locator(".room-question .tally")).to_have_count(0)
    expect(teacher.locator(".room-actions .crowd")).to_have_text("2 answered")
    teacher.click("text=Discuss, then vote again")
    expect(phone.locator(".room-actions .crowd")).to_contain_text("Discuss")
    expect(phone.locator(".room-question .choose").first).to_be_disabled()
    teacher.click("text=Vote again")
    phone.click(".room-question .choose >> nth=1")
    phone.click(".room-actions .strong")
    expect(phone.locator(".room-actions .crowd")).to_contain_text("Sent.")
    teacher.click(".room-actions >> text=Reveal")
    for page in (teacher, *students):
        expect(page.locator(".class-answers")).to_contain_text("First vote 2 answered")
        expect(page.locator(".class-answers")).to_contain_text("Second vote 1 answered")
        expect(page.locator(".choose .tally").nth(1)).to_have_text("chosen by 1")
    teacher.click("text=End the question")
    expect(phone.locator(".room-question")).to_be_hidden()
    from_menu(teacher, "End…")  # with the room, its answers would be gone
    with teacher.expect_download() as download:
        teacher.click(".room-bar >> text=Download the answers")
    rows = list(csv.DictReader(Path(download.value.path()).read_text("utf-8-sig").splitlines()))
    assert [bool(row["second vote"]) for row in rows] == [True, False]
    assert {row["first right"] for row in rows} <= {"yes", "no"}
    assert all(row["first vote"] and not row["first vote"].isdecimal() for row in rows)
    assert all("head 4" in row["words"] for row in rows)


ABOUT = {
    "Which token comes next?": "The cat sleeps. → 猫 …",
    "What if this head is off?": "The cat sleeps. → 猫睡觉。",
}


def test_sentences_have_nicknames_if_the_teacher_asks_and_are_shown_to_everyone(
    open_class: OpenClass,
) -> None:
    teacher, mei, other, _ = open_class()
    teacher.click(".room-bar >> text=Ask…")
    teacher.click(".room-kinds >> text=Sentences of the class")
    expect(mei.locator(".room-question textarea")).to_be_visible()
    expect(mei.locator(".nickname input")).to_have_count(0)
    teacher.click("text=End the question")
    teacher.click(".room-bar >> text=Ask…")
    teacher.check(".room-kinds >> text=Ask for nicknames")
    teacher.click(".room-kinds >> text=Sentences of the class")
    mei.fill(".room-question textarea", "<b>Fish swim.</b>")
    mei.fill(".nickname input", " Mei ")
    mei.click(".room-actions .strong")
    expect(mei.locator(".room-actions .crowd")).to_contain_text("Sent.")
    expect(mei.locator(".room-actions .strong")).to_be_disabled()
    other.fill(".room-question textarea", "Birds sing.")
    other.click(".room-actions .strong")
    listed = teacher.locator(".sentences li span")
    looks = teacher.get_by_text("2 answers to look at")
    expect(looks).to_be_visible()
    expect(listed).to_have_count(0)  # her screen may be on the wall
    looks.click()
    expect(listed).to_have_text(["<b>Fish swim.</b>", "Birds sing."])
    teacher.click("text=Show nicknames")
    expect(listed).to_have_text(["<b>Fish swim.</b>Mei", "Birds sing."])
    expect(other.locator(".room-question")).not_to_contain_text("Mei")
    mei.fill(".nickname input", "Mei Lin")  # the answer is sent anew with it
    mei.click(".room-actions .strong")
    expect(listed.filter(has_text="Mei")).to_have_text("<b>Fish swim.</b>Mei Lin")
    teacher.click("text=End the question")
    teacher.reload()
    teacher.click(".room-bar >> text=Ask…")
    expect(teacher.locator(".room-kinds .check input")).to_be_checked()
    teacher.click(".room-kinds >> text=Sentences of the class")
    other.fill(".room-question textarea", "<b>Birds fly.</b>")
    other.click(".room-actions .strong")
    teacher.click(".sentences >> text=Show to everyone")  # opened in this room, also after a reload
    for student in (mei, other):
        expect(student.locator("#source")).to_have_value("<b>Birds fly.</b>")
        expect(student.locator(".room-bar")).to_have_attribute("data-mode", "following")
    from_menu(teacher, "End…")
    with teacher.expect_download() as download:
        teacher.click(".room-bar >> text=Download the answers")
    rows = list(csv.DictReader(Path(download.value.path()).read_text("utf-8-sig").splitlines()))
    assert [(row["nickname"], row["first vote"]) for row in rows] == [
        ("", "Birds sing."),
        ("Mei Lin", "<b>Fish swim.</b>"),
        ("", "<b>Birds fly.</b>"),
    ]


ASKED = """() => {
  document.querySelector(".predict[data-page=zoo]").scrollIntoView();
  return document.querySelector(".room-bar").textContent.includes("Ask this question");
}"""


def test_a_lessons_question_about_the_zoo_is_asked(
    browser: Browser, live_server: AppServer
) -> None:
    with reader(browser) as teacher, reader(browser, 390, "zh-CN") as student:
        teacher.goto(f"{live_server.url}/learn/order")
        teacher.click("#more")
        teacher.click("[data-present]")
        code = code_of(teacher)
        student.goto(f"{live_server.url}/room/{code}")
        teacher.wait_for_function(ASKED)  # figures that arrive move it
        name = teacher.locator(".predict[data-page=zoo]").get_attribute("id")
        teacher.click("text=Ask this question")
        words = student.locator(f"#{name} .asks").text_content() or ""
        expect(student.locator(".room-question .asks")).to_have_text(words)
        student.fill(".room-question .fill input", "50")
        student.click(".room-actions .strong")
        expect(teacher.locator(".room-actions .crowd")).to_have_text("1 answered")
        teacher.click(".room-actions >> text=Reveal")
        for page in (teacher, student):
            expect(page.locator(".room-question .fill .truth")).to_be_visible()


def test_a_lessons_answers_are_on_the_pages_of_a_class_once_its_teacher_shows_them(
    browser: Browser, live_server: AppServer
) -> None:
    with (
        reader(browser) as teacher,
        reader(browser, 390) as phone,
        reader(browser) as late,
    ):
        teacher.goto(f"{live_server.url}/learn/many-heads")
        teacher.click("#more")
        teacher.click("[data-present]")
        room = f"{live_server.url}/room/{code_of(teacher)}"
        phone.goto(room)
        first, second = "#question-1", "#question-2"
        for question in (first, second):
            phone.evaluate(f"document.querySelector('{question}').scrollIntoView()")
            expect(phone.locator(f"{question} .fill input").first).not_to_be_editable()
            expect(phone.locator(f"{question} .teacher-asks")).to_be_visible()
            expect(phone.locator(f"{question} .actions button")).to_have_count(0)

        teacher.evaluate(f"document.querySelector('{first}').scrollIntoView()")
        teacher.click("text=Ask this question")
        expect(phone.locator(".room-question")).to_be_visible()
        expect(phone.locator(f"{first} .why")).to_be_hidden()
        teacher.click(".room-actions >> text=Reveal")
        teacher.click("text=End the question")
        expect(phone.locator(f"{first} .why")).to_be_visible()
        expect(phone.locator(f"{first} .truth").first).to_be_visible()
        expect(phone.locator(f"{first} .teacher-asks")).to_have_count(0)

        teacher.evaluate(f"document.querySelector('{second}').scrollIntoView()")
        expect(phone.locator(f"{second} .teacher-asks")).to_be_visible()
        teacher.click(f"{second} >> text=Reveal without a guess")  # without asking the class
        expect(phone.locator(f"{second} .why")).to_be_visible()
        late.goto(room)  # the first question is no longer what the class is shown
        for question in (first, second):
            late.evaluate(f"document.querySelector('{question}').scrollIntoView()")
            expect(late.locator(f"{question} .why")).to_be_visible()


def test_a_share_that_asks_first_is_covered_until_its_teacher_shows_the_answer(
    browser: Browser, live_server: AppServer
) -> None:
    figure, choices = "#stage", "#ask-choices .choose"
    with (
        reader(browser) as teacher,
        reader(browser, 390) as phone,
        reader(browser, 390, "zh-CN") as late,
    ):
        state = {"source": "The cat sleeps.", "block": "cross", "layer": 1, "head": 3}
        share = teacher.request.post(
            f"{live_server.url}/api/shares", data={"state": state, "about": {"predict": "looks"}}
        ).json()
        teacher.goto(f"{live_server.url}/s/{share['id']}")
        expect(teacher.locator(choices).first).to_be_enabled()
        teacher.click("#more")
        teacher.click("[data-present]")
        room = f"{live_server.url}/room/{code_of(teacher)}"
        phone.goto(room)
        expect(phone.locator("#ask .teacher-asks")).to_be_visible()
        expect(phone.locator(choices).first).to_be_disabled()
        expect(phone.locator("#ask .actions button")).to_have_count(0)

        teacher.click(".room-bar >> text=Ask…")  # something else
        teacher.click(".room-kinds >> text=Sentences of the class")
        expect(phone.locator(".room-question")).to_be_visible()
        teacher.click("text=End the question")
        for page in (teacher, phone):
            expect(page.locator(choices).first).to_be_visible()
            expect(page.locator(figure)).to_be_hidden()
            expect(page.locator("#announce")).not_to_contain_text("looks most")

        teacher.click("text=Ask this question")
        late.goto(room)
        for page in (phone, late):
            page.click(".room-question .choose >> nth=1")
            page.click(".room-actions .strong")
        expect(teacher.locator(".room-actions .crowd")).to_have_text("2 answered")
        expect(late.locator(".room-question .asks")).to_contain_text("第 2 层")
        teacher.click(".room-actions >> text=Reveal")
        expect(phone.locator(".verdict").first).to_be_visible()
        teacher.click("text=End the question")
        for page in (teacher, phone, late):
            expect(page.locator(figure)).to_be_visible()
            expect(page.locator("#ask .teacher-asks")).to_have_count(0)
        late.reload()  # the answer has been shown to the class
        expect(late.locator(figure)).to_be_visible()


def test_results_are_a_page_and_a_file_that_opens_after_the_room_has_ended(
    browser: Browser, live_server: AppServer, tmp_path: Path
) -> None:
    with reader(browser) as teacher, reader(browser, 390) as phone:
        code = present(teacher, live_server, f"{LINK}&query=1&key=1")
        phone.goto(f"{live_server.url}/room/{code}")
        teacher.click(".room-bar >> text=Ask…")
        teacher.click(".room-kinds >> text=Where does this row look?")
        phone.click(".room-question .choose >> nth=1")
        phone.click(".room-actions .strong")
        expect(teacher.locator(".room-actions .crowd")).to_have_text("1 answered")
        teacher.click(".room-actions >> text=Reveal")
        expect(phone.locator(".class-answers")).to_contain_text("First vote 1 answered")
        results = teacher.context.new_page()
        results.goto(f"{live_server.url}/teach/results#{code}")
        expect(results.locator(".asked-before h2")).to_contain_text("Layer 2, head 4")
        expect(results.locator(".asked-before .meta")).to_contain_text("1 answered")
        expect(results.locator(".votes [data-right=true] th")).to_have_count(1)
        words = results.locator("#results").inner_text()
        with results.expect_download() as download:
            results.click("text=Download everything (JSON)")
        saved = tmp_path / "answers.json"
        download.value.save_as(saved)
        teacher.click("text=End the question")
        from_menu(teacher, "End…")
        teacher.click(".room-bar >> text=End it")
        results.goto(f"{live_server.url}/teach/results")
        expect(results.locator("#results")).to_contain_text("Open the file")
        results.set_input_files("input[type=file]", saved)
        expect(results.locator(".asked-before")).to_have_count(1)
        assert results.locator("#results").inner_text() == words
        wrong = tmp_path / "wrong.json"
        wrong.write_text('{"code": 1}')
        results.set_input_files("input[type=file]", wrong)
        expect(results.locator("[role=alert]")).to_contain_text("not a file of answers")

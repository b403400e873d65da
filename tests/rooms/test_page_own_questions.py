"""A teacher asks questions of her own, in two languages, and a class answers them."""

from playwright.sync_api import Browser, Page, expect

from tests.rooms.classroom_page import present, reader
from tests.servers import AppServer

FORM = ".own-question"


def write(teacher: Page, kind: str, words: str, options: list[str]) -> None:
    teacher.click(".room-bar >> text=Ask…")
    if not teacher.locator(FORM).is_visible():
        teacher.click("text=A question of your own…")
    teacher.click(f"{FORM} .kinds >> text={kind}")
    teacher.fill(f"{FORM} textarea >> nth=0", words)
    for i, option in enumerate(options):
        if i > 1:
            teacher.click("text=Add an answer")
        teacher.fill(f"{FORM} [placeholder='Answer {i + 1}']", option)


def test_own_questions_are_asked_in_the_words_of_each_reader(
    browser: Browser, live_server: AppServer
) -> None:
    with (
        reader(browser) as teacher,
        reader(browser, 390) as phone,
        reader(browser, 390, "zh-CN") as chinese,
    ):
        code = present(teacher, live_server)
        for student in (phone, chinese):
            student.goto(f"{live_server.url}/room/{code}")
        write(teacher, "Multiple choice", "What does softmax do?", ["sums to 1", "takes the max"])
        teacher.reload()  # what is being written is kept
        teacher.click(".room-bar >> text=Ask…")
        expect(teacher.locator(f"{FORM} textarea")).to_have_value("What does softmax do?")
        teacher.check(f"{FORM} [aria-label='Answer 1 is right']")
        teacher.fill(f"{FORM} .note-of", "Takes it for argmax.")
        teacher.check(f"{FORM} >> text=In Chinese as well")
        teacher.click(f"{FORM} .strong")
        expect(teacher.locator(f"{FORM} .wrong")).to_contain_text("second language")
        teacher.fill(f"{FORM} textarea >> nth=1", "softmax 做什么？")
        for i, text in enumerate(("使和为 1", "取最大")):
            teacher.fill(f"{FORM} .second >> nth={i}", text)
        teacher.click(f"{FORM} .strong")
        expect(phone.locator(".room-question .asks")).to_have_text("What does softmax do?")
        expect(chinese.locator(".room-question .asks")).to_have_text("softmax 做什么？")
        chinese.click(".room-question .choose >> text=取最大")
        phone.click(".room-question .choose >> text=sums to 1")
        for student in (phone, chinese):
            student.click(".room-actions .strong")
        expect(teacher.locator(".room-actions .crowd")).to_have_text("2 answered")
        teacher.click(".room-actions >> text=Reveal")
        expect(phone.locator(".verdict")).to_contain_text("You were right")
        expect(chinese.locator(".verdict")).to_contain_text("Takes it for argmax.")
        expect(phone.locator(".class-answers")).to_contain_text("2 answered · 1 right")
        teacher.click("text=End the question")

        write(teacher, "Put in order", "In which order?", ["scores", "softmax", "mix"])
        teacher.uncheck(f"{FORM} >> text=In Chinese as well")
        teacher.click(f"{FORM} .strong")
        for step in ("scores", "softmax", "mix"):
            phone.click(f".room-question .choose >> text={step}")
        for step in ("mix", "softmax", "scores"):
            chinese.click(f".room-question .choose >> text={step}")
        for student in (phone, chinese):
            student.click(".room-actions .strong")
        expect(teacher.locator(".room-actions .crowd")).to_have_text("2 answered")
        teacher.click(".room-actions >> text=Reveal")
        expect(phone.locator(".verdict")).to_contain_text("You were right")
        expect(teacher.locator(".class-answers table")).to_contain_text("scores → softmax → mix")
        teacher.click("text=End the question")

        write(teacher, "An answer in words", "What surprised you?", [])
        teacher.click(f"{FORM} .strong")
        for student, text in ((phone, "heads"), (chinese, "rude words")):
            student.fill(".room-question textarea", text)
            student.click(".room-actions .strong")
        teacher.click("text=2 answers to look at")
        teacher.click(".sentences li:has-text('heads') >> text=Pick to show")
        teacher.click("text=Show those picked")
        for page in (phone, chinese):
            expect(page.locator(".picked li")).to_have_text(["heads"])

"""A teacher sets challenges: a class hands in sentences and heads, sees a gallery and votes."""

from playwright.sync_api import Page, expect

from tests.rooms.classroom_page import OpenClass
from tests.servers import AppServer

FORM = ".own-question"
SENTENCES = ["The dog sees the cat.", "A bird sings."]


def challenge(teacher: Page) -> None:
    """Open the form of a challenge."""
    teacher.click(".room-bar >> text=Ask…")
    if not teacher.locator(FORM).is_visible():
        teacher.click("text=A question of your own…")
    teacher.click(f"{FORM} .kinds >> text=A challenge")


def test_sentences_are_checked_and_shown_with_how_many_do_it(open_class: OpenClass) -> None:
    teacher, phone, laptop, _ = open_class()
    challenge(teacher)
    teacher.select_option(f"{FORM} select", "weight")
    teacher.click(f"{FORM} > .strong")
    expect(teacher.locator(f"{FORM} .wrong")).to_have_text("Write the word that it is about.")
    teacher.get_by_label("Word that is looked at").fill("cat")
    teacher.get_by_label("At least (0 to 1)").fill("0,01")
    teacher.click(f"{FORM} > .strong")
    expect(phone.locator(".asks")).to_contain_text("gives “cat” at least 0.01")
    for student, sentence in zip((phone, laptop), SENTENCES, strict=True):
        student.fill(".challenge textarea", sentence)
        student.click(".room-actions .strong")
    expect(phone.locator(".room-actions .crowd")).to_contain_text("✓ It does it.")
    expect(laptop.locator(".room-actions .crowd")).to_contain_text("“cat” is not in it.")
    expect(teacher.locator(".challenge .crowd")).to_have_text("2 works · 1 do it")
    expect(teacher.locator(".works")).to_have_count(0)  # her screen may be on the wall
    expect(teacher.get_by_text("Open the gallery")).to_have_count(0)  # of works nobody looked at
    teacher.click("text=2 works to look at")
    expect(teacher.locator(".challenge canvas:not(.pending)")).to_have_count(2)
    laptop.click("text=Look at it in the workspace")
    expect(laptop.locator("#source")).to_have_value(SENTENCES[1])
    laptop.fill("#source", "The cat sleeps well.")
    expect(laptop.locator("[data-status=ready]").first).to_be_visible()
    laptop.click(".room-bar >> text=Hand in what I see")
    expect(laptop.locator(".verdict-of")).to_contain_text("✓ It does it.")
    expect(teacher.locator(".challenge .crowd")).to_have_text("2 works · 2 do it")
    work = teacher.locator(".works li", has_text=SENTENCES[0])
    work.get_by_role("button", name="Hide from the gallery").click()
    teacher.click(".room-actions >> text=Reveal")
    expect(phone.locator(".class-answers")).to_contain_text("Works 2 · 2 do it")
    expect(phone.locator(".works .sentence")).to_have_text(["The cat sleeps well."])
    expect(laptop.locator(".works")).to_contain_text("Yours")


def test_a_gallery_is_voted_on_and_a_work_is_shown_to_everyone(
    open_class: OpenClass, live_server: AppServer
) -> None:
    teacher, second, first, code = open_class()
    challenge(teacher)
    teacher.select_option(f"{FORM} select", "any")
    teacher.fill(f"{FORM} textarea", "Find a head that finds the verb.")
    teacher.check(f"{FORM} >> text=the head")
    teacher.click(f"{FORM} > .strong")
    for student in (first, second):
        expect(student.locator(".asks")).to_have_text("Find a head that finds the verb.")
        student.click("text=Explore…")
        if student is first:
            student.fill("#source", SENTENCES[0])
        else:
            student.click(".thumbbar button >> nth=-1")
        student.click(".room-bar >> text=Hand in what I see")
        expect(student.locator(".verdict-of")).to_contain_text("Handed in.")
    first.click(".room-bar >> text=Back to the challenge")
    expect(first.locator(".room-question")).to_be_visible()
    teacher.click("text=2 works to look at")
    expect(teacher.locator(".challenge .works li")).to_have_count(2)
    teacher.click("text=Open the gallery")
    for student in (first, second):
        expect(student.locator(".challenge .works li")).to_have_count(2)
    expect(first.locator(".works .act button")).to_have_count(0)
    teacher.click("text=Let them vote")
    for student in (first, second):
        student.get_by_role("button", name="Vote for it").click()  # one is one's own
        expect(student.get_by_role("button", name="✓ Your vote")).to_be_visible()
    screen = teacher.context.new_page()
    screen.goto(f"{live_server.url}/room/{code}?screen=1")
    expect(screen.locator(".challenge .works li")).to_have_count(2)
    work = teacher.locator(".challenge .works li").first
    work.get_by_role("button", name="Show everyone…").click()
    work.get_by_role("textbox").fill("Well found!")
    teacher.keyboard.press("Enter")
    for page in (first, second, screen):
        expect(page.locator(".room-question")).to_be_hidden()
        expect(page.locator(".thanks")).to_contain_text("Well found!")
    teacher.click(".room-bar >> text=Back to yours")
    expect(first.locator(".challenge .works li")).to_have_count(2)
    teacher.click(".room-actions >> text=Reveal")
    expect(second.locator(".works .votes-of")).to_have_text(["1 vote", "1 vote"])

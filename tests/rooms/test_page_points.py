"""A teacher asks a class to point at a cell of the head that it looks at."""

from playwright.sync_api import expect

from tests.rooms.classroom_page import OpenClass
from tests.servers import AppServer

FORM = ".own-question"
RIGHT, WRONG = "[data-cell='1 3']", "[data-cell='0 1']"

ON_THE_WALL = """() => {
  const question = document.querySelector(".room-question");
  const style = (selector) => getComputedStyle(question.querySelector(selector));
  const size = (selector) => parseFloat(style(selector).fontSize);
  const tables = [...question.querySelectorAll("table")];
  const right = Math.max(...tables.map((table) => table.getBoundingClientRect().right));
  const spare = question.clientHeight - question.scrollHeight;
  return [size(".asks"), size("tbody th"), right, spare];
}"""


def test_a_class_points_at_a_cell_by_touch_and_by_keys(
    open_class: OpenClass, live_server: AppServer
) -> None:
    teacher, phone, laptop, code = open_class()
    teacher.click(".room-bar >> text=Ask…")
    teacher.click("text=A question of your own…")
    teacher.click(f"{FORM} .kinds >> text=A point on the figure")
    teacher.fill(f"{FORM} textarea", "Where is sleep translated?")
    teacher.click(f"{FORM} {RIGHT}")
    teacher.reload()  # what is being written is kept, with its cells
    teacher.click(".room-bar >> text=Ask…")
    expect(teacher.locator(f"{FORM} {RIGHT}")).to_have_attribute("aria-pressed", "true")
    teacher.click(f"{FORM} > .strong")
    for page in (teacher, phone, laptop):
        expect(page.locator(f".room-question {RIGHT}")).to_be_visible()
        assert page.locator(".room-question [data-right]").count() == 0
    phone.click(f".room-question {RIGHT}")
    laptop.focus(".room-question [tabindex='0']")
    for key in ("ArrowDown", "ArrowRight", "ArrowUp", "ArrowUp", "Enter"):
        laptop.keyboard.press(key)
    expect(laptop.locator(f".room-question {WRONG}")).to_have_attribute("aria-pressed", "true")
    for student in (phone, laptop):
        student.click(".room-actions .strong")
    expect(teacher.locator(".room-actions .crowd")).to_have_text("2 answered")
    teacher.click(".room-actions >> text=Reveal")
    for page in (teacher, phone, laptop):
        counts = page.locator(".cell-votes tbody td:not(:empty)")
        expect(counts).to_have_text(["1", "1✓"])
        expect(page.locator(".class-answers")).to_contain_text("2 answered · 1 right")
    expect(phone.locator(".verdict")).to_contain_text("You were right")
    expect(laptop.locator(".verdict")).to_contain_text("Not what you guessed")
    width = phone.evaluate("document.documentElement.scrollWidth")
    assert width <= 390
    wall = teacher.context.new_page()
    wall.set_viewport_size({"width": 1280, "height": 720})
    wall.goto(f"{live_server.url}/room/{code}?screen=1")
    expect(wall.locator(".cell-votes tbody td:not(:empty)")).to_have_text(["1", "1✓"])
    asks, row, right, spare = wall.evaluate(ON_THE_WALL)
    assert asks >= 32
    assert row >= 18
    assert right <= 1280
    assert spare >= 0  # the reveal is on one screen

"""What a teacher points at in a figure of a page with several is lit in the same figure of all."""

from itertools import pairwise

from playwright.sync_api import Browser, Page, Response, expect

from app.settings import Settings
from tests.lessons.lesson_reader import without_veils
from tests.rooms.classroom_page import reader
from tests.rooms.test_page_scenes import collection, present_here
from tests.servers import AppServer

CHANGES = Settings.model_fields["max_room_changes_per_second"].default
SENT = """performance.getEntriesByType("resource")
  .filter(({ name }) => name.endsWith("/state")).map(({ startTime }) => startTime)"""
# By lesson and figure: what is pointed at, what is lit then, and whether it is lit no longer when
# the pointer has left.
FIGURES = {
    "scores": [
        ("#figure-1", "mi[data-symbol=Q]", "[data-lit]", True),
        ("#figure-2", "[data-of=scores] td[data-at='1,2']", "[data-lit=self]", True),
    ],
    "what-a-head-does": [
        ("#figure-2", ".to button >> nth=3", ".to [aria-pressed=true]", False),
        ("#figure-1", "[data-end='key 3']", ".end.lit", True),
    ],
}
READY = "[data-live=yes]"


def shown(page: Page, figure: str) -> None:
    """Bring a figure into view, and wait until it is there."""
    page.locator(figure).evaluate("one => one.scrollIntoView({block: 'center'})")
    expect(page.locator(f"{figure} {READY}")).to_be_visible()


def test_what_is_pointed_at_in_a_lesson_is_lit_for_those_who_follow(
    browser: Browser, live_server: AppServer
) -> None:
    refused: list[int] = []

    def heard(reply: Response) -> None:
        if reply.request.method == "PUT" and not reply.ok:
            refused.append(reply.status)

    with reader(browser) as teacher, reader(browser) as student, reader(browser) as explorer:
        teacher.on("response", heard)
        without_veils(teacher)
        code = ""
        for lesson, figures in FIGURES.items():
            teacher.goto(f"{live_server.url}/learn/{lesson}")
            code = code or present_here(teacher)
            if lesson == next(iter(FIGURES)):
                student.goto(f"{live_server.url}/room/{code}")
            # From the first lesson the student's page goes to the second one by itself.
            title = teacher.locator("h1").inner_text()
            expect(student.locator("h1")).to_have_text(title)
            for figure, place, lit, leaves in figures:
                shown(teacher, figure)
                shown(student, figure)
                pointed = f"{figure} {lit}"
                before = teacher.locator(pointed).all_text_contents()
                expect(student.locator(pointed)).to_have_text(before)
                teacher.locator(f"{figure} {place}").hover()
                expect(teacher.locator(pointed)).not_to_have_text(before)
                now = teacher.locator(pointed).all_text_contents()
                expect(student.locator(pointed)).to_have_text(now)
                expect(student.locator(".room-bar")).to_have_attribute("data-mode", "following")
                if leaves:
                    teacher.mouse.move(1, 790)
                    expect(student.locator(pointed)).to_have_text(before)
        # Who comes late, and who comes back, sees it as well; who explores does not.
        explorer.goto(f"{live_server.url}/room/{code}")
        explorer.click(".room-bar >> text=Explore")
        shown(explorer, figure)
        teacher.locator(f"{figure} {place}").hover()
        expect(student.locator(pointed)).to_have_text(now)
        assert explorer.locator(pointed).all_text_contents() == before
        explorer.click(".room-bar >> text=Back to the class")
        expect(explorer.locator(pointed)).to_have_text(now)
        student.reload()
        shown(student, figure)
        expect(student.locator(pointed)).to_have_text(now)
        # A pointer sends no more than a room takes.
        ends = teacher.locator("#figure-1 [data-end^=key]").all()
        places = [box for one in ends if (box := one.bounding_box())]
        for _ in range(8):
            for box in places:
                teacher.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        expect(teacher.locator("#figure-1 .end.lit")).to_have_text(ends[-1].text_content() or "")
        last = teacher.locator("#figure-1 .end.lit").all_text_contents()
        expect(student.locator("#figure-1 .end.lit")).to_have_text(last)
        times = teacher.evaluate(SENT)
        assert len(times) > 3
        assert min(b - a for a, b in pairwise(times)) >= 1000 / CHANGES
        assert not refused


def test_what_is_pointed_at_in_a_collection_is_lit_in_its_item(
    browser: Browser, live_server: AppServer
) -> None:
    with reader(browser) as teacher, reader(browser) as student:
        teacher.goto(live_server.url + collection(live_server))
        code = present_here(teacher)
        student.goto(f"{live_server.url}/room/{code}")
        expect(student.locator("h1")).to_have_text("For the class")
        for n in (1, 2):  # both are there, in the student's page as well
            teacher.locator(f"#item-{n} .start").click()
            expect(teacher.locator(f"#item-{n} {READY}")).to_be_visible()
            student.evaluate("n => document.querySelector(`#item-${n} .start`)?.click()", n)
            expect(student.locator(f"#item-{n} {READY}")).to_be_visible()
        labels = "#item-1 .labels .lit"
        teacher.locator("#item-1 .matrix").scroll_into_view_if_needed()
        teacher.locator("#item-1 .matrix").hover(position={"x": 260, "y": 130})
        expect(teacher.locator("#item-1 .tip")).to_be_visible()
        expect(student.locator(labels)).to_have_text(teacher.locator(labels).all_text_contents())
        expect(student.locator("#item-1 .mark.cell")).to_be_visible()
        lit = "#item-2 .end.lit"
        teacher.locator("#item-2 [data-end='key 3']").hover()
        expect(teacher.locator(lit)).to_have_count(1)
        expect(student.locator(lit)).to_have_text(teacher.locator(lit).all_text_contents())

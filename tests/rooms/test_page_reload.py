"""A presenting page of figures that is loaded again goes on where the room is."""

from playwright.sync_api import Browser, Page, Response, expect

from tests.lessons.lesson_reader import without_veils
from tests.rooms.classroom_page import reader
from tests.rooms.test_page_pointing import shown
from tests.rooms.test_page_scenes import collection, present_here
from tests.servers import AppServer

LAYER = ".step-by[aria-label=Layer] output"
BAR = ".room-bar.teaching .says"
# Note every text that an element has from now on.
WATCH = """(selector) => {
  const one = document.querySelector(selector);
  window.texts = [one.textContent];
  new MutationObserver(() => window.texts.push(one.textContent))
    .observe(one, { childList: true, characterData: true, subtree: true });
}"""


def links_of(page: Page) -> list[str]:
    """List the links that a page presents from now on."""
    sent: list[str] = []

    def heard(reply: Response) -> None:
        if reply.request.method == "PUT" and reply.url.endswith("/state"):
            sent.append((reply.request.post_data_json or {})["link"])

    page.on("response", heard)
    return sent


def step(teacher: Page, student: Page, figure: str, way: str) -> str:
    """Go to the next or previous layer in a figure; return what it is once the student has it."""
    teacher.click(f"{figure} [aria-label='{way} layer']")
    layer = teacher.locator(f"{figure} {LAYER}").text_content() or ""
    expect(student.locator(f"{figure} {LAYER}")).to_have_text(layer)
    return layer


def goes_on(
    teacher: Page, student: Page, figure: str, layer: str, way: str, sent: list[str]
) -> None:
    """Check a page that is loaded again: nobody's figure jumps, and what follows is presented."""
    expect(teacher.locator(BAR)).to_be_visible()
    expect(teacher.locator(f"{figure} {LAYER}")).to_have_text(layer)
    expect(teacher.locator(figure)).to_be_in_viewport()
    now = step(teacher, student, figure, way)
    assert set(student.evaluate("window.texts")) == {layer, now}, "the figure jumped back"
    assert {one.partition("#")[2] for one in sent} == {figure[1:]}
    assert all("shows=" in one for one in sent)


def test_a_lesson_that_is_loaded_again_takes_the_rooms_figure(
    browser: Browser, live_server: AppServer
) -> None:
    lesson = f"{live_server.url}/learn/what-a-head-does"
    with reader(browser) as teacher, reader(browser) as student:
        without_veils(teacher)
        teacher.goto(lesson)
        code = present_here(teacher)
        student.goto(f"{live_server.url}/room/{code}")
        for page in (teacher, student):
            shown(page, "#figure-1")
        sent = links_of(teacher)
        for again, way, back in (
            ("reload", "Previous", "Previous"),
            ("door", "Next", "Previous"),
            ("lesson", "Next", "Previous"),
        ):
            layer = step(teacher, student, "#figure-1", way)
            student.evaluate(WATCH, f"#figure-1 {LAYER}")
            sent.clear()
            if again == "reload":
                teacher.reload()
            elif again == "door":  # after a crash
                teacher.goto(f"{live_server.url}/room")
                teacher.click("#own-rooms button")
            else:
                teacher.goto(lesson)
            goes_on(teacher, student, "#figure-1", layer, back, sent)
        # A link to a scene is presented, and not what the room had.
        teacher.goto(f"{lesson}?lang=en#question-1")
        expect(teacher.locator(BAR)).to_be_visible()
        expect(student.locator("#question-1")).to_be_in_viewport()


def test_a_collection_that_is_loaded_again_takes_the_rooms_figure(
    browser: Browser, live_server: AppServer
) -> None:
    with reader(browser) as teacher, reader(browser) as student:
        teacher.goto(live_server.url + collection(live_server))
        code = present_here(teacher)
        student.goto(f"{live_server.url}/room/{code}")
        expect(student.locator("h1")).to_have_text("For the class")
        sent = links_of(teacher)
        for slides in (False, True):
            if slides:
                teacher.evaluate("scrollTo(0, 0)")
                teacher.click("#projector")
                teacher.keyboard.press("PageDown")
                teacher.keyboard.press("PageDown")
                expect(teacher.locator(f"#item-2 {LAYER}")).to_be_visible()
            else:
                teacher.click("#item-2 .start")
            layer = step(teacher, student, "#item-2", "Next" if slides else "Previous")
            student.evaluate(WATCH, f"#item-2 {LAYER}")
            sent.clear()
            teacher.reload()
            goes_on(teacher, student, "#item-2", layer, "Previous", sent)

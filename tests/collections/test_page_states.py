"""Figures of lessons in a collection, in the states of their links."""

import re
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Browser, Page, expect

from tests.browsing.api import client
from tests.browsing.watch import Watch
from tests.collections.collecting_page import collection, paste, save
from tests.lessons.lesson_reader import without_veils
from tests.rooms.classroom_page import code_of, reader
from tests.servers import AppServer

HEAD, GLOSSES = "/learn/what-a-head-does#figure-1", "/learn/what-a-head-does#figure-2"
LENGTHS, RUN = "/learn/order#figure-6", "/learn/training#figure-1"
ZOO = "task=reverse&models=reverse,reverse-learned,reverse-relative,reverse-rotary,reverse-none"


def in_state(figure: str, state: str) -> str:
    path, _, fragment = figure.partition("#")
    return f"{path}?{urlencode({'shows': state})}#{fragment}"


def test_a_figure_keeps_the_state_of_its_link(
    new_page: Page, other: Page, watch: Watch, live_server: AppServer, tmp_path: Path
) -> None:
    without_veils(new_page)
    new_page.goto(f"{live_server.url}/learn/far-words?lang=en")
    figure = new_page.locator("#figure-2")
    figure.scroll_into_view_if_needed()
    figure.locator("input[name=n]").fill("700")
    figure.get_by_role("button", name="Link", exact=True).click()
    formula = figure.get_by_label("Short link").input_value()
    ours = "source=A+dog+chased+my+cat.&view=attention&block=cross&layer=2&head=0"
    glossed = "opening=1&source=I+see+a+cat.&word=2"
    links = [formula, in_state(HEAD, ours), in_state(GLOSSES, glossed)]
    links.append(in_state(LENGTHS, f"{ZOO}&length=4&seed=7"))
    none = collection(live_server)
    new_page.goto(none["edit_url"].replace("#", "?lang=en#"))
    for link in links:
        paste(new_page, link)
    field = new_page.get_by_label("Paste a link of this server")
    field.fill(in_state(HEAD, "show=why"))
    new_page.keyboard.press("Enter")
    expect(new_page.locator(".adding .problem")).to_contain_text("does not have the state")
    expect(new_page.locator("#editor .row")).to_have_count(len(links))
    save(new_page)

    other.goto(f"{none['url']}?lang=en")
    first = other.locator("#item-1")
    for n in range(1, 1 + len(links)):
        other.locator(f"#item-{n} .start").click()
    expect(first.locator("input[name=n]")).to_have_value("700")
    expect(other.locator("#item-2 .own-sentence input")).to_have_value("A dog chased my cat.")
    pressed = other.locator("#item-3 .words.to button[aria-pressed=true]")
    third = other.locator("#item-3 .words.to button").nth(2)
    expect(third).to_have_attribute("aria-pressed", "true")
    expect(pressed).to_have_count(1)
    expect(other.locator("#item-3 .words.to")).to_contain_text("猫")
    expect(other.locator("#item-4 input[type=range]")).to_have_value("2")
    answer = "#item-4 .zoo-answers tbody td:nth-child(2)"
    drawn = client.get(f"{live_server.url}/api/zoo/reverse/example?length=4&seed=7").json()
    expect(other.locator(answer).first).to_have_text(drawn["source"])
    expect(other.locator(".item :is(.problem, .remark)").filter(visible=True)).to_have_count(0)
    for n, part in enumerate(("show", "source", "opening", "task"), 1):
        other.goto(f"{none['url']}?lang=en")
        other.locator(f"#item-{n} .open").click()
        expect(other).to_have_url(re.compile(f"/learn/.*shows={part}%3D"))

    file = tmp_path / "handout.html"
    file.write_bytes(client.get(f"{none['url']}/handout.html?lang=en").content)
    watch.expect(f"request to elsewhere: {file.as_uri()}")
    new_page.goto(file.as_uri())
    expect(new_page.locator("#item-2 .sentence-of")).to_contain_text("A dog chased my cat.")
    expect(new_page.locator("#item-3 .sentence-of")).to_contain_text("猫")
    for item in ("#item-1", "#item-4"):
        expect(new_page.locator(f"{item} .remark")).to_contain_text("as it was linked")
        expect(new_page.locator(f"{item} .still table")).to_be_visible()


def test_a_room_presents_the_state_of_a_link(browser: Browser, live_server: AppServer) -> None:
    links = [
        in_state("/learn/far-words#figure-2", "show=layer-costs&f_n=700"),
        in_state(GLOSSES, "opening=1&source=I+see+a+cat.&word=2"),
        in_state(HEAD, "source=A+dog.&view=attention&block=cross&layer=2&head=0"),
    ]
    made = collection(live_server, *links)
    with reader(browser) as teacher, reader(browser) as student:
        teacher.goto(f"{made['url']}?lang=en")
        teacher.click("[data-present]")
        student.goto(f"{live_server.url}/room/{code_of(teacher)}?lang=en")
        expect(student.locator("h1")).to_have_text("Week 2")
        teacher.click("#projector")
        teacher.keyboard.press("PageDown")
        field = "#item-1 input[name=n]"
        expect(student.locator(field)).to_have_value("700")
        teacher.fill(field, "5")
        expect(student.locator(field)).to_have_value("5")
        teacher.keyboard.press("PageDown")
        word = student.locator("#item-2 .words.to button").nth(2)
        expect(word).to_have_attribute("aria-pressed", "true")
        teacher.keyboard.press("PageDown")
        for page in (teacher, student):
            sentence = page.locator("#item-3 .own-sentence input")
            expect(sentence).to_have_value("A dog.")
        expect(student.locator(field)).to_have_value("5")

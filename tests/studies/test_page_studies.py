"""Studies in real browsers: planned by an author, taken by participants, read by the author."""

import csv
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from app.lessons.inventory import inventory
from tests.browsing.api import client
from tests.browsing.axe import violations
from tests.browsing.legible import overflow
from tests.rooms.classroom_page import reader
from tests.servers import AppServer
from tests.studies.taking_part import BODY, OPTIONS, PATH

N = len(inventory().items)


def answer(page: Page, rights: int) -> None:
    """Answer the open test: so many questions right, in order, and the others wrong."""
    items = page.locator(".items .assigned")
    expect(items).to_have_count(N)
    for n, item in enumerate(items.all()):
        asks = item.locator(".asks").inner_text()
        options = item.locator("label").all()
        kinds = [OPTIONS[asks, option.inner_text().strip()] for option in options]
        place = next(i for i, kind in enumerate(kinds) if (kind == "right") == (n < rights))
        options[place].click()


def test_from_a_plan_to_gains(browser: Browser, live_server: AppServer) -> None:
    with reader(browser) as author, reader(browser, 390) as phone:
        author.goto(f"{live_server.url}/study?lang=en")
        author.fill(".making > label input", "Spring")
        author.select_option(".arm select", "/learn/masks")
        expect(author.locator(".arm .chosen li")).to_have_count(1)
        author.fill(".arm .together input", f"{live_server.url}/learn/scores#figure-1")
        author.click("text=Add the page")
        expect(author.locator(".arm .chosen li")).to_have_count(2)
        author.select_option(".making > label select", "7")
        author.click("text=Create the study")
        expect(author.locator(".owning .count")).to_have_text("0 participants have begun")
        assert author.url.endswith("#results")
        author.click("text=Link for participants")
        link = author.input_value(".short-link input")

        phone.goto(f"{link}?lang=en")
        expect(phone.locator("#owner")).to_be_hidden()
        phone.click("text=Begin the first test")
        answer(phone, 4)
        phone.reload()
        expect(phone.locator(".progress")).to_contain_text(f"{N} of {N} answered")
        phone.click("text=Send all answers")
        expect(phone.locator(".reading a")).to_have_count(2)
        assert "/learn/masks?lang=en" in (phone.get_attribute(".reading a >> nth=0", "href") or "")
        phone.reload()
        phone.click("text=begin the second test")
        answer(phone, 10)
        phone.click("text=Send all answers")
        expect(phone.locator(".study-step h2")).to_have_text("Thank you. One test is left.")
        phone.click("text=Link for later")
        personal = phone.input_value(".short-link input")

        with reader(browser) as elsewhere:
            elsewhere.goto(personal.replace("#", "?lang=en#"))
            expect(elsewhere.locator(".study-step h2")).to_have_text("Thank you. One test is left.")
            assert "me=" not in elsewhere.url

        row = author.locator(".arms tbody tr td")
        expect(row.nth(1)).to_have_text("1", timeout=15_000)  # both tests
        expect(row.nth(4)).to_have_text("+0.38")
        expect(row.nth(5)).to_have_text("0.50")
        expect(author.locator(".items .dumbbell")).to_have_count(N)
        with author.expect_download() as download:
            author.click("text=Download the answers")
        text = Path(download.value.path()).read_text("utf-8-sig")
        rights = [row["right"] for row in csv.DictReader(text.splitlines())]
        assert (len(rights), rights.count("yes")) == (2 * N, 14)


def test_the_authors_link_works_elsewhere_and_deletes(
    browser: Browser, live_server: AppServer
) -> None:
    study = client.post(f"{live_server.url}{PATH}", json=BODY).json()
    with reader(browser) as other, reader(browser) as stranger:
        other.goto(study["owner_url"])
        expect(other.locator(".owning .count")).to_have_text("0 participants have begun")
        assert study["key"] not in other.url
        stranger.goto(f"{study['url']}#key=wrong")
        expect(stranger.locator(".owning .problem")).to_contain_text("not the key")
        other.click("text=Delete…")
        other.click("text=Delete it")
        expect(other.locator("#sheet")).to_contain_text("deleted")
        assert other.goto(study["url"]).status == 404  # type: ignore[union-attr]


def test_anyone_can_plan_take_and_read_one(browser: Browser, live_server: AppServer) -> None:
    lang, width = "zh", 320
    body = {**BODY, "arms": BODY["arms"][:1]}
    study = client.post(f"{live_server.url}{PATH}", json=body).json()
    with reader(browser, width) as page:
        page.emulate_media(color_scheme="dark", reduced_motion="reduce")
        wrong: list[str] = []

        def check(what: str) -> None:
            wrong.extend(f"{what}: {found}" for found in violations(page))
            if wide := overflow(page, width):
                wrong.append(f"{what}: {wide} px too wide")

        page.goto(f"{live_server.url}/study?lang={lang}")
        expect(page.locator(".arm")).to_have_count(1)
        check("new")
        page.goto(f"{live_server.url}/study/inventory?lang={lang}")
        check("inventory")
        page.goto(f"{study['url']}?lang={lang}")
        check("welcome")
        page.click(".study-step .strong")
        expect(page.locator(".items .assigned")).to_have_count(N)
        check("test")
        page.locator(".items label").first.click()
        page.click(".sending .strong")
        check("incomplete")
        page.click(".sending .quiet")
        expect(page.locator(".reading a")).to_have_count(2)
        check("reading")
        page.click(".study-step .strong")
        expect(page.locator(".items .assigned")).to_have_count(N)
        page.click(".sending .strong")
        page.click(".sending .quiet")
        expect(page.locator(".study-step .strong")).to_be_visible()
        page.goto(f"{study['url']}?lang={lang}#key={study['key']}")
        expect(page.locator(".items .dumbbell")).to_have_count(N)
        check("results")
    assert not wrong, "\n".join(wrong)

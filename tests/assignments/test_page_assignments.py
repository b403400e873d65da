"""Assignments in real browsers: made by an author, answered by students, read by the author."""

import csv
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, Route, expect

from tests.browsing import api
from tests.browsing.api import client
from tests.browsing.axe import violations
from tests.browsing.legible import overflow
from tests.rooms.classroom_page import reader
from tests.servers import AppServer

SENTENCE = "She bought a blue book yesterday."
PLACE = {"view": "attention", "block": "cross", "layer": 2, "head": 0, "query": 1}
LINK = f"source={SENTENCE.replace(' ', '+')}&block=cross&layer=2&head=0&query=1"
LOOKS = {"entry": "choice", "ask": {"kind": "looks", "link": LINK, "words": "Which word?"}}
OFF = {"entry": "choice", "ask": {"kind": "off", "link": LINK}}
ROW = {
    "entry": "numbers",
    "ask": {
        "kind": "row",
        "page": "lab",
        "step": "weights",
        "row": 1,
        "link": "tokens=a%0Ab&x=1_0*0_1&w_q=0_0*0_0&w_k=1_0*0_1&w_v=1_0*0_1",
    },
}


def best(server: AppServer) -> int:
    """Return the token to which the head of `LOOKS` gives the largest weight, from the API."""
    found = api.tensors(server.url, "decoder.2.cross.weights", source=SENTENCE)
    return int(found["decoder.2.cross.weights"][0, 1].argmax())


def made(server: AppServer, *questions: dict[str, Any], **more: Any) -> dict[str, str]:
    body = {"title": "Week 3", "questions": questions, **more}
    reply = client.post(f"{server.url}/api/assignments", json=body)
    assert reply.status_code == 201, reply.text
    one: dict[str, str] = reply.json()
    return one


def downloaded(page: Page, words: str) -> list[dict[str, str]]:
    with page.expect_download() as download:
        page.click(f"text={words}")
    return list(csv.DictReader(Path(download.value.path()).read_text("utf-8-sig").splitlines()))


def test_from_a_lesson_and_a_share_to_a_table_of_answers(
    browser: Browser, live_server: AppServer
) -> None:
    body = {"state": {"source": SENTENCE, **PLACE}, "about": {"predict": "looks"}}
    share = client.post(f"{live_server.url}/api/shares", json=body).json()
    right = best(live_server)
    with reader(browser) as author, reader(browser, 390) as phone, reader(browser) as wide:
        author.goto(f"{live_server.url}/a?lang=en")
        author.select_option("#taken", "/learn/scores")
        expect(author.locator(".chosen > li")).to_have_count(4)
        for number in (4, 3, 2):
            author.click(f"[aria-label='Leave out question {number}']")
        expect(author.locator(".chosen > li")).to_have_count(1)
        author.fill(".adding input", share["url"])
        author.keyboard.press("Enter")
        expect(author.locator(".chosen > li")).to_have_count(2)
        expect(author.locator(".chosen > li").nth(1)).to_contain_text(SENTENCE)
        author.fill(".making input[type=text]", "Week 3")
        author.check("text=Ask for a nickname")
        author.click("text=Create the assignment")
        expect(author.locator(".owning .count")).to_have_text("0 students have answered")
        assert author.url.endswith("#answers")
        author.click("text=Link for students")
        link = author.input_value(".short-link input")

        for page in (phone, wide):
            page.goto(link)
            expect(page.locator("#owner")).to_be_hidden()
            expect(page.locator(".assigned")).to_have_count(2)
        for field, text in zip(
            phone.locator(".fill input").all(), ("0", "1/2", "０．５"), strict=True
        ):
            field.fill(text)
        phone.locator(".choose").nth(right).click()
        phone.fill(".nickname input", "Mei")
        expect(phone.locator(".progress")).to_contain_text("2 of 2 answered")
        phone.reload()
        expect(phone.locator(".progress")).to_contain_text("2 of 2 answered")
        expect(phone.locator(".verdict").first).to_be_empty()
        phone.click("text=Send all answers")
        expect(phone.locator(".progress")).to_contain_text("All answers are sent. · 2 of 2 right")
        assert [row["answer"] for row in downloaded(phone, "Download my answers")] == [
            "0 0.5 0.5",
            str(right),
        ]
        phone.reload()
        expect(phone.locator(".progress")).to_contain_text("2 of 2 right")

        wrong = wide.locator(".choose").nth((right + 1) % 7)
        wrong.focus()
        wide.keyboard.press("Enter")
        wide.click("text=Send all answers")
        expect(wide.locator(".sending [role=alert]")).to_contain_text("One question has no answer")
        wide.click("text=Go to the next open question")
        expect(wide.locator("#asks-1")).to_be_focused()
        wide.click("text=Send all answers")
        wide.click("text=Send anyway")
        expect(wide.locator(".progress")).to_contain_text("0 of 1 right")
        expect(wide.locator(".choose").nth(right)).to_have_attribute("data-right", "true")

        expect(author.locator(".owning .count")).to_have_text("2 students have answered")
        answered = author.locator(".class-answers")
        expect(answered.nth(0)).to_have_text("1 answered · 1 right")
        expect(answered.nth(1)).to_have_text("2 answered · 1 right")
        chosen = author.locator(".choose[data-right=true]", has_text="yesterday")
        expect(chosen.locator(".tally")).to_have_text("chosen by 1")
        table = downloaded(author, "Download the answers")
        assert [(row["question"], row["nickname"], row["right"]) for row in table] == [
            ("1", "Mei", "yes"),
            ("2", "Mei", "yes"),
            ("2", "", "no"),
        ]


def test_each_answer_is_sent_before_the_model_answers(
    browser: Browser, live_server: AppServer
) -> None:
    one = made(live_server, LOOKS, ROW, reveal="each")
    with reader(browser) as student:
        student.goto(one["url"])
        expect(student.locator(".assigned")).to_have_count(2)
        first, second = student.locator(".assigned").all()
        first.locator(".choose").nth(best(live_server)).click()
        sent: list[Any] = []

        def refuse(route: Route) -> None:
            sent.append((route.request.post_data_json or {})["answers"])
            route.abort()

        student.route("**/answers", refuse)
        first.get_by_role("button", name="Send this answer").click()
        expect(student.locator(".sending .problem")).to_be_visible()
        expect(first.locator(".verdict")).to_be_empty()
        student.unroute("**/answers")
        for field in second.locator("input").all():
            field.fill("0.5")
        first.get_by_role("button", name="Send this answer").click()
        expect(first.locator(".verdict")).to_contain_text("You were right")
        expect(first.locator(".choose").first).to_be_disabled()
        assert sent[0][1] is None  # what is not sent yet stays here
        expect(second.locator(".verdict")).to_be_empty()
        second.get_by_role("button", name="Send this answer").click()
        expect(student.locator(".progress")).to_contain_text("2 of 2 right")


def test_a_stated_number_is_told_once_it_is_revealed(
    browser: Browser, live_server: AppServer
) -> None:
    asks = [{"kind": "number", "link": "", "words": f"{n}?", "value": n} for n in (12.5, 3)]
    questions = [{"entry": "numbers", "ask": ask} for ask in asks]
    told: list[str] = []
    with reader(browser) as student, reader(browser) as author:
        for reveal in ("each", "end"):
            one = made(live_server, *questions, reveal=reveal)
            with student.expect_response(f"**/api/assignments/{one['id']}") as read:
                student.goto(one["url"])
            told.append(read.value.text())
            first, second = (student.locator(".assigned").nth(n) for n in range(2))
            first.locator("input").fill("12.5")
            second.locator("input").fill("2")
            if reveal == "each":
                first.get_by_role("button", name="Send this answer").click()
                expect(first.locator(".verdict")).to_contain_text("You were right")
                expect(second.locator(".verdict")).to_be_empty()
                second.get_by_role("button", name="Send this answer").click()
            else:
                student.click("text=Send all answers")
            expect(second.locator(".truth")).to_contain_text("3")
            expect(student.locator(".progress")).to_contain_text("1 of 2 right")
        student.reload()
        expect(student.locator(".progress")).to_contain_text("1 of 2 right")
        author.goto(one["owner_url"])
        expect(author.locator(".truth").first).to_contain_text("12.5")
    assert "value" not in str(told)
    assert "12.5?" in told[0]


def test_the_authors_link_works_elsewhere_and_deletes(
    browser: Browser, live_server: AppServer
) -> None:
    one = made(live_server, LOOKS)
    with reader(browser) as other, reader(browser) as stranger:
        other.goto(one["owner_url"])
        expect(other.locator(".owning .count")).to_have_text("0 students have answered")
        assert one["key"] not in other.url
        other.goto(f"{live_server.url}/a?lang=en")
        expect(other.locator("#mine-list .name")).to_have_text("Week 3")
        stranger.goto(f"{one['url']}#key=wrong")
        expect(stranger.locator(".owning .problem")).to_contain_text("not the key")
        other.click("#mine-list .name")
        other.click("text=Delete…")
        other.click("text=Delete it")
        expect(other.locator("#sheet")).to_contain_text("deleted")
        assert other.goto(one["url"]).status == 404  # type: ignore[union-attr]
        other.goto(f"{live_server.url}/a")
        expect(other.locator("#mine")).to_be_hidden()


def test_the_author_sees_each_row_that_was_drawn_and_nothing_to_answer(
    browser: Browser, live_server: AppServer
) -> None:
    drawn = {"entry": "shares", "ask": {"kind": "row", "link": LINK}}
    text = {"entry": "text", "ask": {"kind": "sentence", "link": ""}}
    near, far = ([str(int(n == at)) for n in range(8)] for at in (best(live_server), 7))
    truth = {"numbers": [float(one) for one in near]}
    one = made(live_server, {**drawn, "truth": truth}, {**ROW, "truth": {"numbers": [0.5]}}, text)
    for n, row in enumerate((far, near, far)):
        body = {"member": f"member-{n}", "answers": [row, ["0.5"], ["Birds sing."]]}
        url = f"{live_server.url}/api/assignments/{one['id']}/answers"
        assert client.post(url, json=body).status_code == 204
    with reader(browser) as author:
        author.goto(one["owner_url"])
        rows = author.locator(".class-rows tbody tr")
        expect(rows).to_have_count(2 + 3)  # of the model, of the class, and of each student
        apart = author.locator("tbody .apart").all_text_contents()[2:]
        assert apart[0] in ("0.00", "<0.01")  # the nearest first
        assert float(apart[1]) == float(apart[2]) > 0.5
        for item in author.locator(".assigned").all():
            item.scroll_into_view_if_needed()
        expect(author.locator(".fill .truth").first).to_be_visible()
        for field in author.locator(".assigned :is(input, textarea)").all():
            expect(field).to_be_hidden()


def test_anyone_can_make_and_answer_one(browser: Browser, live_server: AppServer) -> None:
    lang, width = "zh", 320
    one = made(live_server, LOOKS, OFF, ROW, nicknames=True, note="Guess first.")
    with reader(browser, width) as page:
        page.emulate_media(color_scheme="dark", reduced_motion="reduce")
        wrong: list[str] = []

        def check(what: str) -> None:
            wrong.extend(f"{what}: {found}" for found in violations(page))
            if wide := overflow(page, width):
                wrong.append(f"{what}: {wide} px too wide")

        page.goto(f"{live_server.url}/a?lang={lang}&of=/learn/many-heads")
        expect(page.locator(".chosen .meta").filter(has_text=SENTENCE)).not_to_have_count(0)
        check("new")
        page.goto(f"{one['url']}?lang={lang}")
        expect(page.locator(".assigned")).to_have_count(3)
        for item in page.locator(".assigned").all():
            item.scroll_into_view_if_needed()
            expect(item.locator(".asks")).not_to_be_empty()
            expect(item.locator(".choose, .fill input").first).to_be_visible()
        check("asked")
        page.locator(".assigned").nth(0).locator(".choose").nth(0).click()
        page.click(".sending .strong")
        check("incomplete")
        page.click(".sending .quiet")
        expect(page.locator(".choose .number").nth(6)).to_be_visible()
        check("revealed")
        page.goto(f"{one['url']}?lang={lang}#key={one['key']}")
        expect(page.locator(".choose .tally").first).to_be_attached()
        page.click(".owning .strong")
        check("answers")
    assert not wrong, "\n".join(wrong)


def test_a_challenge_is_tried_until_it_does_it_and_is_kept_across_a_reload(
    browser: Browser, live_server: AppServer
) -> None:
    link = "source=The+cat+sleeps.&block=encoder&layer=1&head=2"
    goal = {"kind": "weight", "key": "cat", "least": 0.01}
    typed = {"entry": "work", "ask": {"kind": "does", "link": link, "goal": goal}}
    any_head = {**goal, "free": ["head"]}
    found = {"entry": "work", "ask": {"kind": "does", "link": link, "goal": any_head}}
    one = made(live_server, typed, found)
    with reader(browser, 390) as student, reader(browser) as author:
        student.goto(one["url"])
        first, second = (student.locator(f"#question-{n}") for n in (1, 2))
        expect(first.locator(".asks")).to_contain_text("gives “cat” at least 0.01")
        first.locator("textarea").fill("A bird sings.")
        first.get_by_role("button", name="Try it").click()
        expect(first.locator(".says")).to_contain_text("“cat” is not in it.")
        first.locator("textarea").fill("My cat sings.")
        first.get_by_role("button", name="Try it").click()
        expect(first.locator(".says")).to_contain_text("✓ It does it.")
        expect(second).to_contain_text("You choose: the head.")
        second.locator("input").fill("nothing")
        second.get_by_role("button", name="Try it").click()
        expect(second.locator(".problem")).to_contain_text("Paste the link")
        second.locator("input").fill(f"{live_server.url}/?source=Ignored&block=encoder&head=1")
        second.get_by_role("button", name="Try it").click()
        expect(second.locator(".says")).to_contain_text("✓ It does it.")
        student.reload()
        expect(first.locator("textarea")).to_have_value("My cat sings.")
        student.click("text=Send all answers")
        expect(student.locator(".sending .progress")).to_contain_text("2 of 2 right")
        assert not overflow(student, 390)
        assert not violations(student)
        author.goto(one["owner_url"])
        expect(author.locator("#question-1 .class-answers")).to_contain_text("1 answered · 1 right")
        rows = downloaded(author, "Download the answers")
        assert [row["right"] for row in rows] == ["yes", "yes"]
        assert rows[0]["answer"] == "My cat sings."

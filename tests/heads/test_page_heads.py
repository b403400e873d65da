"""The pages about heads over many sentences: the scatter, examples and the search."""

import re

from playwright.sync_api import FilePayload, Page, expect

from tests.browsing.axe import violations
from tests.browsing.watch import Watch
from tests.servers import AppServer
from tests.shipped_head_counts import IN_ALL


def test_a_point_of_the_scatter_is_a_head(page: Page, live_server: AppServer) -> None:
    page.goto(f"{live_server.url}/heads/en-zh")
    expect(page.locator("#scatter .scatterlayer .point")).to_have_count(IN_ALL)
    page.get_by_label("Horizontal axis").select_option("distance")
    # Between two texts there is no distance.
    expect(page.locator("#scatter .scatterlayer .point")).to_have_count(48)
    assert "x=distance" in page.url
    page.reload()
    expect(page.locator("#scatter .scatterlayer .point")).to_have_count(48)
    expect(page.locator("#language")).to_have_attribute("href", re.compile("x=distance"))
    assert violations(page) == []


def test_a_search_is_in_the_address_and_its_sentence_opens_in_the_workspace(
    page: Page, live_server: AppServer, watch: Watch
) -> None:
    address = f"{live_server.url}/heads/en-zh/encoder.1.self/1"
    page.goto(address)
    expect(page.locator("#found button")).to_have_count(11)
    page.get_by_label("From").fill("cat")
    page.get_by_label("weight at least").fill("0.1")
    page.get_by_role("button", name="Search").click()
    expect(page.locator("#found .from").first).to_have_text("cat")
    found = page.locator("#found-says").inner_text()
    assert "query=cat" in page.url
    assert "weight=0.1" in page.url
    expect(page.locator("#language")).to_have_attribute("href", re.compile("query=cat.*lang=zh"))
    page.reload()
    expect(page.locator("#found-says")).to_have_text(found)
    expect(page.get_by_label("From")).to_have_value("cat")
    page.get_by_label("From").fill("nosuchword")
    page.get_by_role("button", name="Search").click()
    expect(page.locator("#found-says")).to_have_text("No row of this head matches.")
    expect(page.locator("#figure")).to_be_hidden()
    expect(page.locator("#caption")).to_be_hidden()
    page.go_back()
    expect(page.locator("#found-says")).to_have_text(found)
    expect(page.locator("#figure [data-drawn]")).to_be_visible()
    page.go_back()
    expect(page.locator("#found button")).to_have_count(11)
    expect(page.get_by_label("From")).to_have_value("")
    expect(page.locator("#figure [data-drawn]")).to_be_visible()
    page.get_by_label("From").fill("cat")
    page.get_by_role("button", name="Search").click()
    expect(page.locator("#found .from").first).to_have_text("cat")
    expect(page.locator("#caption")).to_contain_text("cat")
    assert violations(page) == []
    page.get_by_role("link", name="Open in the workspace").click()
    expect(page).to_have_url(re.compile("head=1.*query=2"))
    expect(page.locator("#caption")).to_contain_text("cat")


def test_a_search_that_cannot_be_and_what_cannot_be_loaded_say_why(
    page: Page, live_server: AppServer, watch: Watch
) -> None:
    for asked in ["weight=7", "distance=far", "pattern=nosuch"]:
        watch.expect("status of 4")
        page.goto(f"{live_server.url}/heads/en-zh/encoder.1.self/1?{asked}")
        problem = page.locator(".problem:visible")
        expect(problem).to_contain_text(asked.split("=")[0])
        expect(page.locator("#figure")).to_be_hidden()
    watch.expect("net::ERR_FAILED")
    page.route("**/api/models", lambda route: route.abort())
    page.goto(f"{live_server.url}/heads/en-zh/encoder.1.self/1")
    expect(page.locator(".problem:visible")).to_contain_text("cannot be reached")
    page.unroute_all()
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#found button")).to_have_count(11)
    page.route("**/api/trace", lambda route: route.abort())
    page.locator("#found button").nth(3).click()
    expect(page.locator(".problem:visible")).to_contain_text("cannot be reached")


def test_a_text_of_the_readers(page: Page, live_server: AppServer, watch: Watch) -> None:
    page.goto(f"{live_server.url}/heads/en-zh")
    page.get_by_text("Your own text").click()
    page.get_by_label("Text", exact=True).fill("word " * 390)
    page.get_by_role("button", name="Measure the heads").click()
    alert = page.get_by_role("alert").filter(visible=True)
    expect(alert).to_contain_text("can read none of these sentences")
    expect(page.get_by_role("button", name="Measure the heads")).to_be_enabled()
    assert violations(page) == []
    watch.expect("422")
    page.get_by_label("Text", exact=True).fill("a\n" * 1001)
    page.get_by_role("button", name="Measure the heads").click()
    expect(alert).to_contain_text("1001 sentences; at most 1000")
    sentences = "Two dogs run fast. I see the dogs! 我看见狗。狗在哪里？"
    file = FilePayload(name="dogs.txt", mimeType="text/plain", buffer=sentences.encode())
    page.get_by_label("or a file of text").set_input_files(file)
    expect(page.get_by_label("Text", exact=True)).to_have_value(sentences)
    page.locator("[name=split]").select_option("sentences")
    page.get_by_role("button", name="Measure the heads").click()
    expect(page.locator("#text-progress")).to_be_visible()
    page.wait_for_url("**corpus=*", timeout=60_000)
    expect(page.get_by_text("Measured over 4 sentences (dogs.txt)")).to_be_visible()
    expect(page.locator("#scatter .scatterlayer .point")).to_have_count(IN_ALL)
    page.get_by_label("Horizontal axis").select_option("largest")
    link = page.url
    assert "corpus=" in link
    assert "x=largest" in link
    expect(page.locator("#language")).to_have_attribute("href", re.compile("corpus="))
    assert violations(page) == []

    page.locator("#table tbody a").first.click()
    expect(page.locator("#found button")).to_have_count(4)
    page.get_by_label("From").fill("dogs")
    page.get_by_role("button", name="Search").click()
    expect(page.locator("#found-says")).to_contain_text("in 2 of 4 sentences")
    expect(page.locator("#figure [data-drawn]")).to_be_visible()
    assert violations(page) == []

    page.goto(link)
    page.get_by_role("button", name="Delete the text").click()
    expect(page.get_by_text("Measured over 600 sentences")).to_be_visible()
    watch.expect("404")
    page.goto(link)
    expect(page.get_by_role("heading")).to_have_text("This text is not here any more")
    page.get_by_role("link", name="Show the model’s own sentences").click()
    expect(page.get_by_text("Measured over 600 sentences")).to_be_visible()

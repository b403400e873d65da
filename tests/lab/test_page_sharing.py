"""What leaves the lab: shares, frames and files."""

import json
import re
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, expect

from tests.browsing.watch import Watch
from tests.browsing.workspace import share
from tests.lab.by_hand import FINDING, OWN, Lab


def test_its_link_is_shown_as_a_code(lab: Lab) -> None:
    lab.open()
    lab.page.locator("#more").click()
    lab.page.locator("#qr-open").click()
    expect(lab.page.locator("#qr-link")).to_have_text(re.compile(r"/s/\w{13}$"))
    picture = lab.page.locator("#qr-picture")
    assert picture.evaluate("(image) => image.decode().then(() => image.naturalWidth)") > 0
    lab.page.keyboard.press("Escape")
    expect(lab.page.locator("#qr")).to_be_hidden()
    expect(lab.page.locator("#more")).to_be_focused()


def test_a_share_opens_on_what_was_seen_and_a_change_leaves_it(
    lab: Lab, context: BrowserContext
) -> None:
    lab.open()
    lab.page.get_by_label("Example").select_option("shuffle")
    lab.cell("w_v", 0, 0).fill("1/3")
    lab.expect_row("Value vectors", 0, ["0.3333", "1", "1"])
    url = share(lab.page)
    assert "/s/" in url
    code = lab.page.locator("#embed-code").input_value()
    assert 'title="Headlight: Attention by hand"' in code
    asked: list[str] = []
    lab.page.on("request", lambda one: asked.append(urlsplit(one.url).path))
    lab.page.goto(f"{url}?lang=en")
    lab.expect_row("Value vectors", 0, ["0.3333", "1", "1"])
    expect(lab.cell("w_v", 0, 0)).to_have_value("1/3")
    expect(lab.page.locator(FINDING)).to_contain_text("each has the same output as before")
    expect(lab.page.locator("#frozen")).to_be_visible()
    assert "/api/lab" not in asked  # the frozen steps are shown
    assert urlsplit(lab.page.url).path == urlsplit(url).path
    lab.cell("x", 0, 0).fill("5")
    lab.expect_row("Query vectors", 0, ["5", "1", "1"])
    expect(lab.page.locator("#frozen")).to_be_hidden()
    assert urlsplit(lab.page.url).path == "/lab"
    lab.page.goto(url)
    lab.expect_row("Query vectors", 0, ["1", "1", "1"])
    lab.page.goto(url.replace("/s/", "/embed/"))
    lab.expect_row("Query vectors", 0, ["1", "1", "1"])
    expect(lab.page.locator(".lab-choices")).to_have_count(0)
    lab.cell("x", 0, 0).fill("4")
    lab.expect_row("Query vectors", 0, ["4", "1", "1"])
    link = lab.page.get_by_role("link", name=re.compile("Attention by hand"))
    expect(link).to_have_attribute("href", re.compile(r"^/s/\w{13}\?lang=en$"))


def test_exported_files(lab: Lab, watch: Watch, tmp_path: Path) -> None:
    watch.expect(r"request to elsewhere: file://.*/headlight-by-hand\.html$")
    lab.open("?lang=en")
    lab.page.get_by_role("button", name="Hide Weights as an exercise").click()
    saved = {}
    for kind in ("CSV", "LaTeX", "JSON", "HTML"):
        panel = lab.page.locator("#export-panel")
        if panel.is_hidden():
            lab.page.get_by_role("button", name="Export").click()
        with lab.page.expect_download() as download:
            panel.get_by_role("button", name=re.compile(f"^{kind} ")).click()
        saved[kind] = tmp_path / download.value.suggested_filename
        download.value.save_as(saved[kind])
    assert saved["CSV"].read_text("utf-8-sig").startswith("tensor,head,query,query_token,key")
    assert r"\[ A = \mathrm{softmax} ( S ) \]" in saved["LaTeX"].read_text()
    assert json.loads(saved["JSON"].read_text())["steps"]["mix"]
    lab.page.goto(saved["HTML"].as_uri())  # from disk, without a server
    step = lab.step("Weights")
    step.get_by_role("textbox").first.fill("0.47")
    expect(step.locator("[data-verdict=right]")).to_have_count(1)
    step.get_by_role("button", name="Reveal").click()
    lab.expect_row("Weights", 0, [f"{OWN:.4f}", f"{(1 - OWN) / 2:.4f}", f"{(1 - OWN) / 2:.4f}"])
    lab.step("Scores").locator("td[data-at='1,1']").hover()
    expect(lab.page.locator(".arithmetic")).to_contain_text("= 0.5773502692")
    expect(lab.cell("x", 0, 0)).not_to_be_editable()

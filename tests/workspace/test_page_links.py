"""Links reproduce the screen: the address bar, the history, and frozen shares."""

import json
from urllib.parse import parse_qs, parse_qsl, urlsplit

import numpy as np
import pytest
from playwright.sync_api import Page, Route, expect

from tests.browsing.api import client
from tests.browsing.workspace import Workspace

PLACE = {"target": "猫坐着。", "block": "cross", "layer": 1, "head": 4}


@pytest.mark.parametrize("sentence", ["Is 🐱 a <eos> “cat”?", "%41 %zz; a  b & c #1 = a+b?"])
def test_any_sentence_is_in_its_link(workspace: Workspace, sentence: str) -> None:
    workspace.open(source="The cat sits.", **PLACE)
    workspace.find("#source").fill(sentence)
    workspace.find("#source").press("Enter")
    workspace.says(sentence)
    workspace.drawn()
    workspace.page.reload()
    workspace.drawn()
    expect(workspace.find("#source")).to_have_value(sentence)
    assert parse_qs(urlsplit(workspace.page.url).query)["source"] == [sentence]


def test_reloading_shows_the_same_numbers(workspace: Workspace) -> None:
    workspace.open(source="The cat sits.", **PLACE)
    workspace.page.mouse.click(*workspace.cell(2, 1))
    workspace.find("#heads label").nth(6).click()
    before, link = workspace.figure()[0], workspace.link
    assert (link["query"], link["key"], link["head"]) == ("2", "1", "6")
    caption = workspace.find("#caption").inner_text()
    workspace.page.mouse.move(0, 0)
    workspace.page.reload()
    workspace.drawn()
    np.testing.assert_allclose(workspace.figure()[0], before, atol=1e-5)
    assert workspace.link == link
    assert workspace.find("#caption").inner_text() == caption


def test_back_and_forward_walk_through_pins_and_examples(workspace: Workspace, page: Page) -> None:
    workspace.open(source="The cat sits.", **PLACE)
    workspace.page.mouse.click(*workspace.cell(1, 1))
    workspace.page.mouse.click(*workspace.cell(3, 2))
    workspace.page.go_back()
    assert (workspace.link["query"], workspace.link["key"]) == ("1", "1")
    workspace.page.mouse.move(0, 0)
    expect(workspace.find("#row .here")).to_have_count(1)
    workspace.page.go_back()
    assert "query" not in workspace.link
    workspace.page.go_forward()
    workspace.page.go_forward()
    assert (workspace.link["query"], workspace.link["key"]) == ("3", "2")
    expect(workspace.find("#unpin")).to_be_enabled()
    workspace.open(source="The cat sits.", **PLACE)
    length = workspace.page.evaluate("history.length")
    for head in (0, 1, 2):
        workspace.find("#heads label").nth(head).click()
    assert workspace.page.evaluate("history.length") == length
    assert workspace.link["head"] == "2"
    workspace.example(-1)
    workspace.drawn()
    page.go_back()
    expect(workspace.find("#source")).to_have_value("The cat sits.")


def test_a_link_says_what_it_shows_until_the_first_step(workspace: Workspace) -> None:
    said = "A link: layer 2, head 5 of an English–Chinese Transformer."
    purpose = "Type a sentence, see what every attention head sees."
    workspace.load(source="The cat sits.", **PLACE)
    expect(workspace.find(".tagline")).to_have_text(said)
    workspace.find("#heads label").nth(6).click()
    expect(workspace.find(".tagline")).to_have_text(purpose)
    workspace.load(source="The cat sits.", view="training", lang="zh")
    expect(workspace.find(".tagline")).to_have_text("链接：一个英汉翻译 Transformer。")
    workspace.page.reload()
    workspace.drawn()
    expect(workspace.find(".tagline")).not_to_contain_text("链接")


def test_on_a_phone_a_link_opens_with_its_sheet_closed(workspace: Workspace) -> None:
    workspace.page.set_viewport_size({"width": 390, "height": 844})
    workspace.load(source="The cat sits.", **PLACE, query=1, key=2)
    expect(workspace.find(".tagline")).to_be_visible()
    expect(workspace.find("#pair-title")).to_be_visible()
    expect(workspace.find("#working")).to_be_hidden()
    last = workspace.boxes("#view .labels.rows .label")[-1]
    [sheet] = workspace.boxes("#inspector")
    assert last["y"] + last["height"] < sheet["y"], "the whole figure is above the sheet"
    workspace.find("#pair-open").click()
    expect(workspace.find("#working")).to_be_visible()
    expect(workspace.find("#pair-open")).to_be_hidden()
    expect(workspace.find(".tagline")).to_be_hidden()


def test_share_opens_the_same_for_someone_else(workspace: Workspace) -> None:
    workspace.open(source="The cat sits.", **PLACE)
    workspace.page.mouse.click(*workspace.cell(2, 1))
    workspace.page.mouse.move(0, 0)
    seen, caption = workspace.figure()[0], workspace.find("#caption").inner_text()
    weight = workspace.find("#working").inner_text()
    url = workspace.share()

    workspace.page.goto(url)
    workspace.drawn()
    np.testing.assert_allclose(workspace.figure()[0], seen, atol=1e-6)
    assert workspace.find("#caption").inner_text() == caption
    assert workspace.find("#working").inner_text() == weight
    expect(workspace.find("#frozen-says")).to_contain_text("A share: layer 2, head 5")
    expect(workspace.find("#frozen-says")).to_contain_text("exactly as its author saw it")
    expect(workspace.find("#departed")).to_be_hidden()
    workspace.find("#open-live").click()
    workspace.drawn()
    assert urlsplit(workspace.page.url).path == "/"
    assert workspace.link["head"] == "4"
    expect(workspace.find("#source")).to_be_editable()


def test_a_share_whose_model_is_gone_says_so(workspace: Workspace) -> None:
    off = {"at": "decoder.1.cross", "head": 4, "do": "zero"}
    view = {"view": "whatif", "effect": "tokens", "interventions": json.dumps([off])}
    workspace.open(source="The cat sits.", **PLACE, **view)
    rows = workspace.find(".token-changes tbody tr")
    workspace.settled()
    seen = rows.all_inner_texts()
    url = workspace.share()
    models = client.get(f"{workspace.url}/api/models").json()
    others = [{**model, "digest": "another"} for model in models]
    workspace.page.route("**/api/models", lambda route: route.fulfill(json=others))
    for path in ("**/api/trace", "**/api/sweep", "**/api/decode", "**/parameters*"):
        workspace.page.route(path, lambda route: route.abort())
    workspace.page.goto(url)
    workspace.drawn()
    note = workspace.find(".not-frozen")
    assert seen
    assert rows.all_inner_texts() == seen
    expect(note).to_be_hidden()
    for name in ("inside", "flow", "worksheet"):
        workspace.view(name)
        expect(note).to_contain_text("its model is no longer served here")
        expect(workspace.find("#view .waiting:visible")).to_have_count(0)
    note.locator("button").click()
    expect(note).to_be_hidden()
    expect(rows.first).to_be_visible()
    assert rows.all_inner_texts() == seen
    workspace.place("encoder", 0)  # the probabilities do not depend on the place
    expect(rows.first).to_be_visible()
    assert rows.all_inner_texts() == seen
    workspace.page.get_by_text("which heads matter", exact=True).click()
    expect(workspace.find(".sweep:visible")).to_contain_text("no longer served here")
    expect(rows.first).to_be_hidden()


def test_a_share_of_nonsense_opens_on_what_is_there(workspace: Workspace) -> None:
    state = {"source": "The cat sits.", **PLACE, "view": "attention", "lang": "en"}
    made = client.post(f"{workspace.url}/api/shares", json={"state": state}).raise_for_status()
    path = urlsplit(made.json()["url"]).path
    nonsense = {"block": "nope", "layer": 99, "head": -1, "query": "x", "view": "nope", "top": "no"}

    def old(route: Route) -> None:
        """Reply as for a share stored before states were validated."""
        reply = route.fetch()
        file = reply.body()
        end = 8 + int.from_bytes(file[:8], "little")
        header = json.loads(file[8:end])
        share = json.loads(header["__metadata__"]["share"])
        share["state"] |= nonsense
        header["__metadata__"]["share"] = json.dumps(share)
        written = json.dumps(header).encode()
        body = len(written).to_bytes(8, "little") + written + file[end:]
        route.fulfill(status=200, content_type="application/octet-stream", body=body)

    workspace.page.route("**/api/shares/*", old)
    workspace.page.goto(workspace.url + path)
    workspace.drawn()
    live = workspace.find("#open-live").get_attribute("href") or ""
    opened, figure = dict(parse_qsl(urlsplit(live).query)), workspace.figure()[0]
    expect(workspace.find("#source")).to_have_value("The cat sits.")
    expect(workspace.find("#views input:checked")).to_have_value("attention")
    assert opened["layer"] == "2", "the last there is"
    workspace.load(**state | nonsense)
    assert workspace.link == opened
    np.testing.assert_allclose(workspace.figure()[0], figure, atol=1e-5)


def test_link_is_copied_over_plain_http(workspace: Workspace) -> None:
    # As in a class on a local network: without the asynchronous clipboard.
    workspace.page.add_init_script("delete Navigator.prototype.clipboard")
    workspace.load(source="The cat sits.", **PLACE)
    workspace.find("#share").click()
    expect(workspace.find("#shared-says")).to_contain_text("Copied")
    url = workspace.find("#shared-link").input_value()
    workspace.find("#shared-close").click()
    workspace.find("#source").fill("")
    workspace.find("#source").press("Control+V")
    expect(workspace.find("#source")).to_have_value(url)

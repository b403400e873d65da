"""A share is deleted where it was created, or later at its own address with its key."""

import re
from functools import partial

from playwright.sync_api import Route, expect

from tests.browsing.api import client
from tests.browsing.legible import overflow
from tests.browsing.watch import Watch
from tests.browsing.workspace import Workspace

PLACE = {"view": "attention", "block": "cross", "layer": 1, "head": 4, "lang": "en"}


def share(workspace: Workspace, **more: object) -> tuple[str, str]:
    """Share the current state; return the link and the edit key that the page shows."""
    workspace.open(source="The cat sits.", **PLACE | more)
    workspace.share()
    workspace.find("#deleting summary").click()
    key = workspace.find("#edit-key")
    expect(key).to_have_value(re.compile(r"^\w{26}$"))
    expect(key).to_have_attribute("readonly", "")
    return workspace.find("#shared-link").input_value(), key.input_value()


def test_a_share_is_deleted_where_it_was_made(workspace: Workspace) -> None:
    url, _ = share(workspace)
    expect(workspace.find("#deleting-says")).to_contain_text("Keep this edit key")
    workspace.find("#unshare").click()
    expect(workspace.find("#shared-says")).to_have_text(
        "The share was deleted. Its link no longer opens."
    )
    for part in ("#shared-link", "#copy", "#shared-more"):
        expect(workspace.find(part)).to_be_hidden()
    assert client.get(url).status_code == 404
    workspace.find("#shared-close").press("Enter")
    another, _ = share(workspace)
    assert another != url


def test_a_share_is_deleted_at_its_address_with_its_key(workspace: Workspace, watch: Watch) -> None:
    watch.expect("status of 403")
    url, key = share(workspace)
    workspace.page.set_viewport_size({"width": 320, "height": 640})
    workspace.page.goto(url)
    workspace.drawn()
    workspace.find("#frozen-delete").click()
    assert not overflow(workspace.page, 320)
    field, says = workspace.find("#edit-key"), workspace.find("#deleting-says")
    expect(field).to_be_focused()
    expect(field).to_be_editable()
    expect(field).to_have_value("")
    expect(says).to_contain_text("Enter the edit key")
    for wrong in ("", "猫", key[:-1]):
        field.fill(wrong)
        workspace.find("#unshare").click()
        expect(says).to_have_text("This edit key does not match.")
        expect(field).to_be_focused()
        assert client.get(url).status_code == 200
        workspace.page.evaluate("document.querySelector('#deleting-says').textContent = ''")
    field.fill(f" {key.upper()} ")
    field.press("Enter")
    expect(workspace.find("#shared-says")).to_contain_text("The share was deleted.")
    assert client.get(url).status_code == 404


def test_the_page_says_until_when_a_share_opens(workspace: Workspace) -> None:
    url = f"{workspace.url}/s/23456789abcde"
    made = {"id": "23456789abcde", "url": url, "edit_key": "k" * 26}
    reply = {**made, "expires": "2031-12-24T12:00:00+00:00"}
    workspace.open(source="The cat sits.", **PLACE | {"lang": "zh"})
    workspace.page.route("**/api/shares", lambda route: route.fulfill(status=201, json=reply))
    workspace.find("#share").click()
    expect(workspace.find("#shared-says")).to_contain_text("有效期至 2031年12月24日。")


WHY = {
    "storage-unavailable": "Shares cannot be saved or opened right now.",
    "storage-full": "The server has no room for another share.",
    "quota-reached": "The shares of your network address have reached their limit.",
}


def test_the_page_says_why_nothing_was_shared(workspace: Workspace, watch: Watch) -> None:
    watch.expect("status of 507")
    workspace.open(source="The cat sits.", **PLACE)
    for kind, words in WHY.items():
        problem = {"type": f"urn:headlight:{kind}", "status": 507, "detail": ""}
        workspace.page.unroute_all()
        fail = partial(answer, problem)
        workspace.page.route("**/api/shares", fail)
        workspace.find("#share").click()
        expect(workspace.find("#shared-says")).to_contain_text(words)
        expect(workspace.find("#shared-link")).to_be_hidden()
        workspace.find("#shared-close").click()


def answer(problem: dict[str, object], route: Route) -> None:
    route.fulfill(status=507, json=problem)

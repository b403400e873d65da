"""The full-screen QR code is decoded by another library."""

import io

import numpy as np
import zxingcpp
from PIL import Image
from playwright.sync_api import expect

from tests.browsing.watch import Watch
from tests.browsing.workspace import Workspace

SENTENCE = "The animal didn't cross the street because it was too tired, 不是吗？"


def read(workspace: Workspace) -> str:
    """Decode the QR code in a screenshot."""
    picture = Image.open(io.BytesIO(workspace.page.screenshot())).convert("L")
    (found,) = zxingcpp.read_barcodes(np.asarray(picture))
    text: str = found.text
    return text


def test_a_long_link_is_shown_as_a_short_one(workspace: Workspace) -> None:
    workspace.page.emulate_media(color_scheme="dark")
    workspace.open(source=SENTENCE, block="encoder")
    workspace.menu("#qr-open")
    expect(workspace.find("#qr")).to_be_visible()
    workspace.settled()
    link = workspace.find("#qr-link").inner_text()
    assert link.startswith(f"{workspace.url}/s/")
    assert read(workspace) == link
    expect(workspace.find("#qr-note")).to_be_visible()  # other machines cannot open 127.0.0.1
    (box,) = workspace.boxes("#qr-picture")
    assert box["width"] >= 600

    workspace.page.goto(read(workspace))
    workspace.drawn()
    expect(workspace.find("#source")).to_have_value(SENTENCE)


def test_escape_closes_it_and_what_keeps_a_link_from_being_short_is_said(
    workspace: Workspace, watch: Watch
) -> None:
    workspace.open(source="The cat sits.", target="猫坐着。", block="cross", layer=1, head=4)
    workspace.page.mouse.click(*workspace.cell(2, 1))
    workspace.find("#more").focus()
    workspace.page.keyboard.press("Enter")
    workspace.find("#qr-open").focus()
    workspace.page.keyboard.press("Enter")
    expect(workspace.find("#qr")).to_be_visible()
    expect(workspace.find("#qr button")).to_be_focused()
    workspace.page.keyboard.press("Escape")
    expect(workspace.find("#qr")).to_be_hidden()
    expect(workspace.find("#more")).to_be_focused()
    assert workspace.link["query"] == "2"
    watch.expect("503")
    workspace.open(source=SENTENCE)
    workspace.page.route(
        "**/api/shares",
        lambda route: route.fulfill(
            status=503,
            headers={"Retry-After": "2"},
            content_type="application/problem+json",
            body='{"type": "urn:headlight:busy", "status": 503, "detail": "busy"}',
        ),
    )
    workspace.menu("#qr-open")
    expect(workspace.find("#qr-problem")).to_contain_text("busy")
    expect(workspace.find("#qr-picture")).to_be_hidden()


def test_the_share_panel_shows_its_link(workspace: Workspace) -> None:
    workspace.page.set_viewport_size({"width": 390, "height": 844})
    workspace.open(source="The cat sits.")
    workspace.find("#share").click()
    workspace.find("#shared-qr").click()
    workspace.settled()
    assert read(workspace) == workspace.find("#shared-link").input_value()
    workspace.find("#qr button").click()
    expect(workspace.find("#shared-qr")).to_be_focused()

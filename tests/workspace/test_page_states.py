"""The page's messages when it is empty, loading or something went wrong."""

import json
from collections.abc import Callable

from playwright.sync_api import Route, expect

from tests.browsing.watch import Watch
from tests.browsing.workspace import Workspace

START = {"source": "The cat sits.", "target": "猫坐着。"}


def answer(route: Route, status: int, kind: str, **headers: str) -> None:
    """Reply with a problem document."""
    document = {"type": f"urn:headlight:{kind}", "title": "", "status": status, "detail": "detail"}
    route.fulfill(
        status=status,
        headers={"Content-Type": "application/problem+json", **headers},
        body=json.dumps(document),
    )


def test_too_long_a_sentence_is_said_beside_the_field_in_the_readers_language(
    workspace: Workspace, watch: Watch
) -> None:
    watch.expect("status of 4(13|22)")
    workspace.open(**START)
    workspace.find("#source").fill("word " * 1000)
    workspace.find("#source").press("Enter")
    expect(workspace.find("#problem")).to_contain_text("5000 of at most 2000 characters")
    expect(workspace.find("#source")).to_have_attribute("aria-invalid", "true")
    expect(workspace.find("#retry")).to_be_hidden()
    workspace.find("#source").fill("short")
    workspace.find("#source").press("Enter")
    workspace.drawn()
    expect(workspace.find("#problem")).to_be_hidden()
    watch.expect("status of 4(13|22)")
    workspace.open(**START, lang="zh")
    workspace.find("#source").fill("word " * 1000)
    workspace.find("#source").press("Enter")
    expect(workspace.find("#problem")).to_contain_text("5000 个字符，最多 2000 个")


def test_busy_model_is_asked_again(workspace: Workspace, watch: Watch) -> None:
    watch.expect("status of 503")
    workspace.open(**START)
    tries = []

    def busy_once(route: Route) -> None:
        tries.append(route)
        if len(tries) == 1:
            answer(route, 503, "busy", **{"Retry-After": "4"})
        else:
            route.continue_()

    workspace.page.route("**/api/trace", busy_once)
    workspace.find("#source").fill("again")
    workspace.find("#source").press("Enter")
    expect(workspace.find("#problem")).to_contain_text("Busy: your sentence is next.")
    workspace.drawn()
    expect(workspace.find("#problem")).to_be_hidden()
    expect(workspace.find("#source-tokens")).to_contain_text("again")


def test_what_cannot_be_had_keeps_the_picture_and_can_be_tried_again(
    workspace: Workspace, watch: Watch
) -> None:
    watch.expect("ERR_FAILED|ERR_INTERNET_DISCONNECTED")
    workspace.open(**START)
    before = workspace.figure()[0]
    workspace.page.route("**/api/trace", lambda route: route.abort())
    workspace.find("#source").fill("unplugged")
    workspace.find("#source").press("Enter")
    expect(workspace.find("#problem")).to_contain_text("cannot be reached")
    assert (workspace.figure()[0] == before).all()
    workspace.page.unroute("**/api/trace")
    workspace.find("#retry").click()
    workspace.drawn()
    expect(workspace.find("#source-tokens")).to_contain_text("unplugged")
    before = workspace.figure()[0]
    workspace.page.route(
        "**/api/trace", lambda route: route.fulfill(status=200, body=b"\x08\x00\x00\x00")
    )
    workspace.find("#source").fill("half a reply")
    workspace.find("#source").press("Enter")
    expect(workspace.find("#problem")).to_contain_text("incomplete or damaged")
    assert (workspace.figure()[0] == before).all()
    workspace.page.unroute("**/api/trace")
    workspace.find("#retry").click()
    workspace.drawn()
    expect(workspace.find("#source-tokens")).to_contain_text("half")
    watch.expect("status of 418")
    workspace.page.route("**/api/trace", lambda route: answer(route, 418, "teapot"))
    workspace.find("#source").fill("tea")
    workspace.find("#source").press("Enter")
    expect(workspace.find("#problem")).to_contain_text("detail")


def test_an_empty_field_and_a_link_to_what_is_not_there(workspace: Workspace) -> None:
    workspace.open(**START)
    workspace.find("#source").fill("")
    expect(workspace.find("#empty")).to_be_visible()
    expect(workspace.find("#view")).to_be_hidden()
    workspace.find("#source").fill("Hello")
    workspace.drawn()
    expect(workspace.find("#empty")).to_be_hidden()
    expect(workspace.find("#view")).to_be_visible()
    for lang in ("zh",):
        workspace.open(
            **START, block="cross", layer=99, head=99, query=500, key=0, view="none", lang=lang
        )
        assert workspace.figure()[0].shape[0] > 1
        assert int(workspace.link["layer"]) < 99


def tensors_fail(workspace: Workspace, handle: Callable[[Route], None]) -> None:
    """Open the attention view, then handle the additional requests of the Q K V view."""
    workspace.load(**START, view="attention", block="encoder", layer="0", head="0")
    workspace.page.route("**/api/trace", handle)
    workspace.page.locator(".views label", has_text="Q K V").first.click()


def test_cut_reply_to_a_view_is_said_and_can_be_tried_again(workspace: Workspace) -> None:
    def cut(route: Route) -> None:
        body = route.fetch().body()
        route.fulfill(
            status=200, headers={"Content-Type": "application/octet-stream"}, body=body[:-3]
        )

    tensors_fail(workspace, cut)
    expect(workspace.find(".waiting")).to_contain_text("incomplete or damaged")
    expect(workspace.find("#problem")).to_contain_text("incomplete or damaged")
    workspace.page.unroute("**/api/trace")
    workspace.find("#retry").click()
    expect(workspace.find(".waiting")).to_be_hidden()
    expect(workspace.find("#problem")).to_be_hidden()

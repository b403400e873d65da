"""The page's requests: one for a new sentence, then only for missing data."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Request

from tests.browsing.workspace import Workspace
from tests.shipped_head_counts import IN_ALL

START = {"source": "The cat sits.", "target": "猫坐着。", "block": "cross", "layer": 1, "head": 0}
VIEWS = ("lines", "space", "decoding", "inside")  # the others ask for the same, or for less


def listening(page: Page) -> list[dict[str, list[str]]]:
    """Return a list of the bodies of all following trace requests."""
    asked: list[dict[str, list[str]]] = []

    def listen(request: Request) -> None:
        if request.url.endswith("/api/trace"):
            asked.append(json.loads(request.post_data or "{}"))

    page.on("request", listen)
    return asked


@pytest.fixture
def asks(workspace: Workspace) -> Callable[..., list[dict[str, list[str]]]]:
    """Open a view, and record requests."""

    def opened(**link: str | int) -> list[dict[str, list[str]]]:
        workspace.open(**{**START, **link})
        workspace.settled()
        return listening(workspace.page)

    return opened


TYPE_AND_ENTER = """(field, text) => {
  field.value = text;
  field.dispatchEvent(new InputEvent("input", { bubbles: true }));
  field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
}"""


def test_new_sentence_is_one_request(
    workspace: Workspace, asks: Callable[..., list[dict[str, list[str]]]]
) -> None:
    for view in VIEWS:
        asked = asks(view=view)
        # In one step: a pause before Enter, as on a busy machine, sends what was typed until then.
        workspace.find("#source").evaluate(TYPE_AND_ENTER, "A dog sleeps.")
        workspace.says("A dog sleeps.")
        workspace.settled()
        assert len(asked) == 1, (view, [body["select"] for body in asked])


def test_first_load_is_one_request(workspace: Workspace) -> None:
    for link in [{}, {"view": "inside"}]:
        workspace.page.goto("about:blank")
        asked = posts(workspace)
        workspace.load(**link)
        workspace.settled()
        assert len(asked) == 1, asked


def test_only_what_is_missing_is_asked_for(
    workspace: Workspace, asks: Callable[..., list[dict[str, list[str]]]]
) -> None:
    asked = asks(view="attention")
    workspace.find("#heads label").nth(3).click()
    workspace.settled()
    assert asked == []
    workspace.place("cross", 2)
    workspace.settled()
    exact = {name for body in asked for name in body["select"]}
    assert len(asked) == 1
    assert exact == {f"decoder.2.cross.{name}" for name in ("weights", "mask", "q", "k")}
    workspace.place("cross", 1)
    workspace.settled()
    asked.clear()
    workspace.find("#views").get_by_text("Q K V", exact=True).click()
    workspace.settled()
    assert [body["select"] for body in asked] == [["decoder.1.cross.v"]]
    workspace.find("#views").get_by_text("Attention", exact=True).click()
    workspace.settled()
    assert len(asked) == 1, "what was there is there"
    asked.clear()
    workspace.find("#source").fill("A dog sleeps.")
    workspace.find("#source").press("Enter")
    workspace.says("A dog sleeps.")
    workspace.drawn()
    select = set(asked[0]["select"])
    assert "decoder.2.cross.weights:uint8" in select
    # Those of the head that aligns, of the first layer, tell what was not translated.
    for layer in (0, 1):
        assert f"decoder.{layer}.cross.weights" in select
        assert f"decoder.{layer}.cross.weights:uint8" not in select, "the whole stands for it"


def test_another_head_of_the_layer_asks_nothing(workspace: Workspace) -> None:
    for view in ["worksheet", "qkv", "space", "compare"]:
        workspace.open(source="The dog is tired, so it sleeps.", view=view, layer=1, head=2)
        workspace.settled()
        asked = posts(workspace)
        workspace.find("#heads label").nth(5).click()
        workspace.settled()
        assert asked == []


def test_a_click_on_a_head_of_the_map_asks_at_most_once(workspace: Workspace) -> None:
    """Not once more for each of the runs that it is held against; a translation that changes needs
    the changed model to write the old one."""
    workspace.load(source="The dog is tired, so it sleeps.", view="whatif", layer=1, head=2)
    workspace.find(f".head-map[data-drawn='{IN_ALL}']").wait_for()
    workspace.settled()
    before = workspace.find("#output").inner_text()
    asked = posts(workspace)
    for at, head in (("encoder.0.self", 5), ("decoder.2.self", 4), ("decoder.1.cross", 0)):
        asked.clear()
        workspace.find(f"[data-at='{at}'][data-head='{head}']").click()
        workspace.settled()
        stays = workspace.find("#output").inner_text() == before
        assert len(asked) <= (1 if stays else 2), (at, asked)


def posts(workspace: Workspace) -> list[str]:
    """Return a list of all following requests."""
    asked: list[str] = []
    workspace.page.on(
        "request",
        lambda request: asked.append(request.post_data or "") if request.method == "POST" else None,
    )
    return asked

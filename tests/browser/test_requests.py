"""The page's requests: one for a new sentence, then only for missing data."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Request

from tests.browser.workspace import Workspace
from tests.shipped import IN_ALL

START = {"source": "The cat sits.", "target": "猫坐着。", "block": "cross", "layer": 1, "head": 0}
VIEWS = (
    "attention",
    "heads",
    "lines",
    "alignment",
    "qkv",
    "space",
    "flow",
    "decoding",
    "inside",
)


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


@pytest.mark.parametrize("view", VIEWS)
def test_new_sentence_is_one_request(
    workspace: Workspace, asks: Callable[..., list[dict[str, list[str]]]], view: str
) -> None:
    asked = asks(view=view)
    workspace.find("#source").fill("A dog sleeps.")
    workspace.find("#source").press("Enter")
    workspace.says("A dog sleeps.")
    workspace.settled()
    assert len(asked) == 1, [body["select"] for body in asked]


@pytest.mark.parametrize("link", [{}, {"source": "The dog is tired."}, {"view": "inside"}])
def test_first_load_is_one_request(workspace: Workspace, link: dict[str, str]) -> None:
    """The link names no head: the model says which one aligns best, so its tensors come at once."""
    asked = posts(workspace)
    workspace.load(**link)
    workspace.settled()
    assert len(asked) == 1, asked


def test_pictures_travel_in_bytes_and_what_is_read_exactly(
    workspace: Workspace, asks: Callable[..., list[dict[str, list[str]]]]
) -> None:
    asked = asks(view="attention")
    workspace.find("#source").fill("A dog sleeps.")
    workspace.find("#source").press("Enter")
    workspace.says("A dog sleeps.")
    workspace.drawn()
    select = set(asked[0]["select"])
    assert "decoder.1.cross.weights" in select
    assert {f"decoder.{layer}.cross.weights:uint8" for layer in (0, 2)} <= select
    assert "decoder.1.cross.weights:uint8" not in select, "the whole stands for it"


def test_another_head_asks_for_nothing_and_another_layer_for_its_own(
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


def test_another_view_asks_for_what_is_missing_only(
    workspace: Workspace, asks: Callable[..., list[dict[str, list[str]]]]
) -> None:
    asked = asks(view="attention")
    workspace.find("#views").get_by_text("Q K V", exact=True).click()
    workspace.settled()
    assert [body["select"] for body in asked] == [["decoder.1.cross.v"]]
    workspace.find("#views").get_by_text("Attention", exact=True).click()
    workspace.settled()
    assert len(asked) == 1, "what was there is there"


@pytest.mark.parametrize("view", ["attention", "worksheet", "inside", "qkv", "space", "compare"])
def test_another_head_of_the_layer_asks_nothing(workspace: Workspace, view: str) -> None:
    workspace.load(source="The dog is tired, so it sleeps.", view=view, layer=1, head=2)
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

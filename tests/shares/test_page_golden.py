"""Links, shares and handouts of earlier versions still show the same in a browser."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browsing.api import client
from tests.browsing.watch import Watch
from tests.browsing.workspace import Workspace
from tests.golden.kept import FORMATS, pages, put
from tests.golden.look import GOLDEN, MODELS, differences, look, missing
from tests.servers import AppServer, running_app

LINKS: list[dict[str, Any]] = json.loads((GOLDEN / "links.json").read_text())
PARTS = 3  # which processes of the tests share


@pytest.fixture(scope="module")
def golden_server(
    tmp_path_factory: pytest.TempPathFactory, server_cache: Path
) -> Iterator[AppServer]:
    with running_app(
        tmp_path_factory.mktemp("golden"), MODELS, warm=True, cache=server_cache
    ) as server:
        yield server


@pytest.mark.parametrize("part", range(PARTS))
def test_links_show_what_they_showed(
    page: Page, watch: Watch, golden_server: AppServer, part: int
) -> None:
    workspace = Workspace(page, golden_server.url)
    wrong: dict[str, list[str]] = {}
    for golden in LINKS[part::PARTS]:
        workspace.page.goto(f"{workspace.url}/?{golden['link']}")
        workspace.drawn()
        found = differences(look(workspace), golden["seen"])
        found += [f"{one} is not there" for one in missing(workspace, golden["shows"])]
        if workspace.link != golden["address"]:
            found.append(f"address: {workspace.link} was {golden['address']}")
        if found:
            wrong[golden["link"]] = found
    assert wrong == {}


@pytest.fixture
def offline(workspace: Workspace) -> Iterator[Callable[[bytes, Path], Workspace]]:
    """Write a handout to a disk and open it with the network off."""

    def show(content: bytes, folder: Path) -> Workspace:
        file = folder / "handout.html"
        file.write_bytes(content)
        workspace.page.context.set_offline(True)
        workspace.page.goto(file.as_uri())
        workspace.drawn()
        return workspace

    yield show
    workspace.page.context.set_offline(False)


@pytest.mark.parametrize("number", FORMATS)
def test_shares_and_their_handouts_show_what_they_showed(
    workspace: Workspace,
    offline: Callable[[bytes, Path], Workspace],
    watch: Watch,
    launch: Callable[..., AppServer],
    tmp_path: Path,
    number: int,
) -> None:
    put(number, tmp_path / "golden")
    server = launch(data_dir=tmp_path / "golden")
    for golden in pages(number):
        workspace.page.goto(f"{server.url}/s/{golden['id']}")
        workspace.drawn()
        assert differences(look(workspace), golden["seen"]) == []
        assert missing(workspace, golden["shows"]) == []

    golden = pages(number)[0]
    handout = client.get(f"{server.url}/s/{golden['id']}/handout.html").content
    watch.expect("request to elsewhere: file:")
    before = len(watch.requests)
    assert differences(look(offline(handout, tmp_path)), golden["seen"]) == []
    asked = watch.requests[before:]
    assert asked
    assert not [url for url in asked if not url.startswith(("data:", "blob:", "file:"))]

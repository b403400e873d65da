"""Create missing golden files: ``python -m tests.golden.make``.

Existing files are never rewritten, so a golden file has the output of its commit. The model is
that of tests/golden/bundle (see train_bundle), which stays when another one ships:

    links.json         links, and what their pages show; add {"link", "shows"} and run
    traces.json        requests; add one and run
    traces/NAME.…      their replies: safetensors under zstd, of "names" the document alone
    shares/FORMAT.db…  the database of a server of that format
    shares/FORMAT.json its shares, and what their pages show (of the lab's there is no view)
"""

import json
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import zstandard
from playwright.sync_api import sync_playwright

from app.engine.reply_formats import Reply
from app.shares.formats import FORMAT
from tests.browsing.chromium import ARGS, EXECUTABLE
from tests.browsing.workspace import Workspace
from tests.golden.look import GOLDEN, MODELS, look, missing
from tests.servers import AppServer, running_app

OCTETS = {"Accept": "application/octet-stream"}
NAMES = "names"  # the trace of which only the document is stored
# Shares created by the page, by link, and what each view shows.
SHARED: list[tuple[str, list[str]]] = [
    ("source=I+see&view=attention&block=cross&layer=1&head=4&query=1&key=2&lang=en", []),
    ("source=Yes&view=compare&block=encoder&layer=1&head=3&b=No&lang=en", []),
    (
        "source=Yes&view=training&block=encoder&layer=1&head=2&example=1&snapshot=400&lang=en",
        ["5.36", "400"],
    ),
    (
        "source=I+see&view=whatif&block=cross&layer=1&head=4&effect=attention&lang=zh&interventions="
        '[{"at":"encoder.1.self","head":2,"do":"zero"},{"at":"source","do":{"mask":2}}]',
        [],
    ),
]
# A share created by a program, with all kinds of requests.
ASKED: dict[str, Any] = {
    "state": {
        "source": "我累",
        "view": "attention",
        "block": "decoder",
        "layer": 2,
        "head": 1,
        "pool": "mean",
        "special": "hide",
        "lang": "zh",
    },
    "asks": [
        {"trace": {"source": "我累", "select": ["encoder.0.self.weights"], "dtype": "uint8"}},
        {"parameters": {"select": ["*.self.b_v", "*.gain"]}},
        {"sweep": {"source": "我累", "effect": "zero", "row": 0}},
    ],
}
# A share of the lab: two words in the order of the link, and in the original order.
SQUARE = [[1, 0], [0, 1]]
BY_HAND: dict[str, Any] = {
    "state": {
        "lab": {"x": [[0.5, -2], [1, 0]], "w_q": SQUARE, "w_k": SQUARE, "w_v": SQUARE},
        "before": {"x": [[1, 0], [0.5, -2]], "w_q": SQUARE, "w_k": SQUARE, "w_v": SQUARE},
        "link": "tokens=cat%0Athe&order=1_0&fractions=1&hidden=weights*1&x=1%2F2_-2*1_0"
        "&w_q=1_0*0_1&w_k=1_0*0_1&w_v=1_0*0_1",
        "lang": "en",
    }
}


def traces(url: str) -> None:
    """Store the replies to requests that have none."""
    for name, request in json.loads((GOLDEN / "traces.json").read_text()).items():
        file = GOLDEN / f"traces/{name}.safetensors.zst"
        document = GOLDEN / f"traces/{name}.json"
        if file.exists() or document.exists():
            continue
        reply = httpx.post(f"{url}/api/trace", json=request, headers=OCTETS, timeout=60)
        content = reply.raise_for_status().content
        if name == NAMES:
            document.write_text(text(Reply.parse(content).document))
        else:
            file.write_bytes(zstandard.compress(content, 19))


def links(workspace: Workspace) -> None:
    """Add what the pages of links show, where it is missing."""
    file = GOLDEN / "links.json"
    known = json.loads(file.read_text())
    for one in known:
        if "seen" not in one:
            workspace.page.goto(f"{workspace.url}/?{one['link']}")
            workspace.drawn()
            one["seen"] = look(workspace)
            one["address"] = workspace.link
            assert not missing(workspace, one["shows"]), (
                one["link"],
                missing(workspace, one["shows"]),
            )
    file.write_text(text(known))


def shares(server: AppServer, workspace: Workspace) -> None:
    """Store a database of the current format, if there is none."""
    folder = GOLDEN / "shares"
    database = folder / f"{FORMAT}.db.zst"
    if database.exists():
        return
    made = [(share(workspace, link), shows) for link, shows in SHARED]
    asked = httpx.post(f"{server.url}/api/shares", json=ASKED).raise_for_status().json()["id"]
    made.append((asked, []))
    httpx.post(f"{server.url}/api/shares", json=BY_HAND).raise_for_status()
    known = []
    for identity, shows in made:
        workspace.page.goto(f"{server.url}/s/{identity}")
        workspace.drawn()
        known.append({"id": identity, "shows": shows, "seen": look(workspace)})
        assert not missing(workspace, shows), identity
    (folder / f"{FORMAT}.json").write_text(text(known))
    whole = server.data_dir / "whole.db"  # without the write-ahead log
    with closing(sqlite3.connect(server.data_dir / "headlight.db")) as connection:
        connection.execute("VACUUM INTO ?", (str(whole),))
    database.write_bytes(zstandard.compress(whole.read_bytes(), 19))


def share(workspace: Workspace, link: str) -> str:
    """Share a link as a user would; return the share's id."""
    workspace.page.goto(f"{workspace.url}/?{link}")
    workspace.drawn()
    workspace.settled()
    workspace.find("#share").click()
    workspace.find("#shared-link").wait_for()
    return workspace.find("#shared-link").input_value().rpartition("/")[2]


def text(document: Any) -> str:
    """Return the document as JSON, with one entry per line."""
    opening, closing = "[]" if isinstance(document, list) else "{}"
    entries = document if isinstance(document, list) else document.items()
    lines = [
        json.dumps(entry, ensure_ascii=False)
        if isinstance(document, list)
        else f"{json.dumps(entry[0])}: {json.dumps(entry[1], ensure_ascii=False)}"
        for entry in entries
    ]
    return f"{opening}\n" + ",\n".join(lines) + f"\n{closing}\n"


@contextmanager
def browser(url: str) -> Iterator[Workspace]:
    """Yield a window as in the browser tests."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=EXECUTABLE, args=ARGS)
        page = chromium.new_page(viewport={"width": 1440, "height": 900}, locale="en-GB")
        page.set_default_timeout(60_000)
        yield Workspace(page, url)


def main() -> None:
    """Create all missing files."""
    with tempfile.TemporaryDirectory() as folder, running_app(Path(folder), MODELS) as server:
        traces(server.url)
        with browser(server.url) as workspace:
            links(workspace)
            shares(server, workspace)


if __name__ == "__main__":
    main()

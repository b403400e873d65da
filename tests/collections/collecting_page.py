"""Collections for tests of their pages."""

from typing import Any

from playwright.sync_api import Page, expect

from tests.browsing.api import client
from tests.servers import AppServer


def collection(server: AppServer, *links: str, **more: Any) -> dict[str, str]:
    """Create a collection; return the reply."""
    items = [{"link": link, "note": f"Note {n}"} for n, link in enumerate(links, 1)]
    body = {"title": "Week 2", "note": "Read first.", "items": items, **more}
    reply = client.post(f"{server.url}/api/collections", json=body)
    made: dict[str, str] = reply.raise_for_status().json()
    return made


def paste(page: Page, link: str) -> None:
    rows = page.locator("#editor .row").count()
    page.get_by_label("Paste a link of this server").fill(link)
    page.keyboard.press("Enter")
    expect(page.locator("#editor .row")).to_have_count(rows + 1)


def save(page: Page) -> None:
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#editor .saving .says")).to_have_text("Saved.")

"""A page of a site in a browser: what it shows, what it asks, what it prints."""

import json
from typing import Any
from urllib.parse import urlencode

import numpy as np
from playwright.sync_api import BrowserContext, Page, Request, expect

LOADED = 60_000  # ms, on a busy machine
RUNS_HERE = "The model runs in this page: what you type is sent nowhere."


class Opened:
    """A page of the site; nothing is printed on its console, and no other host is asked."""

    def __init__(self, context: BrowserContext, address: str) -> None:
        self.context, self.address = context, address
        self.page: Page = context.new_page()
        self.printed: list[str] = []
        self.requested: list[str] = []
        self.page.on("console", lambda message: self.printed.append(message.text))
        self.page.on("pageerror", lambda error: self.printed.append(str(error)))
        context.on("request", self._request)

    def _request(self, request: Request) -> None:
        self.requested.append(request.url)

    def close(self) -> None:
        """Close all pages of the browser, which forgets all but the site's files."""
        self.page.evaluate("localStorage.clear(); sessionStorage.clear()")
        for page in self.context.pages:
            page.close()
        self.context.remove_listener("request", self._request)

    def open(self, file: str = "", **link: Any) -> None:
        values = {
            key: value if isinstance(value, str) else json.dumps(value)
            for key, value in link.items()
        }
        self.page.goto(f"{self.address}{file}{'#' if values else ''}{urlencode(values)}")
        self.page.evaluate("new Promise(requestAnimationFrame)")  # another link of the same page
        self.ready()

    def has_model(self) -> None:
        """Wait until the model runs."""
        expect(self.page.locator("#runs-here")).to_have_text(RUNS_HERE, timeout=LOADED)

    def ready(self) -> None:
        self.page.wait_for_selector("html[data-status=ready]", state="attached", timeout=LOADED)
        self.page.wait_for_selector("#stage[aria-busy=false]", state="attached", timeout=LOADED)

    def weights(self) -> np.ndarray[Any, Any]:
        """Return the numbers of the heatmap that is shown."""
        self.page.wait_for_selector("#view .matrix canvas, #view canvas")
        cells = self.page.locator("#view").evaluate(
            "(view) => { const shown = [...view.querySelectorAll('*')].find((e) => e.picture);"
            " const { matrix } = shown.picture;"
            " return { rows: matrix.rows, values: [...matrix.values] }; }"
        )
        return np.array(cells["values"]).reshape(cells["rows"], -1)

    def assert_quiet(self) -> None:
        assert not self.printed
        assert all(url.startswith((self.address, "blob:", "data:")) for url in self.requested)

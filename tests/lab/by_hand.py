"""The page of the lab: its matrices, its steps and its link."""

import math
from urllib.parse import parse_qs

from playwright.sync_api import Locator, Page, expect

from tests.browsing.workspace import QUERY

FINDING = ".lab-finding .finding"
OWN = math.exp(1 / math.sqrt(3)) / (math.exp(1 / math.sqrt(3)) + 2)


class Lab:
    """Helpers for the page of the lab."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url

    def open(self, query: str = "") -> None:
        self.page.goto(f"{self.url}/lab{query}")
        expect(self.page.locator(".worked li").first).to_be_visible()

    def cell(self, matrix: str, row: int, col: int) -> Locator:
        return self.page.locator(f'.lab-matrices [data-of="{matrix}"] input[data-at="{row},{col}"]')

    def step(self, name: str) -> Locator:
        return self.page.locator(".worked li").filter(
            has=self.page.get_by_role("heading", name=name, exact=True)
        )

    def expect_row(self, step: str, row: int, numbers: list[str]) -> None:
        cells = self.step(step).locator("tbody tr").nth(row).locator("td")
        expect(cells).to_have_text(numbers)

    @property
    def link(self) -> dict[str, list[str]]:
        return parse_qs(self.page.evaluate(QUERY))

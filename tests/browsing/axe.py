"""Accessibility checks of a page with axe-core."""

from functools import cache
from typing import Any

from playwright.sync_api import Page

from tests.servers import ROOT

SOURCE = ROOT / "node_modules/axe-core/axe.min.js"
# WCAG 2.2 A and AA, and axe-core's best practices.
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# The rules whose result depends on the theme.
COLOURS = ["color-contrast", "link-in-text-block"]
RUN = """([runOnly, skipped]) => axe.run(
    { exclude: skipped },
    {
        runOnly,
        preload: false,  // no rule of these reads the style sheets
        // An experiment of axe-core's, which the tags leave out: who speaks to the page says what
        // is written on a button.
        rules: { "label-content-name-mismatch": { enabled: true } },
        resultTypes: ["violations"],
    },
)"""


def violations(page: Page, *skipped: str, colours: bool = False) -> list[str]:
    """Return axe-core's findings on the page in its present state, one per line.

    ``skipped``: selectors of third-party parts. ``colours``: check only colours. The source is
    evaluated and not added as a script, so that the page keeps its Content-Security-Policy.
    """
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(_source())
    rules = {"type": "rule", "values": COLOURS} if colours else {"type": "tag", "values": RULES}
    found = page.evaluate(RUN, [rules, [[selector] for selector in skipped]])
    return [
        _line(rule, node)
        for rule in found["violations"]
        for node in rule["nodes"]
        # Formulas have a text alternative; axe-core does not support MathML yet.
        if not (rule["id"] == "empty-table-header" and "<math" in node["html"])
    ]


def in_both_themes(page: Page, *skipped: str) -> list[str]:
    """Return axe-core's findings on the page in light, and on its colours in dark."""
    found = violations(page, *skipped)
    page.emulate_media(color_scheme="dark")
    found += violations(page, *skipped, colours=True)
    page.emulate_media(color_scheme="light")
    return found


def _line(rule: dict[str, Any], node: dict[str, Any]) -> str:
    why = " ".join(node["failureSummary"].split())
    return f"{rule['id']}: {node['html'][:120]} ({why})"


@cache
def _source() -> str:
    assert SOURCE.exists(), "axe-core is not installed; `make test` installs it"
    return SOURCE.read_text()

"""A figure in a real JupyterLab."""

import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserType, expect

from tests.browsing.chromium import ARGS, SHELL
from tests.servers import free_port

ROOT = Path(__file__).parents[2]
TOKEN = "a-token-of-this-test"
START_SECONDS = 120
RUN_MS = 180_000


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[str]:
    """Run JupyterLab on the documentation's notebook; yield the notebook's address."""
    shutil.copy2(ROOT / "docs" / "headlight.ipynb", tmp_path / "headlight.ipynb")
    port = free_port()
    settings = {
        "ip": "127.0.0.1",
        "port": port,
        "root_dir": tmp_path,
        "allow_root": True,
        "open_browser": False,
    }
    options = [f"--ServerApp.{name}={value}" for name, value in settings.items()]
    process = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", *options, f"--IdentityProvider.token={TOKEN}"],
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "JUPYTER_CONFIG_DIR": str(tmp_path / "config"),
            "JUPYTER_DATA_DIR": str(tmp_path / "data"),
            "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime"),
            "IPYTHONDIR": str(tmp_path / "ipython"),
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        end = time.monotonic() + START_SECONDS
        while True:
            try:
                urllib.request.urlopen(f"{address}/api?token={TOKEN}").close()
                break
            except OSError:
                assert process.poll() is None, "JupyterLab has ended"
                assert time.monotonic() < end, "JupyterLab does not answer"
                time.sleep(0.2)
        yield f"{address}/lab/tree/headlight.ipynb?token={TOKEN}"
    finally:
        process.terminate()  # the first signal asks for confirmation, the second exits
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.terminate()
            process.wait(60)


def test_it_draws_and_answers_a_click(lab: str, browser_type: BrowserType, tmp_path: Path) -> None:
    browser = browser_type.launch(executable_path=SHELL, args=ARGS)
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(lab, timeout=RUN_MS)
    expect(page.get_by_text("| Idle")).to_be_visible(timeout=RUN_MS)  # the kernel has started
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.locator(".lm-Menu-itemLabel", has_text=re.compile("^Run All Cells$")).click()
    figure = page.frame_locator("iframe[title=Headlight]").first
    caption = figure.locator("#caption")
    expect(caption).to_contain_text("Layer", timeout=RUN_MS)
    chart = figure.locator("#view .chart[data-drawn]")
    chart.scroll_into_view_if_needed()
    chart.click(position={"x": 200, "y": 200})
    expect(figure.locator("#inspector")).to_contain_text(re.compile(r"0\.\d{4}|1\.0000"))
    assert not [one for one in errors if "headlight" in one.lower()]
    browser.close()

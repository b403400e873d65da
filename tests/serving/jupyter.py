"""Notebooks, and real Jupyter servers."""

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.servers import free_port

ROOT = Path(__file__).parents[2]
TOKEN = "a-token-of-this-test"
START_SECONDS = 120


def write_notebook(file: Path, *cells: str) -> None:
    """Write a notebook with these cells of code.

    nbformat would do it too, but takes three seconds to import, in every process of the tests.
    """
    empty: dict[str, object] = {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
    }
    notebook = {
        "cells": [{**empty, "id": f"cell-{n}", "source": code} for n, code in enumerate(cells)],
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    file.write_text(json.dumps(notebook), encoding="utf-8")


@contextmanager
def jupyter(folder: Path) -> Iterator[str]:
    """Run Jupyter on a folder, with the pages of JupyterLab and of Notebook; yield its address."""
    port = free_port()
    settings = {
        "ip": "127.0.0.1",
        "port": port,
        "root_dir": folder,
        "allow_root": True,
        "open_browser": False,
    }
    options = [f"--ServerApp.{name}={value}" for name, value in settings.items()]
    process = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", *options, f"--IdentityProvider.token={TOKEN}"],
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "JUPYTER_CONFIG_DIR": str(folder / "config"),
            "JUPYTER_DATA_DIR": str(folder / "data"),
            "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
            "IPYTHONDIR": str(folder / "ipython"),
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
                assert process.poll() is None, "Jupyter has ended"
                assert time.monotonic() < end, "Jupyter does not answer"
                time.sleep(0.2)
        yield address
    finally:
        process.terminate()  # the first signal asks for confirmation, the second exits
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.terminate()
            process.wait(60)

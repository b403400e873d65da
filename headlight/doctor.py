"""What `headlight doctor` looks at: versions, devices, fonts, the port, and what is missing."""

from __future__ import annotations

import os
import platform
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Literal

from app import __version__
from app.figures.heatmap import chinese_file
from app.settings import Settings
from headlight.display import browser
from headlight.other_headlight_package import namesake_warning

PYTHON = (3, 11)
LIBRARIES = ("torch", "numpy", "safetensors", "tokenizers", "fastapi", "uvicorn")
# What needs it, by the name of a module that need not be there.
OPTIONAL = {
    "transformers": "models of Hugging Face: pip install 'headlight-attention[hf]'",
    "uvloop": "a faster server; there is none for Windows",
}
Level = Literal["ok", "note", "problem"]


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at: what it is, and what to do if it is a problem."""

    subject: str
    level: Level
    detail: str


def examine() -> list[Finding]:
    """Look at the machine and the settings; changes nothing and opens no model."""
    return [finding for check in CHECKS for finding in check()]


def _versions() -> Iterator[Finding]:
    yield Finding("headlight", "ok", __version__)
    python, least = platform.python_version(), ".".join(map(str, PYTHON))
    if sys.version_info < PYTHON:
        yield Finding("python", "problem", f"{python}; at least {least} is needed")
    else:
        yield Finding("python", "ok", f"{python} on {platform.platform()}")
    for name in LIBRARIES:
        try:
            yield Finding(name, "ok", version(name))
        except PackageNotFoundError:
            yield Finding(name, "problem", f"not installed: pip install {name}")
    for name, use in OPTIONAL.items():
        if find_spec(name) is None:
            yield Finding(name, "note", f"not installed; for {use}")
        else:
            yield Finding(name, "ok", version(name))
    if message := namesake_warning():
        yield Finding("distribution", "problem", message)


def _devices() -> Iterator[Finding]:
    import torch

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    yield Finding("cpu", "ok", f"{cores} cores, {torch.get_num_threads()} threads of PyTorch")
    if not torch.cuda.is_available():
        yield Finding("cuda", "note", "no GPU that PyTorch can use; models run on the CPU")
    for index in range(torch.cuda.device_count()):
        properties = torch.cuda.get_device_properties(index)
        size = properties.total_memory / 2**30
        yield Finding("cuda", "ok", f"{index}: {properties.name}, {size:.0f} GiB")


def _pictures() -> Iterator[Finding]:
    font = chinese_file()
    if font:
        yield Finding("fonts", "ok", f"Chinese in pictures: {font[0].name}")
    else:
        yield Finding(
            "fonts", "note", "no Chinese font: link previews number such tokens; install Noto CJK"
        )
    program = browser()
    if program:
        yield Finding("browser", "ok", program)
    else:
        yield Finding("browser", "note", "no Chromium, Chrome or Edge; only PDF and PNG need one")


def _server() -> Iterator[Finding]:
    try:
        settings = Settings()
    except ValueError as error:
        yield Finding("settings", "problem", str(error).replace("\n", " "))
        return
    yield Finding("settings", "ok", f"models: {', '.join(settings.bundles)}")
    try:
        socket.create_server((settings.host, settings.port)).close()
        yield Finding("port", "ok", f"{settings.port} is free on {settings.host}")
    except OSError as error:
        advice = "choose another: headlight serve --port 8001"
        yield Finding("port", "problem", f"{settings.port}: {error.strerror}; {advice}")
    folder = settings.data_dir
    above = next(path for path in (folder, *folder.parents) if path.exists())
    if os.access(above, os.W_OK) and above.is_dir():
        yield Finding("data", "ok", str(folder))
    else:
        yield Finding("data", "problem", f"{folder} cannot be written; set HEADLIGHT_DATA_DIR")


CHECKS: tuple[Callable[[], Iterator[Finding]], ...] = (_versions, _devices, _pictures, _server)

"""The wheel, installed without the repository."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
import venv
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

from app import __version__
from deploy.package import below_headlight
from tests.servers import PATIENCE, free_port

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as pip builds it."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--wheel-dir", str(folder), str(ROOT)], check=True, cwd=folder)
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with the wheel, and our environment's dependencies."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    found = folder / "bin" / "python"
    (site,) = folder.glob("lib/python*/site-packages")
    (ours,) = (path for path in sys.path if path.endswith("site-packages"))
    (site / "ours.pth").write_text(ours)  # its packages are seen, after the environment's own
    pip = [sys.executable, "-m", "pip", "--python", str(found), "install", "--quiet"]
    subprocess.run([*pip, "--no-deps", "--no-index", "--no-compile", str(wheel)], check=True)
    return found


def run(python: Path, code: str, folder: Path) -> str:
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    done = subprocess.run(
        [python, "-c", code],
        cwd=folder,
        env={**clean, "HOME": str(folder)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_everything_lies_below_its_own_name(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
        (metadata,) = (name for name in names if name.endswith("/METADATA"))
        told = Parser().parsestr(file.read(metadata).decode())
    assert {name.split("/")[0] for name in names} == {"headlight", metadata.split("/")[0]}
    with zipfile.ZipFile(wheel) as file:
        entries = file.read(f"{metadata.split('/')[0]}/entry_points.txt").decode()
    assert "headlight = headlight.command:main" in entries
    assert not [name for name in names if "__pycache__" in name or "/tests/" in name]
    needed = told.get_all("Requires-Dist") or []
    assert told["Name"] == "headlight-attention"  # another project has the name `headlight`
    assert told["Version"] == __version__
    assert "torch>=2.6" in needed
    assert any(one.startswith("uvloop>=") and "sys_platform != 'win32'" in one for one in needed)
    assert any(one.startswith("transformers>=") and "extra == 'hf'" in one for one in needed)
    assert not [one for one in needed if "==" in one.partition(";")[0]]


def test_a_model_is_traced_shown_and_served(python: Path, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("raise ImportError('a module of the user')")
    (tmp_path / "app.py").write_text("raise ImportError('a module of the user')")
    said = run(
        python,
        """
import json, sys, urllib.request
import headlight
model = headlight.load("en-zh")
trace = model.trace("Hello")
print(trace["encoder.0.self.weights"].shape[0])
print(headlight.show(model, "Hello").save("hello.html"))
from headlight.app.assets.static_files import Vendor
Vendor.compress = lambda _: None  # it takes longer than all else
with headlight.serve(model) as page:
    print(json.load(urllib.request.urlopen(page.url + "/api/health"))["models"])
    print(len(urllib.request.urlopen(page.url).read()) > 1000)
print({name.split(".")[0] for name in sys.modules} & {"app", "model"})
from headlight.app.settings import Settings
print(Settings().data_dir)
""",
        tmp_path,
    )
    data = str(tmp_path / ".headlight")  # nothing is written where it is installed
    assert said.splitlines() == ["8", "hello.html", "['en-zh']", "True", "set()", data]
    assert b"Hello" in (tmp_path / "hello.html").read_bytes()


def test_the_command_serves_the_page(python: Path, tmp_path: Path, server_cache: Path) -> None:
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    settings = {"HEADLIGHT_PORT": str(port), "HEADLIGHT_HOST": "127.0.0.1", "HOME": str(tmp_path)}
    data = tmp_path / ".headlight"
    data.mkdir()
    (data / "cache").symlink_to(server_cache)
    with (tmp_path / "log").open("w") as log:
        server = subprocess.Popen(
            [python.parent / "headlight"],
            cwd=tmp_path,
            env={**clean, **settings},
            stdout=log,
            stderr=log,
        )
        try:
            until = time.monotonic() + PATIENCE
            while True:
                try:
                    with urllib.request.urlopen(f"{address}/api/health") as reply:
                        told = json.load(reply)
                    break
                except OSError:
                    assert server.poll() is None, (tmp_path / "log").read_text()
                    assert time.monotonic() < until, "the command does not answer"
                    time.sleep(0.2)
            with urllib.request.urlopen(address) as reply:
                page = reply.read().decode()
        finally:
            server.terminate()
            status = server.wait(60)
    assert told["status"] == "ok"
    assert "en-zh" in told["models"]
    assert 'id="workspace"' in page
    assert status in (0, -signal.SIGTERM)
    assert (data / "headlight.db").is_file()


def test_imports_are_rewritten_and_nothing_else() -> None:
    source = '''"""from model import load"""
from app.engine import wire
from model import (
    load,
)
if load:
    from model.errors import InputError
text = "from app import x"
import application
from models import z
'''
    assert (
        below_headlight(source)
        == '''"""from model import load"""
from headlight.app.engine import wire
from headlight.model import (
    load,
)
if load:
    from headlight.model.errors import InputError
text = "from app import x"
import application
from models import z
'''
    )
    with pytest.raises(ValueError, match=r"line 1: write `from"):
        below_headlight("import model.errors\n")

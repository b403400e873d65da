"""Install a wheel into an empty environment and try it: `python -m tests.package.smoke dist`.

It needs only Python, on any system, and an index for the wheel's dependencies. `--by uvx` runs the
command as `uvx --from WHEEL headlight` does, `--by pipx` after `pipx install WHEEL`; these must be
on the PATH. `--with torch==2.13.0` chooses a version that is not the newest.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import venv
from collections.abc import Sequence
from pathlib import Path

TEXT = "The cat sat."
START_SECONDS = 300.0


def by_pip(wheel: Path, folder: Path, requirements: Sequence[str]) -> list[str]:
    """Return the command `headlight` of a new environment that has the wheel."""
    venv.create(folder / "environment", with_pip=True)
    scripts = folder / "environment" / ("Scripts" if os.name == "nt" else "bin")
    pip = [str(scripts / "python"), "-m", "pip", "install", "--quiet", "--no-compile"]
    subprocess.run([*pip, str(wheel), *requirements], check=True)
    return [str(scripts / "headlight")]


def by_pipx(wheel: Path, folder: Path, requirements: Sequence[str]) -> list[str]:
    """Return the command that pipx installs."""
    places = {"PIPX_HOME": str(folder / "pipx"), "PIPX_BIN_DIR": str(folder / "bin")}
    pipx = ["pipx", "install", "--python", sys.executable, str(wheel)]
    first = [f"--preinstall={requirement}" for requirement in requirements]
    subprocess.run([*pipx, *first], env={**os.environ, **places}, check=True)
    return [str(folder / "bin" / "headlight")]


def by_uvx(wheel: Path, _: Path, requirements: Sequence[str]) -> list[str]:
    """Return the command with uvx before it, which installs what it needs into its cache."""
    more = [f"--with={requirement}" for requirement in requirements]
    return ["uvx", "--python", sys.executable, "--from", str(wheel), *more, "headlight"]


WAYS = {"pip": by_pip, "pipx": by_pipx, "uvx": by_uvx}


def check(command: Sequence[str], folder: Path) -> None:
    """Run each command once; raise what goes wrong."""
    environment = {**os.environ, "HOME": str(folder), "USERPROFILE": str(folder)}
    environment.pop("PYTHONPATH", None)

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [*command, *arguments],
            cwd=folder,
            env=environment,
            check=True,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        return done.stdout

    print(run("--version").strip(), flush=True)
    run("show", TEXT, "--out", "cat.svg")
    assert "Layer 3, head 1" in (folder / "cat.svg").read_text(encoding="utf-8")
    run("trace", TEXT, "--select", "*.weights", "-o", "cat.json")
    document = json.loads((folder / "cat.json").read_text(encoding="utf-8"))
    assert "decoder.2.cross.weights" in document["tensors"]
    assert "en-zh" in json.loads(run("models", "--json"))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    environment["HEADLIGHT_PORT"] = str(port)  # a problem of the default one is no other's
    findings = json.loads(run("doctor", "--json"))
    print("doctor:", {finding["subject"]: finding["detail"] for finding in findings}, flush=True)
    served = [*command, "serve", "--host", "127.0.0.1", "--port", str(port)]
    server = subprocess.Popen(served, cwd=folder, env=environment)
    try:
        print("health:", _health(f"http://127.0.0.1:{port}/api/health", server), flush=True)
    finally:
        server.terminate()
        server.wait(60)


def _health(address: str, server: subprocess.Popen[bytes]) -> str:
    end = time.monotonic() + START_SECONDS
    while True:
        try:
            with urllib.request.urlopen(address) as reply:
                return str(json.load(reply)["status"])
        except OSError:
            assert server.poll() is None, "the server has ended"
            assert time.monotonic() < end, "the server does not answer"
            time.sleep(0.5)


def main() -> None:
    """Try the only wheel of a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--by", choices=[*WAYS], default="pip")
    parser.add_argument("--with", dest="more", action="append", default=[], metavar="REQUIREMENT")
    options = parser.parse_args()
    (wheel,) = options.folder.resolve().glob("headlight_attention-*.whl")
    with tempfile.TemporaryDirectory(prefix="headlight-smoke-") as name:
        folder = Path(name)
        command = WAYS[options.by](wheel, folder, options.more)
        check(command, folder)


if __name__ == "__main__":
    main()

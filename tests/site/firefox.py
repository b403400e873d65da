"""Debian's Firefox, driven by WebDriver BiDi: the protocol that the browser itself speaks.

Playwright drives only a Firefox of its own, which it downloads.
"""

import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import websocket

EXECUTABLE = "firefox-esr"
PATIENCE_S = 120.0  # for a start, and for each answer
ADDRESS_FILE = "WebDriverBiDiServer.json"  # in the profile, once the browser listens
# It asks no other host: neither for updates nor whether there is a network.
PREFERENCES = {
    "app.update.auto": False,
    "browser.aboutConfig.showWarning": False,
    "browser.newtabpage.enabled": False,
    "browser.safebrowsing.update.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "extensions.getAddons.cache.enabled": False,
    "media.gmp-manager.updateEnabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,none",
    "toolkit.telemetry.enabled": False,
}


def is_installed() -> bool:
    """Return whether Debian's Firefox is there."""
    return shutil.which(EXECUTABLE) is not None


class Firefox:
    """One tab of a Firefox."""

    def __init__(self, socket: websocket.WebSocket) -> None:
        self._socket = socket
        self._ids = count(1)
        capabilities = self._ask("session.new", capabilities={})["capabilities"]
        self.version: str = capabilities["browserVersion"]
        self.context: str = self._ask("browsingContext.getTree")["contexts"][0]["context"]

    def goto(self, url: str) -> None:
        """Open an address, and wait until it has been loaded."""
        self._ask("browsingContext.navigate", context=self.context, url=url, wait="complete")

    def evaluate(self, expression: str) -> str:
        """Return the string that an expression, or the promise it gives, has as its value."""
        reply = self._ask(
            "script.evaluate",
            expression=expression,
            target={"context": self.context},
            awaitPromise=True,
        )
        if reply["type"] == "exception":
            raise RuntimeError(reply["exceptionDetails"]["text"])
        value: str = reply["result"]["value"]
        return value

    def _ask(self, method: str, **parameters: Any) -> Any:
        id_ = next(self._ids)
        self._socket.send(json.dumps({"id": id_, "method": method, "params": parameters}))
        while True:  # events may come before the reply
            reply = json.loads(self._socket.recv())
            if reply.get("id") != id_:
                continue
            if reply["type"] == "error":
                raise RuntimeError(f"{method}: {reply['message']}")
            return reply["result"]


@contextmanager
def firefox() -> Iterator[Firefox]:
    """Start Firefox without a window, in a new profile; end it afterwards."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        lines = [
            f'user_pref("{name}", {json.dumps(value)});' for name, value in PREFERENCES.items()
        ]
        Path(profile, "user.js").write_text("\n".join(lines))
        command = [EXECUTABLE, "--headless", "--no-remote", "--remote-debugging-port", "0"]
        process = subprocess.Popen(
            [*command, "--profile", profile, "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            socket = websocket.create_connection(
                f"ws://127.0.0.1:{_port(Path(profile, ADDRESS_FILE))}/session",
                timeout=PATIENCE_S,
                suppress_origin=True,  # the browser refuses pages
            )
            yield Firefox(socket)
            socket.close()
        finally:
            process.terminate()
            process.wait()


def _port(file: Path) -> int:
    """Return where the browser listens, once it has written that."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        with suppress(OSError, ValueError, KeyError):
            port: int = json.loads(file.read_text())["ws_port"]
            return port
        time.sleep(0.1)
    raise TimeoutError("Firefox did not start")

"""Real servers for tests, benchmarks and screenshots: Headlight and PostgreSQL, on loopback.

Each is a child process on a free port with its own folder, and is removed afterwards.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

from tests import forked_processes
from tests.forked_processes import Forked

ROOT = Path(__file__).parents[1]
# Limits waits for events that always come: only a fault reaches it, on the slowest machine too.
PATIENCE = 300.0


@dataclass(frozen=True)
class AppServer:
    """A running ``python -m app``."""

    url: str
    data_dir: Path
    log: Path
    process: subprocess.Popen[bytes] | Forked

    def kill(self) -> None:
        """Kill it like a power cut: SIGKILL, without flushing or closing anything."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """Stop it and return its exit status; kill it if it does not stop."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
            raise


def own_environment() -> dict[str, str]:
    """Return the environment without Headlight's settings, except the device to compute on."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("HEADLIGHT_") or name == "HEADLIGHT_DEVICE"
    }


def free_port() -> int:
    """Return a TCP port that nothing on loopback listens on at this moment."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@contextmanager
def running_app(
    data_dir: Path,
    settings: Mapping[str, str] | None = None,
    root: Path = ROOT,
    module: Sequence[str] = ("app",),
    *,
    warm: bool = False,
    cache: Path | None = None,
) -> Iterator[AppServer]:
    """Start the ``python -m app`` of the code in ``root`` and wait until it answers.

    ``module`` replaces ``app``, with its arguments. With ``warm`` it is forked from a process with
    its imports done, which takes a tenth of the time. What servers create once for a data folder,
    compressed files and drafting models, is in ``cache``; without one it is created in
    ``data_dir``.

    ``settings`` are named without their prefix, in lower case: ``{"max_body_bytes": "2000"}``.
    Unless they say so, one model translates, and shares and rooms are not limited per minute. What
    the server prints goes to ``server.log`` in ``data_dir``.

    Raises:
        RuntimeError: the server exited or did not answer; the message has the end of its log. Or it
            did not stop cleanly when told to.
    """
    # All tests have one address, and the more rooms a minute, the faster the machine is.
    own = {
        "host": "127.0.0.1",
        "port": str(free_port()),
        "data_dir": str(data_dir),
        "models": "en-zh",
        "max_rooms_per_minute": "1000",
        "max_shares_per_minute": "1000",
    }
    settings = own | dict(settings or {})
    environment = own_environment() | {
        f"HEADLIGHT_{name.upper()}": value for name, value in settings.items()
    }
    data_dir.mkdir(parents=True, exist_ok=True)
    if cache and not (data_dir / "cache").exists():
        (data_dir / "cache").symlink_to(cache)
    log = data_dir / "server.log"
    with log.open("ab") as output:
        process = _start(["-m", *module], environment, root, output.fileno(), warm=warm)
    server = AppServer(f"http://127.0.0.1:{settings['port']}", data_dir, log, process)
    try:
        wait(lambda: answers(int(settings["port"]), "/api/health"), process, log)
        yield server
    finally:
        if process.poll() is None and (ended := server.stop()) != -signal.SIGTERM:
            # A clean stop finishes running work, then exits by the signal that was sent.
            raise RuntimeError(f"{process.args!r} ended with {ended}")


def _start(
    args: Sequence[str], env: Mapping[str, str], cwd: Path, output: int, *, warm: bool
) -> subprocess.Popen[bytes] | Forked:
    """Start ``python`` with these arguments, which writes to the file ``output``."""
    if warm:
        return forked_processes.start(args, env=env, cwd=cwd, stdout=output, stderr=output)
    return subprocess.Popen(
        [sys.executable, *args],
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
    )


@contextmanager
def running_postgres() -> Iterator[Callable[[str], str]]:
    """Start a PostgreSQL; yield a function that creates a database and returns its URL."""
    commands, port = _postgres_commands(), free_port()
    address = ["-h", "127.0.0.1", "-p", str(port), "-U", "headlight"]

    def create(name: str) -> str:
        subprocess.run([str(commands / "createdb"), *address, name], check=True)
        return f"postgresql://headlight@127.0.0.1:{port}/{name}"

    def ready() -> bool:
        ask = [str(commands / "pg_isready"), "-q", *address, "-d", "postgres"]
        return subprocess.run(ask, check=False).returncode == 0

    with tempfile.TemporaryDirectory(prefix="headlight-postgres-") as name:
        process, log = _start_postgres(commands, Path(name), port)
        try:
            wait(ready, process, log)
            yield create
        finally:
            process.send_signal(signal.SIGINT)  # "fast": ends its connections, then itself
            process.wait(timeout=PATIENCE)


def _start_postgres(
    commands: Path, folder: Path, port: int
) -> tuple[subprocess.Popen[bytes], Path]:
    """Create a PostgreSQL cluster in ``folder`` and start it; returns the process and its log.

    PostgreSQL refuses to run as root; it then runs as the system's ``postgres`` user.
    """
    user = "postgres" if os.getuid() == 0 else None
    if user:
        shutil.chown(folder, user, user)
    data, log = folder / "data", folder / "server.log"
    initdb = [str(commands / "initdb"), "-D", str(data), "-U", "headlight", "-A", "trust"]
    with log.open("wb") as output:
        subprocess.run(
            [*initdb, "-E", "UTF8", "--locale=C", "--no-sync"],
            user=user,
            cwd=folder,
            stdout=output,
            check=True,
        )
        options = (f"port={port}", "listen_addresses=127.0.0.1", "unix_socket_directories=")
        process = subprocess.Popen(
            [str(commands / "postgres"), "-D", str(data)]
            + [part for option in options for part in ("-c", option)],
            user=user,
            cwd=folder,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    return process, log


def _postgres_commands() -> Path:
    """Return the folder of ``initdb`` and ``postgres``, which is not on Debian's PATH."""
    found = shutil.which("initdb")
    folders = (
        [Path(found).resolve().parent]
        if found
        else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    )
    if not folders:
        raise RuntimeError("PostgreSQL is not installed; `make test` installs it on Debian")
    return folders[-1]


def answers(port: int, path: str) -> bool:
    """Return whether a GET on loopback is answered with 200."""
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def wait(ready: Callable[[], bool], process: subprocess.Popen[bytes] | Forked, log: Path) -> None:
    """Wait until it is ready; raises RuntimeError with the end of its log if it exits first."""
    deadline = time.monotonic() + PATIENCE
    while not ready():
        if process.poll() is not None or time.monotonic() > deadline:
            end = log.read_text(errors="replace")[-2000:]
            raise RuntimeError(f"{process.args!r} did not come up:\n{end}")
        time.sleep(0.1)

"""Python processes that start quickly: forked from one with the slow imports done.

Each is a process like one of ``python -m …``, with its own environment, ``__main__`` and exit, and
it can be killed. Only its imports were done before. The process of `multiprocessing` that a
server's engines are forked from is forked from the server in the same way, before its first line:
later, a lock that another of its threads holds (OpenSSL's, while it connects to PostgreSQL) would
be held in the copy for ever.
"""

import atexit
import gc
import json
import multiprocessing.util
import os
import runpy
import signal
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from multiprocessing import forkserver
from pathlib import Path
from typing import Any

from app.engine.start_processes import PRELOADED

ROOT = Path(__file__).parents[1]
# Imports of servers, databases and training, some of them made only on use.
IMPORTS = (
    "aiosqlite",
    "alembic.autogenerate",
    "app.server",
    "app.operator_commands",
    "asyncpg",
    "model.commands.models",
    "sqlalchemy.dialects.postgresql.asyncpg",
    "sqlalchemy.dialects.sqlite.aiosqlite",
    "uvicorn.lifespan.on",
    "uvicorn.loops.auto",
    "uvicorn.protocols.http.auto",
)
LONGEST = 1 << 20  # maximum length of a message, in bytes
START_ANEW = multiprocessing.util.spawnv_passfds


class Forked:
    """A process with the interface of `subprocess.Popen`."""

    def __init__(self, seed: "Seed", pid: int, args: Sequence[str]) -> None:
        self.pid = pid
        self.args = args
        self.returncode: int | None = None
        self._seed = seed

    def poll(self) -> int | None:
        """Return the exit status, minus the signal that killed it; None while it runs."""
        if self.returncode is None:
            self.returncode = self._seed.ask({"poll": self.pid})
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its exit; raises `subprocess.TimeoutExpired`."""
        deadline = time.monotonic() + (timeout or float("inf"))
        while (status := self.poll()) is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
            time.sleep(0.01)
        return status

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Seed:
    """The process that others are forked from."""

    def __init__(self) -> None:
        self._channel, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._channel.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, LONGEST)
        with other:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.forked_processes", str(other.fileno())],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                pass_fds=[other.fileno()],
            )
        atexit.register(self.end)

    def start(
        self,
        args: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: Path,
        stdout: int,
        stderr: int,
    ) -> Forked:
        """Start ``python`` with these arguments: ``-m module …`` or ``-c code …``."""
        asked = {"args": [*args], "env": {**env}, "cwd": str(cwd)}
        pid = self.ask(asked, stdout, stderr)
        assert pid
        return Forked(self, pid, args)

    def ask(self, asked: dict[str, Any], *files: int) -> int | None:
        socket.send_fds(self._channel, [json.dumps(asked).encode()], files)
        answer: int | None = json.loads(self._channel.recv(LONGEST))
        return answer

    def end(self) -> None:
        """End it and wait for it, so that its processor time is counted for this process."""
        self._channel.close()
        self._process.wait()


@cache
def seed() -> Seed:
    """Return the seed of this process."""
    return Seed()


def start(
    args: Sequence[str],
    *,
    stdout: int,
    stderr: int,
    env: Mapping[str, str] | None = None,
    cwd: Path = ROOT,
) -> Forked:
    """Start ``python`` with these arguments, with imports done."""
    env = os.environ if env is None else env
    return seed().start(args, env=env, cwd=cwd, stdout=stdout, stderr=stderr)


def run(
    args: Sequence[str], *, env: Mapping[str, str] | None = None, timeout: float = 60
) -> subprocess.CompletedProcess[str]:
    """Run ``python`` with these arguments, with imports done; returns its status and output."""
    with open_memory() as out, open_memory() as err:
        status = start(args, env=env, stdout=out.fileno(), stderr=err.fileno()).wait(timeout)
        said = [file.seek(0) or file.read() for file in (out, err)]
    return subprocess.CompletedProcess(args, status, *said)


def open_memory() -> Any:
    """Return an unnamed file in memory."""
    return os.fdopen(os.memfd_create("said"), "w+", encoding="utf-8", errors="replace")


def sow(channel: socket.socket) -> None:
    """Fork a process per request until the channel closes; returns in each child."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in IMPORTS:
        import_module(name)
    gc.collect()
    gc.freeze()
    running: set[int] = set()
    while True:
        message, files, *_ = socket.recv_fds(channel, LONGEST, 2)
        if not message:
            break
        asked = json.loads(message)
        if "poll" in asked:
            pid, status = os.waitpid(asked["poll"], os.WNOHANG)
            answer = os.waitstatus_to_exitcode(status) if pid else None
            running.discard(pid)
        elif answer := os.fork():
            running.add(answer)
            for file in files:
                os.close(file)
        else:
            channel.close()
            become(asked, files)
            return
        channel.send(json.dumps(answer).encode())
    for pid in running:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    os._exit(0)  # no need to tear down its imports


def become(asked: dict[str, Any], files: Sequence[int]) -> None:
    """Become the requested process, up to its first line."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for file, number in zip(files, (1, 2), strict=True):
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(asked["env"])
    os.chdir(asked["cwd"])
    sys.argv[:] = asked["args"]
    if asked["args"][:2] == ["-m", "app"]:
        fork_engines()


def fork_engines() -> None:
    """Start the process that engines are forked from, as a copy of this one."""
    multiprocessing.util.spawnv_passfds = fork_spawned
    multiprocessing.set_forkserver_preload(PRELOADED)
    forkserver.ensure_running()
    multiprocessing.util.spawnv_passfds = START_ANEW


def fork_spawned(path: bytes, args: Sequence[Any], passfds: Sequence[int]) -> int:
    """Fork instead of starting a new Python for `multiprocessing`'s fork server; returns its id.

    The child runs the same code, has no open files other than ``passfds``, and never returns.
    """
    code = args[-1]
    if "multiprocessing.forkserver" not in code:
        return START_ANEW(path, args, passfds)
    if pid := os.fork():
        return pid
    status = 1
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        put_away({0, 1, 2, *passfds})
        exec(code, {})
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def put_away(kept: set[int]) -> None:
    """Redirect all open files but these to /dev/null.

    If closed, their numbers would be reused, and objects of the server would close other files.
    """
    nowhere = os.open(os.devnull, os.O_RDWR)
    for file in [int(entry.name) for entry in Path("/proc/self/fd").iterdir()]:
        with suppress(OSError):  # the folder that was listed
            if file not in kept and os.fstat(file):
                os.dup2(nowhere, file, inheritable=False)


if __name__ == "__main__":
    sow(socket.socket(fileno=int(sys.argv[1])))
    kind, what, *_ = sys.argv
    del sys.argv[0]
    if kind == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        sys.argv[0] = kind
        exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})

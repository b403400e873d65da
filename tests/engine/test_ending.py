"""Stopping a real server with its processes: all get the signal, as from a service manager."""

import json
import os
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import httpx

from tests.servers import PATIENCE, AppServer
from tests.soak.memory import family

STORY = {
    "source": "The old man who lives near the river told the children a long story.",
    "decode": {"method": "beam", "beam": 4},
}


def test_a_signal_to_all_processes_lets_streams_finish(launch: Callable[..., AppServer]) -> None:
    server = launch(engines="1")
    processes = family(server.process.pid)
    # The server, the tracker, the fork server, the process with the models, and the engine.
    assert len(processes) == 5
    with (
        httpx.Client(base_url=server.url, timeout=PATIENCE, trust_env=False) as client,
        client.stream("POST", "/api/decode", json=STORY) as stream,
    ):
        lines = stream.iter_lines()
        assert "start" in next(lines)
        for pid in processes:
            os.kill(pid, signal.SIGTERM)
        *_, last = lines
    assert "end" in json.loads(last), last
    assert server.process.wait(timeout=PATIENCE) == -signal.SIGTERM
    assert "process exited" not in server.log.read_text()
    until_gone(processes[1:])


def test_an_engine_exits_when_its_server_is_killed(launch: Callable[..., AppServer]) -> None:
    server = launch(engines="1")
    processes = family(server.process.pid)
    server.kill()
    until_gone(processes[1:])


def until_gone(pids: Sequence[int]) -> None:
    deadline = time.monotonic() + PATIENCE
    while left := [pid for pid in pids if Path(f"/proc/{pid}").exists()]:
        assert time.monotonic() < deadline, left
        time.sleep(0.05)

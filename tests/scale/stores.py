"""A Redis of our own, on loopback, in memory only."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from redis import Redis
from redis.exceptions import ConnectionError as RedisError

from tests.servers import free_port, wait


@contextmanager
def running_redis(folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Start one; yield its URL and its process."""
    command = shutil.which("redis-server")
    if command is None:
        raise RuntimeError("Redis is not installed; `make test` installs it on Debian")
    port, log = free_port(), folder / "redis.log"
    options = ["--bind", "127.0.0.1", "--port", str(port), "--save", "", "--appendonly", "no"]
    with log.open("wb") as output:
        process = subprocess.Popen([command, *options], cwd=folder, stdout=output, stderr=output)
    try:
        with Redis(port=port) as client:
            wait(lambda: _answers(client), process, log)
        yield f"redis://127.0.0.1:{port}", process
    finally:
        process.terminate()
        process.wait(timeout=15)


def _answers(client: Redis) -> bool:
    try:
        return bool(client.ping())
    except RedisError:
        return False

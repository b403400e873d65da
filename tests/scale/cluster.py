"""A small Ray cluster on this machine, on loopback, removed afterwards."""

import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.servers import ROOT, free_port, own_environment

MEMORY = 128_000_000  # bytes for replies in transit
START_SECONDS = 180


def of_cluster() -> dict[str, str]:
    """Return the environment of every process of a new cluster: its token and its code."""
    return {
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
        "RAY_USAGE_STATS_ENABLED": "0",
        "PYTHONPATH": str(ROOT),
        "PYTHONWARNINGS": "ignore",
        "OMP_NUM_THREADS": "1",
    }


@contextmanager
def running_cluster(own: Mapping[str, str], cores: int = 2) -> Iterator[str]:
    """Start a cluster and yield its address; ``own`` as from `of_cluster`."""
    address = f"127.0.0.1:{free_port()}"
    with tempfile.TemporaryDirectory(prefix="ray-") as folder:
        log = Path(folder, "start.log")
        command = [
            *(str(Path(sys.executable).with_name("ray")), "start", "--head", "--block"),
            *("--node-ip-address=127.0.0.1", f"--port={address.rpartition(':')[2]}"),
            *(f"--num-cpus={cores}", "--num-gpus=0", f"--object-store-memory={MEMORY}"),
            *("--include-dashboard=false", f"--temp-dir={folder}"),
        ]
        environment = own_environment() | dict(own)
        with log.open("wb") as output:
            process = subprocess.Popen(
                command, env=environment, stdout=output, stderr=output, cwd=ROOT
            )
        try:
            deadline = time.monotonic() + START_SECONDS
            while "Ray runtime started" not in log.read_text():
                if process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"the cluster did not start:\n{log.read_text()[-2000:]}")
                time.sleep(0.1)
            yield address
        finally:
            process.terminate()
            process.wait(timeout=60)


def run(
    args: Sequence[str], own: Mapping[str, str], address: str, **settings: str
) -> subprocess.CompletedProcess[str]:
    """Run ``python`` with these arguments and settings as a part of the cluster."""
    named = {f"HEADLIGHT_{name.upper()}": value for name, value in settings.items()}
    return subprocess.run(
        [sys.executable, *args],
        env=own_environment() | dict(own) | {"HEADLIGHT_RAY_ADDRESS": address} | named,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=START_SECONDS,
        check=False,
    )


def deploy(args: Sequence[str], own: Mapping[str, str], address: str, **settings: str) -> None:
    """Run ``python -m app.scale`` with these arguments and settings."""
    done = run(["-m", "app.scale", *args], own, address, **settings)
    if done.returncode:
        raise RuntimeError(f"{done.stdout}\n{done.stderr[-3000:]}")

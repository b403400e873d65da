"""`python -m bench.start`: startup time of a server, compared with loading the model alone."""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.__main__ import machine
from tests.servers import running_app

ROUNDS = 3
ALONE = "import torch; from model import load; load('en-zh', 'cpu')"


def main() -> None:
    """Start both in turns, and print the medians."""
    servers, alone = [], []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder, running_app(Path(folder)):
            servers.append(time.perf_counter() - start)
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", ALONE], check=True)
        alone.append(time.perf_counter() - start)
    first, second = statistics.median(servers), statistics.median(alone)
    print(
        f"{machine()}\nready in {first:.2f} s, the model alone {second:.2f} s: {first / second:.2f}"
    )


if __name__ == "__main__":
    main()

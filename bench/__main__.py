"""`python -m bench`: print a table of the costs of recording on this machine."""

import argparse
import os
import platform
from importlib.metadata import version
from pathlib import Path

import torch

from bench.compare import compare
from bench.speed_cases import cases, sizes
from model.bundle.weights import CHECKPOINTS, load_bundle


def main() -> None:
    """Measure every case and print it as a row of a Markdown table."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--seconds", type=float, default=4.0, help="time for each case (4)")
    parser.add_argument("--threads", type=int, default=1, help="threads of PyTorch (1)")
    parser.add_argument("bundle", type=Path, nargs="?", default=CHECKPOINTS / "en-zh")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    bundle = load_bundle(options.bundle)
    print(machine())
    print("\n| What: first / second | first | second | first / second (quartiles) |")
    print("|---|--:|--:|--:|")
    for case in cases(bundle):
        compared = compare(case.slow, case.fast, options.seconds)
        print(
            f"| {case.name} | {compared.first * 1e3:.2f} ms | {compared.second * 1e3:.2f} ms "
            f"| **{compared.ratio:.2f}** ({compared.low:.2f} to {compared.high:.2f}) |",
            flush=True,
        )
    print("\n| A reply with | JSON | safetensors | JSON / safetensors |")
    print("|---|--:|--:|--:|")
    for name, (json, binary) in sizes(bundle).items():
        ratio = json / binary
        print(f"| {name} | {json / 1e3:,.0f} kB | {binary / 1e3:,.0f} kB | **{ratio:.2f}** |")


def machine() -> str:
    """Describe the machine in a line."""
    names = [
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    processor = names[0] if names else platform.machine()
    return (
        f"{processor}, {os.cpu_count()} cores, threads used: {torch.get_num_threads()}; "
        f"Python {platform.python_version()}, PyTorch {version('torch')}, on the CPU"
    )


if __name__ == "__main__":
    main()

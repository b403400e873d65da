"""Run the Python suite as other machines would: `make portable` (`make portable ONLY=3.12`).

Three runs cover the Python versions that are supported, the oldest and a middle set of kernels of
torch, oneDNN and CTranslate2 beside this processor's own, and one and two threads. A version that
is not installed is reported and left out.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]


def kernels(torch: str, onednn: str, ctranslate2: str) -> Mapping[str, str]:
    """Return the variables that limit each library to an instruction set."""
    return {
        "ATEN_CPU_CAPABILITY": torch,
        "ONEDNN_MAX_CPU_ISA": onednn,
        "CT2_FORCE_CPU_ISA": ctranslate2,
    }


@dataclass(frozen=True)
class Platform:
    """A Python version, a number of threads, and limits on kernels (none: the processor's own)."""

    python: str
    threads: int
    limits: Mapping[str, str]

    def __str__(self) -> str:
        limits = " ".join(f"{name}={value}" for name, value in self.limits.items())
        return f"Python {self.python}, threads: {self.threads}, {limits or 'all kernels'}"

    @property
    def interpreter(self) -> str | None:
        """The path of an installed Python of this version, from PATH or pyenv."""
        name = f"python{self.python}"
        root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
        versions = sorted(root.glob(f"versions/{self.python}.*/bin/{name}"))
        return next(map(str, reversed(versions)), None) or shutil.which(name)

    @property
    def venv(self) -> Path:
        """The virtual environment: `make test` already has one of its own version."""
        current = f"{sys.version_info.major}.{sys.version_info.minor}"
        return Path(".venv" if self.python == current else f".venv-{self.python}")

    def run(self) -> bool:
        """Set up the environment and run the suite; return whether everything passed."""
        stamp = self.venv / "dev.stamp"
        make = ["make", "--no-print-directory", f"VENV={self.venv}", f"PYTHON={self.interpreter}"]
        subprocess.run([*make, str(stamp)], cwd=ROOT, check=True)
        environment = {**os.environ, **self.limits, "OMP_NUM_THREADS": str(self.threads)}
        python = str(self.venv / "bin/python")
        spread = ["-n", "4", "--dist", "worksteal"]  # as `make test` does
        command = [python, "-m", "pytest", *spread, "--ignore-glob=*/test_page_*"]
        return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode == 0


PLATFORMS = (
    Platform("3.11", 1, kernels("default", "SSE41", "GENERIC")),
    Platform("3.12", 2, kernels("avx2", "AVX2", "AVX2")),
    Platform("3.13", 1, {}),
)


def main() -> int:
    """Run all platforms, or one; return 1 if a run failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", metavar="VERSION", choices=[p.python for p in PLATFORMS])
    only = parser.parse_args().only
    results, summary = [], ""
    for platform in PLATFORMS:
        if only in (None, platform.python):
            print(f"\n=== {platform}", flush=True)
            passed = platform.run() if platform.interpreter else None
            results.append({True: "passed", False: "FAILED", None: "not installed"}[passed])
            summary += f"\n{results[-1]:14}{platform}"
    print(summary)
    return int("FAILED" in results)


if __name__ == "__main__":
    sys.exit(main())

"""The kinds of figures that a server knows."""

import subprocess
import sys

NAMES = "import app.main; from app.figures.kinds import KINDS; print(*sorted(KINDS))"


def test_a_server_knows_every_kind() -> None:
    """In a process of its own: here, other tests have imported what registers them."""
    found = subprocess.run(
        [sys.executable, "-c", NAMES], capture_output=True, check=True, text=True
    )
    assert found.stdout.split() == ["formula", "lab", "pairing", "train", "workspace", "zoo"]

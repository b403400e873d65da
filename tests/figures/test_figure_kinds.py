"""The kinds of figures that a server knows."""

from tests import forked_processes

NAMES = "import app.main; from app.figures.figure_kinds import KINDS; print(*sorted(KINDS))"


def test_a_server_knows_every_kind() -> None:
    """In a process of its own: here, other tests have imported what registers them."""
    found = forked_processes.run(["-c", NAMES])
    assert found.stdout.split() == ["formula", "lab", "pairing", "train", "workspace", "zoo"]

"""Principal components by NumPy, for tests/js/pca.test.js.

``python -m tests.views.test_pca`` writes the file anew.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

GOLDEN = Path(__file__).parent / "golden/pca.json"
SHAPES = {"many points": (30, 8), "fewer points than channels": (5, 12), "two points": (2, 4)}


def cloud(points: int, channels: int) -> NDArray[np.float64]:
    """Return waves with different widths per channel, away from the origin."""
    wave = np.sin(np.arange(points * channels) * 2.3).reshape(points, channels)
    drawn: NDArray[np.float64] = wave * np.linspace(3, 0.5, channels) + 1.5
    return drawn.round(6)


def principal(points: NDArray[np.float64]) -> dict[str, Any]:
    """Return two components by SVD, with the largest entry of each positive."""
    centred = points - points.mean(axis=0)
    _, singular, directions = np.linalg.svd(centred, full_matrices=False)
    largest = np.abs(directions).argmax(axis=1)
    directions *= np.sign(directions[np.arange(len(directions)), largest])[:, None]
    shares = singular**2 / (singular**2).sum()
    return {
        "points": points.tolist(),
        "components": directions[:2].tolist(),
        "shares": shares[:2].tolist(),
        "projected": (centred @ directions[:2].T).tolist(),
    }


def dump() -> dict[str, Any]:
    """Return every cloud with its components; two points have no second component."""
    return {name: principal(cloud(*shape)) for name, shape in SHAPES.items()}


def test_the_golden_components_are_what_numpy_finds_today() -> None:
    golden = json.loads(GOLDEN.read_text())
    for name, found in dump().items():
        assert golden[name]["points"] == found["points"]
        np.testing.assert_allclose(golden[name]["shares"], found["shares"], atol=1e-9)
        np.testing.assert_allclose(golden[name]["components"][0], found["components"][0], atol=1e-9)


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps(dump(), separators=(",", ":")) + "\n")

"""How large a figure of given arrays becomes."""

import pytest

from headlight import AttentionWarning, show
from tests.package.test_arrays import weights


def test_a_large_figure_says_so_before_and_how_it_becomes_smaller() -> None:
    layers = [weights(8, 197, 197, seed=layer) for layer in range(6)]
    words = [f"w{n}" for n in range(197)]
    with pytest.warns(AttentionWarning, match=r"about 6 MB.*6 layers; nothing is left out") as said:
        figure = show(layers, words)
    assert "layers=[0, 5]" in str(said[0].message)
    assert 4.5e6 < len(figure.html) < 8e6
    assert len(show(layers, words, layers=[0, 5]).html) < 3.5e6

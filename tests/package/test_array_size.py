"""How large a figure of given arrays becomes, and what it leaves out."""

import re
import warnings

import numpy as np
import pytest
from numpy.typing import NDArray

from headlight import AttentionWarning, show
from tests.package.test_arrays import weights

HEADS, LAYERS = 12, 12


def layer(tokens: int, scale: float) -> NDArray[np.float32]:
    """Return weights that compress badly: those of random scores, as of a vision model."""
    scores = np.random.default_rng(0).normal(size=(HEADS, tokens, tokens)).astype(np.float32)
    powers = np.exp(scale * scores)
    shares: NDArray[np.float32] = powers / powers.sum(-1, keepdims=True)
    return shares


def test_few_weights_are_exact_and_nothing_is_said() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = show([weights(2, 30, 30)] * 2, [f"w{n}" for n in range(30)])
    assert b"-rounded-" not in figure.html
    assert b"are rounded" not in figure.html


def test_many_weights_are_rounded_and_the_figure_says_by_how_much() -> None:
    layers = [weights(8, 197, 197, seed=number) for number in range(6)]
    words = [f"w{n}" for n in range(197)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = show(layers, words, layer=2, head=3)
    assert len(figure.html) < 2.2e6
    assert figure.html.count(b"trace-rounded-") == 6
    said = re.search(rb"by at most ([0-9.]+), so", figure.html)
    assert said
    assert 0.001 < float(said[1]) < 0.004
    assert "误差不超过".encode() in show(layers, words, lang="zh").html


@pytest.mark.parametrize("scale", [0.5, 1, 3])
def test_12_times_12_heads_of_197_tokens_have_at_most_4_mb(scale: float) -> None:
    figure = show([layer(197, scale)] * LAYERS, [f"w{n}" for n in range(197)], layer=0, head=0)
    assert 2e6 < len(figure.html) <= 4e6


def test_a_large_figure_says_so_before_and_what_it_leaves_out() -> None:
    words = [f"w{n}" for n in range(512)]
    with pytest.warns(AttentionWarning, match=r"about \d+ MB.*12 layers") as said:
        figure = show([layer(512, 1)] * LAYERS, words, layer=0, head=0)
    (message,) = (str(warning.message) for warning in said)
    assert "only the weights of the head on which it opens are exact" in message
    assert "layers=[0, 11]" in message
    megabytes = len(figure.html) / 1e6
    assert megabytes <= 15
    about = re.search(r"about (\d+) MB", message)
    assert about
    assert abs(int(about[1]) - megabytes) < 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        few = show([layer(512, 1)] * LAYERS, words, layers=[0, 11], layer=0, head=0)
    assert len(few.html) < 5e6

"""What heads do, by the exported graphs in ONNX Runtime: as `model.explain.patterns` has it."""

from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch

pytest.importorskip("onnxscript")

from model.explain.patterns import PATTERNS, Axes, patterns, tally
from model.text.tokens import Token
from model.web.derived_graphs import INPUTS, NAMES, PATTERN


def tokens(text: str) -> list[Token]:
    return [Token(word, n, 0, 0, word.startswith("<")) for n, word in enumerate(text.split())]


@pytest.mark.parametrize("cross", [False, True])
def test_measures_and_patterns_are_the_same(exported: Path, cross: bool) -> None:
    session = onnxruntime.InferenceSession(exported / f"{NAMES[cross]}.onnx")
    names = [output.name for output in session.get_outputs()]
    keys = tokens("<2zh> the cat and the dog and the end <eos>")
    queries = tokens("die Katze und das the <eos>") if cross else keys
    generator = torch.Generator().manual_seed(3)
    found = set()
    for sharpness in (0.1, 3.0, 30.0):
        scores = torch.randn(8, len(queries), len(keys), generator=generator) * sharpness
        scores[0] += 40 * torch.eye(len(queries), len(keys))  # itself
        scores[1] += 40 * torch.eye(len(queries), len(keys)).roll(1, 0)  # the one before
        mask = torch.ones(len(queries), len(keys), dtype=torch.bool)
        mask = mask if cross else mask.tril()
        weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)
        weights[7] = 0  # a head that looks nowhere
        axes = Axes(queries, keys, cross)
        tallied = tally(weights, axes, mask)
        feeds = dict(zip(INPUTS, (weights, mask, *axes.special, axes.same), strict=True))
        values = session.run(None, {name: value.numpy() for name, value in feeds.items()})
        outputs = dict(zip(names, values, strict=True))
        assert outputs.keys() == {*tallied.means, PATTERN}
        for name, mean in tallied.means.items():
            np.testing.assert_allclose(outputs[name], mean, atol=1e-5, err_msg=name)
        here = [PATTERNS[number] for number in outputs[PATTERN]]
        assert here == patterns(tallied)
        found |= {*here}
    assert found >= ({"none", "mixed"} if cross else {"none", "itself", "previous-token"})

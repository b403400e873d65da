"""Word alignment from attributions: the agreement of rankings, and matrices by hand."""

import math

import pytest
import torch

from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder
from model.adapters.requests.request import Request
from model.bundle.measurements import WRITES
from model.measure.source_words import attributed, head_name, kendall, measure
from model.measure.word_alignment import AlignedPair
from model.trace.tensor_names import OCCLUSION

HEAD = {"layer": 1, "head": 2, "rows": WRITES}
NONE: frozenset[tuple[int, int]] = frozenset()
PAIR = AlignedPair(("the", "cat"), ("猫", "坐"), NONE, NONE)


def counted(a: list[float], b: list[float]) -> float:
    pairs = [(i, j) for i in range(len(a)) for j in range(i)]
    agree = sum((a[i] > a[j]) == (b[i] > b[j]) for i, j in pairs if a[i] != a[j] and b[i] != b[j])
    both = sum(a[i] != a[j] and b[i] != b[j] for i, j in pairs)
    ones, others = (sum(x[i] != x[j] for i, j in pairs) for x in (a, b))
    return (2 * agree - both) / math.sqrt(ones * others)


@pytest.mark.parametrize("length", [3, 8, 30])
def test_kendall_is_that_of_counting_pairs(length: int) -> None:
    generator = torch.Generator().manual_seed(length)
    a, b = (torch.randint(6, (length,), generator=generator).double() for _ in range(2))
    assert kendall(a, b) == pytest.approx(counted(a.tolist(), b.tolist()))
    assert kendall(a, a) == pytest.approx(1)
    assert kendall(a, -a) == pytest.approx(-1)
    assert math.isnan(kendall(a, torch.ones(length)))


def test_values_are_summed_over_the_pieces_of_both_words(tiny: EncoderDecoder) -> None:
    found, written = attributed(tiny, PAIR, "en-zh", [HEAD])
    trace = tiny.trace(Request("the cat", "en-zh", "猫坐"), select=[OCCLUSION])
    values = trace[OCCLUSION].value
    for row, word in enumerate("猫坐"):
        rows = [i for i, t in enumerate(trace.output.tokens) if t.text and t.text in word]
        for column, (start, end) in enumerate([(0, 3), (4, 7)]):
            tokens = enumerate(trace.texts["source"])
            own = [i for i, t in tokens if not t.special and start <= max(t.start, t.end - 1) < end]
            assert own
            if rows:
                expected = float(values[rows][:, own].sum())
                assert float(found["occlusion"][row, column]) == pytest.approx(expected, abs=1e-5)
    assert written.shape[0] == 2


def test_every_method_and_head_has_a_rate(tiny: EncoderDecoder) -> None:
    sure = frozenset({(1, 0)})
    pairs = [AlignedPair(("猫", "坐"), ("the", "cat"), sure, sure)] * 2
    found = measure(tiny, pairs, ("en", "zh"), [HEAD], 1)
    assert found["used"] == 1
    assert set(found["methods"]) == {
        head_name(HEAD),
        "occlusion",
        "gradient × input",
        "integrated gradients",
    }
    assert all(0 <= rate <= 1 for by in found["methods"].values() for rate in by.values())

"""Which head aligns best: chosen on one half of the hand-aligned pairs, reported on the other."""

import pytest

from model.bundle.measurements import READS, WRITES
from model.measure.word_alignment import AlignedPair, Half, Link, best_heads, firm

KEY = "0.1", READS
PAIR = AlignedPair(("a", "b"), ("x", "y"), frozenset({(0, 0), (1, 1)}), frozenset({(0, 0), (1, 1)}))


def test_the_best_heads_are_chosen_on_the_first_half_alone() -> None:
    one = {
        ("0.1", WRITES): (0.5, 0.1),
        ("1.0", WRITES): (0.4, 0.9),
        ("1", WRITES): (0.1, 0.1),
        ("0.1", READS): (0.6, 0.2),
        ("1.0", READS): (0.7, 0.1),
    }
    other = one | {("0.1", READS): (0.3, 0.4), ("0.1", WRITES): (0.35, 0.2)}
    writes = {"layer": 1, "head": 0, "rows": WRITES, "chosen on": 0.4, "reported on": 0.9}
    reads = {"layer": 0, "head": 1, "rows": READS, "chosen on": 0.6, "reported on": 0.2}
    assert best_heads([one]) == [writes, reads]
    assert best_heads([one, one]) == [writes, reads]
    writes |= {"chosen on": 0.4}
    reads |= {"chosen on": pytest.approx(0.45), "reported on": pytest.approx(0.3)}
    assert best_heads([one, other]) == [writes, reads]
    better = other | {("0.1", READS): (0.1, 0.4)}
    reads |= {"chosen on": pytest.approx(0.35)}
    assert best_heads([one, better]) == [reads, writes]


def half(there: dict[Link, float], back: dict[Link, float]) -> Half:
    return Half([PAIR], {KEY: [there]}, {KEY: [back]})


def test_rates_of_a_half_by_hand() -> None:
    one = half({(0, 0): 0.9, (0, 1): 0.2}, {(0, 0): 0.6, (1, 1): 0.3})
    # There (0, 0) is right and (0, 1) wrong: 1 - (1 + 1) / (2 + 2); back both are right. What both
    # have is (0, 0), and first (0, 1), then (1, 1) grow out of it: 1 - (2 + 2) / (3 + 2).
    assert one.rates(KEY) == pytest.approx([0.5, 0.0, 0.2])
    # (0, 0) alone there: 1 - (1 + 1) / (1 + 2); back nothing is left at 0.7.
    assert one.rates(KEY, 0.25) == pytest.approx([1 / 3, 0.0, 0.0])
    assert one.rates(KEY, 0.7) == pytest.approx([1 / 3, 1.0, 1.0])


def test_the_bound_is_chosen_on_the_first_half_alone() -> None:
    one = half({(0, 0): 0.9, (0, 1): 0.2}, {(0, 0): 0.6, (1, 1): 0.32})
    other = half({(0, 0): 0.22, (1, 1): 0.9}, {(0, 1): 0.9, (1, 1): 0.9})
    found = firm([one, other], {"layer": 0, "head": 1, "rows": READS}, ("there", "back", "both"))
    assert found["least"] == 0.25  # the smallest that leaves (0, 1) out
    assert found["chosen on"] == pytest.approx(1 / 6)
    told = dict(zip(("there", "back", "both"), other.rates(KEY, 0.25), strict=True))
    assert found["reported on"] == told
    assert told["there"] == pytest.approx(1 / 3) != other.rates(KEY)[0]

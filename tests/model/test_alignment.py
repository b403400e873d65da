"""Alignment: the error rate, and words from tokens, against hand calculation."""

from pathlib import Path

import pytest
import torch

from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder
from model.measure.word_alignment import (
    AlignedPair,
    aligned,
    error_rate,
    grown,
    joined,
    kept,
    links,
    membership,
    read_aligned_pairs,
    words,
)
from model.text.tokens import Token

SURE, MAYBE = frozenset({(0, 0), (1, 2)}), frozenset({(0, 0), (1, 2), (1, 1)})
PAIR = AlignedPair(("猫", "坐着"), ("the", "cat", "sits"), SURE, MAYBE)


@pytest.mark.parametrize(
    ("found", "rate"),
    [
        (SURE, 0.0),
        (MAYBE, 0.0),  # a possible link is no error
        ({(0, 0)}, 1 - (1 + 1) / (1 + 2)),
        ({(1, 1)}, 1 - (0 + 1) / (1 + 2)),
        ({(0, 2)}, 1.0),
        (set(), 1.0),
    ],
)
def test_error_rate(found: set[tuple[int, int]], rate: float) -> None:
    assert error_rate([found], [PAIR]) == pytest.approx(rate)
    mirrored = [{(b, a) for a, b in found}]
    assert error_rate(mirrored, [PAIR.swapped()]) == pytest.approx(rate)


def test_rates_of_many_pairs_are_of_their_sums() -> None:
    assert error_rate([SURE, {(0, 2)}], [PAIR, PAIR]) == pytest.approx(1 - 4 / (3 + 4))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ({(0, 0)}, {(1, 1)}, set()),  # nothing that both have, nothing to grow from
        ({(0, 0), (1, 1)}, {(0, 0)}, {(0, 0), (1, 1)}),  # diagonally
        ({(0, 0), (0, 1)}, {(0, 0)}, {(0, 0), (0, 1)}),  # sideways, the second word is new
        ({(0, 0), (2, 2)}, {(0, 0)}, {(0, 0)}),  # too far
        ({(0, 0), (2, 2)}, {(0, 0), (1, 1)}, {(0, 0), (1, 1), (2, 2)}),  # in steps
        ({(2, 2), (0, 0)}, {(2, 2), (1, 1)}, {(0, 0), (1, 1), (2, 2)}),  # a second round
        ({(0, 0), (1, 1), (0, 1)}, {(0, 0), (1, 1)}, {(0, 0), (1, 1)}),  # both words are linked
    ],
)
def test_two_directions_as_one(
    one: set[tuple[int, int]], other: set[tuple[int, int]], expected: set[tuple[int, int]]
) -> None:
    assert grown(one, other) == grown(other, one) == expected


def test_reading(tmp_path: Path) -> None:
    (tmp_path / "sentences.txt").write_text("猫 坐着 ||| the cat sits\n", encoding="utf-8")
    (tmp_path / "gold.txt").write_text("1-1 2-3 2p2\n", encoding="utf-8")
    assert read_aligned_pairs(tmp_path) == [PAIR]


def test_words_have_their_tokens() -> None:
    text, spans = joined(("the", "unkind", "cat"), "en")
    assert [text[slice(*span)] for span in spans] == ["the", "unkind", "cat"]
    pieces = [("<2zh>", 0, 0), ("the", 0, 3), (" un", 3, 6), ("kind", 6, 10), (" cat", 10, 14)]
    tokens = [Token(t, 0, start, end, special=not end) for t, start, end in pieces]
    expected = [[0, 1, 0, 0, 0], [0, 0, 1, 1, 0], [0, 0, 0, 0, 1]]
    assert membership(tokens, spans).tolist() == expected
    assert joined(("坐着", "。"), "zh") == ("坐着。", [(0, 2), (2, 3)])


def test_keys_are_added_and_rows_averaged() -> None:
    weights = torch.tensor([[0.1, 0.2, 0.3, 0.4], [0.5, 0.1, 0.3, 0.1]])
    source = torch.tensor([[1.0, 1, 0, 0], [0, 0, 1, 0]])  # the last token is special
    written = torch.tensor([[1.0, 1], [0, 0]])
    between = words(weights, written, source)
    torch.testing.assert_close(between, torch.tensor([[0.45, 0.3], [0.0, 0.0]]))
    found = links(between, written)
    assert found == {(0, 0): pytest.approx(0.45)}, "a word without tokens has no link"


def test_links_that_are_faint_are_left_out() -> None:
    found = {(0, 0): 0.5, (2, 1): 0.25, (1, 2): 0.0}
    assert kept(found) == found.keys()
    assert kept(found, 0.25) == {(0, 0), (2, 1)}
    assert kept(found, 0.51) == frozenset()


def test_every_head_and_mean_is_there(tiny: EncoderDecoder) -> None:
    found = aligned(tiny, [PAIR.swapped(), PAIR.swapped()], "en-zh")
    layers, heads = tiny.info.layers["decoder"], tiny.info.heads["decoder"]
    assert len(found) == 2 * (1 + layers + layers * heads)
    for both in found.values():
        assert both[0] == pytest.approx(both[1]), "a batch changes nothing"
        assert {word for _, word in both[0]} == {0, 1}

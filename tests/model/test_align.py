"""Alignment of the tokens of two sentences."""

from hypothesis import given
from hypothesis import strategies as st

from model.adapters.sweep_changes import aligned

WORDS = st.lists(st.sampled_from("abcde"), max_size=12)


def test_a_word_that_is_exchanged_is_paired_with_its_replacement() -> None:
    mother, father = (["my", one, "sings"] for one in ("mother", "father"))
    assert aligned(mother, father) == ((0, 0), (1, 1), (2, 2))


def test_the_last_piece_of_a_word_is_paired_with_the_last_piece() -> None:
    assert aligned(["my", "grand", "mother", "."], ["my", "uncle", "."]) == ((0, 0), (2, 1), (3, 2))
    assert aligned(["my", "uncle", "."], ["my", "grand", "mother", "."]) == ((0, 0), (1, 2), (2, 3))


def test_what_one_side_lacks_has_no_partner() -> None:
    assert aligned("abcd", "ad") == ((0, 0), (3, 1))
    assert aligned("ad", "abcd") == ((0, 0), (1, 3))
    assert aligned("", "abc") == ()


@given(WORDS, WORDS)
def test_pairs_are_in_order_and_each_token_is_in_one_at_most(
    theirs: list[str], ours: list[str]
) -> None:
    found = aligned(theirs, ours)
    for side, text in zip(zip(*found, strict=True), (theirs, ours), strict=False):
        assert [*side] == sorted({*side})
        assert all(0 <= index < len(text) for index in side)
    assert aligned(ours, ours) == tuple((n, n) for n in range(len(ours)))
    if len(theirs) == len(ours) and len({*theirs} & {*ours}) == 0:
        assert len(found) == len(ours)
